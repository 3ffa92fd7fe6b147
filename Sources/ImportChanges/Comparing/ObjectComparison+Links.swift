import ImportEngine
import ImportModel

/// What has become of an object's links, which a table of its own has, and of the order of its lists.
extension ObjectComparison {
    func addLinks(
        _ index: Int,
        _ place: Int,
        _ old: ComparisonCursor?,
        _ new: ComparisonCursor?,
        _ streams: StatePair<ComparisonCursor?>?,
        _ builder: inout ObjectChangeBuilder
    ) throws {
        let join = plan.entities[index].joins[place]
        let count = plan.entities[join.destination].identifier.count
        guard count > 0 else { return }
        let owner = StatePair(old, new)
        let keyCount = layouts[index].keyCount
        let first = streams == nil ? 0 : keyCount
        var rows = StatePair<ComparisonCursor?>(nil, nil)
        for side in StoreState.allCases {
            guard let parent = owner[side] else { continue }
            guard let streams else {
                rows[side] = try lookups.links(index, place, of: parent, keyCount, side)
                continue
            }
            rows[side] = streams[side]
            while let rows = rows[side], rows.hasRow,
                ComparisonCursor.order(rows, 0, parent, parent.path, count: keyCount) < 0
            {
                loose.insert([index, place])
                try rows.advance()
            }
        }
        func own(_ side: StoreState) -> ComparisonCursor? {
            guard let rows = rows[side], rows.hasRow, let parent = owner[side] else { return nil }
            return streams == nil || ComparisonCursor.areEqual(rows, 0, parent, parent.path, count: keyCount)
                ? rows : nil
        }
        var added: [ObjectReference] = []
        var removed: [ObjectReference] = []
        var included: [ObjectChange] = []
        var isReordered = false
        while true {
            let pair = (own(.old), own(.new))
            guard pair.0 != nil || pair.1 != nil else { break }
            var order = pair.0 == nil ? 1 : -1
            if let one = pair.0, let other = pair.1 {
                order = ComparisonCursor.order(one, first, other, first, count: count)
                let position = first + count
                if order == 0, !ComparisonCursor.areEqual(one, position, other, position, count: 1) {
                    isReordered = true
                }
            }
            if join.isIncluded, let rows = order < 0 ? pair.0 : pair.1,
                let change = try self.included(join.destination, rows, at: first)
            {
                included.append(change)
            }
            if order <= 0, let rows = pair.0 {
                if order < 0 { removed.append(reference(join.destination, rows, at: first)) }
                try rows.advance()
            }
            if order >= 0, let rows = pair.1 {
                if order > 0 { added.append(reference(join.destination, rows, at: first)) }
                try rows.advance()
            }
        }
        if !added.isEmpty || !removed.isEmpty {
            isReordered = true
            builder.references.append(ReferenceChange(join.name, .toMany(added: added, removed: removed)))
        }
        if !included.isEmpty { builder.relationships.append(OwnedChange(join.name, .objects(included))) }
        guard isReordered, join.isOrdered else { return }
        try addOrder(join.name, owner, &builder) { row, side in
            try lookups.list(index, place, of: row, keyCount, side).map {
                ObjectReference(zip(plan.entities[join.destination].identifier, $0).map { NamedValue($0, $1) })
            }
        }
    }

    /// Adds a list in both of its orders, where they differ.
    func addOrder(
        _ name: String,
        _ owner: StatePair<ComparisonCursor?>,
        _ builder: inout ObjectChangeBuilder,
        _ list: (ComparisonCursor, StoreState) throws -> [ObjectReference]
    ) throws {
        let old = try owner.old.map { try list($0, .old) }
        let new = try owner.new.map { try list($0, .new) }
        guard old ?? [] != new ?? [] else { return }
        builder.order.append(OrderChange(name, old: options.old == .none && new != nil ? nil : old, new: new))
    }
}
