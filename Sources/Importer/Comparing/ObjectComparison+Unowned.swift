import ImportModel

/// What belongs to nothing and has no identifier: no change can say what has become of it.
extension ObjectComparison {
    /// Compares what nothing owns, after all else.
    ///
    /// - Returns: the tables in which the states differ so.
    func unowned() throws -> [DifferenceSummary.Unowned] {
        // Otherwise, not all owners are asked for.
        guard options.predicate == nil, options.roots.isEmpty else { return [] }
        var found: [DifferenceSummary.Unowned] = []
        for (index, entity) in plan.entities.enumerated() where entity.isListed {
            for (place, join) in entity.joins.enumerated() where loose.contains([index, place]) {
                let texts = BothSides(statements.old.unowned(index, join), statements.new.unowned(index, join))
                try found.append(unowned("\(entity.name).\(join.name)", texts))
            }
            guard entity.isValue, entity.owner != nil else { continue }
            // Most often all of them were seen at their owner.
            let isComplete = try Side.allCases.allSatisfy { try counted(index, $0) ?? 0 == seen[$0][index] }
            if isComplete { continue }
            try found.append(
                unowned(entity.name, BothSides(statements.old.unowned(index), statements.new.unowned(index)))
            )
        }
        return found.filter { $0.old > 0 || $0.new > 0 }
    }

    private func unowned(_ name: String, _ texts: BothSides<SQLText?>) throws -> DifferenceSummary.Unowned {
        var unowned = DifferenceSummary.Unowned(name: name, old: 0, new: 0)
        let rows = BothSides(
            try lookups.rows(texts.old, path: 0, .old),
            try lookups.rows(texts.new, path: 0, .new)
        )
        for side in Side.allCases { try rows[side]?.advance() }
        while let pair = Self.pair(rows, (rows.old ?? rows.new)?.columnCount ?? 0) {
            if pair.new == nil { unowned.old += 1 }
            if pair.old == nil { unowned.new += 1 }
            for row in [pair.old, pair.new] { try row?.advance() }
        }
        return unowned
    }
}
