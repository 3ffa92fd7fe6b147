import Importer

/// One connection to a server, ready to be imported with.
///
/// It is used by one thread at a time. Names without a schema are in `schema`.
final class PGConnection {
    /// The schema that names without one are in; it need not be there (`makeSchema`).
    let schema: String
    /// True if `schema` was there when the connection was made.
    let hadSchema: Bool
    /// True if an interruption ends a running statement; otherwise it is waited for.
    ///
    /// A COPY ends in any case, when it has been stuck for `copyGrace`.
    var isInterruptible = false

    private let link: LibPQConnection
    private static let copyGrace = Duration.seconds(1)

    /// Connects, and makes sure that the server can be imported into.
    ///
    /// - Parameters:
    ///   - interruption: ends the waiting, and statements where `isInterruptible` is set.
    ///   - application: what the server's administrator sees (`application_name`), if the address has none.
    ///   - writes: whether the server must take writes; otherwise a replica is as good.
    ///   - askForPassword: asks a person for a password, with a text that says for what, where the server wants one and
    ///     none is found; see `PasswordCache`.
    /// - Throws: `PGError`; `ImportError` where the server is of no use, and the interruption's.
    init(
        _ address: PostgreSQLAddress,
        interruption: Interruption,
        application: String = "importer",
        writes: Bool = true,
        askForPassword: (@Sendable (String) -> String?)? = nil
    ) throws {
        let setup = PGConnectionSetup(address: address, application: application, interruption: interruption)
        do {
            link = try setup.connect(password: nil)
        } catch let failure as PGError where failure.needsPassword {
            guard let password = askForPassword?("Password for \(address.label): ") else { throw failure }
            link = try setup.connect(password: password)
        }
        let session = try setup.prepare(link, writes: writes)
        schema = session.schema
        hadSchema = session.isThere
    }

    /// True if it may still be of use; where a server is gone, the next statement finds out.
    var isOpen: Bool { link.isOpen }

    /// Ends the connection, and what was not committed with it.
    func close() { link.close() }

    /// Makes `schema` if it is not there.
    ///
    /// - Throws: `PGError`, with `42501` where the user may not.
    func makeSchema() throws {
        if try hasSchema() { return }
        do {
            // Even where it is there, this needs the right to create one.
            try execute("CREATE SCHEMA IF NOT EXISTS \(link.quoted(schema))")
        } catch let failure as PGError where ["23505", "42P06"].contains(failure.sqlState) {
            // Somebody else has made it meanwhile.
            guard try hasSchema() else { throw failure }
        }
    }

    /// True if `schema` is there.
    ///
    /// - Throws: `PGError`.
    func hasSchema() throws -> Bool {
        let rows = try execute("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", [.text(schema)])
        return !rows.isEmpty
    }

    // MARK: Statements

    private var policy: LibPQConnection.InterruptionPolicy { isInterruptible ? .atOnce : .never }

    /// Runs one statement with parameters, or any number without.
    ///
    /// - Returns: the rows of the last statement.
    /// - Throws: `PGError`; the interruption's `ImportError` where that has ended the statement.
    @discardableResult
    func execute(_ sql: String, _ parameters: [PGValue] = []) throws -> PGRows {
        try execute(sql, parameters, policy)
    }

    private func execute(
        _ sql: String,
        _ parameters: [PGValue] = [],
        _ policy: LibPQConnection.InterruptionPolicy
    ) throws -> PGRows {
        var rows = PGRows()
        try link.run(sql, parameters, policy) { result in
            rows = result
            return true
        }
        return rows
    }

    /// Calls `body` with each row as the server sends it; nothing holds the whole result (`PQsetSingleRowMode`).
    ///
    /// - Throws: `PGError`; what `body` throws, which ends the statement; the interruption's `ImportError`.
    func forEachRow(_ sql: String, _ parameters: [PGValue] = [], _ body: (PGRow) throws -> Void) throws {
        var failure: (any Error)?
        try link.run(sql, parameters, byRow: true, policy) { rows in
            do {
                for row in rows { try body(row) }
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    // MARK: Transactions

    /// Runs a transaction; it is rolled back where `body` throws.
    ///
    /// - Throws: what `body` throws; `PGError`, also where a statement has failed whose error `body` has caught,
    ///   so that the server rolls back; `UnknownCommitOutcome` where the connection is lost while the COMMIT is on its way.
    func transaction<Result>(_ begin: String = "BEGIN", _ body: () throws -> Result) throws -> Result {
        try execute(begin)
        let result: Result
        do {
            result = try body()
        } catch {
            rollBack()
            throw error
        }
        do {
            // It is never cancelled: where it waits for a standby, it is committed already.
            let tag = try execute("COMMIT", [], .never).tag
            guard tag == "COMMIT" else {
                throw PGError(
                    sqlState: "25P02",
                    message: "the transaction was rolled back, as a statement had failed"
                )
            }
        } catch let failure as PGError where failure.isConnectionLost {
            throw UnknownCommitOutcome(failure: failure)
        }
        return result
    }

    private func rollBack() {
        guard link.isOpen else { return }
        do {
            _ = try execute("ROLLBACK", [], .never)
        } catch {
            // Whatever the state is: without the connection the server rolls back.
            link.close()
        }
    }

    // MARK: COPY

    /// Inserts rows, all of them in as many round trips as one.
    ///
    /// They are sent as text, so that the server reads each value as its column's type
    /// (<https://www.postgresql.org/docs/current/sql-copy.html>).
    ///
    /// - Parameters:
    ///   - target: a table with the columns that rows have values of, as SQL.
    ///   - rows: what rows are made of.
    ///   - values: a row's values, one at least.
    /// - Throws: `PGError`; what `values` throws; the interruption's `ImportError` as `copy` does.
    func insert<Rows: Sequence>(
        into target: String,
        _ rows: Rows,
        _ values: (Rows.Element) throws -> [PGValue]
    ) throws {
        _ = try copy("COPY \(target) FROM STDIN") { stream in
            for row in rows {
                var line: [UInt8] = []
                for value in try values(row) {
                    value.appendCopyText(to: &line)
                    line.append(UInt8(ascii: "\t"))
                }
                line[line.count - 1] = UInt8(ascii: "\n")
                try stream.write(line)
            }
        }
    }

    /// Copies rows into a table.
    ///
    /// - Parameters:
    ///   - sql: `COPY … FROM STDIN …`.
    ///   - body: writes the rows; what it throws ends the COPY without any.
    /// - Returns: how many rows the server has taken.
    /// - Throws: `PGError`; what `body` throws; the interruption's `ImportError` where the server has not gone on for
    ///   a second.
    func copy(_ sql: String, _ body: (inout CopyStream) throws -> Void) throws -> Int64 {
        try link.copy(sql, isInterruptible ? .atOnce : .after(Self.copyGrace)) { put in
            var stream = CopyStream(put)
            try body(&stream)
            try stream.flush()
        }
    }
}
