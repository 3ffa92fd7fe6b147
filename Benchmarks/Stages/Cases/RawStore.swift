import Foundation
import GRDBSQLite
import Importer

/// A store reached through SQLite's C functions alone, with the importer's pragmas.
final class RawStore {
    private var connection: OpaquePointer?

    init(_ path: String) throws {
        // One thread uses it, so no call needs to lock it, as in the importer.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        try check(sqlite3_open_v2(path, &connection, flags, nil))
        try execute(
            """
            PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
            PRAGMA cache_size = -4000; PRAGMA wal_autocheckpoint = 1000;
            """
        )
    }

    deinit {
        sqlite3_close(connection)
    }

    func execute(_ sql: String) throws {
        try check(sqlite3_exec(connection, sql, nil, nil, nil))
    }

    func prepare(_ sql: String) throws -> Statement {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(connection, sql, -1, &statement, nil))
        return Statement(statement)
    }

    /// What the table of people adds up to.
    func sums() throws -> People.Sums {
        let statement = try prepare(
            """
            SELECT count(*), sum(id), sum(age), sum(active), count(note), CAST(sum(round(balance * 100)) AS INTEGER)
            FROM people
            """
        )
        _ = try statement.step()
        func column(_ index: Int32) -> Int { Int(sqlite3_column_int64(statement.pointer, index)) }
        return People.Sums(
            records: column(0),
            ids: column(1),
            ages: column(2),
            active: column(3),
            notes: column(4),
            cents: column(5)
        )
    }

    private func check(_ code: Int32) throws {
        guard code != SQLITE_OK else { return }
        throw WrongResult(description: connection.map { String(cString: sqlite3_errmsg($0)) } ?? "SQLite: \(code)")
    }

    /// A prepared statement.
    final class Statement {
        let pointer: OpaquePointer?

        init(_ pointer: OpaquePointer?) {
            self.pointer = pointer
        }

        deinit {
            sqlite3_finalize(pointer)
        }

        /// - Returns: whether there is a row.
        func step() throws -> Bool {
            let code = sqlite3_step(pointer)
            guard code == SQLITE_ROW || code == SQLITE_DONE else { throw WrongResult(description: "SQLite: \(code)") }
            return code == SQLITE_ROW
        }
    }
}

/// The importer's own rows, ready in memory, to be bound and stepped with nothing around it.
struct RawRows {
    private enum Kind: UInt8 {
        case null
        case integer
        case real
        case text
    }

    private struct Value {
        let kind: Kind
        let length: Int32
        /// An integer's or double's bits, or where a text begins.
        let payload: Int64
    }

    private let columns: Int32
    private let creation: String
    private let insertion: String
    private var values: [Value] = []
    private var texts: [UInt8] = []

    /// Reads the table of people.
    init(of path: String) throws {
        let store = try RawStore(path)
        let schema = try store.prepare("SELECT sql FROM sqlite_master WHERE name = 'people'")
        guard try schema.step(), let sql = sqlite3_column_text(schema.pointer, 0) else {
            throw WrongResult(description: "\(path) has no people")
        }
        creation = String(cString: sql)
        let rows = try store.prepare("SELECT * FROM people ORDER BY rowid")
        columns = sqlite3_column_count(rows.pointer)
        insertion = "INSERT INTO people VALUES (\((1...columns).map { "?\($0)" }.joined(separator: ", ")))"
        while try rows.step() {
            for column in 0..<columns { values.append(value(of: rows.pointer, column)) }
        }
    }

    private mutating func value(of row: OpaquePointer?, _ column: Int32) -> Value {
        switch sqlite3_column_type(row, column) {
        case SQLITE_NULL: return Value(kind: .null, length: 0, payload: 0)
        case SQLITE_INTEGER: return Value(kind: .integer, length: 0, payload: sqlite3_column_int64(row, column))
        case SQLITE_FLOAT:
            let bits = sqlite3_column_double(row, column).bitPattern
            return Value(kind: .real, length: 0, payload: Int64(bitPattern: bits))
        default:
            let start = texts.count
            let length = sqlite3_column_bytes(row, column)
            texts += UnsafeBufferPointer(start: sqlite3_column_text(row, column), count: Int(length))
            return Value(kind: .text, length: length, payload: Int64(start))
        }
    }

    /// Makes the table and a statement that fills it.
    func prepare(_ store: RawStore) throws -> RawStore.Statement {
        try store.execute(creation)
        return try store.prepare(insertion)
    }

    /// Binds and steps all rows.
    ///
    /// - Parameters:
    ///   - commitEvery: the number of rows after which there is a commit; nil for none.
    ///   - store: where `insert` was prepared.
    func write(_ insert: RawStore.Statement, commitEvery: Int?, _ store: RawStore) throws {
        let statement = insert.pointer
        try values.withUnsafeBufferPointer { values in
            try texts.withUnsafeBufferPointer { texts in
                var next = 0
                var row = 0
                while next < values.count {
                    if let commitEvery, row.isMultiple(of: commitEvery) { try store.execute("BEGIN IMMEDIATE") }
                    for parameter in 1...columns {
                        bind(values[next], texts, to: statement, parameter)
                        next += 1
                    }
                    _ = try insert.step()
                    sqlite3_reset(statement)
                    row += 1
                    if let commitEvery, row.isMultiple(of: commitEvery) || next == values.count {
                        try store.execute("COMMIT")
                    }
                }
            }
        }
    }

    @inline(__always)
    private func bind(
        _ value: Value,
        _ texts: UnsafeBufferPointer<UInt8>,
        to statement: OpaquePointer?,
        _ parameter: Int32
    ) {
        switch value.kind {
        case .null: sqlite3_bind_null(statement, parameter)
        case .integer: sqlite3_bind_int64(statement, parameter, value.payload)
        case .real:
            sqlite3_bind_double(statement, parameter, Double(bitPattern: UInt64(bitPattern: value.payload)))
        case .text:
            // An empty text needs an address too.
            let start =
                texts.baseAddress.map { UnsafeRawPointer($0 + Int(value.payload)) } ?? UnsafeRawPointer(bitPattern: 1)
            let characters = start?.assumingMemoryBound(to: CChar.self)
            sqlite3_bind_text(statement, parameter, characters, value.length, nil)
        }
    }
}
