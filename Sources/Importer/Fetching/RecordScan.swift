import GRDB
import ImportEngine
import ImportModel
import ImportSQLite

import struct ImportSources.FetchRequest

/// Reads the records of a request one page after the other, each in a short transaction of its own.
///
/// Where an index, or the row ids, give the order, a page continues after the last record of the one before (keyset paging).
/// What must be sorted is read by row ids, which one transaction collects: 8 bytes in memory for each record that is left. Nobody is called in a transaction but for filling a page: however long anyone who
/// gets the records takes, nothing keeps the store's WAL from being taken over.
struct RecordScan {
    private let reader: StoreReader
    private let request: FetchRequest
    private let contents: RecordProjection
    private let table: String
    private let order: RecordOrder
    private let condition: SQLFragment?

    /// Records up to this many from the end of the whole are found from there.
    private static let mostBackwards = 10_000

    /// Whether to continue with this page.
    enum Step { case nextRecord, nextPage }

    /// - Throws: `ImportError` or `RecordPredicateError` when the request does not fit the entity.
    init(
        _ request: FetchRequest,
        _ contents: RecordProjection,
        in reader: StoreReader
    ) throws {
        self.reader = reader
        self.request = request
        self.contents = contents
        let entity = contents.entity
        table = entity.description.table.quotedIdentifier
        order = try reader.read { try RecordOrder(request.sort, of: entity, $0) }
        let conditions = [entity.condition, try request.predicate?.compiled(for: entity).condition]
            .compactMap(\.self)
        condition = conditions.isEmpty ? nil : .all(conditions)
    }

    /// Calls `body` with each record: a row with the row id, the attributes' values, and what related objects are found by.
    ///
    /// - Parameters:
    ///   - body: called in a transaction; it may read from the database that it gets, and by no other way.
    ///   - endPage: called after each page, outside of any transaction.
    /// - Returns: whether all of it is from one state of the store: nobody committed anything between the first transaction
    ///   and the last one.
    func run(_ body: (StoredRow, Database) throws -> Step, endPage: () throws -> Void) throws -> Bool {
        var progress = Progress(rest: max(0, request.limit ?? .max))
        guard progress.rest > 0 else { return true }
        var next = try lastRowIDs(&progress).map { Next.rowIDs($0[...]) } ?? .page(after: nil)
        while true {
            switch next {
            case .page(let key):
                next = try reader.read { try readPage(after: key, &progress, $0, body) }
            case .rowIDs(let rowIDs):
                next = try reader.read { try readPage(of: rowIDs, &progress, $0, body) }
            case .nothing:
                return progress.isConsistent
            }
            try endPage()
        }
    }

    /// How many records there are, after offset and limit.
    func count() throws -> Int {
        let all: Int = try reader.read { try total($0) }
        return min(max(0, request.limit ?? .max), max(0, all - max(0, request.offset)))
    }

    private func total(_ database: Database) throws -> Int {
        let text = SQLFragment("SELECT count(*) FROM \(table)") + filter()
        return Int(clamping: try RawRowCursor.number(database, text) ?? 0)
    }

    /// `WHERE`, where anything must hold.
    private func filter(_ part: SQLFragment? = nil) -> SQLFragment {
        let conditions = [condition, part].compactMap(\.self)
        return conditions.isEmpty ? SQLFragment("") : SQLFragment(" WHERE ") + .all(conditions)
    }

    // MARK: Pages

    private struct Progress {
        /// How many records are left of the limit.
        var rest: Int
        var dataVersion: Int64?
        var isConsistent = true

        init(rest: Int) { self.rest = rest }

        /// Begins a transaction.
        mutating func begin(_ database: Database) throws {
            let version = try Int64.fetchOne(database, sql: "PRAGMA data_version")
            if dataVersion != nil, version != dataVersion { isConsistent = false }
            dataVersion = version
        }
    }

    /// What the next transaction reads.
    private enum Next {
        /// The records after the one with this key, or from the beginning.
        case page(after: RecordKey?)
        case rowIDs(ArraySlice<Int64>)
        case nothing
    }

