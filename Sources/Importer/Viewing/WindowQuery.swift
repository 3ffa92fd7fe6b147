import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

import struct ImportSources.FetchRequest
import struct ImportSources.Record

/// The statements by which a view reads.
///
/// From a known record on it reads by the record's key, not by counting from the first one.
struct WindowQuery: Sendable {
    /// Where to begin to read.
    enum Start {
        /// At this many records from the first one. They are all passed over one by one.
        case offset(Int)
        /// At this many records from the end, from 1. They are all passed over one by one, too.
        case end(Int)
        /// At the record with this key, or the one that comes next.
        case key(RecordKey)
        /// After the record with this key.
        case after(RecordKey)
        /// At the first record with this value of what is sorted by first, or the one that comes next.
        case value(RawArgument)

        /// How many records are passed over.
        var distance: Int {
            switch self {
            case .offset(let count), .end(let count): count
            case .key, .after, .value: 0
            }
        }
    }

    /// What was read.
    struct Window {
        var records: [Record] = []
        var first: RecordKey?
        var last: RecordKey?
    }

    let order: RecordOrder
    /// What each record has.
    let contents: RecordProjection
    /// The tables beside the entity's that the window depends on, in lower case.
    let reached: Set<BytewiseString>
    let table: String
    /// What is read of each record, in SQL: the values of its attributes, and what related objects are found by.
    private let values: [String]
    private let valueBytes: Int?
    let predicate: SQLFragment?

    /// - Parameter valueBytes: how many bytes of a text or a binary are read at most.
    init(
        _ request: FetchRequest,
        of entity: FetchedEntity,
        valueBytes: Int? = nil,
        _ database: Database
    ) throws {
        order = try RecordOrder(request.sort, of: entity, database)
        contents = try RecordProjection(of: entity, including: request.includes)
        table = entity.description.table.quotedIdentifier
        self.valueBytes = valueBytes
        values =
            contents.attributes.map { Self.value(of: $0.column.quotedIdentifier, bytes: valueBytes) } + contents.sources
        let compiled = try request.predicate?.compiled(for: entity)
        let conditions = [entity.condition, compiled?.condition].compactMap(\.self)
        predicate = conditions.isEmpty ? nil : .all(conditions)
        reached = order.reached.union(contents.reached).union(compiled?.reached ?? [])
    }

    /// True if a predicate leaves records out, or other entities have rows in the table.
    var isSelective: Bool { predicate != nil }

    /// A column's value, or the beginning of it: text as bytes, for it may hold NUL, where `substr` would end.
    static func value(of column: String, bytes: Int?) -> String {
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
        let keys = 1 + values.count..<1 + values.count + order.terms.count
        var start = start
        var offset = 0
        switch start {
        case .offset(let count): offset = count
        case .end(let count):
            guard let key = try key(fromEnd: count, database) else { return window }
            start = .key(key)
        case .key, .after, .value: break
        }
        let columns = columns
        for statement in statements(start) {
            guard window.records.count < limit else { break }
            let limited = statement.limited(to: limit - window.records.count, offset: offset)
            let rows = try RawRowCursor(database, limited, beyond: columns.beyond)
            defer { rows.reset() }
            while let row = try rows.next() {
                window.last = RecordKey(row, columns: keys)
                if window.first == nil { window.first = window.last }
                let record = try Record(row, contents, database)
                window.records.append(valueBytes.map { record.cut(at: $0) } ?? record)
            }
        }
        return window
    }

    private var columns: SelectedColumns {
        SelectedColumns(["rowid"] + values + order.terms.map(\.column), of: table)
    }

    /// The statements that read a window, without limit and offset; of very many columns, the first ones.
    func statements(_ start: Start) -> [SQLFragment] {
        let columns = columns.list
        switch start {
        case .offset, .end: return [select(columns, where: nil, backwards: false)]
        case .key(let key):
            return order.ranges(from: key, backwards: false, including: true).map {
                select(columns, where: $0, backwards: false)
            }
        case .after(let key):
            return order.ranges(from: key, backwards: false, including: false).map {
                select(columns, where: $0, backwards: false)
            }
        case .value(let value):
            return order.ranges(from: value).map { select(columns, where: $0, backwards: false) }
        }
    }

