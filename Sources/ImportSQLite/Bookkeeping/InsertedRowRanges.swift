import Foundation
import GRDB
import ImportEngine
import ImportSources

/// Which rows of the store's tables imports have inserted (`_import_addition`): what a mirror may delete.
///
/// Each commit of an import notes the row ids that it has given, as ranges. A job that ends with fewer rows at the end of a
/// table notes that, too: SQLite gives their row ids to whatever is inserted next, by whomever
/// (<https://www.sqlite.org/autoinc.html>).
package enum InsertedRowRanges {
    private static let table = "_import_addition"
    /// No commit inserts more.
    private static let mostRows: UInt64 = 1 << 32
    /// More ranges than these are not joined.
    private static let mostJoined = 1_000

    // MARK: Writing

    /// Notes what a commit has inserted, in its transaction.
    ///
    /// Nothing is noted of rows whose row ids are not known one by one, as they are too many and too scattered: they are not
    /// deleted then.
    package static func save(_ changes: [EntityChanges], job: Int64, _ database: Database) throws {
        for change in changes where change.inserted > 0 {
            let count = change.insertedRanges.reduce(UInt64(0)) { $0.addingClamped($1) }
            guard count == UInt64(change.inserted) else { continue }
            try save(change.insertedRanges, of: change.table, job: job, database)
        }
    }

    package static func save(
        _ ranges: [ClosedRange<Int64>],
        of name: String,
        job: Int64,
        _ database: Database
    ) throws {
        let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
        guard let last = sorted.last?.upperBound else { return }
        try database.cachedStatement(
            sql: "INSERT INTO \(table) (job, table_name, kind, last_rowid, ranges) VALUES (?, ?, 'rows', ?, ?)"
        ).execute(arguments: [job, name, last, packed(sorted)])
    }

    private static func packed(_ sorted: [ClosedRange<Int64>]) -> Data {
        var numbers = LEB128Buffer()
        numbers.append(sorted)
        return Data(numbers.bytes)
    }

    /// Gives the rows of a job to an earlier one: those that follow on one another become one range.
    static func join(_ job: Int64, to first: Int64, _ database: Database) throws {
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: table,
            sql:
                "SELECT number, table_name, last_rowid, ranges FROM \(table) WHERE job = ? AND kind = 'rows' ORDER BY number",
            arguments: [job]
        )
        for row in rows {
            let (name, last) = (try row.text("table_name"), try row.rowID("last_rowid"))
            let before = try BookkeepingRow.fetchOne(
                database,
                from: table,
                sql: """
                    SELECT number, job, kind, last_rowid, ranges FROM \(table)
                    WHERE table_name = ? COLLATE NOCASE AND kind IN ('rows', 'end') AND number < ? ORDER BY number DESC LIMIT 1
                    """,
                arguments: [name, try row.number("number")]
            )
            guard let before, try before.number("job") == first, try before.text("kind") == "rows",
                let known = try ranges(before.bytes("ranges")), known.count < mostJoined,
                let added = try ranges(row.bytes("ranges")), added.count < mostJoined,
                let end = known.last?.upperBound, let start = added.first?.lowerBound, start > end
            else { continue }
            var joined = known
            for range in added {
                if let last = joined.last, last.upperBound &+ 1 == range.lowerBound,
                    UInt64(bitPattern: range.upperBound &- last.lowerBound) < mostRows
                {
                    joined[joined.count - 1] = last.lowerBound...range.upperBound
                } else {
                    joined.append(range)
                }
            }
            try database.execute(
                sql: "UPDATE \(table) SET last_rowid = ?, ranges = ? WHERE number = ?",
                arguments: [last, packed(joined), try before.number("number")]
            )
            try database.execute(sql: "DELETE FROM \(table) WHERE number = ?", arguments: [try row.number("number")])
        }
    }

    /// Notes where tables end, in the transaction that ends a job.
    static func noteEnds(of tables: [String], job: Int64, _ database: Database) throws {
        for name in tables where try database.hasTable(name) && StoredTable(name, database).hasRowID {
            let end =
                try Int64.fetchOne(database, sql: "SELECT max(rowid) FROM main.\(name.quotedIdentifier)") ?? .min
            var known = Int64.min
            try forEach(of: name, database) { last, ranges in
                known = ranges == nil ? min(known, last) : max(known, last)
            }
            guard known > end else { continue }
            try database.execute(
                sql: "INSERT INTO \(table) (job, table_name, kind, last_rowid) VALUES (?, ?, 'end', ?)",
                arguments: [job, name, end]
            )
        }
    }

    /// Forgets where tables ended when a job had deleted rows that are back now.
    static func forgetEnds(of job: Int64, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM \(table) WHERE job = ? AND kind = 'end'", arguments: [job])
    }

    /// Forgets which rows a job has inserted, as it is taken back.
    package static func forget(_ job: Int64, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM \(table) WHERE job = ? AND kind IN ('rows', 'end')",
            arguments: [job]
        )
    }

    // MARK: Reading

    /// Goes over what was noted of a table, in order: ranges that were inserted, or nil and where the table ended.
    private static func forEach(
        of name: String,
        _ database: Database,
        _ body: (_ last: Int64, _ ranges: [UInt8]?) throws -> Void
    ) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT last_rowid, ranges FROM \(table)
                WHERE table_name = ? COLLATE NOCASE AND kind IN ('rows', 'end') ORDER BY number
                """,
            arguments: [name]
        )
        while let next = try rows.next() {
            let row = BookkeepingRow(next, of: table, database)
            let hasRanges = next.hasNull(atIndex: 1) == false
            try body(row.rowID("last_rowid"), hasRanges ? row.bytes("ranges") : nil)
        }
    }

    /// Puts the row ids that imports have inserted into pages.
    package static func add(of name: String, to pages: RowIDBitmap, _ database: Database, check: () throws -> Void)
        throws
    {
        try forEach(of: name, database) { last, bytes in
            try check()
            guard let bytes else { return try pages.remove(after: last) }
            guard let ranges = ranges(bytes) else {
                throw ImportError(
                    damaged: UntrustedStoreGuard.path(of: database),
                    "\(table).ranges is not what was written"
                )
            }
            try pages.add(ranges)
        }
    }

    /// The job that has inserted a row last; nil where none is known to have, or its row id may have been given again.
    package static func job(of rowID: Int64, in name: String, _ database: Database) throws -> Int64? {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT job, last_rowid, ranges FROM \(table) WHERE table_name = ?1 COLLATE NOCASE
                    AND kind = iif(last_rowid >= ?2, 'rows', 'end') ORDER BY number
                """,
            arguments: [name, rowID]
        )
        var job: Int64?
        while let next = try rows.next() {
            let row = BookkeepingRow(next, of: table, database)
            if next.hasNull(atIndex: 2) {
                job = nil
            } else if let ranges = try ranges(row.bytes("ranges")), ranges.contains(where: { $0.contains(rowID) }) {
                job = try row.rowID("job")
            }
        }
        return job
    }

    /// The row ids that a job has given in a table, as far as they were noted.
    package static func ranges(of name: String, job: Int64, _ database: Database) throws -> [ClosedRange<Int64>] {
        try BookkeepingRow.fetchAll(
            database,
            from: table,
            sql: "SELECT ranges FROM \(table) WHERE job = ? AND table_name = ? COLLATE NOCASE AND ranges IS NOT NULL",
            arguments: [job, name]
        ).flatMap { try ranges($0.bytes("ranges")) ?? [] }
    }

    /// The row ids that jobs after one have given in a table, of commits that have given one from `first` on.
    static func ranges(of name: String, after job: Int64, from first: Int64, _ database: Database) throws
        -> [ClosedRange<Int64>]
    {
        try BookkeepingRow.fetchAll(
            database,
            from: table,
            sql: """
                SELECT ranges FROM \(table) WHERE job > ? AND table_name = ? COLLATE NOCASE AND ranges IS NOT NULL
                    AND last_rowid >= ?
                """,
            arguments: [job, name, first]
        ).flatMap { try ranges($0.bytes("ranges")) ?? [] }
    }

    /// How many rows of a table have one of these row ids.
    static func count(_ ranges: [ClosedRange<Int64>], in name: String, _ database: Database) throws -> Int64 {
        let sql = "SELECT count(*) FROM main.\(name.quotedIdentifier) WHERE rowid BETWEEN ? AND ?"
        let count = try database.cachedStatement(sql: sql)
        return try ranges.reduce(0) {
            try $0 + (Int64.fetchOne(count, arguments: [$1.lowerBound, $1.upperBound]) ?? 0)
        }
    }

    private static func ranges(_ bytes: [UInt8]) -> [ClosedRange<Int64>]? {
        var reader = LEB128Buffer.Reader(bytes)
        var ranges: [ClosedRange<Int64>] = []
        var (end, count): (Int64, UInt64) = (0, 0)
        while reader.bytesLeft > 0 {
            guard let gap = reader.nextSigned(), let width = reader.next(), width < mostRows else { return nil }
            let first = end &+ gap
            let (last, overflow) = first.addingReportingOverflow(Int64(width))
            count += width + 1
            guard !overflow, ranges.isEmpty || first > end, count <= mostRows else { return nil }
            ranges.append(first...last)
            end = last
        }
        return ranges
    }
}

extension UInt64 {
    fileprivate func addingClamped(_ range: ClosedRange<Int64>) -> UInt64 {
        let width = UInt64(bitPattern: range.upperBound &- range.lowerBound)
        let (sum, overflow) = addingReportingOverflow(width)
        return overflow || sum == .max ? .max : sum + 1
    }
}
