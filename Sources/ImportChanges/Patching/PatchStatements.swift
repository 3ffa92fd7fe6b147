import GRDB
import GRDBSQLite
import ImportEngine
import ImportSQLite
import ImportSources

/// Statements on a store's rows whose parameters are stored values, prepared once and kept.
///
/// Belongs to one connection; used inside of its transactions only.
package final class PatchStatements {
    /// A row that a statement has found; it is there until the next one.
    package struct FoundRow {
        fileprivate let statement: OpaquePointer?

        /// A cell to keep.
        package func value(_ column: Int) -> StoredValue {
            let column = Int32(clamping: column)
            switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
            case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
            case SQLITE_TEXT:
                let text = sqlite3_column_text(statement, column)
                let count = Int(sqlite3_column_bytes(statement, column))
                return StoredValue(text: Array(UnsafeRawBufferPointer(start: text, count: count)))
            case SQLITE_BLOB:
                let blob = sqlite3_column_blob(statement, column)
                let count = Int(sqlite3_column_bytes(statement, column))
                return .blob(Array(UnsafeRawBufferPointer(start: blob, count: count)))
            default: return .null
            }
        }
    }

    /// Statements are made for the columns that a change names, so there may be many of them.
    private static let mostPrepared = 500

    package let connection: OpaquePointer
    private var prepared: [String: OpaquePointer] = [:]
    private var inUse = 0

    /// - Throws: `ImportError` where the connection is closed.
    package init(_ database: Database) throws {
        self.connection = try database.handle
    }

    deinit { finalize() }

    private func finalize() {
        for statement in prepared.values { sqlite3_finalize(statement) }
        prepared = [:]
    }

    /// Runs a statement.
    ///
    /// - Returns: how many rows it has changed.
    /// - Throws: `DatabaseError`, and what `body` throws.
    @discardableResult
    package func run(_ sql: String, _ values: [StoredValue] = [], _ body: (FoundRow) throws -> Void = { _ in }) throws
        -> Int
    {
        if prepared.count >= Self.mostPrepared, inUse == 0 { finalize() }
        let statement: OpaquePointer?
        if let known = prepared[sql] {
            statement = known
        } else {
            let made = try connection.prepare(sql)
            prepared[sql] = made
            statement = made
        }
        inUse += 1
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
            inUse -= 1
        }
        for (index, value) in values.enumerated() { try bind(value, to: statement, at: Int32(clamping: index + 1)) }
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_ROW {
                try body(FoundRow(statement: statement))
                continue
            }
            guard code == SQLITE_DONE else { throw connection.lastError }
            return Int(sqlite3_changes(connection))
        }
    }

    /// True if a query finds anything.
    package func exists(_ sql: String, _ values: [StoredValue] = []) throws -> Bool {
        var isThere = false
        try run(sql, values) { _ in isThere = true }
        return isThere
    }

    private func bind(_ value: StoredValue, to statement: OpaquePointer?, at place: Int32) throws {
        let code: Int32
        switch value {
        case .null: code = sqlite3_bind_null(statement, place)
        case .integer(let number): code = sqlite3_bind_int64(statement, place, number)
        case .real(let number): code = sqlite3_bind_double(statement, place, number)
        case .text(let text):
            var text = text
            code = text.withUTF8 { Self.bindText(UnsafeRawBufferPointer($0), statement, place) }
        case .textBytes(let bytes): code = bytes.withUnsafeBytes { Self.bindText($0, statement, place) }
        case .blob(let bytes):
            code =
                bytes.isEmpty
                ? sqlite3_bind_zeroblob(statement, place, 0)
                : sqlite3_bind_blob(statement, place, bytes, Int32(clamping: bytes.count), SQLiteDestructor.copied)
        }
        guard code == SQLITE_OK else { throw connection.lastError }
    }

    private static func bindText(_ bytes: UnsafeRawBufferPointer, _ statement: OpaquePointer?, _ place: Int32) -> Int32
    {
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
            return sqlite3_bind_text(statement, place, "", 0, SQLiteDestructor.copied)
        }
        return sqlite3_bind_text(
            statement,
            place,
            start.assumingMemoryBound(to: CChar.self),
            Int32(clamping: bytes.count),
            SQLiteDestructor.copied
        )
    }

    /// The row id of the row that was inserted last.
    package var lastRowID: Int64 { sqlite3_last_insert_rowid(connection) }

    /// True if foreign keys lead to rows that are not there, as far as this transaction has made it so
    /// (`SQLITE_DBSTATUS_DEFERRED_FKS`).
    var hasOpenForeignKeys: Bool {
        var (current, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(connection, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
        return current != 0
    }

    /// Calls `body` in a savepoint, which is rolled back where it throws.
    func savepoint<Result>(_ name: String, _ body: () throws -> Result) throws -> Result {
        try run("SAVEPOINT \(name)")
        do {
            let result = try body()
            try run("RELEASE \(name)")
            return result
        } catch {
            // A trigger may have ended the transaction, and with it the savepoint.
            guard sqlite3_get_autocommit(connection) == 0 else {
                throw ImportError(
                    .transactionEnded,
                    "a trigger of the store has ended the transaction",
                    advice: "Drop the trigger's RAISE(ROLLBACK), or take the change out."
                )
            }
            try run("ROLLBACK TO \(name)")
            try run("RELEASE \(name)")
            throw error
        }
    }
}
