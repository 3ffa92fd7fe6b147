import ImportModel

extension ModelDescription {
    /// The same where lists of owned objects are wholes, as they are to a mirror: what a list no longer has is deleted, unless the
    /// model says otherwise.
    ///
    /// - Throws: `LayoutError` where the model cannot be laid out.
    package var withWholeLists: ModelDescription {
        get throws {
            guard !isFlat else { return self }
            var model = self
            for placement in try ModelLayout(importing: self).relationships where placement.isOwnedList {
                let entity = placement.entity
                let place = model.entities[entity].relationships.firstIndex {
                    $0.name.hasSameBytes(as: placement.description.name)
                }
                guard let place else { continue }
                model.entities[entity].relationships[place].orphans = placement.description.orphans ?? .delete
            }
            return model
        }
    }
}

extension RelationshipStorage {
    /// True if it leads to many objects, which go with the one that has them; links of a many-to-many are links alone.
    var isOwnedList: Bool { description.isToMany && deleteRule == .cascade && shape != .join }
}
