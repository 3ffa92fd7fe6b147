import ImportModel
import Importer

/// A model as a server has it: its entities' tables with all of their columns, and how they relate.
///
/// Made by each worker for itself, as plans are.
struct ServerModel {
    let model: ModelDescription
    /// The plans of the entities, in the model's order.
    let plans: [EntityPlan]
    /// How the entities relate to one another; nil where none does.
    let related: RelatedTables?

    /// - Throws: `ImportError` where it cannot be imported with, or has relationships of a kind that a server's schema cannot
    ///   have yet.
    init(_ model: ModelDescription, _ options: JobOptions, _ transformers: TransformerRegistry, label: String) throws {
        self.model = model
        if model.isFlat {
            related = nil
            plans = try model.entities.enumerated().map {
                try EntityPlan(entity: $1, index: $0, onConflict: options.onConflict, transformers: transformers)
            }
        } else {
            let graph = try GraphPlan(model, onConflict: options.onConflict, transformers: transformers)
            try RelationshipSupport(graph, label: label).check()
            related = RelatedTables(graph)
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

    /// The entities as their tables have them, with the columns that hold relationships.
    var entities: [EntityDescription] { plans.map(\.entity) }
}

extension ModelDescription {
    /// Whether the rows of some entity are staged before they are objects.
    var isStagedOnServer: Bool { !isFlat || entities.contains { !$0.identifier.isEmpty } }
}
