import Importer
import TestSupport
import Testing

@testable import ImportEngine
@testable import ImportPostgreSQL
@testable import ImportSources

/// Of all who have taken a chunk only the one commits it whose lease is the last one, and only once.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct ChunkFenceTests {
    private let database: PGDatabase
    private let connection: PGConnection
    private let chunks = ChunkTable(job: 1)

    /// A job with one chunk that nobody has taken.
    init() throws {
        database = try PGDatabase()
        connection = try database.connect()
        try BookkeepingSchema.prepare(connection, label: "test")
        try connection.execute(
            """
            INSERT INTO _import_job (token, state, options, chunk_directory, host, fingerprint)
            VALUES ('t', 'running', '{}', '/c', 'h', 'f')
            """
        )
        try seal()
        try connection.execute("CREATE TABLE thing (worker text)")
    }

    private func seal() throws {
        let entry = ChunkEntry(
            number: 1,
            source: 0,
            firstByte: 0,
            endByte: 9,
            sourceHash: "",
            firstOrdinal: 1,
            records: 1,
            paths: [],
            gaps: [],
            bytes: 9,
            checksum: "",
            rejects: [],
            outside: [:],
            end: .start,
            isLast: true
        )
        try chunks.register(entry, connection)
    }

    private func lease(_ owner: String) throws -> ChunkLease? {
        try chunks.lease(owner, host: "here", connection, label: "test").lease
    }

    /// The server's clock goes past the end of all leases.
    private func endLeases() throws {
        try connection.execute("UPDATE _import_chunk SET lease_until = '-infinity' WHERE state = 'sealed'")
    }

    /// A worker's transaction, rolled back where the fence does not let it through.
    ///
    /// - Returns: whether it has let it through.
    private func commit(_ lease: ChunkLease, _ owner: String, _ connection: PGConnection) throws -> Bool {
        struct Lost: Error {}
        do {
            try connection.transaction {
                guard try chunks.fence(lease, owner, connection) else { throw Lost() }
                try connection.execute("INSERT INTO thing VALUES ($1)", [.text(owner)])
            }
            return true
        } catch is Lost {
            return false
        }
    }

    private func commit(_ lease: ChunkLease, _ owner: String) throws -> Bool { try commit(lease, owner, connection) }

    private func rows() throws -> [String] {
        try connection.execute("SELECT worker FROM thing").map { try $0.text(0) }
    }

    /// Who has the chunk: state, owner, attempts, and whether a lease keeps others off.
    private func chunk() throws -> [String] {
        try connection.execute(
            "SELECT state, owner, attempts::text, (lease_until > clock_timestamp())::text FROM _import_chunk"
        ).flatMap { row in try (0..<4).map { try row.text($0) } }
    }

    // MARK: Leases

    @Test func aChunkIsTakenByOneAtATime() throws {
        let first = try #require(try lease("a"))
        #expect(first.attempts == 1 && first.entry.number == 1)
        #expect(try lease("b") == nil)
        try endLeases()
        #expect(try lease("b")?.attempts == 2)
        #expect(try lease("a") == nil)
    }

    @Test func aChunkThatIsDoneIsNotTaken() throws {
        let first = try #require(try lease("a"))
        #expect(try commit(first, "a"))
        try connection.execute("UPDATE _import_chunk SET lease_until = '-infinity'")
        #expect(try lease("b") == nil)
        #expect(try chunk() == ["done", "a", "1", "false"])
    }

    /// Whoever looks for a chunk does not wait for one that is being committed.
    @Test func aChunkThatIsBeingCommittedIsPassedOver() throws {
        let first = try #require(try lease("a"))
        try endLeases()
        let other = try database.connect()
        defer { other.close() }
        try other.execute("SET lock_timeout = '1ms'")
        try connection.execute("BEGIN")
        #expect(try chunks.fence(first, "a", connection))
        #expect(try chunks.lease("b", host: "there", other, label: "test").lease == nil)
        try connection.execute("COMMIT")
        #expect(try chunk().prefix(3) == ["done", "a", "1"])
    }

    // MARK: The fence

    @Test func aLeaseCommitsOnce() throws {
        let lease = try #require(try lease("a"))
        #expect(try commit(lease, "a"))
        #expect(try !commit(lease, "a"))
        #expect(try rows() == ["a"])
    }

    /// The other one has taken it and not committed, or has committed.
    @Test(arguments: [false, true])
    func aLeaseThatAnotherHasTakenOverCommitsNothing(isCommitted: Bool) throws {
        let first = try #require(try lease("a"))
        try endLeases()
        let second = try #require(try lease("b"))
        if isCommitted { #expect(try commit(second, "b")) }
        #expect(try !commit(first, "a"))
        #expect(try rows() == (isCommitted ? ["b"] : []))
        if !isCommitted { #expect(try commit(second, "b")) }
        #expect(try rows() == ["b"])
        #expect(try chunk().prefix(3) == ["done", "b", "2"])
    }

    /// The other one is in its transaction: nobody has to wait for that to know whose the chunk is.
    @Test func aLeaseThatAnotherIsCommittingCommitsNothing() throws {
        let first = try #require(try lease("a"))
        try endLeases()
        let second = try #require(try lease("b"))
        let other = try database.connect()
        defer { other.close() }
        try connection.execute("SET lock_timeout = '1ms'")
        try other.execute("BEGIN")
        #expect(try chunks.fence(second, "b", other))
        try other.execute("INSERT INTO thing VALUES ('b')")
        #expect(try !commit(first, "a"))
        try other.execute("COMMIT")
        #expect(try rows() == ["b"])
    }

    /// A chunk that was registered again has its first attempt again: only the owner tells the leases apart.
    @Test func aLeaseOfWhatWasCutAgainCommitsNothing() throws {
        let first = try #require(try lease("a"))
        try connection.execute("DELETE FROM _import_chunk")
        try seal()
        let second = try #require(try lease("b"))
        #expect(first.attempts == second.attempts)
        #expect(try !commit(first, "a"))
        #expect(try commit(second, "b"))
        #expect(try rows() == ["b"])
    }

    /// What a worker did under an earlier lease is not what it does under a later one.
    @Test func anEarlierLeaseOfTheSameWorkerCommitsNothing() throws {
        let first = try #require(try lease("a"))
        try endLeases()
        let second = try #require(try lease("a"))
        #expect(try !commit(first, "a"))
        #expect(try rows().isEmpty)
        #expect(try commit(second, "a"))
        #expect(try rows() == ["a"])
    }

    // MARK: What became of a commit

    @Test func onlyItsOwnCommitIsALeasesOwn() throws {
        let first = try #require(try lease("a"))
        #expect(try !chunks.isDone(first, "a", connection))
        try endLeases()
        let second = try #require(try lease("a"))
        #expect(try commit(second, "a"))
        #expect(try chunks.isDone(second, "a", connection))
        #expect(try !chunks.isDone(first, "a", connection))
        #expect(try !chunks.isDone(second, "b", connection))
    }

    /// Whoever asks waits for a transaction that is not over.
    @Test func whatBecameOfACommitIsKnownWhenItIsOver() throws {
        let lease = try #require(try lease("a"))
        let other = database.server.session(with: database.url)
        try other.query("BEGIN")
        try other.query("UPDATE _import_chunk SET state = 'done'")
        database.whenWaiting(for: "transactionid") { _ in try other.query("COMMIT") }
        #expect(try chunks.isDone(lease, "a", connection))
    }

    // MARK: Giving back

    @Test func aChunkThatIsGivenBackWasNotTakenInVain() throws {
        let lease = try #require(try lease("a"))
        #expect(try chunks.giveBack(lease, "a", connection))
        #expect(try chunk().dropFirst(2) == ["0", "false"])
        #expect(try self.lease("b")?.attempts == 1)
    }

    @Test func aChunkIsNotGivenBackThatAnotherHas() throws {
        let first = try #require(try lease("a"))
        try endLeases()
        let second = try #require(try lease("a"))
        #expect(try !chunks.giveBack(first, "a", connection))
        #expect(try !chunks.giveBack(second, "b", connection))
        #expect(try chunk() == ["sealed", "a", "2", "true"])
        #expect(try commit(second, "a"))
        #expect(try !chunks.giveBack(second, "a", connection))
        #expect(try chunk().prefix(3) == ["done", "a", "2"])
    }

    /// A chunk that nobody can commit ends the job, and is nobody's then.
    @Test func aChunkThatIsTakenInVainIsGivenUp() throws {
        var last: ChunkLease?
        for number in 1...ChunkTable.mostAttempts {
            last = try lease("a")
            #expect(last?.attempts == Int64(number))
            try endLeases()
        }
        #expect(throws: ImportError.self) { try lease("b") }
        #expect(try chunk().first == "failed")
        #expect(try lease("c") == nil)
        #expect(try !commit(#require(last), "a"))
        #expect(try rows().isEmpty)
    }
}
