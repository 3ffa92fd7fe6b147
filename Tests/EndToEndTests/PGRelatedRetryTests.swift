import Foundation
import TestSupport
import Testing

/// Rejects of entities that relate to one another are repaired as those of a SQLite store are: each with all that it says, once.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGRelatedRetryTests {
    private static let model = PGRelatedRefusalTests.model

    /// Every other order has a line that does not fit, and every fifth one needs a person that only a reject brings.
    private static func records(_ count: Int) -> [String] {
        (1...count).map { number in
            let person =
                number % 5 == 0
                ? "{\"id\": \(number), \"note\": \"n\"}" : "{\"id\": \(number + 3), \"name\": \"p\(number)\"}"
            let amount = number % 2 == 0 ? "\"many\"" : "\(number)"
            return """
                {"id": \(number * 2 / 3), "person": \(person), "tags": ["t\(number % 7)", "u\(number)"], \
                "lines": [{"sku": "a\(number)", "count": 1}, {"sku": "b", "count": \(amount)}]}
                """
        }
    }

    /// The same import into a SQLite store and into a server's database, with rejects that are mended.
    private struct Both {
        let files: ImportFiles
        let store: String
        let database: PGDatabase
        /// The repair file; its lines have the numbers that the rejects have in the store, or in the database.
        let mended: String
        private let lines: (store: String, database: String)

        init(_ count: Int) throws {
            files = try ImportFiles(
                records: [PGRelatedRetryTests.records(count)],
                model: PGRelatedRetryTests.model,
                options: ["--entity", "order"]
            )
            database = try PGDatabase()
            let report = try database.imported(files, nil, ["--chunk-size", "2K"])
            let same = try files.storeOfTheSame()
            try #require(report == same.report && report.counts.rejected > count / 2)
            store = same.path
            mended = files.directory.path("mended.ndjson")
            lines = try (
                Self.mend(runImporter("rejects", store, "--to", "-")),
                Self.mend(database.importer(["rejects", database.url, "--to", "-"]))
            )
        }

        /// One line in nine stays as it is, one in eleven is left out.
        private static func mend(_ exported: ChildProcess.Result) throws -> String {
            try #require(exported.ending == .exit(0), "\(exported.errorText)")
            return exported.outputText.split(separator: "\n").enumerated().filter { $0.offset % 11 != 10 }.map { line in
                let text = line.offset % 9 == 8 ? line.element : line.element.replacing("\"many\"", with: "2")
                let end = text.firstIndex(of: ",") ?? text.endIndex
                // Bytes are counted.
                let room = String(repeating: " ", count: max(0, 20 - text.distance(from: text.startIndex, to: end)))
                return text[..<end] + room + text[end...] + "\n"
            }.joined()
        }

        /// Retries in the store; then the file is that of the database.
        func retryInStore(_ options: String...) throws -> ChildProcess.Result {
            try lines.store.write(toFile: mended, atomically: true, encoding: .utf8)
            defer { try? lines.database.write(toFile: mended, atomically: true, encoding: .utf8) }
            return try run([Project.importer, "retry", store, mended] + options)
        }

        func retry(_ file: String, _ options: [String] = [], chunks: String = "retry.chunks") -> [String] {
            ["retry", database.url, file, "--chunks", files.directory.path(chunks), "--chunk-size", "4K"] + options
        }

        /// How the tables, the rejects and the ledger differ from those of the SQLite store.
        func differences() throws -> [String] {
            let tables = try StoreContent.tables(store)
            let found = try tables.flatMap { try database.difference(of: $0, from: store) }
            let (own, expected) = (try database.bookkeeping(), try PGDatabase.bookkeeping(of: store))
            return own == expected ? found : found + ["\(own)\nis not\n\(expected)"]
        }
    }

    @Test func comeToWhatASQLiteStoreComesTo() throws {
        let both = try Both(200)
        let expected = try both.retryInStore("--json")
        let found = try both.database.importer(both.retry(both.mended, ["--json"]))
        #expect(found.ending == .exit(0) && expected.ending == .exit(0), "\(found.errorText)")
        #expect(try ComparableReport(found.output) == ComparableReport(expected.output))
        #expect(try Report(found.output).inserted > 0)
        #expect(try both.differences() == [])
        #expect(try both.database.isVerified())
        // What is repaired is ignored, and what is a reject again can be tried once more.
        let copy = try both.files.directory.write(Data(contentsOf: URL(filePath: both.mended)), to: "copy.ndjson")
        let second = try Report(both.database.importer(both.retry(copy, ["--json"])).output)
        let first = try Report(found.output)
        #expect(second.read == first.read && second.ignored == first.read - first.rejected)
        #expect(second.rejected == first.rejected && second.inserted == 0)
        #expect(try both.database.isVerified())
    }

    /// Killed while it commits chunks, and at every step of settling.
    @Test func bringEachRecordInOnceWhateverDies() throws {
        let both = try Both(300)
        try #require(both.retryInStore().ending == .exit(0))
        let command = both.retry(both.mended, ["--workers", "2"])
        for table in ["_import_chunk", "_import_reject", "_import_settle", "_import_count", "person", "line"] {
            try both.database.kill(command, at: table)
        }
        let last = try both.database.importer(command)
        #expect(last.ending == .exit(0), "\(last.errorText)")
        #expect(try both.differences() == [])
        #expect(try both.database.query("SELECT count(*) FROM _import_job") == "2")
        #expect(try both.database.isVerified())
    }

    /// A retry that has staged its records finds them repaired by another one, and nothing that they say counts.
    @Test func anotherRetryRepairsWhatIsStaged() throws {
        let both = try Both(100)
        let expected = try both.retryInStore("--json")
        try both.database.execute(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''not now''; END';
            CREATE TRIGGER refuse BEFORE UPDATE ON _import_settle FOR EACH ROW EXECUTE FUNCTION refuse();
            """
        )
        let first = try both.database.importer(both.retry(both.mended))
        #expect(first.ending != .exit(0) && first.errorText.contains("not now"), "\(first.errorText)")
        try both.database.execute("DROP TRIGGER refuse ON _import_settle")
        let copy = try both.files.directory.write(Data(contentsOf: URL(filePath: both.mended)), to: "copy.ndjson")
        let second = try both.database.importer(both.retry(copy, ["--json"], chunks: "other.chunks"))
        #expect(second.ending == .exit(0), "\(second.errorText)")
        let taken = try Report(second.output)
        #expect(taken.inserted == (try Report(expected.output)).inserted)
        let resumed = try both.database.importer(both.retry(both.mended, ["--json"]))
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        let report = try Report(resumed.output)
        #expect(report.ignored == taken.read - taken.rejected && report.rejected == taken.rejected)
        for name in try StoreContent.tables(both.store) {
            #expect(try both.database.difference(of: name, from: both.store) == [])
        }
        #expect(try both.database.isVerified())
    }

    /// Another process takes part in a running retry.
    @Test func aWorkerJoins() throws {
        let both = try Both(300)
        try #require(both.retryInStore().ending == .exit(0))
        try both.database.joinedByAWorker(both.retry(both.mended, ["--workers", "1"]))
        #expect(try both.differences() == [])
        #expect(try both.database.isVerified())
    }
}

extension PGDatabase {
    /// Runs a job as its second one, keeps its own worker at its first chunk, and has another process do all others.
    func joinedByAWorker(_ command: [String]) throws {
        let blocker = try shutGate(where: "NEW.state = 'done' AND NEW.number = 1")
        let job = try start(command)
        try wait(for: "the first chunk", instead: { job.account }) {
            try !job.isRunning || heldBack("gate") > 0 ? true : nil
        }
        let worker = try start(["work", url, "--workers", "1"])
        try wait(for: "all other chunks", instead: { "\(job.account)\n\(worker.account)" }) {
            let left = "SELECT count(*) FROM _import_chunk WHERE job = 2 AND state <> 'done'"
            return try query("SELECT is_split FROM _import_job WHERE id = 2") == "t" && query(left) == "1" ? true : nil
        }
        blocker.end()
        let (end, worked) = (job.wait(), worker.wait())
        #expect(end.ending == .exit(0) && worked.ending == .exit(0), "\(end.errorText)\(worked.errorText)")
        #expect(try query("SELECT count(DISTINCT owner), count(*) > 1 FROM _import_chunk WHERE job = 2") == "2|t")
    }
}
