import GRDB
import ImportModel

/// Reads the records of a request one page after the other, each in a short transaction of its own.
///
/// Where an index, or the row ids, give the order, a page goes on after the last record of the one before (keyset paging).
/// What must be sorted, or cannot be found again by its values, is read by row ids, which one transaction collects: 8 bytes
/// in memory for each record that is left. Nobody is called in a transaction but for filling a page: however long whoever
/// gets the records takes, nothing keeps the store's WAL from being taken over.
struct RecordScan {
    private let reader: StoreReader
    private let request: FetchRequest
    private let attributes: [AttributeDescription]
    private let table: String
    private let order: RecordOrder
    private let condition: (sql: String, arguments: [Record.Value])?

    /// Records up to this many from the end of the whole are found from there.
    private static let mostBackwards = 10_000

    /// Whether to go on with this page.
    enum Step { case nextRecord, nextPage }

    /// - Throws: `ImportError` or `RecordPredicateError` when the request does not fit the entity.
    init(
        _ request: FetchRequest,
        of entity: EntityDescription,
        _ attributes: [AttributeDescription],
        in reader: StoreReader
    ) throws {
        self.reader = reader
        self.request = request
        self.attributes = attributes
        table = entity.table.quotedIdentifier
        order = try RecordOrder(request.sort, entity: entity)
        condition = try request.predicate?.compiled(for: entity)
    }

    /// Calls `body` with each record: a row with the row id and then the attributes' values.
    ///
    /// - Parameters:
    ///   - body: called in a transaction; it must not read from the store.
    ///   - endPage: called after each page, outside of any transaction.
    /// - Returns: whether all of it is from one state of the store: nobody committed anything between the first transaction
    ///   and the last one.
    func run(_ body: (StoredRow) throws -> Step, endPage: () throws -> Void) throws -> Bool {
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
        let statement = try RowStatement(
            database,
            sql: "SELECT count(*) FROM \(table)" + (condition.map { " WHERE \($0.sql)" } ?? "")
        )
        try statement.bind(condition?.arguments ?? [])
        defer { statement.reset() }
        return Int(clamping: try statement.next()?.integer(at: 0) ?? 0)
    }

    // MARK: Pages

    /// The values of the order's terms, and the row id.
    private typealias Key = (values: [Record.Value], rowID: Int64)
    private typealias Query = (sql: String, arguments: [Record.Value])

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
        case page(after: Key?)
        case rowIDs(ArraySlice<Int64>)
        case nothing
    }

    private func readPage(
        after key: Key?,
        _ progress: inout Progress,
        _ database: Database,
        _ body: (StoredRow) throws -> Step
    ) throws -> Next {
        try progress.begin(database)
        var parts: [Query?] = key.map { order.conditions(after: $0.values, rowID: $0.rowID) } ?? [nil]
        while progress.rest > 0, let part = parts.first {
            let (sql, arguments) = query(allColumns, where: part, limit: progress.rest)
            guard try isSortedByIndex(sql, arguments, database) else {
                return .rowIDs(try rowIDs(parts, limit: progress.rest, database)[...])
            }
            parts.removeFirst()
            let statement = try RowStatement(database, sql: sql)
            try statement.bind(arguments)
            defer { statement.reset() }
            while let row = try statement.next() {
                progress.rest -= 1
                guard try body(row) == .nextPage else { continue }
                if let key = self.key(of: row) { return .page(after: key) }
                var rowIDs: [Int64] = []
                while let row = try statement.next() { rowIDs.append(row.integer(at: 0)) }
                rowIDs += try self.rowIDs(parts, limit: progress.rest - rowIDs.count, database)
                return .rowIDs(rowIDs[...])
            }
        }
        return .nothing
    }

    /// The row ids of the records that meet the conditions, all of one before those of the next.
    private func rowIDs(_ parts: [Query?], limit: Int, _ database: Database) throws -> [Int64] {
        var rowIDs: [Int64] = []
        for part in parts where rowIDs.count < limit {
            let (sql, arguments) = query(["rowid"], where: part, limit: limit - rowIDs.count)
            let statement = try RowStatement(database, sql: sql)
            try statement.bind(arguments)
            defer { statement.reset() }
            while let row = try statement.next() { rowIDs.append(row.integer(at: 0)) }
        }
        return rowIDs
    }

    /// Reads records by their row ids; those that are gone, or meet the request's condition no longer, are left out.
    private func readPage(
        of rowIDs: ArraySlice<Int64>,
        _ progress: inout Progress,
        _ database: Database,
        _ body: (StoredRow) throws -> Step
    ) throws -> Next {
        try progress.begin(database)
        let columns = ["rowid"] + attributes.map(\.column.quotedIdentifier)
        let statement = try RowStatement(
            database,
            sql: "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE rowid = ?"
                + (condition.map { " AND \($0.sql)" } ?? "")
        )
        defer { statement.reset() }
        for (index, rowID) in zip(rowIDs.indices, rowIDs) {
            try statement.bind([.integer(rowID)] + (condition?.arguments ?? []))
            guard let row = try statement.next(), try body(row) == .nextPage else { continue }
            return .rowIDs(rowIDs[(index + 1)...])
        }
        return .nothing
    }

    /// Where to go on after a row; nil if a text of it is not well-formed, so that it could not be found again.
    private func key(of row: StoredRow) -> Key? {
        let places = order.terms.indices.map { attributes.count + 1 + $0 }
        guard places.allSatisfy({ row.isWellFormed(at: $0) }) else { return nil }
        return (places.map { row.stored(at: $0) }, row.integer(at: 0))
    }

    private var allColumns: [String] {
        ["rowid"] + attributes.map(\.column.quotedIdentifier) + order.terms.map(\.column)
    }

    /// - Parameter part: the condition for what comes after a record; nil for the whole, with the request's offset.
    private func query(_ columns: [String], where part: Query?, limit: Int) -> Query {
        let conditions = [condition, part].compactMap(\.self)
        let offset = part == nil ? max(0, request.offset) : 0
        var sql = "SELECT \(columns.joined(separator: ", ")) FROM \(table)"
        if !conditions.isEmpty { sql += " WHERE " + conditions.map(\.sql).joined(separator: " AND ") }
        sql += " ORDER BY \(order.sql)"
        var arguments = conditions.flatMap(\.arguments)
        if request.limit != nil || offset > 0 {
            sql += " LIMIT ? OFFSET ?"
            arguments += [.integer(request.limit == nil ? -1 : Int64(limit)), .integer(Int64(offset))]
        }
        return (sql, arguments)
    }

    /// Whether the rows come in their order by themselves, in all its terms.
    private func isSortedByIndex(_ sql: String, _ arguments: [Record.Value], _ database: Database) throws -> Bool {
        let statement = try RowStatement(database, sql: "EXPLAIN QUERY PLAN " + sql)
        try statement.bind(arguments)
        defer { statement.reset() }
        while let row = try statement.next() {
            if case .text(let detail) = row.stored(at: 3), detail.hasPrefix("USE TEMP B-TREE") {
                return false
            }
        }
        return true
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
            let statement = try RowStatement(
                database,
                sql: "SELECT rowid FROM \(table) ORDER BY \(order.reversed.sql) LIMIT ? OFFSET ?"
            )
            try statement.bind([.integer(Int64(count)), .integer(Int64(rest - count))])
            defer { statement.reset() }
            var rowIDs: [Int64] = []
            while let row = try statement.next() { rowIDs.append(row.integer(at: 0)) }
            return rowIDs.reversed()
        }
    }
}
