import Foundation
import ImportModel
import Importer

/// The importing process's own connection, from a job's lock to its end.
///
/// A connection that is lost is made again, with its lock; what was being written is written again, as a whole. So each piece of
/// writing must be one that can be done twice.
final class PGLockingSession {
    let store: PostgreSQLStore
    let interruption: Interruption
    private let writes: Bool
    private var connection: PGConnection?
    /// How many connections were made.
    private(set) var connections = 0
    /// True if the server has let this process in: what is wrong before that will be wrong a moment later, too.
    private var hasConnected = false
    /// True if the schema was found to have the importer's tables.
    private var isBookkept = false
    /// The last chunk that a resumed job keeps, found while no worker committed any; nil where cutting has gone on since.
    var keptChunk: Int64?
    /// Questions that are asked with each transaction's COMMIT, as their answers are needed next.
    var upcoming: [PGStatement] = []
    /// True if this is the schema's only importing process.
    private(set) var isLocked = false
    /// The job that this process imports, and what it is known by in its row; nil before it is started.
    private var claim: (job: Int64, owner: String, epoch: Int64)?

    var label: String { store.label }

    /// - Parameter writes: whether anything is to be written.
    init(_ store: PostgreSQLStore, _ interruption: Interruption, writes: Bool = true) {
        self.store = store
        self.writes = writes
        self.interruption = interruption
    }

    // MARK: Connection

    private func open() throws -> PGConnection {
        if let connection { return connection }
        let made = try store.connect(interruption, writes: writes)
        connection = made
        connections += 1
        hasConnected = true
        if isLocked {
            do {
                try takeLockAgain(made)
                made.remembers = true
            } catch {
                drop()
                throw error
            }
        }
        return made
    }

    /// Forgets the answers that it has, as others may have written.
    func forget() { connection?.forget() }

    /// Forgets a connection that is of no use any more.
    private func drop() {
        connection?.close()
        connection = nil
        isBookkept = false
    }

    /// Makes the next question a first one where the connection was lost while nobody asked: a server that is gone is not waited for.
    func renew() {
        guard let connection, (try? connection.execute("SELECT 1")) == nil else { return }
        drop()
        hasConnected = false
    }

    /// Calls `body` with a connection, and again with another one where that is lost.
    private func withConnection<Result>(_ body: (PGConnection) throws -> Result) throws -> Result {
        var patience = store.patience
        while true {
            do {
                return try body(open())
            } catch let failure as PGError where failure.isTransient && hasConnected {
                if failure.isConnectionLost { drop() }
                try patience.wait(after: failure, label: label, interruption)
            } catch is UnknownCommitOutcome {
                drop()
                try patience.wait(after: nil, label: label, interruption)
            } catch let failure as PGError {
                throw failure.importError(at: label, showsValues: store.showsValues)
            }
        }
    }

    // MARK: Reading and writing

    func read<Result>(_ body: (PGConnection) throws -> Result) throws -> Result {
        try withConnection(body)
    }

    /// One transaction; of a process that was cut off and replaced by another, it is refused.
    ///
    /// - Parameter isDurable: whether it is on the server's disk when this returns. Otherwise it is when a later transaction
    ///   is, whoever's that is: the server has one write-ahead log (<https://www.postgresql.org/docs/current/wal-async-commit.html>);
    ///   a server that ends at once may have lost it.
    /// - Throws: `ImportError`, with `.storeInUse` where another process has taken the job over.
    func write<Result>(isDurable: Bool = true, _ body: (PGConnection) throws -> Result) throws -> Result {
        let begin = isDurable ? "BEGIN" : "BEGIN; SET LOCAL synchronous_commit = off"
        return try withConnection { connection in
            do {
                return try connection.transaction(begin, asking: upcoming) {
                    checkClaim(connection)
                    return try body(connection)
                }
            } catch {
                // The tables may have been made in it.
                isBookkept = false
                throw error
            }
        }
    }

    private func checkClaim(_ connection: PGConnection) {
        guard let claim else { return }
        // Without the row it fails, and with it all that is sent after it.
        connection.demand(
            """
            SELECT 1 / count(*) FROM (
                SELECT FROM _import_job WHERE id = $1 AND owner = $2 AND epoch = $3 FOR SHARE
            ) AS claim
            """,
            [.integer(claim.job), .text(claim.owner), .integer(claim.epoch)],
            or: ImportError(
                .storeInUse,
                at: label,
                "another process has taken over the import meanwhile",
                advice: "Let it end, or take part with \(call: .working)."
            )
        )
    }

