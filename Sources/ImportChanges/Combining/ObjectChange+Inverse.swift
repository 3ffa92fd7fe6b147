import ImportEngine

/// Changes made of other changes.
extension ObjectChange {
    /// What leads back.
    ///
    /// An object that had moved elsewhere is not taken back by it.
    var leadingBack: ObjectChange {
        let back: Kind =
            switch kind {
            case .inserted: .deleted
            case .updated: .updated
            case .deleted: .inserted
            }
        var change = ObjectChange(back, entity: entity, identifier: identifier)
        change.attributes = attributes.map { AttributeChange($0.name, old: $0.new, new: $0.old) }
        change.references = references.map { reference in
            switch reference.content {
            case .toOne(let old, let new): ReferenceChange(reference.name, .toOne(old: new, new: old))
            case .toMany(let added, let removed):
                ReferenceChange(reference.name, .toMany(added: removed, removed: added))
            }
        }
        change.relationships = relationships.map { owned in
            switch owned.content {
            case .objects(let changes): OwnedChange(owned.name, .objects(changes.map(\.leadingBack)))
            case .values(let old, let new): OwnedChange(owned.name, .values(old: new, new: old))
            }
        }
        change.order = order.map { OrderChange($0.name, old: $0.new, new: $0.old) }
        return change
    }

    /// The deletion of the object, which this is, as it has to be after an update of the object.
    ///
    /// - Parameters:
    ///   - hasMoved: whether an object that it deletes too, and of which the update says nothing, is elsewhere now.
    ///   - arriving: what becomes of an object that the update brings from another owner; nil for nothing.
    package func following(
        _ update: ObjectChange,
        hasMoved: (ObjectChange) throws -> Bool,
        arriving: (ObjectChange) throws -> ObjectChange?
    ) rethrows -> ObjectChange {
        var change = self
        for attribute in update.attributes {
            guard let new = attribute.new else { continue }
            if let place = change.attributes.firstIndex(where: { $0.name.hasSameBytes(as: attribute.name) }) {
                change.attributes[place].old = new
            } else {
                change.attributes.append(AttributeChange(attribute.name, old: new))
            }
        }
        for reference in update.references { change.follow(reference) }
        for owned in update.relationships {
            let place = change.relationships.firstIndex { $0.name.hasSameBytes(as: owned.name) }
            switch owned.content {
            case .values(_, let new):
                let content = OwnedChange.Content.values(old: new, new: nil)
                if let place {
                    change.relationships[place].content = content
                } else {
                    change.relationships.append(OwnedChange(owned.name, content))
                }
            case .objects(let updates):
                var all = change.nested(owned.name)
                for update in updates {
                    switch (update.kind, all[update.identifier]) {
                    case (.inserted, _): all[update.identifier] = update.leadingBack
                    case (.deleted, _): all[update.identifier] = nil
                    case (.updated, let same?):
                        all[update.identifier] = try same.following(update, hasMoved: hasMoved, arriving: arriving)
                    case (.updated, nil) where hasElsewhere(owned.name, update.identifier): break
                    case (.updated, nil): all[update.identifier] = try arriving(update)
                    }
                }
                let own = all.values.sorted { IdentifierOrder.compare($0.identifier, $1.identifier) < 0 }
                if let place {
                    change.relationships[place].content = .objects(own)
                } else if !own.isEmpty {
                    change.relationships.append(OwnedChange(owned.name, .objects(own)))
                }
            }
        }
        for order in update.order {
            change.order.removeAll { $0.name.hasSameBytes(as: order.name) }
            if order.new?.isEmpty == false { change.order.append(OrderChange(order.name, old: order.new, new: nil)) }
        }
        try change.leaveOut(update, hasMoved)
        return change
    }

