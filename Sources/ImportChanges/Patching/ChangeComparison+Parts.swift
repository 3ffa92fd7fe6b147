import ImportEngine
import ImportModel
import ImportSources

/// What belongs to the object that a change is of: links, what it owns, lists, and parts without identifier.
extension ChangeComparison {
    func addParts(of change: ObjectChange, _ index: Int, _ key: [StoredValue], _ plan: inout ChangePlan) throws {
        let entity = schema.entities[index]
        for reference in change.references {
            guard case .toMany(let added, let removed) = reference.content else { continue }
            guard let join = entity.join(reference.name) else {
                plan.note(.unknownKey, index, reference.name)
                continue
            }
            for object in removed {
                let values = key + object.values.map(\.value)
                if try isLinked(join, values) { plan.steps.append(.unlink(join, values)) }
            }
            for object in added {
                let values = key + object.values.map(\.value)
                if try !isLinked(join, values) { plan.steps.append(.link(join, values)) }
            }
        }
        for part in change.relationships {
            if try addIncluded(part, entity, &plan) { continue }
            guard let owned = entity.ownership(part.name) else {
                plan.note(.unknownKey, index, part.name)
                continue
            }
            switch part.content {
            case .objects(let changes):
                // What goes makes room for what comes.
                for inner in changes where inner.kind == .deleted {
                    try visit(inner, Owner(owned: owned, key: key), &plan)
                }
                for inner in changes where inner.kind != .deleted {
                    try visit(inner, Owner(owned: owned, key: key), &plan)
                }
            case .values(let old, let new):
                try addValues(change, owned, key, old, new ?? [], part.name, &plan)
            }
        }
        for order in change.order { try addOrder(change, entity, key, order, &plan) }
    }

    /// Adds the changes of what an object refers to, each of which is one of its own.
    ///
    /// - Returns: whether a relationship is such a one.
    func addIncluded(_ part: OwnedChange, _ entity: PatchedEntity, _ plan: inout ChangePlan) throws -> Bool {
        guard entity.included.contains(BytewiseString(part.name)), case .objects(let changes) = part.content else {
            return false
        }
        for inner in changes { try visit(inner, nil, &plan) }
        return true
    }

    func isLinked(_ join: ComparedSchema.Join, _ values: [StoredValue]) throws -> Bool {
        guard values.count == join.columns.count + join.destinationColumns.count else {
            throw ImportError(
                .changeSetInvalid,
                "a link of \(join.name.printable) is by other attributes than the store's",
                advice: "Make the change set again."
            )
        }
        return try statements.exists(PatchSQL.link(join), values)
    }

    func addOrder(
        _ change: ObjectChange,
        _ entity: PatchedEntity,
        _ key: [StoredValue],
        _ order: OrderChange,
        _ plan: inout ChangePlan
    ) throws {
        guard let new = order.new else { return }
        let wanted = new.map { $0.values.map(\.value) }
        let before = order.old?.map { $0.values.map(\.value) }
        var stored: [[StoredValue]] = []
        let step: ChangePlan.Step
        if let owned = entity.ownership(order.name), let position = owned.position {
            let child = schema.entities[try schema.index(owned.child)]
            try statements.run(PatchSQL.owned(child, owned, position: position), key) { row in
                stored.append(child.identifier.indices.map(row.value))
            }
            step = .reorder(owned, wanted)
        } else if let join = entity.join(order.name), let position = join.position {
            try statements.run(PatchSQL.links(join, position: position), key) { row in
                stored.append(join.destinationColumns.indices.map(row.value))
            }
            step = .reorderLinks(join, owner: key, wanted)
        } else {
            return
        }
        if stored == wanted { return }
        if !Self.leads(from: before ?? [], to: wanted, by: stored), change.kind == .updated, !options.isUnchecked {
            guard try decide(change.conflict(.changed, order.name), &plan).policy == .take else { return }
        }
        plan.steps.append(step)
    }

