import ImportEngine
import ImportModel
import ImportSources

/// The entities of what is merged, as the base has them.
package struct MergedEntities {
    private struct Entity {
        let described: ChangedEntity
        let inverse: String?
        let rank: Int
        let ranks: [BytewiseString: Int]
    }

    package let described: [ChangedEntity]
    private var entities: [BytewiseString: Entity] = [:]

    /// - Parameter inverse: the relationship by which objects of an entity refer to what they belong to.
    package init(_ described: [ChangedEntity], inverse: (String) -> String?) {
        self.described = described
        for (rank, entity) in described.enumerated() {
            var ranks: [BytewiseString: Int] = [:]
            for (place, relationship) in entity.relationships.enumerated() {
                ranks[BytewiseString(relationship.name)] = place
            }
            entities[BytewiseString(entity.name)] = Entity(
                described: entity,
                inverse: inverse(entity.name),
                rank: rank,
                ranks: ranks
            )
        }
    }

    /// Where an entity is in the order of changes; nil for one that there is not.
    package func rank(_ entity: String) -> Int? { entities[BytewiseString(entity)]?.rank }

    /// Where a relationship is in the order of its entity.
    package func rank(_ relationship: String, of entity: String) -> Int {
        entities[BytewiseString(entity)]?.ranks[BytewiseString(relationship)] ?? .max
    }

    package func inverse(of entity: String) -> String? { entities[BytewiseString(entity)]?.inverse }

    package func isToMany(_ relationship: String, of entity: String) -> Bool {
        entities[BytewiseString(entity)]?.described.relationships.first { $0.name.hasSameBytes(as: relationship) }?
            .isToMany
            ?? true
    }

    /// The group that an attribute is written with; nil for none.
    package func group(of attribute: String, _ entity: String) -> [String]? {
        entities[BytewiseString(entity)]?.described.together.first { group in
            group.contains { $0.hasSameBytes(as: attribute) }
        }
    }

    /// The relationships to owned objects that changes tell of, in the model's order.
    func ownedNames(_ changes: ObjectChange?...) -> [String] {
        names(changes) { change in change.relationships.filter(\.isOfObjects).map(\.name) }
    }

    /// The lists whose order changes tell of, in the model's order.
    func orderNames(_ changes: ObjectChange?...) -> [String] { names(changes) { $0.order.map(\.name) } }

    /// The many-to-many whose links changes tell of, in the model's order.
    func linkNames(_ changes: ObjectChange?...) -> [String] {
        names(changes) { change in
            change.references.filter { if case .toMany = $0.content { true } else { false } }.map(\.name)
        }
    }

    private func names(_ changes: [ObjectChange?], _ all: (ObjectChange) -> [String]) -> [String] {
        var names: [String] = []
        for case let change? in changes {
            for name in all(change) where !names.contains(where: { $0.hasSameBytes(as: name) }) { names.append(name) }
        }
        guard let entity = changes.lazy.compactMap({ $0?.entity }).first else { return names }
        return names.enumerated().sorted {
            (rank($0.element, of: entity), $0.offset) < (rank($1.element, of: entity), $1.offset)
        }.map(\.element)
    }
}

extension OwnedChange {
    /// True if it is about objects with identifier.
    var isOfObjects: Bool { if case .objects = content { true } else { false } }
}

extension ObjectChange {
    /// The change as a part of the objects around it.
    func wrapped(in owners: [ObjectMerge.Owner]) -> ObjectChange {
        var change = self
        for owner in owners.reversed() {
            var outer = ObjectChange(.updated, entity: owner.entity, identifier: owner.identifier)
            outer.relationships = [OwnedChange(owner.relationship, .objects([change]))]
            change = outer
        }
        return change
    }
}
