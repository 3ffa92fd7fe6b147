import Foundation
import TestSupport
import Testing

/// Whoever commits what another one has taken over meanwhile writes nothing, and loses nothing: chunks, and buckets of objects.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGFenceTests {
    /// The tables of what is leased and fenced.
    private static let tables = ["_import_chunk", "_import_settle"]

    /// Where the rows of a chunk go, and where those of a bucket do.
    private static func target(of table: String) -> String { table == tables[0] ? "person" : "thing" }

    /// An import by one worker that is about to commit its first chunk or bucket: what it does for that is done, and the next thing is
    /// the fence, before any row is locked.
    private struct Halted {
        let files: ImportFiles
        let database: PGDatabase
        let program: ChildProcess
        let gate: PostgreSQLSession
        /// The fenced table.
        let table: String

        init(beforeFenceOf table: String) throws {
            self.table = table
            files = try PGInterruptionTests.files(identifier: table != tables[0])
            database = try PGDatabase()
            try database.execute(
                """
                CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF current_setting('gate.passes', true) IS NULL THEN LOCK TABLE gate IN SHARE MODE; END IF;
                    RETURN NULL;
                END $$;
                CREATE FUNCTION guard() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF to_regclass('\(table)') IS NOT NULL AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'pass') THEN
                        CREATE TRIGGER pass BEFORE UPDATE OF state ON \(table) FOR EACH STATEMENT EXECUTE FUNCTION pass();
                    END IF;
                END $$;
                CREATE EVENT TRIGGER guard ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION guard();
                CREATE TABLE gate ()
                """
            )
            gate = try database.holdBack("gate")
            program = try database.start(database.command(files, nil, PGInterruptionTests.run))
            try database.waitAtGate(program, 1)
            try database.execute("SET gate.passes = on")
        }

        /// Changes the row that is to be committed.
        func change(_ assignments: String) throws {
            let key = table == PGFenceTests.tables[0] ? "number = 1" : "bucket = 0"
            try database.execute("UPDATE \(table) SET \(assignments) WHERE \(key)")
        }

        /// Another worker, who is not held back.
        func startAnother() throws -> ChildProcess {
            try database.start(["work", database.url + "&options=-cgate.passes%3Don", "--workers", "1"])
        }

        /// Lets it go on to its end.
        func finish() throws {
            gate.end()
            #expect(program.wait().ending == .exit(0), "\(program.account)")
        }
    }

    /// The other one has committed all that there is.
    @Test(arguments: tables)
    func whatAnotherHasCommittedIsNotCommittedAgain(table: String) throws {
        let halted = try Halted(beforeFenceOf: table)
        try halted.change("lease_until = '-infinity'")
        let other = try halted.startAnother()
        #expect(other.wait().ending == .exit(0), "\(other.account)")
        #expect(try halted.database.query("SELECT count(*) FROM \(table) WHERE state <> 'done'") == "0")
        let rows = try halted.database.rows(of: PGFenceTests.target(of: table))
        try halted.finish()
        #expect(try halted.database.rows(of: PGFenceTests.target(of: table)) == rows)
        try PGInterruptionTests.check(halted.database, halted.files)
    }

    /// The other one is in the middle of its transaction: the fence waits for that.
    @Test(arguments: tables)
    func whatAnotherIsCommittingIsNotCommittedAgain(table: String) throws {
        let halted = try Halted(beforeFenceOf: table)
        let database = halted.database
        try halted.change("lease_until = '-infinity'")
        let target = try database.holdBack(PGFenceTests.target(of: table))
        let other = try halted.startAnother()
        try wait(for: "the other's rows", instead: { other.account }) {
            try database.heldBack(PGFenceTests.target(of: table)) > 0 ? true : nil
        }
        halted.gate.end()
        try wait(for: "the fence", instead: { halted.program.account }) {
            try database.query(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event = 'transactionid' AND query LIKE 'UPDATE \(table)%'
                """
            ) == "1" ? true : nil
        }
        target.end()
        #expect(other.wait().ending == .exit(0), "\(other.account)")
        try halted.finish()
        try PGInterruptionTests.check(database, halted.files)
    }

    /// Each of what a lease is known by is looked at: it is lost where another worker has as many attempts, as after chunks were cut
    /// again, and where the same worker has taken it once more.
    @Test(
        arguments: Cases.few(
            2,
            of: tables.reversed().flatMap { table in
                [("owner = 'another'", 2), ("attempts = attempts + 1", 3)].map { (table, $0) }
            }
        )
    )
    func aLeaseIsKnownByOwnerAndAttempts(table: String, _ other: (change: String, attempts: Int)) throws {
        let halted = try Halted(beforeFenceOf: table)
        try halted.change("lease_until = '-infinity', \(other.change)")
        try halted.finish()
        // It was taken once more.
        let first = table == Self.tables[0] ? "number = 1" : "bucket = 0"
        let attempts = "SELECT attempts, owner <> 'another' FROM \(table) WHERE \(first)"
        #expect(try halted.database.query(attempts) == "\(other.attempts)|t")
        try PGInterruptionTests.check(halted.database, halted.files)
    }

    /// What is done already is not done again by the same lease.
    @Test(arguments: tables)
    func aLeaseCommitsOnce(table: String) throws {
        let halted = try Halted(beforeFenceOf: table)
        try halted.change("state = 'done'")
        try halted.finish()
        let rows = try halted.database.query("SELECT count(*) FROM \(PGFenceTests.target(of: table))")
        let counted = "SELECT coalesce(sum(inserted), 0) FROM _import_count"
        #expect(try halted.database.query(counted) == rows)
        let first = table == Self.tables[0] ? "chunk = 1" : "chunk = -1"
        #expect(try halted.database.query("SELECT count(*) FROM _import_count WHERE \(first)") == "0")
    }
}