    /// True if a list is the one before, but for members that the change takes out or adds: other changes may have done so by now.
    private static func leads(
        from before: [[StoredValue]],
        to wanted: [[StoredValue]],
        by stored: [[StoredValue]]
    ) -> Bool {
        if stored == before { return true }
        let (isBefore, isWanted, isStored) = (Set(before), Set(wanted), Set(stored))
        return stored.allSatisfy { isBefore.contains($0) || isWanted.contains($0) }
            && stored.filter(isBefore.contains) == before.filter { isStored.contains($0) || isWanted.contains($0) }
    }

    // MARK: Parts without identifier

    func addValues(
        _ change: ObjectChange,
        _ owned: PatchedEntity.Owned,
        _ key: [StoredValue],
        _ old: [OwnedValue]?,
        _ new: [OwnedValue],
        _ name: String,
        _ plan: inout ChangePlan
    ) throws {
        let child = try schema.index(owned.child)
        let stored = try values(of: owned, child, key)
        let wanted = normalized(new, child, owned)
        if stored == wanted { return }
        let isInTheWay = change.kind == .updated && (old.map { stored != normalized($0, child, owned) } ?? true)
        if isInTheWay, !(old == nil && options.isUnchecked) {
            guard try decide(change.conflict(.changed, name), &plan).policy == .take else { return }
        }
        plan.steps.append(.replace(owned, owner: key, wanted))
    }

    /// The parts of an owner as the store has them, in their order, or by what they are.
    package func values(of owned: PatchedEntity.Owned, _ index: Int, _ owner: [StoredValue]) throws -> [OwnedValue] {
        let child = schema.entities[index]
        var rows: [(key: StoredValue, cells: [StoredValue])] = []
        try statements.run(PatchSQL.values(child, owned), owner) { row in
            rows.append((row.value(0), child.columns.indices.map { row.value($0 + 1) }))
        }
        var list: [OwnedValue] = []
        for row in rows {
            var value = OwnedValue([])
            for name in child.attributeOrder {
                if let column = child.attributes[name] {
                    value.attributes.append(NamedValue(name.text, row.cells[column]))
                }
            }
            for reference in child.references where !reference.name.hasSameBytes(as: owned.inverse ?? "") {
                guard let destination = try? schema.entities[schema.index(reference.destination)], !destination.isValue
                else { continue }
                let cells = reference.columns.map { row.cells[$0] }
                value.references.append(
                    .init(
                        reference.name,
                        cells.contains(.null)
                            ? nil
                            : ObjectReference(
                                zip(destination.identifierNames, cells).map { NamedValue($0, $1) }
                            )
                    )
                )
            }
            for inner in child.owned {
                value.owned.append(.init(inner.name, try values(of: inner, schema.index(inner.child), [row.key])))
            }
            list.append(value)
        }
        return owned.position == nil ? list.sortedByContents : list
    }

    /// The parts that a change gives, as `values` has those of the store.
    func normalized(_ given: [OwnedValue], _ index: Int, _ owned: PatchedEntity.Owned) -> [OwnedValue] {
        let child = schema.entities[index]
        let list = given.map { given in
            var value = OwnedValue([])
            for name in child.attributeOrder where child.attributes[name] != nil {
                let found = given.attributes.first { BytewiseString($0.name) == name }
                value.attributes.append(NamedValue(name.text, found?.value ?? .null))
            }
            for reference in child.references where !reference.name.hasSameBytes(as: owned.inverse ?? "") {
                guard let destination = try? schema.entities[schema.index(reference.destination)], !destination.isValue
                else { continue }
                let found = given.references.first { $0.name.hasSameBytes(as: reference.name) }
                value.references.append(.init(reference.name, found?.target))
            }
            for inner in child.owned {
                let found = given.owned.first { $0.name.hasSameBytes(as: inner.name) }?.values ?? []
                let place = (try? schema.index(inner.child)) ?? index
                value.owned.append(.init(inner.name, normalized(found, place, inner)))
            }
            return value
        }
        return owned.position == nil ? list.sortedByContents : list
    }
}
