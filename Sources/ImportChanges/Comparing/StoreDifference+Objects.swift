import ImportEngine
import ImportModel
import ImportSources

/// Single objects, wherever in the sequence their changes are.
extension StoreDifference {
    /// What has become of an object, with what it owns; nil where it is the same, or in neither state.
    ///
    /// Unlike a nested change, it says which object it belongs to where that changed, and where it is new or gone.
    package func change(of entity: String, _ identifier: ObjectReference) throws -> ObjectChange? {
        try explained { try comparison.change(of: entity, identifier, isOldAlone: false) }
    }

    /// The deletion of an object, which has all that the old state has of it; nil where it is not there.
    func deletion(of entity: String, _ identifier: ObjectReference) throws -> ObjectChange? {
        try explained { try comparison.change(of: entity, identifier, isOldAlone: true) }
    }

    private func explained<Result>(_ body: () throws -> Result) throws -> Result {
        try ImportError.explaining("\(stores.old.store) or \(stores.new.store)", body)
    }

    /// The relationship by which objects of an entity refer to the object that they belong to; nil where they belong to none.
    package func inverse(of entity: String) -> String? {
        guard let place = plan.entities.firstIndex(where: { $0.name.hasSameBytes(as: entity) }),
            let owner = plan.entities[place].owner
        else { return nil }
        return plan.entities[place].references[plan.entities[owner.entity].owned[owner.place].reference].name
    }

    /// In what the models of the stores differ, by entity.
    package var differences: [String] {
        plan.entities.indices.flatMap { index -> [String] in
            let entity = plan.entities[index]
            guard entity.stored.old != nil, entity.stored.new != nil else { return [entity.name] }
            return (plan.only[index].old + plan.only[index].new).map { "\(entity.name).\($0)" }
        }
    }
}

extension ObjectComparison {
    fileprivate func change(
        of entity: String,
        _ identifier: ObjectReference,
        isOldAlone: Bool
    ) throws -> ObjectChange? {
        guard let index = plan.entities.firstIndex(where: { $0.name.hasSameBytes(as: entity) }),
            !plan.entities[index].isValue
        else { return nil }
        let key = plan.entities[index].identifier.compactMap { name in
            identifier.values.first { $0.name.hasSameBytes(as: name) }?.value
        }
        guard key.count == plan.entities[index].identifier.count else { return nil }
        // Looking up is no part of the sequence, which counts what it has seen.
        return try uncounted {
            lookups.level += 1
            defer { lookups.level -= 1 }
            let old = try lookups.object(index, key, .old)
            let new = isOldAlone ? nil : try lookups.object(index, key, .new)
            return try compare(index, old, new, Inside())
        }
    }
}
