import GRDB
import GRDBSQLite
import ImportModel
import ImportSources

/// Prepares and runs statements on one entity's table through SQLite's C functions, and says what has failed.
///
/// Belongs to one connection; used inside of its transactions only.
package struct TableStatements {
    package let connection: OpaquePointer
    package let entity: EntityDescription
    package let constraints: TableConstraints

    package init(_ database: Database, _ entity: EntityDescription, _ constraints: TableConstraints) throws {
        self.connection = try database.handle
        self.entity = entity
        self.constraints = constraints
    }

    /// What SQLite says of the call that has returned `code`.
    package func error(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)))
    }

    /// Writes a row by a statement that is bound.
    ///
    /// - Parameter isSameAllowed: whether it may change nothing, as the row has all values already.
    /// - Returns: why the table refuses it, and then nothing is changed; nil if it is written.
    @inline(__always)
    package func run(_ statement: OpaquePointer?, isSameAllowed: Bool = false) throws -> TableConstraints.Refusal? {
        if constraints.hasTriggers { return try runBesideTriggers(statement, isSameAllowed) }
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        return code == SQLITE_DONE ? nil : try refusal(code)
    }

    /// A trigger may end its statement and keep what it has done (`RAISE(FAIL)`), pass the row over (`RAISE(IGNORE)`), or
    /// end the transaction (`RAISE(ROLLBACK)`).
    private func runBesideTriggers(
        _ statement: OpaquePointer?,
        _ isSameAllowed: Bool
    ) throws -> TableConstraints.Refusal? {
        try execute("SAVEPOINT import_row")
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        guard sqlite3_get_autocommit(connection) == 0 else {
            // SQLite ends it by itself when the disk is full or fails.
            if let full = fullness(code) { throw full }
            guard code & 0xFF == SQLITE_CONSTRAINT || code == SQLITE_DONE else { throw error(code) }
            throw ImportError(
                .transactionEnded,
                "\(entity.table): a trigger ends the whole transaction: \(String(cString: sqlite3_errmsg(connection)))",
                advice: "Make it RAISE(ABORT, …), which refuses one record, then resume."
            )
        }
        let isWritten = code == SQLITE_DONE && (isSameAllowed || sqlite3_changes(connection) > 0)
        var refusal: TableConstraints.Refusal?
        if !isWritten {
            refusal = code == SQLITE_DONE ? TableConstraints.leftOut : try self.refusal(code)
            try execute("ROLLBACK TO import_row")
        }
        try execute("RELEASE import_row")
        return refusal
    }

    /// Why SQLite calls the store full where the disk is not.
    func fullness(_ code: Int32) -> ImportError? {
        code & 0xFF == SQLITE_FULL ? ImportError(usedUpRowIDsOf: entity.table, connection) : nil
    }

    private func execute(_ sql: String) throws {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        if code != SQLITE_OK { throw error(code) }
    }

    /// Why a statement has failed.
    ///
    /// - Throws: `DatabaseError` where that is anything but the row.
    private func refusal(_ code: Int32) throws -> TableConstraints.Refusal {
        let error = error(code)
        if let full = fullness(code) { throw full }
        guard constraints.canRefuse || constraints.mayFail,
            let refusal = constraints.refusal(error.extendedResultCode, message: error.message ?? "", of: entity)
        else { throw error }
        return refusal
    }
}
