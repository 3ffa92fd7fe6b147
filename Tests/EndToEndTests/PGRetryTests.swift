import Foundation
import TestSupport
import Testing

/// Rejects of a server's schema are repaired as those of a SQLite store are, each once, whatever dies.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGRetryTests {
    private static let small = ["--chunk-size", "8K", "--workers", "2"]

    /// A source in which every other record is faulty, imported into a SQLite store and into a server's database.
    private struct Both {
        let job: RepairJob
        let database: PGDatabase

        init(_ shape: RepairJob.Shape, count: Int) throws {
            job = try RepairJob(shape, count: count)
            database = try PGDatabase()
            let source = job.directory.path("broken.json")
            let result = try database.importer(["import", source, "--into", database.url] + job.options + chunks)
            try #require(result.ending == .exit(0), "\(result.errorText)")
        }

        var chunks: [String] { ["--chunks", job.directory.path("server.chunks")] }

        func retry(_ file: String, _ options: [String] = []) -> [String] {
            ["retry", database.url, file] + chunks + PGRetryTests.small + options
        }

        /// How the tables, the rejects and the ledger differ from those of the SQLite store.
        func differences() throws -> [String] {
            var found: [String] = []
            for table in try StoreContent.tables(job.store) {
                found += try database.difference(of: table, from: job.store)
            }
            let (own, expected) = (try database.bookkeeping(), try PGDatabase.bookkeeping(of: job.store))
            if own != expected { found.append("\(own)\nis not\n\(expected)") }
            return found
        }

        func states() throws -> String {
            try database.query("SELECT state, count(*) FROM _import_reject GROUP BY state ORDER BY state")
        }
    }

    @Test(
        arguments: Cases.few(
            1,
            of: [(RepairJob.Shape.document, 2), (.array, 1), (.lines, 1), (.lines, 2), (.array, 2), (.document, 1)]
        )
    )
    func comesToWhatASQLiteStoreComesTo(_ shape: RepairJob.Shape, every: Int) throws {
        let both = try Both(shape, count: 300)
        try both.job.export(every: every)
        let exported = try both.database.importer(["rejects", both.database.url, "--to", "-"])
        #expect(try Data(contentsOf: URL(filePath: both.job.exported)) == exported.output)
        let expected = try run([Project.importer, "retry", both.job.store, both.job.edited, "--json"] + Self.small)
        let found = try both.database.importer(both.retry(both.job.edited, ["--json"]))
        #expect(found.ending == expected.ending, "\(found.errorText)")
        #expect(try ComparableReport(found.output) == ComparableReport(expected.output))
        #expect(try both.differences() == [])
        #expect(try both.database.isVerified())
        for arguments in [["status", "STORE", "--job", "1", "--json"], ["rejects", "STORE", "--all"]] {
            let here = try run([Project.importer] + arguments.map { $0 == "STORE" ? both.job.store : $0 })
            let there = try both.database.importer(arguments.map { $0 == "STORE" ? both.database.url : $0 })
            if arguments.contains("--json") {
                #expect(try ComparableReport(there.output) == ComparableReport(here.output))
            } else {
                #expect(there.output == here.output)
            }
        }
        // The same file once more, and one that names what is repaired already.
        let again = try both.database.importer(both.retry(both.job.edited))
        #expect(again.ending == .exit(0) && again.outputText.contains("nothing"), "\(again.outputText)")
        let copy = try both.job.directory.write(Data(contentsOf: URL(filePath: both.job.edited)), to: "copy.ndjson")
        let second = try both.database.importer(both.retry(copy, ["--json"]))
        let secondExpected = try run([Project.importer, "retry", both.job.store, copy, "--json"])
        #expect(try ComparableReport(second.output) == ComparableReport(secondExpected.output), "\(second.errorText)")
        #expect(try both.differences() == [])
        #expect(try both.database.isVerified())
    }

    @Test func refusesLinesAsASQLiteStoreDoes() throws {
        let both = try Both(.lines, count: 20)
        for line in [
            #"{"reject": 999, "record": {}}"#, #"{"reject": 1, "job": 7, "record": {}}"#, "{}", "no line",
            "{\"reject\": 1, \"record\": {}}\n{\"reject\": 1, \"record\": {}}", "",
        ] {
            let file = try both.job.directory.write(line + "\n", to: "bad.ndjson")
            let expected = try runImporter("retry", both.job.store, file)
            let found = try both.database.importer(both.retry(file))
            let words = expected.errorText.replacing(both.job.store, with: "'\(both.database.url)'")
            #expect(found.ending == expected.ending && found.errorText == words, "\(found.errorText)")
        }
        #expect(try both.database.query("SELECT count(*) FROM _import_job") == "1")
    }

    @Test func triesStoredRejectsUnderAnotherModel() throws {
        let both = try Both(.lines, count: 100)
        let better = try both.job.directory.write(
            try String(contentsOfFile: both.job.directory.path("model.json"), encoding: .utf8)
                .replacing("\"integer64\"", with: "\"integer64\", \"optional\": true"),
            to: "better.json"
        )
        let expected = try run([Project.importer, "retry", both.job.store, "--model", better, "--json"])
        let command = ["retry", both.database.url, "--model", better] + both.chunks
        let found = try both.database.importer(command + ["--json"])
        #expect(found.ending == expected.ending, "\(found.errorText)")
        let (own, other) = (try Report(found.output), try Report(expected.output))
        #expect(own.read == other.read && own.inserted == other.inserted && own.rejected == other.rejected)
        #expect(own.inserted > 0)
        #expect(try both.differences() == [])
        #expect(try both.database.isVerified())
        let again = try both.database.importer(command)
        #expect(again.ending == .exit(0), "\(again.errorText)")
        #expect(try both.database.query("SELECT count(*) FROM _import_job") == "2")
        #expect(try both.database.query("SELECT count(*) FROM _import_file") == "0")
    }

    /// Killed again and again while it commits and settles.
    @Test(arguments: Cases.few(1, of: [RepairJob.Shape.document, .array]))
    func bringsEachRecordInOnceWhateverDies(_ shape: RepairJob.Shape) throws {
        let both = try Both(shape, count: 1_200)
        try both.job.export()
        let expected = try run([Project.importer, "retry", both.job.store, both.job.edited] + Self.small)
        try #require(expected.ending == .exit(0), "\(expected.errorText)")
        for table in ["_import_chunk", "_import_reject", "_import_retry", "_import_reject", "_import_settle"] {
            try both.database.kill(both.retry(both.job.edited), at: table)
        }
        let last = try both.database.importer(both.retry(both.job.edited))
        #expect(last.ending == .exit(0), "\(last.errorText)")
        #expect(try both.states() == "repaired|600")
        #expect(try both.differences() == [])
        #expect(try both.database.query("SELECT count(*) FROM _import_job") == "2")
        #expect(try both.database.isVerified())
    }

    /// A retry that has staged its records finds them repaired by another one.
    @Test(.enabled(if: Cases.areAll, "one of all cases")) func anotherRetryRepairsWhatIsStaged() throws {
        let both = try Both(.document, count: 200)
        try both.job.export()
        try both.database.execute(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not now''; END';
            CREATE TRIGGER refuse BEFORE UPDATE ON _import_settle FOR EACH ROW EXECUTE FUNCTION refuse();
            """
        )
        let first = try both.database.importer(both.retry(both.job.edited))
        #expect(first.ending != .exit(0) && first.errorText.contains("not now"), "\(first.errorText)")
        #expect(try both.database.query("SELECT count(*) FROM _import_chunk WHERE state = 'done' AND job = 2") != "0")
        try both.database.execute("DROP TRIGGER refuse ON _import_settle")
        let copy = try both.job.directory.write(Data(contentsOf: URL(filePath: both.job.edited)), to: "copy.ndjson")
        let other = ["retry", both.database.url, copy, "--chunks", both.job.directory.path("other.chunks")]
        let second = try both.database.importer(other)
        #expect(second.ending == .exit(0), "\(second.errorText)")
        let resumed = try both.database.importer(both.retry(both.job.edited, ["--json"]))
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        let report = try Report(resumed.output)
        #expect(report.read == 100 && report.ignored > 0 && report.rejected == 0)
        #expect(try both.states() == "repaired|100")
        let expected = try runImporter("retry", both.job.store, both.job.edited)
        #expect(expected.ending == .exit(0))
        for name in try StoreContent.tables(both.job.store) {
            #expect(try both.database.difference(of: name, from: both.job.store) == [])
        }
        #expect(try both.database.isVerified())
    }

    /// Another process takes part in a running retry.
    @Test(.enabled(if: Cases.areAll, "one of all cases")) func aWorkerJoins() throws {
        let both = try Both(.document, count: 400)
        try both.job.export()
        try both.database.joinedByAWorker(both.retry(both.job.edited, ["--workers", "1", "--chunk-size", "2K"]))
        try #require(runImporter("retry", both.job.store, both.job.edited).ending == .exit(0))
        #expect(try both.states() == "repaired|200")
        #expect(try both.differences() == [])
        #expect(try both.database.isVerified())
    }

    /// A reject that is repaired by somebody else between decoding and the commit is left alone.
    @Test func aRejectIsRepairedMeanwhile() throws {
        let both = try Both(.lines, count: 40)
        try both.job.export()
        let blocker = try both.database.shutGate(where: "NEW.state = 'done'")
        let retry = try both.database.start(both.retry(both.job.edited, ["--json"]))
        try wait(for: "the commit", instead: { retry.account }) {
            try !retry.isRunning || both.database.heldBack("gate") > 0 ? true : nil
        }
        try both.database.execute("UPDATE _import_reject SET state = 'repaired' WHERE id = 3")
        blocker.end()
        let result = retry.wait()
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let report = try Report(result.output)
        #expect(report.read == 20 && report.ignored == 1 && report.inserted == 19)
        #expect(try both.database.query("SELECT count(*) FROM person") == "39")
    }
}
