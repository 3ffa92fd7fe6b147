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

    @Test func readersGoOnMeanwhileAndTheStoreLeavesWALModeAfterwards() throws {
        func model(_ type: String) -> String {
            #"{"entities": {"person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "n": {"type": "\#(type)"}}}}}"#
        }
        let related = try RelatedImport()
        let records = (0..<60_000).map { #"{"id": \#($0), "n": \#($0)}"# }.joined(separator: "\n")
        #expect(try related.importing(records, "person", model("integer32")).ending == .exit(0))
        let file = try related.directory.write(model("string"), to: "new.json")
        let result = try Python.run(
            text: """
                import sqlite3, subprocess, sys
                importer, store, model = sys.argv[1:]
                run = subprocess.Popen([importer, "migrate", store, "--model", model, "-q"])
                reads = 0
                while run.poll() is None and not reads:
                    with open(store, "rb") as file: mode = file.read(20)[18]
                    if mode != 2: continue
                    database = sqlite3.connect(store, timeout=0)
                    try:
                        reads += database.execute("SELECT typeof(n) FROM person WHERE id = 7").fetchone() == ("integer",)
                    except sqlite3.OperationalError: pass
                    database.close()
                with open(store, "rb") as file: print(run.wait(), reads > 0, file.read(20)[18])
                """,
            [Project.importer, related.store, file]
        )
        #expect(result.outputText == "0 True 1\n", "\(result.errorText)")
        #expect(related.directory.names().filter { $0.hasPrefix("store.sqlite") } == ["store.sqlite"])
        #expect(try related.query("SELECT count(*), min(typeof(n)) FROM person") == "60000|text")
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
