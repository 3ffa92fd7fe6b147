import ImportEngine
import ImportModel

/// What has become of the objects that an object owns.
extension ObjectComparison {
    func addOwned(
        _ index: Int,
        _ place: Int,
        _ old: ComparisonCursor?,
        _ new: ComparisonCursor?,
        _ node: OwnedRows?,
        _ builder: inout ObjectChangeBuilder
    ) throws {
        let owned = plan.entities[index].owned[place]
        let owner = StatePair(old, new)
        var rows = StatePair<ComparisonCursor?>(nil, nil)
        for side in StoreState.allCases {
            guard let parent = owner[side] else { continue }
            if let node {
                rows[side] = node.rows[side]
                // What comes before belongs to nothing that is told here.
                while let rows = rows[side], rows.hasRow,
                    ComparisonCursor.order(rows, 0, parent, 0, count: rows.path) < 0
                {
                    try advance(rows, owned.child, side)
                }
            } else {
                rows[side] = try lookups.owned(owned.child, of: parent, layouts[index].keyCount, side)
            }
        }
        // The rows of this owner, of which there are none any more behind the first of another.
        func own(_ side: StoreState) -> ComparisonCursor? {
            guard let rows = rows[side], rows.hasRow, let parent = owner[side] else { return nil }
            return node == nil || ComparisonCursor.areEqual(rows, 0, parent, 0, count: rows.path) ? rows : nil
        }
        if plan.entities[owned.child].isValue {
            return try addValues(owned, owner, own, &builder)
        }
        var changes: [ObjectChange] = []
        var moved: [ObjectReference] = []
        var isReordered = false
        let layout = layouts[owned.child]
        while let pair = Self.pair(StatePair(own(.old), own(.new)), layout.keyCount) {
            if pair.old != nil { ownedCounts.old[owned.child] += 1 }
            if pair.new != nil { ownedCounts.new[owned.child] += 1 }
            if let change = try child(owned, pair.old, pair.new, node, &moved) { changes.append(change) }
            if owned.isOrdered {
                isReordered =
                    isReordered || pair.old == nil || pair.new == nil
                    || !Self.haveSamePosition(pair.old, pair.new, layout)
            }
            if let old = pair.old { try advance(old, owned.child, .old) }
            if let new = pair.new { try advance(new, owned.child, .new) }
        }
        if node == nil { lookups.endOwned(owned.child) }
        if !changes.isEmpty { builder.relationships.append(OwnedChange(owned.name, .objects(changes))) }
        if new == nil, !moved.isEmpty { builder.moved.append(MovedObjects(owned.name, moved)) }
        if isReordered, owned.isToMany {
            try addOrder(owned.name, owner, &builder) { row, side in
                try lookups.list(owned, of: row, layouts[index].keyCount, side).map {
                    ObjectReference(zip(plan.entities[owned.child].identifier, $0).map { NamedValue($0, $1) })
                }
            }
        }
    }

    private static func haveSamePosition(
        _ old: ComparisonCursor?,
        _ new: ComparisonCursor?,
        _ layout: ComparisonRowLayout
    )
        -> Bool
    {
        guard let old, let new, let position = layout.position else { return true }
        return ComparisonCursor.areEqual(old, old.path + position, new, new.path + position, count: 1)
    }

    /// An object of an owner, in one of the states or in both.
    private func child(
        _ owned: ComparedEntity.Owned,
        _ old: ComparisonCursor?,
        _ new: ComparisonCursor?,
        _ node: OwnedRows?,
        _ moved: inout [ObjectReference]
    ) throws -> ObjectChange? {
        let inside = Inside(nodes: node?.nodes, isNested: true)
        if let old, new == nil, try lookups.object(owned.child, like: old, .new) != nil {
            moved.append(reference(owned.child, old, at: old.path))
            return nil
        }
        if let new, old == nil, let before = try lookups.object(owned.child, like: new, .old) {
            return try compare(owned.child, before, new, Inside(isNested: true, isMoved: true))
        }
        return try compare(owned.child, old, new, inside)
    }

    private func addValues(
        _ owned: ComparedEntity.Owned,
        _ owner: StatePair<ComparisonCursor?>,
        _ own: (StoreState) -> ComparisonCursor?,
        _ builder: inout ObjectChangeBuilder
    ) throws {
        var values = StatePair<[OwnedValue]?>(nil, nil)
        for side in StoreState.allCases where owner[side] != nil {
            var list: [OwnedValue] = []
            while let rows = own(side) {
                list.append(try value(owned.child, rows, side))
                ownedCounts[side][owned.child] += 1
                try rows.advance()
            }
            // Without an order, what its parts own decides among equal ones.
            values[side] = owned.positions[side] == nil ? list.sortedByContents : list
        }
        guard values.old ?? [] != values.new ?? [] else { return }
        if options.old == .none, values.new != nil { values.old = nil }
        builder.relationships.append(OwnedChange(owned.name, .values(old: values.old, new: values.new)))
        builder.changesValues = true
    }

    /// An object without identifier, with what it owns.
    private func value(_ index: Int, _ rows: ComparisonCursor, _ side: StoreState) throws -> OwnedValue {
        let entity = plan.entities[index]
        let layout = layouts[index]
        var value = OwnedValue([])
        for (place, attribute) in entity.attributes.enumerated() where attribute.columns[side] != nil {
            value.attributes.append(NamedValue(attribute.name, rows.value(rows.path + layout.attributes[place])))
        }
        let inverse = entity.owner.map { plan.entities[$0.entity].owned[$0.place].reference }
        for (place, reference) in entity.references.enumerated() where place != inverse {
            let count = plan.entities[reference.destination].identifier.count
            guard count > 0 else { continue }
            let first = rows.path + layout.references[place]
            let isNull = (first..<first + count).contains(where: rows.isNull)
            value.references.append(
                .init(reference.name, isNull ? nil : self.reference(reference.destination, rows, at: first))
            )
        }
        for owned in entity.owned where plan.entities[owned.child].isValue {
            let inner = try lookups.owned(owned.child, of: rows, layout.keyCount, side)
            var list: [OwnedValue] = []
            while let inner, inner.hasRow {
                list.append(try self.value(owned.child, inner, side))
                ownedCounts[side][owned.child] += 1
                try inner.advance()
            }
            inner?.reset()
            value.owned.append(.init(owned.name, owned.positions[side] == nil ? list.sortedByContents : list))
        }
        return value
    }
}
