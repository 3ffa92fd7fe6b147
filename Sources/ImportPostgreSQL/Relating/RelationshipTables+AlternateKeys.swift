import ImportModel
import Importer

/// Relationships that name objects by other attributes than the identifier (`by`).
extension RelationshipTables {
    /// Such a relationship.
    struct Naming {
        /// Where its links are.
        enum Form {
            /// In columns of the objects that have it: of each table that has some.
            case own([Reference])
            /// In columns of the objects that it leads to.
            case listed(Reference)
            /// In a join table.
            case joined
        }

        /// Its index among the layout's.
        let relationship: Int
        /// The entity that has it, and the one that it leads to.
        let entity: Int
        let destination: Int
        /// The indexes of the attributes that it names among the columns of what it leads to.
        let places: [Int]
        let columns: [PGColumn]
        let form: Form
    }

    /// All of them, those in columns of the objects themselves first: what these say of a partner is known to the others then.
    var names: [Naming] {
        let all = graph.nodes.indices.flatMap { entity in
            graph.nodes[entity].relationships.compactMap { naming($0, of: entity) }
        }
        return all.filter(\.isOwn) + all.filter { !$0.isOwn }
    }

    private func naming(_ relationship: GraphPlan.Relationship, of entity: Int) -> Naming? {
        let placement = layout.relationships[relationship.index]
        // What inherits it has it, too.
        guard placement.entity == entity, !relationship.namesIdentifier, !placement.description.from.isEmpty else {
            return nil
        }
        let form: Naming.Form
        switch relationship.side {
        case .join: form = .joined
        case .own: form = .own(references(relationship.index))
        case .other:
            guard let reference = reference(relationship.owner) else { return nil }
            form = .listed(reference)
        }
        let places = relationship.named.map { self.places[placement.destination][$0] }
        return Naming(
            relationship: relationship.index,
            entity: entity,
            destination: placement.destination,
            places: places,
            columns: places.map { columns[placement.destination][$0] },
            form: form
        )
    }
}

extension RelationshipTables.Naming {
    /// True if its links are in columns of the objects that have it.
    var isOwn: Bool { if case .own = form { true } else { false } }
    /// True if they are in a join table.
    var isJoined: Bool { if case .joined = form { true } else { false } }
}
