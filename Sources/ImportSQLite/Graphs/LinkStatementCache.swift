import GRDB
import GRDBSQLite
import ImportModel

/// Statements on the links of a store, prepared once and kept, whose parameters are keys and numbers.
///
/// Belongs to one connection; used inside of its transactions only.
package final class LinkStatementCache {
    /// A value of a statement's parameter, or several.
    package enum Parameter {
        case key(RowKey)
        case number(Int64?)
        case bytes([UInt8])
        case text(String)
    }

    package let database: Database
    package let connection: OpaquePointer
    private var prepared: [String: OpaquePointer] = [:]

    /// - Throws: `ImportError` where the connection is closed.
    package init(_ database: Database) throws {
        self.database = database
        connection = try database.handle
    }

    deinit {
        for statement in prepared.values { sqlite3_finalize(statement) }
    }

    /// Runs a statement.
    ///
    /// - Parameters:
    ///   - parameters: in the order of the statement's; a key has several.
    ///   - body: called with each row, whose columns it reads from the statement.
    /// - Returns: how many rows it has changed.
    /// - Throws: `DatabaseError`, and what `body` throws.
    @discardableResult
    package func run(
        _ sql: String,
        _ parameters: [Parameter] = [],
        _ body: (OpaquePointer?) throws -> Void = { _ in }
    ) throws -> Int {
        let statement = try statement(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        var place: Int32 = 1
        for parameter in parameters {
            switch parameter {
            case .key(let key): place += key.bind(to: statement, at: place) - 1
            case .number(let number?): sqlite3_bind_int64(statement, place, number)
            case .number(nil): sqlite3_bind_null(statement, place)
            case .bytes(let bytes):
                _ = bytes.withUnsafeBytes {
                    let start = $0.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
                    return sqlite3_bind_blob(
                        statement,
                        place,
                        start,
                        Int32(clamping: $0.count),
                        SQLiteDestructor.copied
                    )
                }
            case .text(let text):
                sqlite3_bind_text(statement, place, text, -1, SQLiteDestructor.copied)
            }
            place += 1
        }
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_ROW {
                try body(statement)
                continue
            }
            guard code == SQLITE_DONE else { throw connection.lastError }
            return Int(sqlite3_changes(connection))
        }
    }

    private func statement(_ sql: String) throws -> OpaquePointer? {
        if let statement = prepared[sql] { return statement }
        let statement = try connection.prepare(sql)
        prepared[sql] = statement
        return statement
    }
}

extension LinkStatementCache {
    /// The integer in the first column of a statement's row, the last where there are several; nil for none.
    package func integer(_ sql: String, _ parameters: [Parameter] = []) throws -> Int64? {
        var integer: Int64?
        try run(sql, parameters) { integer = sqlite3_column_int64($0, 0) }
        return integer
    }

    /// The integers in the first column of a statement's rows.
    package func integers(_ sql: String, _ parameters: [Parameter] = []) throws -> [Int64] {
        var integers: [Int64] = []
        try run(sql, parameters) { integers.append(sqlite3_column_int64($0, 0)) }
        return integers
    }

    /// True if a statement has a row.
    package func exists(_ sql: String, _ parameters: [Parameter] = []) throws -> Bool {
        try integer(sql, parameters) != nil
    }

    /// How many links in a relationship's columns or join table lead nowhere.
    package func countOfDangling(_ form: LinkStatements, _ layout: ModelLayout, to destination: Int) throws -> Int64 {
        try integer("SELECT count(*) FROM \(form.dangling(in: layout, destination: destination))") ?? 0
    }

    /// How many links of a relationship wait for their rows.
    package func countOfWaiting(_ form: LinkStatements) throws -> Int64 {
        try database.count("_import_link", where: "relationship = \(form.name.sqlLiteral)")
    }

    /// Keeps how many references of a relationship lead nowhere, instead of what was known before.
    func setUnresolved(_ count: Int64, _ relationship: String, job: Int64) throws {
        let table = "_import_unresolved"
        if count > 0 { try BookkeepingSchema.make([table], database) }
        guard try database.hasTable(table) else { return }
        try run("DELETE FROM \(table) WHERE relationship = ?", [.text(relationship)])
        guard count > 0 else { return }
        try run(
            "INSERT INTO \(table) (job, relationship, count) VALUES (?, ?, ?)",
            [.number(job), .text(relationship), .number(count)]
        )
    }
}
