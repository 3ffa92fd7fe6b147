import GRDB
import ImportModel

/// The statements by which a view reads.
///
/// From a known record on it reads by the record's key, not by counting from the first one: some ranges one after another,
/// each of which SQLite finds with one search in an index on the order
/// (<https://www.sqlite.org/rowvalue.html#scrolling_window_queries>; nulls and mixed directions are why they are several).
struct WindowQuery: Sendable {
    /// A condition or a statement, with its values.
    struct SQLText: Sendable {
        var sql: String
        var arguments: StatementArguments

        init(_ sql: String, _ arguments: [DatabaseValue] = []) {
            self.sql = sql
            self.arguments = StatementArguments(arguments)
        }

        init(_ predicate: (sql: String, arguments: StatementArguments)) {
            sql = predicate.sql
            arguments = predicate.arguments
        }

        static func all(_ conditions: [SQLText]) -> SQLText {
            joined(conditions, by: " AND ", empty: "1")
        }

        static func any(_ conditions: [SQLText]) -> SQLText {
            joined(conditions, by: " OR ", empty: "0")
        }

        private static func joined(_ conditions: [SQLText], by word: String, empty: String) -> SQLText {
            var result = SQLText(
                conditions.isEmpty ? empty : conditions.map { "(\($0.sql))" }.joined(separator: word)
            )
            for condition in conditions { result.arguments += condition.arguments }
            return result
        }
    }

    /// Where to begin to read.
    enum Start {
        /// At so many records from the first one. They are all passed over one by one.
        case offset(Int)
        /// At the record with this key, or the one that comes next.
        case key(WindowKey)
    }

    /// What was read.
    struct Window {
        var records: [Record] = []
        var first: WindowKey?
        var last: WindowKey?
    }

    let order: WindowOrder
    private let table: String
    private let columns: [String]
    private let predicate: SQLText?

    init(_ request: FetchRequest, of entity: EntityDescription, _ database: Database) throws {
        order = try WindowOrder(request.sort, of: entity, database)
        table = entity.table.quotedIdentifier
        columns = entity.attributes.map { $0.column.quotedIdentifier }
        predicate = try request.predicate.map { SQLText(try $0.sql(for: entity)) }
    }

    /// Whether a predicate leaves records out.
    var isSelective: Bool { predicate != nil }

    // MARK: The window

    /// Reads the window.
    func window(_ start: Start, limit: Int, _ database: Database) throws -> Window {
        var window = Window()
        let keys = order.terms.map { $0.attribute + 1 }
        var offset = 0
        if case .offset(let count) = start { offset = count }
        for statement in statements(start) {
            guard window.records.count < limit else { break }
            let rows = try Row.fetchCursor(
                database.cachedStatement(sql: statement.sql),
                arguments: statement.arguments + [limit - window.records.count, offset]
            )
            while let row = try rows.next() {
                window.last = try WindowKey(row, columns: keys)
                if window.first == nil { window.first = window.last }
                window.records.append(try Record(row))
            }
        }
        return window
    }

    /// The statements that read a window, which take a limit and an offset as their last arguments.
    func statements(_ start: Start) -> [SQLText] {
        let columns = ["rowid"] + columns
        switch start {
        case .offset: return [select(columns, where: nil, backwards: false)]
        case .key(let key):
            return ranges(from: key, backwards: false, including: true).map {
                select(columns, where: $0, backwards: false)
            }
        }
    }

    /// The statements that read the keys before or behind another one, from the nearest on; they take a limit and an offset.
    func statements(beside key: WindowKey, backwards: Bool) -> [SQLText] {
        ranges(from: key, backwards: backwards, including: false).map {
            select(["rowid"] + order.terms.map(\.column), where: $0, backwards: backwards)
        }
    }

    /// The key of the record that stands `count` places before or behind a key; at 0, the key itself.
    ///
    /// - Returns: nil when there are not so many.
    func key(_ count: Int, from key: WindowKey, _ database: Database) throws -> WindowKey? {
        guard count != 0 else { return key }
        var left = abs(count)
        for statement in statements(beside: key, backwards: count < 0) {
            let rows = try Row.fetchCursor(
                database.cachedStatement(sql: statement.sql),
                arguments: statement.arguments + [left, 0]
            )
            while let row = try rows.next() {
                left -= 1
                if left == 0 { return try WindowKey(row, columns: Array(1..<1 + order.terms.count)) }
            }
        }
        return nil
    }