    /// The statements that read the keys before or after another one, from the nearest on, without a limit.
    func statements(beside key: RecordKey, backwards: Bool) -> [SQLFragment] {
        let columns = keyColumns
        return order.ranges(from: key, backwards: backwards, including: false).map {
            select(columns, where: $0, backwards: backwards)
        }
    }

    /// The key of the record that is `count` places before or after a key; at 0, the key itself.
    ///
    /// - Returns: nil when there are not this many.
    func key(_ count: Int, from key: RecordKey, _ database: Database) throws -> RecordKey? {
        guard count != 0 else { return key }
        var left = abs(count)
        for statement in statements(beside: key, backwards: count < 0) {
            let rows = try RawRowCursor(database, statement.limited(to: left))
            defer { rows.reset() }
            while let row = try rows.next() {
                left -= 1
                if left == 0 { return RecordKey(row, columns: 1..<1 + order.terms.count) }
            }
        }
        return nil
    }

    /// The key of the record that is the `count`th from the end, from 1; nil when there are not this many.
    private func key(fromEnd count: Int, _ database: Database) throws -> RecordKey? {
        let select = select(keyColumns, where: nil, backwards: true)
        let rows = try RawRowCursor(database, select.limited(to: 1, offset: count - 1))
        defer { rows.reset() }
        return try rows.next().map { RecordKey($0, columns: 1..<1 + order.terms.count) }
    }

    private var keyColumns: String { (["rowid"] + order.terms.map(\.column)).joined(separator: ", ") }

    private func select(_ columns: String, where range: SQLFragment?, backwards: Bool) -> SQLFragment {
        let conditions = [range, predicate].compactMap(\.self)
        var statement = SQLFragment("SELECT \(columns) FROM \(table)")
        if !conditions.isEmpty { statement = statement + SQLFragment(" WHERE ") + .all(conditions) }
        statement.sql += " ORDER BY \(order.sql(backwards: backwards))"
        return statement
    }

    // MARK: Changed records

    /// How many of some rows precede a key.
    func count(_ rows: ClosedRange<Int64>, before key: RecordKey, _ database: Database) throws -> Int {
        let condition = SQLFragment.all(among(rows) + [before(key, including: false)])
        return try number(SQLFragment("SELECT count(*) FROM \(table) NOT INDEXED WHERE ") + condition, database)
    }

    /// True if one of some rows precedes a key or at it; anywhere, if there is no key.
    func isAny(of rows: ClosedRange<Int64>, upTo key: RecordKey?, _ database: Database) throws -> Bool {
        let condition = SQLFragment.all(among(rows) + (key.map { [before($0, including: true)] } ?? []))
        let rows = SQLFragment("SELECT 1 FROM \(table) NOT INDEXED WHERE ") + condition + SQLFragment(" LIMIT 1")
        return try number(rows, database) == 1
    }

    private func among(_ rows: ClosedRange<Int64>) -> [SQLFragment] {
        let range = SQLFragment("rowid BETWEEN ? AND ?", [.integer(rows.lowerBound), .integer(rows.upperBound)])
        return [range] + (predicate.map { [$0] } ?? [])
    }

    private func before(_ key: RecordKey, including: Bool) -> SQLFragment {
        .any(order.ranges(from: key, backwards: true, including: including))
    }

    /// True if SQLite finds the first records without sorting all of them.
    func isIndexed(_ database: Database) throws -> Bool {
        try !statements(.offset(0)).contains { try $0.limited(to: 1).sorts(database) }
    }

    /// The table's last row id; 0 when it is empty.
    func lastRowID(_ database: Database) throws -> Int64 {
        try RawRowCursor.number(database, SQLFragment("SELECT max(rowid) FROM \(table)")) ?? 0
    }

    /// How many records there are, counted one by one.
    func count(_ database: Database) throws -> Int {
        let all = SQLFragment("SELECT count(*) FROM \(table)")
        return try number(predicate.map { all + SQLFragment(" WHERE ") + $0 } ?? all, database)
    }

    private func number(_ query: SQLFragment, _ database: Database) throws -> Int {
        Int(clamping: try RawRowCursor.number(database, query) ?? 0)
    }
}

extension SQLFragment {
    /// A query of which only some rows are wanted.
    fileprivate func limited(to limit: Int, offset: Int = 0) -> SQLFragment {
        self + SQLFragment(" LIMIT ? OFFSET ?", [.integer(Int64(limit)), .integer(Int64(offset))])
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