    private func readPage(
        after key: RecordKey?,
        _ progress: inout Progress,
        _ database: Database,
        _ body: (StoredRow, Database) throws -> Step
    ) throws -> Next {
        try progress.begin(database)
        var parts: [SQLFragment?] = key.map { order.ranges(from: $0, backwards: false, including: false) } ?? [nil]
        while progress.rest > 0, let part = parts.first {
            let columns = SelectedColumns(allColumns, of: table)
            let query = query(columns.list, where: part, limit: progress.rest)
            guard try !query.sorts(database) else {
                return .rowIDs(try rowIDs(parts, limit: progress.rest, database)[...])
            }
            parts.removeFirst()
            let statement = try RawRowCursor(database, query, beyond: columns.beyond)
            defer { statement.reset() }
            while let row = try statement.next() {
                progress.rest -= 1
                if try body(row, database) == .nextPage { return .page(after: self.key(of: row)) }
            }
        }
        return .nothing
    }

    /// The row ids of the records that meet the conditions, all of one before those of the next.
    private func rowIDs(_ parts: [SQLFragment?], limit: Int, _ database: Database) throws -> [Int64] {
        var rowIDs: [Int64] = []
        for part in parts where rowIDs.count < limit {
            rowIDs += try Self.rowIDs(query("rowid", where: part, limit: limit - rowIDs.count), database)
        }
        return rowIDs
    }

    private static func rowIDs(_ query: SQLFragment, _ database: Database) throws -> [Int64] {
        let statement = try RawRowCursor(database, query)
        defer { statement.reset() }
        var rowIDs: [Int64] = []
        while let row = try statement.next() { rowIDs.append(row.integer(at: 0)) }
        return rowIDs
    }

    /// Reads records by their row ids; those that are gone, or meet the request's condition no longer, are left out.
    private func readPage(
        of rowIDs: ArraySlice<Int64>,
        _ progress: inout Progress,
        _ database: Database,
        _ body: (StoredRow, Database) throws -> Step
    ) throws -> Next {
        try progress.begin(database)
        let columns = SelectedColumns(valueColumns, of: table)
        let query = SQLFragment("SELECT \(columns.list) FROM \(table)") + filter(SQLFragment("rowid = ?"))
        let statement = try RawRowCursor(database, query, beyond: columns.beyond)
        defer { statement.reset() }
        for (index, rowID) in zip(rowIDs.indices, rowIDs) {
            try statement.bind(query.arguments + [.integer(rowID)])
            guard let row = try statement.next(), try body(row, database) == .nextPage else { continue }
            return .rowIDs(rowIDs[(index + 1)...])
        }
        return .nothing
    }

    /// Where to continue after a row.
    private func key(of row: StoredRow) -> RecordKey {
        let first = valueColumns.count
        return RecordKey(row, columns: first..<first + order.terms.count)
    }

    private var valueColumns: [String] {
        ["rowid"] + contents.columns + contents.sources
    }

    private var allColumns: [String] { valueColumns + order.terms.map(\.column) }

    /// - Parameter part: the condition for what comes after a record; nil for the whole, with the request's offset.
    private func query(_ columns: String, where part: SQLFragment?, limit: Int) -> SQLFragment {
        let offset = part == nil ? max(0, request.offset) : 0
        var query = SQLFragment("SELECT \(columns) FROM \(table)") + filter(part)
        query.sql += " ORDER BY \(order.sql())"
        if request.limit != nil || offset > 0 {
            query.sql += " LIMIT ? OFFSET ?"
            query.arguments += [.integer(request.limit == nil ? -1 : Int64(limit)), .integer(Int64(offset))]
        }
        return query
    }

    // MARK: The last records

    /// The row ids of what was asked for, if that is nearer to the end of the whole than to its beginning.
    private func lastRowIDs(_ progress: inout Progress) throws -> [Int64]? {
        guard request.offset > Self.mostBackwards, condition == nil else { return nil }
        return try reader.read { database in
            try progress.begin(database)
            let rest = try total(database) - request.offset
            guard rest > 0 else { return [] }
            let count = min(rest, request.limit ?? .max)
            guard rest < request.offset, count <= Self.mostBackwards else { return nil }
            let query = SQLFragment(
                "SELECT rowid FROM \(table) ORDER BY \(order.sql(backwards: true)) LIMIT ? OFFSET ?",
                [.integer(Int64(count)), .integer(Int64(rest - count))]
            )
            return try Self.rowIDs(query, database).reversed()
        }
    }
}
