import Foundation
import TestSupport
import Testing

/// What others see of a migration while it runs, and what an import does with one.
struct MigrationRunTests {
    private static let renamed = MigratedStore.model(
        line:
            #""code": {"type": "string", "from": "sku", "renamingIdentifier": "sku"}, "count": {"type": "integer32", "optional": true}"#
    )

    // MARK: While it runs

    /// Reads the type of a value again and again while a migration to another type runs: prints its exit code, what was read,
    /// and the version of the file format, which is 2 in WAL mode.
    private static let reading = """
        import sqlite3, subprocess, sys
        importer, store, model = sys.argv[1:]
        run = subprocess.Popen([importer, "migrate", store, "--model", model, "-q"])
        seen = []
        while not seen or seen[-1] != "text":
            ended = run.poll()
            try:
                database = sqlite3.connect(store, timeout=0)
                kind = database.execute("SELECT typeof(n) FROM person WHERE id = 7").fetchone()[0]
                if not seen or seen[-1] != kind: seen.append(kind)
            except sqlite3.OperationalError: pass
            finally: database.close()
            if ended is not None: break
        with open(store, "rb") as file: print(run.wait(), *seen, file.read(20)[18])
        """

    /// A store of 60,000 rows, and a model that gives them another type.
    private func store(_ before: String) throws -> (related: RelatedImport, model: String) {
        func model(_ type: String) -> String {
            #"{"entities": {"person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "n": {"type": "\#(type)"}}}}}"#
        }
        let related = try RelatedImport()
        try StoreContent.execute(related.store, before)
        let records = (0..<60_000).map { #"{"id": \#($0), "n": \#($0)}"# }.joined(separator: "\n")
        #expect(try related.importing(records, "person", model("integer32")).ending == .exit(0))
        return (related, try related.directory.write(model("string"), to: "new.json"))
    }

    @Test(arguments: [("CREATE TABLE other(a)", 1), ("PRAGMA journal_mode = WAL; CREATE TABLE other(a)", 2)])
    func readersSeeWhatWasThereBeforeOrAll(_ before: String, _ format: Int) throws {
        let (related, model) = try store(before)
        let result = try Python.run(text: Self.reading, [Project.importer, related.store, model])
        let seen = result.outputText.split(whereSeparator: \.isWhitespace)
        #expect(seen.first == "0" && seen.last == "\(format)", "\(result.outputText)\(result.errorText)")
        #expect([["integer", "text"], ["text"]].contains(Array(seen.dropFirst().dropLast())), "\(result.outputText)")
        #expect(related.directory.names().filter { $0.hasPrefix("store.sqlite") } == ["store.sqlite"])
        #expect(try related.query("SELECT count(*), min(typeof(n)) FROM person") == "60000|text")
    }

    /// A reader that has begun to read in WAL mode is in nobody's way.
    @Test func aReaderOfAStoreInWALModeGoesOn() throws {
        let (related, model) = try store("PRAGMA journal_mode = WAL; CREATE TABLE other(a)")
        let result = try Python.run(
            text: """
                import sqlite3, subprocess, sys
                importer, store, model = sys.argv[1:]
                database = sqlite3.connect(store, isolation_level=None)
                def kind(): return database.execute("SELECT typeof(n) FROM person WHERE id = 7").fetchone()[0]
                database.execute("BEGIN")
                before = kind()
                code = subprocess.run([importer, "migrate", store, "--model", model, "-q"]).returncode
                during = kind()
                database.execute("COMMIT")
                print(code, before, during, kind())
                """,
            [Project.importer, related.store, model]
        )
        #expect(result.outputText == "0 integer integer text\n", "\(result.errorText)")
    }

    /// A reader's transaction keeps a migration from beginning, which says so and changes nothing.
    @Test func aReaderWithATransactionIsWaitedForAndNamed() throws {
        let (related, model) = try store("CREATE TABLE other(a)")
        let result = try Python.run(
            text: """
                import sqlite3, subprocess, sys
                importer, store, model = sys.argv[1:]
                database = sqlite3.connect(store, isolation_level=None)
                database.execute("BEGIN")
                database.execute("SELECT count(*) FROM person").fetchone()
                run = subprocess.run([importer, "migrate", store, "--model", model, "-q"], stderr=subprocess.PIPE)
                database.execute("COMMIT")
                print(run.returncode, database.execute("SELECT typeof(n) FROM person WHERE id = 7").fetchone()[0])
                print(run.stderr.decode())
                """,
            [Project.importer, related.store, model]
        )
        #expect(result.outputText.hasPrefix("75 integer\n"), "\(result.outputText)\(result.errorText)")
        #expect(result.outputText.contains("another program is reading or writing it"), "\(result.outputText)")
    }

    // MARK: With an import

    @Test func anImportThatCannotBeginMigratesNothing() throws {
        let migrated = try MigratedStore()
        let before = try migrated.everything()
        let model = try migrated.related.directory.write(Self.renamed, to: "renamed.json")
        let source = migrated.related.directory.path("nothere.ndjson")
        let result = try runImporter(
            "import",
            source,
            "--into",
            migrated.store,
            "--model",
            model,
            "--entity",
            "order",
            "--migrate"
        )
        #expect(result.ending == .exit(66))
        #expect(try migrated.everything() == before)
    }

    @Test func aDryRunOfAnImportSaysWhatItWouldMigrateAndEndsAsTheImport() throws {
        let migrated = try MigratedStore()
        let before = try migrated.everything()
        let done = try migrated.related.importing(#"{"id": 10}"#, "order", Self.renamed, "--migrate", "--dry-run")
        #expect(done.ending == .exit(0), "\(done.errorText)")
        #expect(done.errorText.contains("line.code is renamed from sku"), "\(done.errorText)")
        let single = MigratedStore.model(tags: #""tags": {"entity": "tag"}"#)
        for options in [["--migrate", "--dry-run"], ["--migrate"]] {
            let file = try migrated.related.directory.write(single, to: "single.json")
            let source = try migrated.related.directory.write(#"{"id": 10}"#, to: "ten.ndjson")
            let command = [Project.importer, "import", source, "--into", migrated.store, "--model", file]
            let refused = try run(command + ["--entity", "order", "--progress", "none"] + options)
            #expect(refused.ending == .exit(65))
            #expect(refused.errorText.contains("refused: order.tags is to-one"), "\(refused.errorText)")
            #expect(refused.errorText.contains("importer migrate"), "\(refused.errorText)")
            #expect(refused.errorText.contains("--allow-loss"), "\(refused.errorText)")
        }
        #expect(try migrated.everything() == before)
    }
}
