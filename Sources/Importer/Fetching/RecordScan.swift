import GRDB
import ImportModel

/// Reads the records of a request one after the other, in short transactions.
///
/// Where an index, or the row ids, give the order, a transaction ends with each page, and the next one goes on after the last
/// record of it (keyset paging): however long whoever gets the records takes, nothing keeps the store's WAL from being taken
/// over. Where the records must be sorted, all are read in one transaction.
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
    ///   - endPage: called after each page, outside of a transaction where that can be.
    /// - Returns: whether all of it is from one state of the store.
    func run(_ body: (StoredRow) throws -> Step, endPage: () throws -> Void) throws -> Bool {
        guard request.limit ?? 1 > 0 else { return true }
        if let rowIDs = try lastRowIDs() {
            try reader.read { try run(rowIDs, $0, body, endPage: endPage) }
            try endPage()
            return true
        }
        var progress = Progress(rest: request.limit ?? .max)
        while true {
            let isMore = try reader.read { database -> Bool in
                try readPage(&progress, database, body, endPage: endPage)
            }
            guard isMore else { break }
            try endPage()
        }
        try endPage()
        return progress.isConsistent
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

    private struct Progress {
        /// How many records are left of the limit.
        var rest: Int
        var lastKey: (values: [Record.Value], rowID: Int64)?
        var dataVersion: Int64?
        var isConsistent = true
    }

    /// - Returns: whether there may be another page.
    private func readPage(
        _ progress: inout Progress,
        _ database: Database,
        _ body: (StoredRow) throws -> Step,
        endPage: () throws -> Void
    ) throws -> Bool {
        let version = try Int64.fetchOne(database, sql: "PRAGMA data_version")
        if progress.dataVersion != nil, version != progress.dataVersion { progress.isConsistent = false }
        progress.dataVersion = version
        guard let key = progress.lastKey else {
            let (sql, arguments) = query(where: nil, offset: max(0, request.offset))
            let isSorted = try isSortedByIndex(sql, arguments, database)
            return try read(sql, arguments, &progress, database, body, isPaged: isSorted, endPage: endPage)
        }
        for part in order.conditions(after: key.values, rowID: key.rowID) {
            let (sql, arguments) = query(where: part, offset: 0)
            if try read(sql, arguments, &progress, database, body, isPaged: true, endPage: endPage) { return true }
        }
        return false
    }

    /// - Parameter isPaged: whether the transaction ends with the page; else `endPage` is called within.
    /// - Returns: whether it ended with a page; else there are no more rows.
    private func read(
        _ sql: String,
        _ arguments: [Record.Value],
        _ progress: inout Progress,
        _ database: Database,
        _ body: (StoredRow) throws -> Step,
        isPaged: Bool,
        endPage: () throws -> Void
    ) throws -> Bool {
        guard progress.rest > 0 else { return false }
        let statement = try RowStatement(database, sql: sql)
        try statement.bind(arguments)
        defer { statement.reset() }
        while progress.rest > 0, let row = try statement.next() {
            progress.rest -= 1
            guard try body(row) == .nextPage else { continue }
            if isPaged, let key = key(of: row) {
                progress.lastKey = key
                return true
            }
            try endPage()
        }
        return false
    }

    /// Where to go on after a row; nil if a text of it is not well-formed, so that it could not be found again.
    private func key(of row: StoredRow) -> (values: [Record.Value], rowID: Int64)? {
        let places = order.terms.indices.map { attributes.count + 1 + $0 }
        guard places.allSatisfy({ row.isWellFormed(at: $0) }) else { return nil }
        return (places.map { row.stored(at: $0) }, row.integer(at: 0))
    }

    private func query(
        where part: (sql: String, arguments: [Record.Value])?,
        offset: Int
    ) -> (sql: String, arguments: [Record.Value]) {
        let conditions = [condition, part].compactMap(\.self)
        let columns = ["rowid"] + attributes.map(\.column.quotedIdentifier) + order.terms.map(\.column)
        var sql = "SELECT \(columns.joined(separator: ", ")) FROM \(table)"
        if !conditions.isEmpty { sql += " WHERE " + conditions.map(\.sql).joined(separator: " AND ") }
        sql += " ORDER BY \(order.sql)"
        var arguments = conditions.flatMap(\.arguments)
        if let limit = request.limit, part == nil {
            sql += " LIMIT ? OFFSET ?"
            arguments += [.integer(Int64(limit)), .integer(Int64(offset))]
        } else if offset > 0 {
            sql += " LIMIT -1 OFFSET ?"
            arguments.append(.integer(Int64(offset)))
        }
        return (sql, arguments)
    }

    /// Whether the rows come in their order by themselves.
    private func isSortedByIndex(_ sql: String, _ arguments: [Record.Value], _ database: Database) throws -> Bool {
        let statement = try RowStatement(database, sql: "EXPLAIN QUERY PLAN " + sql)
        try statement.bind(arguments)
        defer { statement.reset() }
        while let row = try statement.next() {
            if case .text(let detail) = row.stored(at: 3), detail.hasPrefix("USE TEMP B-TREE FOR ORDER BY") {
                return false
            }
        }
        return true
    }

    // MARK: The last records

    /// The row ids of what was asked for, if that is nearer to the end of the whole than to its beginning.
    private func lastRowIDs() throws -> [Int64]? {
        guard request.offset > Self.mostBackwards, condition == nil else { return nil }
        return try reader.read { database in
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

    private func run(
        _ rowIDs: [Int64],
        _ database: Database,
        _ body: (StoredRow) throws -> Step,
        endPage: () throws -> Void
    ) throws {
        let columns = ["rowid"] + attributes.map(\.column.quotedIdentifier)
        let statement = try RowStatement(
            database,
            sql: "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE rowid = ?"
        )
        defer { statement.reset() }
        for rowID in rowIDs {
            try statement.bind([.integer(rowID)])
            guard let row = try statement.next(), try body(row) == .nextPage else { continue }
            try endPage()
        }
    }
}
