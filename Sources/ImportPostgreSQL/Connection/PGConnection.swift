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

    /// True if answers to questions (`ask`) are kept until something is written: of what they are about, nobody else writes anything.
    var remembers = false {
        didSet { answers.removeAll() }
    }

    private let link: LibPQConnection
    private let trips: RoundTripCounter?
    private var answers: [PGStatement: PGRows] = [:]
    /// Statements that the next round trip takes along.
    private var posted: [Posted] = []
    private static let copyGrace = Duration.seconds(1)

    /// Connects, and makes sure that the server can be imported into.
    ///
    /// - Parameters:
    ///   - interruption: ends the waiting, and statements where `isInterruptible` is set.
    ///   - application: what the server's administrator sees (`application_name`), if the address has none.
    ///   - writes: whether the server must take writes; otherwise a replica is as good.
    ///   - waitsForDisk: whether a commit waits until it is on the server's disk, if the transaction says nothing of it.
    ///   - trips: counts the round trips.
    ///   - askForPassword: asks a person for a password, with a text that says for what, where the server wants one and
    ///     none is found; see `PasswordCache`.
    /// - Throws: `PGError`; `ImportError` where the server is of no use, and the interruption's.
    init(
        _ address: PostgreSQLAddress,
        interruption: Interruption,
        application: String = "importer",
        writes: Bool = true,
        waitsForDisk: Bool = true,
        trips: RoundTripCounter? = nil,
        askForPassword: (@Sendable (String) -> String?)? = nil
    ) throws {
        self.trips = trips
        let setup = PGConnectionSetup(address: address, application: application, interruption: interruption)
        do {
            link = try setup.connect(password: nil)
        } catch let failure as PGError where failure.needsPassword {
            guard let password = askForPassword?("Password for \(address.label): ") else { throw failure }
            link = try setup.connect(password: password)
        }
        let session = try setup.prepare(link, writes: writes, waitsForDisk: waitsForDisk)
        // To log in is another one, or some.
        trips?.add(2)
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
    /// - Parameter questions: what is asked after it, in its round trip, where the connection remembers.
    /// - Returns: the rows of the last statement.
    /// - Throws: `PGError`; the interruption's `ImportError` where that has ended the statement.
    @discardableResult
    func execute(
        _ sql: String,
        _ parameters: [PGValue] = [],
        asking questions: [PGStatement] = []
    ) throws -> PGRows {
        answers.removeAll()
        return try send(PGStatement(sql, parameters), policy, asking: questions)
    }

    /// Runs one statement that writes nothing but the bookkeeping, as `execute` does.
    func note(_ sql: String, _ parameters: [PGValue] = [], asking questions: [PGStatement] = []) throws -> PGRows {
        forgetBookkeeping()
        return try send(PGStatement(sql, parameters), policy, asking: questions)
    }

    /// Runs one statement with the next one whose result is needed, in its round trip.
    ///
    /// It is for statements within a transaction that write the bookkeeping, and the rows of tables, and none of which is awaited. What
    /// is wrong with it, that one throws, or the COMMIT.
    func post(_ sql: String, _ parameters: [PGValue] = []) {
        forgetBookkeeping()
        posted.append(Posted(statement: PGStatement(sql, parameters)))
    }

    /// Makes sure of something with the next statement whose result is needed, in its round trip.
    ///
    /// - Parameters:
    ///   - sql: divides by zero where it is not so.
    ///   - refusal: thrown then.
    func demand(_ sql: String, _ parameters: [PGValue], or refusal: ImportError) {
        posted.append(Posted(statement: PGStatement(sql, parameters), refusal: refusal))
    }

    private func forgetBookkeeping() { answers = answers.filter(\.key.isAboutTables) }

    private struct Posted {
        let statement: PGStatement
        var refusal: ImportError?
    }

    /// The answer to a question, which is kept where the connection remembers.
    ///
    /// - Parameter others: questions that come next, and that are answered in the same round trip, where the connection remembers.
    /// - Throws: as `execute` does.
    func ask(_ question: PGStatement, with others: [PGStatement] = []) throws -> PGRows {
        if let answer = answers[question] { return answer }
        let answer = try send(question, policy, asking: others)
        if remembers { answers[question] = answer }
        return answer
    }

    /// The answer to a question, which is kept where the connection remembers.
    func ask(_ sql: String, _ parameters: [PGValue] = []) throws -> PGRows {
        try ask(PGStatement(sql, parameters))
    }

    /// Forgets what it remembers.
    func forget() { answers.removeAll() }

    /// Forgets the answers to some questions.
    func forget(_ questions: [PGStatement]) {
        for question in questions { answers[question] = nil }
    }

    /// One round trip: what is posted, a statement, and questions whose answers are remembered.
    ///
    /// - Returns: the rows of the statement.
    private func send(
        _ statement: PGStatement,
        _ policy: LibPQConnection.InterruptionPolicy,
        asking questions: [PGStatement] = []
    ) throws -> PGRows {
        // Several statements in one text cannot be sent with others.
        let isOne = LibPQ.hasPipelines && !statement.sql.utf8.contains(UInt8(ascii: ";"))
        if !isOne { try sendPosted(policy) }
        let questions = remembers && isOne ? questions.filter { answers[$0] == nil && $0 != statement } : []
        trips?.add(1)
        guard !posted.isEmpty || !questions.isEmpty else {
            var rows = PGRows()
            try link.run(statement.sql, statement.parameters, policy) { result in
                rows = result
                return true
            }
            return rows
        }
        let sent = posted
        posted.removeAll()
        let all = sent + ([statement] + questions).map { Posted(statement: $0) }
        let results = try together(all, policy)
        for (question, rows) in zip(questions, results.dropFirst(sent.count + 1)) { answers[question] = rows }
        return results[sent.count]
    }

    private func together(
        _ sent: [Posted],
        _ policy: LibPQConnection.InterruptionPolicy
    ) throws -> [PGRows] {
        do {
            return try link.runTogether(sent.map(\.statement), policy)
        } catch let error as LibPQConnection.PipelineError {
            throw refusal(of: sent[error.index], error.failure)
        }
    }

    private func refusal(of posted: Posted, _ failure: PGError) -> any Error {
        if failure.sqlState == "22012", let refusal = posted.refusal { return refusal }
        return failure
    }

    /// Sends what is posted alone.
    private func sendPosted(_ policy: LibPQConnection.InterruptionPolicy) throws {
        guard !posted.isEmpty else { return }
        let sent = posted
        posted.removeAll()
        guard !LibPQ.hasPipelines else {
            trips?.add(1)
            _ = try together(sent, policy)
            return
        }
        for posted in sent {
            trips?.add(1)
            do {
                try link.run(posted.statement.sql, posted.statement.parameters, policy) { _ in true }
            } catch let failure as PGError {
                throw refusal(of: posted, failure)
            }
        }
    }

    /// Calls `body` with each row as the server sends it; nothing holds the whole result (`PQsetSingleRowMode`).
    ///
    /// - Throws: `PGError`; what `body` throws, which ends the statement; the interruption's `ImportError`.
    func forEachRow(_ sql: String, _ parameters: [PGValue] = [], _ body: (PGRow) throws -> Void) throws {
        var failure: (any Error)?
        try sendPosted(policy)
        trips?.add(1)
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
    /// - Parameters:
    ///   - begin: one statement or more, with semicolons between them.
    ///   - questions: what is asked after the COMMIT, in its round trip, as its answer is needed next.
    /// - Throws: what `body` throws; `PGError`, also where a statement has failed whose error `body` has caught,
    ///   so that the server rolls back; `UnknownCommitOutcome` where the connection is lost while the COMMIT is on its way.
    func transaction<Result>(
        _ begin: String = "BEGIN",
        asking questions: @autoclosure () -> [PGStatement] = [],
        _ body: () throws -> Result
    ) throws -> Result {
        posted += begin.split(separator: ";").map { Posted(statement: PGStatement(String($0))) }
        let result: Result
        do {
            result = try body()
        } catch {
            rollBack()
            throw error
        }
        do {
            // It is never cancelled: where it waits for a standby, it is committed already.
            let tag = try send(PGStatement("COMMIT"), .never, asking: questions()).tag
            guard tag == "COMMIT" else {
                throw PGError(
                    sqlState: "25P02",
                    message: "the transaction was rolled back, as a statement had failed"
                )
            }
        } catch let failure as PGError where failure.isConnectionLost {
            throw UnknownCommitOutcome(failure: failure)
        } catch {
            // What was posted may have been refused.
            rollBack()
            throw error
        }
        return result
    }

    private func rollBack() {
        answers.removeAll()
        posted.removeAll()
        guard link.isOpen else { return }
        do {
            _ = try send(PGStatement("ROLLBACK"), .never)
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
        answers.removeAll()
        try sendPosted(policy)
        // Its rows are sent when the server has said that it takes them.
        trips?.add(2)
        return try link.copy(sql, isInterruptible ? .atOnce : .after(Self.copyGrace)) { put in
            var stream = CopyStream(put)
            try body(&stream)
            try stream.flush()
        }
    }
}
