import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

/// An importing process that another one has replaced writes nothing any more.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGClaimTests {
    private let database: PGDatabase
    private let connection: PGConnection

    /// A job that nobody has.
    init() throws {
        database = try PGDatabase()
        connection = try database.connect()
        try BookkeepingSchema.prepare(connection, label: "test")
        try connection.execute(
            """
            INSERT INTO _import_job (token, state, options, chunk_directory, host, fingerprint)
            VALUES ('t', 'running', '{}', '/c', 'h', 'f');
            CREATE TABLE thing (process text)
            """
        )
    }

    private func session() throws -> PGLockingSession {
        PGLockingSession(PostgreSQLStore(try database.address()), Interruption())
    }

    private func write(_ name: String, by session: PGLockingSession) throws {
        try session.write { _ = try $0.execute("INSERT INTO thing VALUES ($1)", [.text(name)]) }
    }

    /// - Returns: why a write is refused; nil where it is not.
    private func refusal(of session: PGLockingSession) throws -> ImportError.Reason? {
        do {
            try write("first", by: session)
            return nil
        } catch let error as ImportError {
            return error.reason
        }
    }

    private func rows() throws -> [String] {
        try connection.execute("SELECT process FROM thing").map { try $0.text(0) }
    }

    @Test func whoeverHasClaimedTheJobWrites() throws {
        let session = try session()
        defer { session.close() }
        try session.start(1, seconds: 0)
        try write("first", by: session)
        #expect(try rows() == ["first"])
    }

    /// Each claim is told from all others by its epoch alone, too.
    @Test func whoeverWasReplacedWritesNothing() throws {
        let (first, second) = (try session(), try session())
        defer {
            first.close()
            second.close()
        }
        try first.start(1, seconds: 0)
        try second.start(1, seconds: 0)
        let claim = try connection.execute("SELECT epoch, owner FROM _import_job").first
        #expect(try claim?.integer(0) == 2 && claim?.text(1).isEmpty == false)
        #expect(try refusal(of: first) == .storeInUse)
        #expect(try rows().isEmpty)
        try write("second", by: second)
        #expect(try rows() == ["second"])
    }

    /// Either is enough to tell that it was replaced, and a job that is gone is nobody's.
    @Test(arguments: [
        "UPDATE _import_job SET owner = 'another'", "UPDATE _import_job SET epoch = epoch + 1",
        "UPDATE _import_job SET id = DEFAULT", "DELETE FROM _import_job",
    ])
    func anotherOwnerOrEpochIsAnotherProcess(change: String) throws {
        let session = try session()
        defer { session.close() }
        try session.start(1, seconds: 0)
        try connection.execute(change)
        #expect(try refusal(of: session) == .storeInUse)
        #expect(try rows().isEmpty)
    }

    /// Between the look at the claim, which comes with the first statement that is awaited, and the commit nobody replaces it.
    @Test func nobodyReplacesAProcessThatWrites() throws {
        let session = try session()
        defer { session.close() }
        try session.start(1, seconds: 0)
        let claim = "UPDATE _import_job SET owner = 'another', epoch = epoch + 1"
        try connection.execute("SET lock_timeout = '1ms'")
        try session.write { own in
            try own.execute("SELECT 1")
            let failure = #expect(throws: PGError.self) { try connection.execute(claim) }
            #expect(failure?.sqlState == "55P03")
        }
        try connection.execute(claim)
        #expect(try refusal(of: session) == .storeInUse)
    }

    /// Ends the connection of a session.
    private func cut(_ session: PGLockingSession) throws {
        let process = try session.read { try $0.execute("SELECT pg_backend_pid()").first?.integer(0) ?? 0 }
        try connection.execute("SELECT pg_terminate_backend($1::integer, 600000)", [.integer(process)])
    }

    /// Whoever comes back has the schema to itself again.
    @Test func aLockThatIsLostIsTakenAgain() throws {
        let (first, second) = (try session(), try session())
        defer {
            first.close()
            second.close()
        }
        try first.lock()
        try cut(first)
        #expect(try first.read { try $0.execute("SELECT 1").count } == 1)
        #expect(throws: ImportError.self) { try second.lock() }
        first.unlock()
        try second.lock()
    }

    /// Also where the connection was lost, and with it the schema's lock.
    @Test func whoeverComesBackHasItsClaimLookedAt() throws {
        let (first, second) = (try session(), try session())
        defer { first.close() }
        try first.lock()
        try first.start(1, seconds: 0)
        try cut(first)
        try second.lock()
        try second.start(1, seconds: 0)
        try write("second", by: second)
        second.close()
        #expect(try refusal(of: first) == .storeInUse)
        #expect(try rows() == ["second"])
    }

    /// Of settling, too, each step is done once, and none before the one before it.
    @Test func aStepOfSettlingIsDoneOnce() throws {
        let session = try session()
        defer { session.close() }
        try session.start(1, seconds: 0)
        try session.write { try RelationshipSteps.begin(1, $0) }
        let steps = RelationshipSteps(job: 1, session: session)
        for number: Int64 in [2, 1, 1, 3, 2, 1] {
            try steps.take(number) { _ = try $0.execute("INSERT INTO thing VALUES ($1)", [.text("step \(number)")]) }
        }
        #expect(try rows() == ["step 1", "step 2"])
    }
}