    /// The deletion of the object, which this is, with what an update has brought to it from other owners.
    package func following(_ update: ObjectChange, hasMoved: (ObjectChange) throws -> Bool) rethrows -> ObjectChange {
        try following(update, hasMoved: hasMoved) { update in
            var deletion = ObjectChange(.deleted, entity: update.entity, identifier: update.identifier)
            deletion.attributes = update.identifier.values.map { AttributeChange($0.name, old: $0.value) }
            return try deletion.following(update, hasMoved: hasMoved)
        }
    }

    /// The update, which this is, where another one was made before: its old values are those that the other has left.
    func startingFrom(_ other: ObjectChange) -> ObjectChange {
        var change = self
        for place in attributes.indices where attributes[place].old != nil {
            let before = other.attributes.first { $0.name.hasSameBytes(as: attributes[place].name) }
            if let new = before?.new { change.attributes[place].old = new }
        }
        for place in references.indices {
            guard case .toOne(_, let new) = references[place].content,
                case .toOne(_, let left?) = other.references.first(where: {
                    $0.name.hasSameBytes(as: references[place].name)
                })?.content
            else { continue }
            change.references[place].content = .toOne(old: left, new: new)
        }
        return change
    }

    /// True if the deletion says of an object that it belongs to another one now.
    private func hasElsewhere(_ relationship: String, _ object: ObjectReference) -> Bool {
        moved.contains { $0.name.hasSameBytes(as: relationship) && $0.objects.contains(object) }
    }

    private mutating func follow(_ reference: ReferenceChange) {
        let place = references.firstIndex { $0.name.hasSameBytes(as: reference.name) }
        switch reference.content {
        case .toOne(_, let new):
            let content = ReferenceChange.Content.toOne(old: new, new: nil)
            if let place {
                references[place].content = content
            } else {
                references.append(ReferenceChange(reference.name, content))
            }
        case .toMany(let added, let removed):
            var links: [ObjectReference] = []
            if let place, case .toMany(_, let own) = references[place].content { links = own }
            let gone = Set(removed)
            links = links.filter { !gone.contains($0) } + added
            links.sort { IdentifierOrder.compare($0, $1) < 0 }
            if let place { references.remove(at: place) }
            if !links.isEmpty { references.append(ReferenceChange(reference.name, .toMany(added: [], removed: links))) }
        }
    }

    /// Leaves out what belongs to another object by now, and names it instead.
    private mutating func leaveOut(_ update: ObjectChange, _ hasMoved: (ObjectChange) throws -> Bool) rethrows {
        for place in relationships.indices {
            guard case .objects(let changes) = relationships[place].content else { continue }
            let told = update.nested(relationships[place].name)
            var kept: [ObjectChange] = []
            var gone: [ObjectReference] = []
            for change in changes {
                if told[change.identifier] == nil, try hasMoved(change) {
                    gone.append(change.identifier)
                } else {
                    kept.append(change)
                }
            }
            guard !gone.isEmpty else { continue }
            relationships[place].content = .objects(kept)
            addMoved(relationships[place].name, gone)
        }
        relationships.removeAll { owned in
            if case .objects(let changes) = owned.content { changes.isEmpty } else { false }
        }
    }

    /// Says of objects that they belong to another one now.
    mutating func addMoved(_ relationship: String, _ objects: [ObjectReference]) {
        guard let place = moved.firstIndex(where: { $0.name.hasSameBytes(as: relationship) }) else {
            moved.append(MovedObjects(relationship, objects))
            return
        }
        let known = Set(moved[place].objects)
        moved[place].objects += objects.filter { !known.contains($0) }
        moved[place].objects.sort { IdentifierOrder.compare($0, $1) < 0 }
    }

    /// The changes of what the object owns by a relationship, by identifier.
    package func nested(_ name: String) -> [ObjectReference: ObjectChange] {
        var found: [ObjectReference: ObjectChange] = [:]
        for owned in relationships where owned.name.hasSameBytes(as: name) {
            guard case .objects(let changes) = owned.content else { continue }
            for change in changes { found[change.identifier] = change }
        }
        return found
    }
}
