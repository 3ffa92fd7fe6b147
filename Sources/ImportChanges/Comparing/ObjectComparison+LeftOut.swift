import ImportModel
import ImportSQLite

/// What no change is about, as nothing identifies it.
extension ObjectComparison {
    /// Compares what the changes leave out, after all else.
    ///
    /// - Returns: the tables in which the states differ so.
    package func leftOut() throws -> [DifferenceSummary.LeftOut] {
        // Otherwise, not all owners are asked for.
        guard options.predicate == nil, options.roots.isEmpty else { return [] }
        var found: [DifferenceSummary.LeftOut] = []
        for (index, entity) in plan.entities.enumerated() where entity.isListed {
            for (place, join) in entity.joins.enumerated() where entity.isValue || loose.contains([index, place]) {
                try found.append(leftOut("\(entity.name).\(join.name)") { $0.leftOut(index, join) })
            }
            guard entity.isValue, entity.owner != nil else { continue }
            // Most often all of them were seen at their owner.
            let isComplete = try StoreState.allCases.allSatisfy {
                try counted(index, $0) ?? 0 == ownedCounts[$0][index]
            }
            if !isComplete { try found.append(leftOut(entity.name) { $0.leftOut(index) }) }
        }
        return found.filter { $0.old > 0 || $0.new > 0 }
    }

    private func leftOut(_ name: String, _ text: (ComparisonStatements) -> SQLFragment?) throws
        -> DifferenceSummary.LeftOut
    {
        var leftOut = DifferenceSummary.LeftOut(name: name, old: 0, new: 0)
        let rows = StatePair(
            try lookups.rows(text(statements.old), path: 0, .old),
            try lookups.rows(text(statements.new), path: 0, .new)
        )
        for side in StoreState.allCases { try rows[side]?.advance() }
        while let pair = Self.pair(rows, (rows.old ?? rows.new)?.columnCount ?? 0) {
            if pair.new == nil { leftOut.old += 1 }
            if pair.old == nil { leftOut.new += 1 }
            for row in [pair.old, pair.new] { try row?.advance() }
        }
        return leftOut
    }
}
