import GRDB
import ImportModel
import ImportSQLite

/// Reads the rows of both stores in the order of their row ids, side by side, and pairs those with the same identifier.
///
/// Where two rows have different identifiers, each is looked up in the other store: a row that is not there was inserted or deleted, and
/// one that comes a little later there has others before it. So a pair is found by a step on both sides most often, whatever the
/// row ids are. Rows without a pair are left, and so are pairs that differ.
///
/// It is made and used by one thread.
package final class RowPairReader {
    /// What is read of an entity.
    package struct Entity {
        fileprivate let scans: StatePair<SQLFragment>
        fileprivate let lookups: StatePair<SQLFragment>
        fileprivate let digests: StatePair<SQLFragment>
        fileprivate let identifierCells: Int
        fileprivate let mayBeNull: Bool

        package init?(_ index: Int, in plan: ComparisonPlan, _ statements: StatePair<ComparisonStatements>) {
            guard let old = statements.old.scan(index), let new = statements.new.scan(index),
                let oldRow = statements.old.rowID(index), let newRow = statements.new.rowID(index),
                let oldDigests = statements.old.digests(index), let newDigests = statements.new.digests(index)
            else { return nil }
            let entity = plan.entities[index]
            scans = StatePair(old, new)
            lookups = StatePair(oldRow, newRow)
            digests = StatePair(oldDigests, newDigests)
            identifierCells = ComparisonRowLayout(entity, plan).keyCount
            mayBeNull = entity.identifierMayBeNull.old || entity.identifierMayBeNull.new
        }
    }

    /// What was found out of some rows.
    package struct Findings {
        package var same: Int64 = 0
        /// The row ids of those that are left.
        package var left = StatePair<[Int64]>([], [])
        package var count: Int { left.old.count + left.new.count }
    }

    private let entity: Entity
    private let scans: StatePair<PackedRowCursor>
    private let lookups: StatePair<ComparisonCursor>

    /// How many row ids are kept in memory.
    private static let batch = 4_096
    /// How many row ids later a row may be that others have come before.
    private static let reach: Int64 = 10_000
    /// How many rows are tried for where ranges begin.
    private static let trials = 100

    package init(_ entity: Entity, _ stores: StatePair<ComparedStore>) throws {
        self.entity = entity
        scans = StatePair(
            try stores.old.packedRows(entity.scans.old, identifierCells: entity.identifierCells),
            try stores.new.packedRows(entity.scans.new, identifierCells: entity.identifierCells)
        )
        lookups = StatePair(
            try stores.old.rows(entity.lookups.old, path: 0),
            try stores.new.rows(entity.lookups.new, path: 0)
        )
    }

    // MARK: Ranges

    /// Divides all rows into ranges of row ids that begin with the same object on both sides.
    ///
    /// - Parameters:
    ///   - all: the first and the last row id of each side.
    ///   - count: how many ranges there may be.
    package func ranges(_ all: StatePair<ClosedRange<Int64>>, _ count: Int) throws -> [StatePair<ClosedRange<Int64>>] {
        var ranges: [StatePair<ClosedRange<Int64>>] = []
        var rest = all
        let step = (UInt64(bitPattern: all.old.upperBound) &- UInt64(bitPattern: all.old.lowerBound)) / UInt64(count)
        for part in 1..<max(1, count) {
            let wanted = Int64(bitPattern: UInt64(bitPattern: all.old.lowerBound) &+ step * UInt64(part))
            guard let begin = try pair(from: wanted, to: all.old.upperBound), begin.old > rest.old.lowerBound,
                begin.new > rest.new.lowerBound
            else { continue }
            ranges.append(StatePair(rest.old.lowerBound...begin.old - 1, rest.new.lowerBound...begin.new - 1))
            rest = StatePair(begin.old...all.old.upperBound, begin.new...max(begin.new, all.new.upperBound))
        }
        return ranges + [rest]
    }

    /// The row ids of the first object from a row id on that is on both sides, if it is soon found.
    private func pair(from first: Int64, to last: Int64) throws -> StatePair<Int64>? {
        try scans.old.begin(first...last)
        defer { scans.old.reset() }
        for _ in 0..<Self.trials {
            guard scans.old.hasRow else { return nil }
            if let other = try rowID(of: scans.old, in: .new) { return StatePair(scans.old.rowID, other) }
            try scans.old.advance()
        }
        return nil
    }

    /// The row id of the object of a row in the other store; nil where it is not there.
    private func rowID(of row: PackedRowCursor, in side: StoreState) throws -> Int64? {
        lookups[side].bind(row.identifier)
        defer { lookups[side].reset() }
        try lookups[side].advance()
        return lookups[side].hasRow ? lookups[side].integer(0) : nil
    }

    // MARK: Pairs

    /// Reads ranges of both stores.
    ///
    /// - Parameter keep: is given what was found out now and then, and says whether to go on.
    package func read(_ range: StatePair<ClosedRange<Int64>>, _ keep: (Findings) throws -> Bool) throws {
        var findings = Findings()
        defer { for side in StoreState.allCases { scans[side].reset() } }
        let (old, new) = (scans.old, scans.new)
        let mayBeNull = entity.mayBeNull
        try old.begin(range.old)
        // An object without identifier is an error, which is found where they are compared by it.
        try new.begin(range.new, passing: mayBeNull ? nil : old)
        func keepAll() throws -> Bool {
            findings.same += new.takeSameCount()
            defer { findings = Findings() }
            return try keep(findings)
        }
        while old.hasRow && new.hasRow {
            if PackedRowCursor.areEqual(old, new), !mayBeNull || !old.isUnknown {
                findings.same += 1
                try old.advance()
                try new.advance()
            } else if PackedRowCursor.haveSameIdentifier(old, new) {
                findings.left.old.append(old.rowID)
                findings.left.new.append(new.rowID)
                try old.advance()
                try new.advance()
            } else {
                try pass(&findings)
            }
            if findings.count >= Self.batch {
                guard try keepAll() else { return }
            }
        }
        for side in StoreState.allCases {
            while scans[side].hasRow {
                try leave(side, &findings)
                if findings.count >= Self.batch {
                    guard try keepAll() else { return }
                }
            }
        }
        _ = try keepAll()
    }

    private func leave(_ side: StoreState, _ findings: inout Findings) throws {
        findings.left[side].append(scans[side].rowID)
        try scans[side].advance()
    }

    /// Passes by one row or a few, of which at least one has no pair here.
    private func pass(_ findings: inout Findings) throws {
        guard let inOld = try rowID(of: scans.new, in: .old) else { return try leave(.new, &findings) }
        guard let inNew = try rowID(of: scans.old, in: .new) else { return try leave(.old, &findings) }
        if try leave(.new, upTo: inNew, &findings) || leave(.old, upTo: inOld, &findings) { return }
        for side in StoreState.allCases { try leave(side, &findings) }
    }

    /// Passes by the rows before one that is not far.
    ///
    /// - Returns: false where it is too far, and nothing was done.
    private func leave(_ side: StoreState, upTo target: Int64, _ findings: inout Findings) throws -> Bool {
        let (distance, overflows) = target.subtractingReportingOverflow(scans[side].rowID)
        guard distance > 0, distance <= Self.reach, !overflows else { return false }
        while scans[side].hasRow, scans[side].rowID < target { try leave(side, &findings) }
        return true
    }

    // MARK: Digests

    /// Reads all rows of both stores in the order of their identifiers, whatever order they lie in: what differs is known by its digest.
    ///
    /// - Parameter keep: is given what was found out now and then, and says whether to go on.
    static func readSorted(
        _ entity: Entity,
        _ stores: StatePair<ComparedStore>,
        _ keep: (Findings) throws -> Bool
    ) throws {
        let (old, new) = (
            try stores.old.rows(entity.digests.old, path: 0), try stores.new.rows(entity.digests.new, path: 0)
        )
        let count = entity.identifierCells
        var findings = Findings()
        try old.advance()
        try new.advance()
        while let pair = ObjectComparison.pair(StatePair(old, new), count) {
            if let one = pair.old, let other = pair.new,
                ComparisonCursor.areEqual(one, count + 1, other, count + 1, count: one.columnCount - count - 1),
                (0..<count).allSatisfy({ !one.isNull($0) })
            {
                findings.same += 1
            } else {
                if let one = pair.old { findings.left.old.append(one.integer(count)) }
                if let other = pair.new { findings.left.new.append(other.integer(count)) }
            }
            try pair.old?.advance()
            try pair.new?.advance()
            if findings.count >= batch {
                guard try keep(findings) else { return }
                findings = Findings()
            }
        }
        _ = try keep(findings)
    }
}