    /// One transaction that only reads, and sees one state of a schema that has an import.
    ///
    /// - Parameter body: may be done twice; not once more after it has ended.
    /// - Throws: `ImportError`: with `.storeEmpty` when the schema has no import.
    func snapshot<Result>(_ body: (PGConnection) throws -> Result) throws -> Result {
        try read { connection in
            var result: Result?
            do {
                try connection.transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") {
                    guard try hasBookkeeping(connection) else {
                        throw ImportError(
                            .storeEmpty,
                            at: label,
                            "holds no import",
                            advice: "Check the address and the schema."
                        )
                    }
                    result = try body(connection)
                }
            } catch is UnknownCommitOutcome where result != nil {
                // Nothing was written.
            }
            guard let result else { throw ImportError(.fault, at: label, "a transaction has no result") }
            return result
        }
    }

    /// True if the schema has the importer's tables; once it has, it is not asked again on the same connection.
    ///
    /// - Throws: `ImportError` with `.storeForeign` where they are of another format.
    func hasBookkeeping(_ connection: PGConnection) throws -> Bool {
        if !isBookkept { isBookkept = try BookkeepingSchema.isThere(connection, checkedFor: label) }
        return isBookkept
    }

    // MARK: The lock and the claim

    /// Makes this the schema's only importing process.
    ///
    /// - Throws: `ImportError` with `.storeInUse`.
    func lock() throws {
        try withConnection {
            try takeLock($0)
            $0.remembers = true
        }
        isLocked = true
    }

    /// Takes the lock after a connection was lost: the server may not have noticed yet that its session has ended.
    private func takeLockAgain(_ connection: PGConnection) throws {
        let deadline = ContinuousClock.now + .seconds(store.reconnect)
        while true {
            do {
                return try takeLock(connection)
            } catch let error as ImportError where error.reason == .storeInUse && ContinuousClock.now < deadline {
                Thread.sleep(forTimeInterval: 0.1)
                try interruption.check()
            }
        }
    }

    private func takeLock(_ connection: PGConnection) throws {
        let row = try connection.execute(
            "SELECT pg_try_advisory_lock(\(Self.lockNumber)), \(BookkeepingSchema.found)",
            [.text(store.lockName)]
        ).first
        // What is wrong with the tables is said when they are needed.
        isBookkept = try row.map { try BookkeepingSchema.isUsable($0, at: 1) } ?? false
        guard try row?.bool(0) == true else {
            throw ImportError(
                .storeInUse,
                at: label,
                "another process imports into the schema \(connection.schema)",
                advice: "Let it end, or take part with \(call: .working)."
            )
        }
    }

    /// The number of the schema's advisory lock, from its name as `$1`.
    static let lockNumber = "hashtextextended($1 || '/' || current_schema(), 0)"

    /// True if some process has the lock.
    static func isLockHeld(_ connection: PGConnection, _ name: String) throws -> Bool {
        try connection.execute(
            """
            SELECT EXISTS (
                SELECT 1 FROM pg_locks, (SELECT \(lockNumber) AS number) AS wanted
                WHERE locktype = 'advisory' AND granted AND objsubid = 1
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND ((classid::bigint << 32) | objid::bigint) = wanted.number
            )
            """,
            [.text(name)]
        ).first?.bool(0) ?? false
    }

    func unlock() {
        guard isLocked else { return }
        close()
    }

    /// Makes this process the one that a job's row names, and the job a running one.
    ///
    /// - Parameter seconds: the time that it has taken up to now.
    func start(_ job: Int64, seconds: Double) throws {
        let owner = UUID().uuidString.lowercased()
        let epoch = try withConnection { connection in
            try connection.note(
                """
                UPDATE _import_job SET owner = $2, epoch = epoch + 1, state = 'running', message = NULL, seconds = $3,
                    finished = NULL
                WHERE id = $1 RETURNING epoch
                """,
                [.integer(job), .text(owner), .double(seconds)],
                asking: upcoming
            ).first?.integer(0)
        }
        guard let epoch else { throw ImportError(.fault, at: label, "the job \(job) is gone") }
        claim = (job, owner, epoch)
    }

    func close() {
        // The lock ends with the connection, too, but that the server may notice later than the next import begins.
        if isLocked { _ = try? connection?.execute("SELECT pg_advisory_unlock_all()") }
        claim = nil
        isLocked = false
        drop()
    }
}