    private func select(_ columns: [String], where range: SQLText?, backwards: Bool) -> SQLText {
        let conditions = [range, predicate].compactMap { $0 }
        var statement = SQLText("SELECT \(columns.joined(separator: ", ")) FROM \(table)")
        if !conditions.isEmpty {
            let all = SQLText.all(conditions)
            statement.sql += " WHERE \(all.sql)"
            statement.arguments = all.arguments
        }
        statement.sql += " ORDER BY \(order.sql(backwards: backwards)) LIMIT ? OFFSET ?"
        return statement
    }

    /// What stands behind a key, the nearest first.
    private func ranges(from key: WindowKey, backwards: Bool, including: Bool) -> [SQLText] {
        let comparison = (order.isRowIDAscending != backwards ? ">" : "<") + (including ? "=" : "")
        let same = zip(order.terms, key.values).map { Self.equal($0, $1) }
        var ranges = [SQLText.all(same + [SQLText("rowid \(comparison) ?", [key.rowID.databaseValue])])]
        for place in order.terms.indices.reversed() {
            let (term, value) = (order.terms[place], key.values[place])
            for beyond in Self.beyond(term, value, ascending: term.ascending != backwards) {
                ranges.append(SQLText.all(same[..<place] + [beyond]))
            }
        }
        return ranges
    }

    private static func equal(_ term: WindowOrder.Term, _ value: WindowKey.Value) -> SQLText {
        if value == .null { return SQLText("\(term.column) IS NULL") }
        return SQLText("\(term.collated) = \(value.placeholder)", [value.argument])
    }

    /// What comes behind a value: nulls come before all values, so behind all of them where large ones come first.
    private static func beyond(_ term: WindowOrder.Term, _ value: WindowKey.Value, ascending: Bool) -> [SQLText] {
        let isNull = value == .null
        if ascending {
            if isNull { return [SQLText(term.notNull)] }
            return [SQLText("\(term.collated) > \(value.placeholder)", [value.argument])]
        }
        if isNull { return [] }
        return [
            SQLText("\(term.collated) < \(value.placeholder)", [value.argument]),
            SQLText("\(term.column) IS NULL"),
        ]
    }

    // MARK: Changed records

    /// How many of some rows stand before a key.
    func count(_ rows: ClosedRange<Int64>, before key: WindowKey, _ database: Database) throws -> Int {
        let statement = SQLText.all(among(rows) + [before(key, including: false)])
        return try Int.fetchOne(
            database.cachedStatement(sql: "SELECT count(*) FROM \(table) NOT INDEXED WHERE \(statement.sql)"),
            arguments: statement.arguments
        ) ?? 0
    }

    /// Whether one of some rows stands before a key or at it; anywhere, if there is no key.
    func isAny(of rows: ClosedRange<Int64>, upTo key: WindowKey?, _ database: Database) throws -> Bool {
        let statement = SQLText.all(among(rows) + (key.map { [before($0, including: true)] } ?? []))
        return try Bool.fetchOne(
            database.cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM \(table) NOT INDEXED WHERE \(statement.sql))"
            ),
            arguments: statement.arguments
        ) ?? false
    }

    private func among(_ rows: ClosedRange<Int64>) -> [SQLText] {
        let range = SQLText(
            "rowid BETWEEN ? AND ?",
            [rows.lowerBound.databaseValue, rows.upperBound.databaseValue]
        )
        return [range] + (predicate.map { [$0] } ?? [])
    }

    private func before(_ key: WindowKey, including: Bool) -> SQLText {
        .any(ranges(from: key, backwards: true, including: including))
    }

    /// Whether SQLite finds the first records without sorting all of them.
    func isIndexed(_ database: Database) throws -> Bool {
        for statement in statements(.offset(0)) {
            let plan = try Row.fetchAll(
                database,
                sql: "EXPLAIN QUERY PLAN " + statement.sql,
                arguments: statement.arguments + [1, 0]
            )
            if plan.contains(where: { ($0["detail"] as String).contains("TEMP B-TREE") }) { return false }
        }
        return true
    }

    /// The table's last row id; 0 when it is empty.
    func lastRowID(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database.cachedStatement(sql: "SELECT max(rowid) FROM \(table)")) ?? 0
    }

    /// How many records there are, counted one by one.
    func count(_ database: Database) throws -> Int {
        let statement = predicate ?? SQLText("1")
        return try Int.fetchOne(
            database.cachedStatement(
                sql: "SELECT count(*) FROM \(table)" + (predicate == nil ? "" : " WHERE \(statement.sql)")
            ),
            arguments: statement.arguments
        ) ?? 0
    }
}
