import Foundation
import TestSupport
import Testing

/// What others have done to a store is reported and is no failure; what the importer has lost is one.
struct VerifyTests {
    /// Rows with the row ids 1 to `count`.
    private static func store(
        _ directory: TemporaryDirectory,
        _ count: Int = 1_000,
        identifier: Bool = false
    ) throws -> String {
        let lines = (1...count).map { "{\"id\":\($0),\"text\":\"t\($0)\"}\n" }.joined()
        let source = try directory.write(lines, to: "t.ndjson")
        let store = directory.path("s.sqlite")
        let options = identifier ? ["--identifier", "id"] : []
        #expect(try run([Project.importer, source, "--into", store] + options).ending == .exit(0))
        return store
    }

    @Test(
        arguments: [
            ("DELETE FROM t WHERE id = 7", "1 row deleted"),
            ("INSERT INTO t VALUES (5000, 'x')", "1 row added"),
            ("DELETE FROM t WHERE id IN (3, 4, 5); INSERT INTO t VALUES (5000, 'x')", "3 rows deleted, 1 row added"),
            ("DELETE FROM t", "1,000 rows deleted"),
            ("UPDATE t SET text = 'x'", "256 of 256 compared rows with other values"),
            ("UPDATE t SET text = CAST(text AS BLOB)", "256 of 256 compared rows with other values"),
            ("UPDATE t SET text = 'x' WHERE id = 1", "1 of 256 compared rows with other values"),
            ("DROP TABLE t", "it is gone"), ("ALTER TABLE t DROP COLUMN text", "it has lost columns"),
            ("ALTER TABLE t RENAME TO old; CREATE VIEW t AS SELECT * FROM old", "it is a view now\n"),
            (
                """
                DROP TABLE t; CREATE VIEW t AS WITH RECURSIVE c (id, text) AS (SELECT 1, 'x' UNION ALL SELECT id + 1, 'x' FROM c)
                SELECT * FROM c
                """, "it is a view now\n"
            ),
        ],
        [false, true]
    )
    func whatOthersHaveDoneIsToldAndIsNoFailure(
        _ sample: (sql: String, words: String),
        _ hasIdentifier: Bool
    ) throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(directory, identifier: hasIdentifier)
        #expect(try runImporter("verify", store, "--strict").ending == .exit(0))
        try StoreContent.execute(store, sample.sql)
        let result = try runImporter("verify", store)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.outputText.contains("changed table t, by other programs: "), "\(result.outputText)")
        #expect(result.outputText.contains(sample.words), "\(result.outputText)")
        #expect(result.outputText.contains("hold; 1 table was changed by other programs.\n"), "\(result.outputText)")
        #expect(try runImporter("verify", store, "--strict").ending == .exit(65))
        let json = try runImporter("verify", store, "--json")
        #expect(json.ending == .exit(0))
        let records = try #require(try JSONSerialization.jsonObject(with: json.output) as? [[String: Any]])
        #expect(records.allSatisfy { $0["holds"] as? Bool == true && $0["name"] is String && $0["detail"] is String })
        #expect(records.contains { $0["note"] as? Bool == true && $0["deleted"] is Int && $0["added"] is Int })
    }

    /// An index, statistics and tables of one's own change no row.
    @Test func whatChangesNoRowIsNotTold() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(directory)
        try StoreContent.execute(
            store,
            "CREATE INDEX i ON t (text); ANALYZE; CREATE TABLE mine (a); INSERT INTO mine VALUES (1)"
        )
        try StoreContent.execute(store, "ALTER TABLE t ADD COLUMN mine TEXT DEFAULT 'x'")
        let result = try runImporter("verify", store, "--strict")
        #expect(result.ending == .exit(0), "\(result.outputText)")
        #expect(
            result.outputText.contains(
                "every row that was inserted is there, and no other: 1,000 rows; the values of 256 of them were compared\n"
            )
        )
    }

    /// The next import's own changes are no one else's; what others did before it stays told as far as rows are missing.
    @Test func aLaterImportIsNotTakenForAnotherProgram() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(directory, identifier: true)
        let more = try directory.write("{\"id\":5,\"text\":\"new\"}\n{\"id\":9000,\"text\":\"x\"}\n", to: "more.ndjson")
        let job = [Project.importer, more, "--into", store, "--entity", "t", "--identifier", "id"]
        #expect(try run(job).ending == .exit(0))
        #expect(try runImporter("verify", store, "--strict").ending == .exit(0))
        // One that stopped half way has changed what the one before it left.
        let broken = try directory.write("{\"id\":1,\"text\":\"new\"}\n{\"id\":", to: "broken.ndjson")
        let stopped = try run([Project.importer, broken, "--into", store, "--entity", "t", "--identifier", "id"])
        #expect(stopped.ending == .exit(65))
        let result = try runImporter("verify", store, "--strict")
        #expect(result.ending == .exit(0), "\(result.outputText)")
        #expect(result.outputText.contains("1 import is not finished"))
    }

    @Test func aCheckIsALineOverAllJobs() throws {
        let directory = try TemporaryDirectory()
        let store = try Self.store(directory, 3)
        let source = directory.path("t.ndjson")
        #expect(try runImporter(source, "--into", store, "--again").ending == .exit(0))
        let brief = try runImporter("verify", store).outputText
        #expect(brief.contains("\nok      the marker counts every record read: 2 jobs\n"), "\(brief)")
        #expect(!brief.contains("job 1"))
        let verbose = try runImporter("verify", store, "--verbose").outputText
        #expect(verbose.contains("\nok      job 2: the marker counts every record read: 3 and 3\n"), "\(verbose)")
        let table = "table t: has every row that was inserted, and no other: 6 rows, 6 of them compared"
        #expect(verbose.contains("\nok      \(table)\n"), "\(verbose)")
        #expect(try runImporter("verify", store, "--quiet").outputText.hasPrefix("All 16 checks hold."))
        try StoreContent.execute(store, "UPDATE _import_job SET record_ordinal = 4 WHERE id = 2")
        let failed = try runImporter("verify", store)
        #expect(failed.ending == .exit(65))
        #expect(failed.outputText.contains("\nFAILED  job 2: the marker counts every record read: 4 and 3\n"))
        #expect(try runImporter("verify", store, "--quiet").outputText == "1 of 16 checks failed.\n")
        #expect(try runImporter("verify", store, "--quiet", "--json").ending == .exit(64))
    }
}
