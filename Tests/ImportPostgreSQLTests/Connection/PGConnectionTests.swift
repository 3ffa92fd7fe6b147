import Foundation
import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGConnectionTests {
    private struct Stop: Error {}

    // MARK: Statements

    @Test func valuesArriveAndComeBackAsTheyAre() throws {
        let connection = try PGDatabase().connect()
        let bytes = (0...255).map { UInt8($0) }
        let text = "é\\'\"$1\n\u{1F600}"
        let row = try #require(
            try connection.execute(
                "SELECT $1::int8, $2::float8, $3::boolean, $4::text, $5::bytea, $6::text, $7::float8, $8::bytea",
                [
                    .integer(.min), .double(0.1), .boolean(true), .text(text), .bytes(bytes), .null,
                    .double(-.infinity), .bytes([]),
                ]
            ).first
        )
        #expect(try row.integer(0) == .min)
        #expect(try row.double(1) == 0.1)
        #expect(try row.bool(2))
        #expect(try row.text(3) == text)
        #expect(try row.bytes(4) == bytes)
        #expect(try row.optionalText(5) == nil)
        #expect(try row.double(6) == -.infinity)
        #expect(try row.bytes(7).isEmpty)
    }

    @Test func aValueOfAnotherKindIsAnErrorAndNotATrap() throws {
        let row = try #require(try PGDatabase().connect().execute("SELECT 'x', NULL").first)
        for read in [
            { _ = try row.integer(0) }, { _ = try row.bytes(0) }, { _ = try row.bool(0) }, { _ = try row.text(1) },
            { _ = try row.text(2) }, { _ = try row.text(-1) },
        ] {
            #expect(throws: ImportError.self) { try read() }
        }
    }

    @Test func severalStatementsGiveTheRowsOfTheLast() throws {
        let connection = try PGDatabase().connect()
        let rows = try connection.execute(
            "CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2); SELECT a FROM t ORDER BY a"
        )
        #expect(try rows.map { try $0.integer(0) } == [1, 2])
        #expect(try connection.execute("DELETE FROM t").affected == 2)
    }

    @Test func aRefusedStatementLeavesTheConnectionUsable() throws {
        let connection = try PGDatabase().connect()
        let failure = #expect(throws: PGError.self) { try connection.execute("SELECT nothing") }
        #expect(failure?.sqlState == "42703")
        #expect(failure?.isConnectionLost == false)
        #expect(try connection.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func nothingIsCutOffAtACharacterThatTextCannotHave() throws {
        let connection = try PGDatabase().connect()
        for (sql, parameters) in [("SELECT $1", [PGValue.text("a\0b")]), ("SELECT 1\0 nonsense", [])] {
            let failure = #expect(throws: PGError.self) { try connection.execute(sql, parameters) }
            #expect(failure?.sqlState == "22021")
        }
        #expect(try connection.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func tooManyParametersAreRefusedHere() throws {
        let connection = try PGDatabase().connect()
        let failure = #expect(throws: PGError.self) {
            try connection.execute("SELECT 1", Array(repeating: .null, count: 70_000))
        }
        #expect(failure?.isConnectionLost == false)
        #expect(try connection.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func rowsComeOneByOneAndMayBeLeft() throws {
        let connection = try PGDatabase().connect()
        var sum: Int64 = 0
        try connection.forEachRow("SELECT generate_series(1, $1)", [.integer(1_000)]) { sum += try $0.integer(0) }
        #expect(sum == 500_500)
        var count = 0
        #expect(throws: Stop.self) {
            // So many that holding or reading them all would be noticed.
            try connection.forEachRow("SELECT generate_series(1, 1000000000000)") { _ in
                count += 1
                if count == 3 { throw Stop() }
            }
        }
        #expect(count == 3)
        #expect(try connection.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func anErrorAfterRowsIsThrown() throws {
        let connection = try PGDatabase().connect()
        var count = 0
        let failure = #expect(throws: PGError.self) {
            try connection.forEachRow("SELECT 1 / (3 - n) FROM generate_series(1, 3) AS n") { _ in count += 1 }
        }
        #expect(failure?.sqlState == "22012")
        #expect(count == 2)
    }

    @Test func quotedNamesAreWhatTheyWere() throws {
        let connection = try PGDatabase().connect()
        for name in ["a", "A b", "a\"b\"\"", "é\u{1F600}", "a\\b'c", "\"; DROP TABLE t; --"] {
            let rows = try connection.execute(
                "SELECT key FROM json_each(to_json((SELECT r FROM (SELECT 1 AS \(PGNames.quoted(name))) AS r)))"
            )
            #expect(try rows.first?.text(0) == name)
        }
    }

    @Test func noticesStayAwayFromStandardError() throws {
        let connection = try PGDatabase().connect()
        let text = try StandardError.text {
            try connection.execute("DO $$ BEGIN RAISE WARNING 'unmistakable'; END $$")
        }
        #expect(!text.contains("unmistakable"))
    }

    // MARK: The session

    @Test func aSessionIsTheSameWhateverTheUserHasSet() throws {
        let database = try PGDatabase()
        try database.query(
            """
            DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = 3600000', current_database());
            EXECUTE format('ALTER DATABASE %I SET DateStyle = ''SQL, DMY''', current_database());
            EXECUTE format('ALTER DATABASE %I SET extra_float_digits = -3', current_database());
            EXECUTE format('ALTER DATABASE %I SET standard_conforming_strings = off', current_database());
            EXECUTE format('ALTER DATABASE %I SET bytea_output = escape', current_database());
            EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database());
            END $$
            """
        )
        let connection = try database.connect()
        #expect(try connection.execute("SHOW statement_timeout").first?.text(0) == "0")
        let row = try #require(
            try connection.execute(
                """
                SELECT date '2026-02-01', 1::float8 / 3, 'a\\b', '\\x01'::bytea,
                    current_setting('transaction_isolation'), current_setting('application_name'), current_setting('client_encoding')
                """
            ).first
        )
        #expect(
            try (0..<7).map { try row.text($0) } == [
                "2026-02-01", "0.3333333333333333", "a\\b", "\\x01", "read committed", "importer", "UTF8",
            ]
        )
    }

    @Test func theAddressMayNameTheApplication() throws {
        let connection = try PGDatabase().connect("&application_name=mine")
        #expect(try connection.execute("SHOW application_name").first?.text(0) == "mine")
    }

    @Test func theSchemaIsTheConnectionsOrTheOneThatIsAskedFor() throws {
        let database = try PGDatabase()
        #expect(try database.connect().schema == "public")
        try database.query("CREATE SCHEMA theirs")
        #expect(try database.connect("&options=-csearch_path%3Dtheirs,public").schema == "theirs")

        var address = try database.address()
        address.schema = "Mine \"x\""
        let connection = try PGConnection(address, interruption: Interruption())
        #expect(connection.schema == "Mine \"x\"")
        #expect(try !connection.hasSchema())
        try connection.makeSchema()
        try connection.makeSchema()
        #expect(try connection.hasSchema())
        try connection.execute("CREATE TABLE t (a int)")
        #expect(try database.query("SELECT schemaname FROM pg_tables WHERE tablename = 't'") == [["Mine \"x\""]])
        #expect(try connection.execute("SELECT current_schema()").first?.text(0) == "Mine \"x\"")
    }

    @Test func anyNumberMayMakeTheSchemaAtOnce() throws {
        let database = try PGDatabase()
        let (made, ended) = (SharedCount(), SharedCount())
        for _ in 0..<8 {
            Thread.detachNewThread {
                defer { ended.add() }
                guard var address = try? database.address() else { return }
                address.schema = "together"
                guard let connection = try? PGConnection(address, interruption: Interruption()) else { return }
                if (try? connection.makeSchema()) != nil { made.add() }
            }
        }
        try wait(for: "eight threads") { ended.value == 8 ? true : nil }
        #expect(made.value == 8)
    }

    @Test func withoutASchemaItSaysSo() throws {
        let database = try PGDatabase()
        let error = #expect(throws: ImportError.self) { try database.connect("&options=-csearch_path%3Dnowhere") }
        #expect(error?.reason == .storeUnusable)
    }

    // MARK: Transactions

    @Test func aTransactionIsWholeOrNothing() throws {
        let database = try PGDatabase()
        let connection = try database.connect()
        try connection.execute("CREATE TABLE t (a int)")
        try connection.transaction { _ = try connection.execute("INSERT INTO t VALUES (1)") }
        #expect(throws: Stop.self) {
            try connection.transaction {
                try connection.execute("INSERT INTO t VALUES (2)")
                throw Stop()
            }
        }
        #expect(try database.query("SELECT a FROM t") == [["1"]])
    }

    @Test func aTransactionThatTheServerRollsBackIsNoSuccess() throws {
        let connection = try PGDatabase().connect()
        let failure = #expect(throws: PGError.self) {
            try connection.transaction { _ = try? connection.execute("SELECT nothing") }
        }
        #expect(failure?.sqlState == "25P02")
        #expect(try connection.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func aCommitThatIsRefusedIsKnown() throws {
        let connection = try PGDatabase().connect()
        try connection.execute(
            "CREATE TABLE t (a int PRIMARY KEY, b int REFERENCES t DEFERRABLE INITIALLY DEFERRED)"
        )
        let failure = #expect(throws: PGError.self) {
            try connection.transaction { _ = try connection.execute("INSERT INTO t VALUES (1, 2)") }
        }
        #expect(failure?.sqlState == "23503")
        #expect(failure?.table == "t")
        #expect(failure?.constraint == "t_b_fkey")
    }

    @Test(arguments: [PostgreSQLProxy.Cut.before, .after])
    func aCommitWhoseAnswerIsLostIsUnknown(_ cut: PostgreSQLProxy.Cut) throws {
        let database = try PGDatabase()
        try database.query("CREATE TABLE t (a int)")
        let proxy = try PostgreSQLProxy(to: database.server, cutting: cut, at: [1])
        let address = try PostgreSQLAddress(database.server.withPasswordFile(proxy.url(of: database.url)))
        let connection = try PGConnection(address, interruption: Interruption())
        let unknown = #expect(throws: UnknownCommitOutcome.self) {
            try connection.transaction { _ = try connection.execute("INSERT INTO t VALUES (1)") }
        }
        #expect(unknown?.failure.isConnectionLost == true)
        #expect(!connection.isOpen)
        let failure = #expect(throws: PGError.self) { try connection.execute("SELECT 1") }
        #expect(failure?.isTransient == true)
        if cut == .after { #expect(try database.query("SELECT a FROM t") == [["1"]]) }
    }

    // MARK: Interruption

    @Test func anInterruptionEndsAStatementWhereItMay() throws {
        let database = try PGDatabase()
        let interruption = Interruption()
        let connection = try database.connect("", interruption)
        connection.isInterruptible = true
        database.whenWaiting(for: "PgSleep") { _ in interruption.request(.interrupt) }
        let error = #expect(throws: ImportError.self) { try connection.execute("SELECT pg_sleep(3600)") }
        #expect(error?.reason == .interrupted)
        connection.isInterruptible = false
        #expect(try connection.execute("SELECT 1").first?.integer(0) == 1)
    }

    @Test func anInterruptionWaitsForAStatementWhereItMustNotEndIt() throws {
        let database = try PGDatabase()
        let interruption = Interruption()
        let connection = try database.connect("", interruption)
        database.whenWaiting(for: "PgSleep") { _ in interruption.request(.interrupt) }
        #expect(try connection.execute("SELECT pg_sleep(1), 7").first?.integer(1) == 7)
        #expect(throws: ImportError.self) { try database.connect("", interruption) }
    }

    @Test func aTransactionThatIsInterruptedIsRolledBack() throws {
        let database = try PGDatabase()
        try database.query("CREATE TABLE t (a int)")
        let interruption = Interruption()
        let connection = try database.connect("", interruption)
        connection.isInterruptible = true
        database.whenWaiting(for: "PgSleep") { _ in interruption.request(.interrupt) }
        let error = #expect(throws: ImportError.self) {
            try connection.transaction { _ = try connection.execute("INSERT INTO t SELECT 1 FROM pg_sleep(3600)") }
        }
        #expect(error?.reason == .interrupted)
        #expect(try connection.execute("SELECT count(*) FROM t").first?.integer(0) == 0)
    }
}
