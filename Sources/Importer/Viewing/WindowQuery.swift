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
        /// At so many records from the end, from 1. They are all passed over one by one, too.
        case end(Int)
        /// At the record with this key, or the one that comes next.
        case key(WindowKey)

        /// How many records are passed over.
        var distance: Int {
            switch self {
            case .offset(let count), .end(let count): count
            case .key: 0
            }
        }
    }

    /// What was read.
    struct Window {
        var records: [Record] = []
        var first: WindowKey?
        var last: WindowKey?
    }

    let order: WindowOrder
    private let table: String
    /// What is read of each record, in SQL: the values of its attributes.
    private let values: [String]
    private let valueBytes: Int?
    private let predicate: SQLText?

    /// - Parameter valueBytes: how many bytes of a text or a binary are read at most.
    init(
        _ request: FetchRequest,
        of entity: EntityDescription,
        valueBytes: Int? = nil,
        _ database: Database
    ) throws {
        order = try WindowOrder(request.sort, of: entity, database)
        table = entity.table.quotedIdentifier
        self.valueBytes = valueBytes
        values = entity.attributes.map { Self.value(of: $0.column.quotedIdentifier, bytes: valueBytes) }
        predicate = try request.predicate.map { SQLText(try $0.sql(for: entity)) }
    }

    /// Whether a predicate leaves records out.
    var isSelective: Bool { predicate != nil }

    /// A column's value, or the beginning of it: text as bytes, for it may hold NUL, where `substr` would end.
    private static func value(of column: String, bytes: Int?) -> String {
        guard let bytes else { return column }
        return """
            CASE typeof(\(column)) WHEN 'text' THEN CAST(substr(CAST(\(column) AS BLOB), 1, \(bytes)) AS TEXT)
            WHEN 'blob' THEN substr(\(column), 1, \(bytes)) ELSE \(column) END
            """
    }

    // MARK: The window

    /// Reads the window.
    func window(_ start: Start, limit: Int, _ database: Database) throws -> Window {
        var window = Window()
        let keys = order.terms.indices.map { 1 + values.count + $0 }
        var start = start
        var offset = 0
        switch start {
        case .offset(let count): offset = count
        case .end(let count):
            guard let key = try key(fromEnd: count, database) else { return window }
            start = .key(key)
        case .key: break
        }
        for statement in statements(start) {
            guard window.records.count < limit else { break }
            let rows = try Row.fetchCursor(
                database.cachedStatement(sql: statement.sql),
                arguments: statement.arguments + [limit - window.records.count, offset]
            )
            while let row = try rows.next() {
                window.last = try WindowKey(row, columns: keys)
                if window.first == nil { window.first = window.last }
                let record = try Record(row, count: values.count)
                window.records.append(valueBytes.map { record.cut(at: $0) } ?? record)
            }
        }
        return window
    }

    /// The statements that read a window, which take a limit and an offset as their last arguments.
    func statements(_ start: Start) -> [SQLText] {
        let columns = ["rowid"] + values + order.terms.map(\.column)
        switch start {
        case .offset, .end: return [select(columns, where: nil, backwards: false)]
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

    /// The key of the record that is the `count`th from the end, from 1; nil when there are not so many.
    private func key(fromEnd count: Int, _ database: Database) throws -> WindowKey? {
        let columns = order.terms.map(\.column)
        let statement = select(["rowid"] + columns, where: nil, backwards: true)
        let rows = try Row.fetchCursor(
            database.cachedStatement(sql: statement.sql),
            arguments: statement.arguments + [1, count - 1]
        )
        // The cursor's own row: one that is copied has lost what stands behind a NUL.
        return try withExtendedLifetime(rows) {
            try rows.next().map { try WindowKey($0, columns: Array(1..<1 + columns.count)) }
        }
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

extension Record {
    /// Without the rest of a character that was cut where the bytes end: it was read as U+FFFD.
    fileprivate func cut(at bytes: Int) -> Record {
        let values = values.map { value -> Value in
            guard case .text(var text) = value, text.utf8.count >= bytes, text.unicodeScalars.last == "\u{FFFD}" else {
                return value
            }
            text.unicodeScalars.removeLast()
            return .text(text)
        }
        return Record(rowID: rowID, values: values)
    }
}
