import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

/// Statements that are sent together are what they would be one after the other.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGPipelineTests {
    private let database: PGDatabase
    private let counter = RoundTripCounter()
    private let connection: PGConnection

    init() throws {
        database = try PGDatabase()
        connection = try PGConnection(database.address(), interruption: Interruption(), trips: counter)
        try connection.execute("CREATE TABLE t (a int PRIMARY KEY)")
    }

    private func insert(_ number: Int64) { connection.post("INSERT INTO t VALUES ($1)", [.integer(number)]) }

    private func numbers() throws -> [[String?]] { try database.query("SELECT a FROM t ORDER BY a") }

    @Test func aTransactionOfWhatIsNotAwaitedIsOneRoundTrip() throws {
        let before = counter.count
        try connection.transaction("BEGIN; SET LOCAL synchronous_commit = off") {
            for number in 1...3 { insert(Int64(number)) }
        }
        #expect(counter.count - before == 1)
        #expect(try numbers() == [["1"], ["2"], ["3"]])
    }

    @Test func whatIsAwaitedSeesWhatWasPostedBefore() throws {
        try connection.transaction {
            insert(1)
            #expect(try connection.execute("SELECT a FROM t").count == 1)
            insert(2)
            let copied = try connection.copy("COPY t FROM STDIN") { try $0.write(Array("3\n".utf8)) }
            #expect(copied == 1)
        }
        #expect(try numbers() == [["1"], ["2"], ["3"]])
    }

    /// Whichever of them fails, nothing of the transaction stays, and the connection is of use.
    @Test(arguments: [[1, 1, 2], [1, 2, 1], [2, 1, 1]])
    func aRefusalRollsAllBack(numbers: [Int64]) throws {
        let failure = #expect(throws: PGError.self) {
            try connection.transaction { for number in numbers { insert(number) } }
        }
        #expect(failure?.sqlState == "23505")
        #expect(try self.numbers().isEmpty)
        try connection.transaction { insert(7) }
        #expect(try self.numbers() == [["7"]])
    }

    @Test func whatIsDemandedGoesBeforeAllElse() throws {
        let refusal = ImportError(.storeInUse, "somebody else's")
        let error = #expect(throws: ImportError.self) {
            try connection.transaction {
                connection.demand("SELECT 1 / count(*) FROM t WHERE a = $1", [.integer(9)], or: refusal)
                insert(1)
            }
        }
        #expect(error?.reason == .storeInUse)
        #expect(try numbers().isEmpty)
    }

    @Test func anAnswerIsRememberedUntilSomethingIsWritten() throws {
        let question = PGStatement("SELECT count(*) FROM t")
        func answer() throws -> Int64? { try connection.ask(question).first?.integer(0) }
        connection.remembers = true
        #expect(try answer() == 0)
        try database.query("INSERT INTO t VALUES (1)")
        #expect(try answer() == 0)
        try connection.transaction { insert(2) }
        #expect(try answer() == 2)
        // What is asked with a COMMIT is answered by the state after it.
        try connection.transaction(asking: [question]) { insert(3) }
        let before = counter.count
        #expect(try answer() == 3)
        #expect(counter.count == before)
        connection.remembers = false
        try database.query("DELETE FROM t")
        #expect(try answer() == 0)
    }
}
