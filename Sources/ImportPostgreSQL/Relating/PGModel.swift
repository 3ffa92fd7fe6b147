import ImportModel
import Importer

/// A model as a server has it: its entities' tables with all of their columns, and how they relate.
///
/// Made by each worker for itself, as plans are.
struct PGModel {
    /// The plans of the entities, in the model's order.
    let plans: [EntityPlan]
    /// How the entities relate to one another; nil where none does.
    let related: RelationshipTables?
    /// What needs that records are taken one after the other (`ReplaySettlement`); nil where statements settle all.
    let serial: String?

    /// - Throws: `ImportError` where it cannot be imported with, or a server's schema cannot have it.
    init(_ model: ModelDescription, _ options: JobOptions, _ transformers: TransformerRegistry, label: String) throws {
        if model.isFlat {
            related = nil
            serial = nil
            plans = try model.entities.enumerated().map {
                try EntityPlan(entity: $1, index: $0, onConflict: options.onConflict, transformers: transformers)
            }
        } else {
            let graph = try GraphPlan(model, onConflict: options.onConflict, transformers: transformers)
            try ReplayRequirement.checkIdentifiers(graph, label: label)
            serial = ReplayRequirement(graph).what
            related = RelationshipTables(graph)
            plans = graph.plans
        }
        // Whether a row is accepted is known when the server has it.
        for plan in plans { plan.keepsPlaces = true }
    }

    /// The model of a job that nothing is imported with: its values are coerced already, maybe by transformers that only another
    /// program has.
    ///
    /// - Returns: nil where the job has none.
    init?(stored job: StoredJob, label: String) throws {
        guard var model = job.model else { return nil }
        for entity in model.entities.indices {
            for attribute in model.entities[entity].attributes.indices {
                model.entities[entity].attributes[attribute].transformers = []
            }
        }
        try self.init(model, job.options, .standard, label: label)
    }

    /// The entities as their tables have them, with the columns that hold relationships and those of others in the same table.
    var entities: [EntityDescription] { related?.entities ?? plans.map(\.entity) }

    /// The tables of entities: each with the position of the one whose it is.
    var tables: [(position: Int, entity: EntityDescription)] {
        (related?.homes ?? Array(plans.indices)).map { ($0, entities[$0]) }
    }

    /// The position of the entity in whose table the rows of another one are; nil where there is none, as it is abstract.
    func home(of position: Int) -> Int? {
        guard let related else { return position }
        return related.layout.hasTable(position) ? related.home(of: position) : nil
    }
}

extension ModelDescription {
    /// True if the rows of some entity are staged before they are objects.
    var isStagedOnServer: Bool { !isFlat || entities.contains { !$0.identifier.isEmpty } }

    /// The entities with their tables, each with what it inherits, for indexes; those without a table are left out.
    var entitiesWithTables: [EntityDescription] {
        guard !isFlat, let layout = try? ModelLayout(self) else { return entities }
        return entities.indices.filter(layout.hasTable).map { index in
            var entity = entities[index]
            entity.table = layout.table(of: index)
            entity.attributes = layout.hierarchy.attributes(of: index)
            entity.indexes = layout.hierarchy.chain(of: index).reversed().flatMap { entities[$0].indexes }
            return entity
        }
    }
}
