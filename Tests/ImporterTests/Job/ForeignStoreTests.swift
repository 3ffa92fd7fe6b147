import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

/// Stores and manifests that somebody has edited or made otherwise.
struct ForeignStoreTests {
    private func model(_ text: String) throws -> JobOptions {
        JobOptions(model: try ModelDescription(parsing: Array(text.utf8)))
    }

    /// An identifier for a table that was made without one gets an index that keeps it unique.
    @Test func makesAnIndexForALateIdentifier() throws {
        let job = try LibraryImport("[{\"id\":1},{\"id\":2}]")
        let without = "{\"entities\":{\"item\":{\"attributes\":{\"id\":{\"type\":\"integer64\"}}}}}"
        _ = try job.pipeline(try model(without)).run()
        let more = try job.directory.write("[{\"id\":2},{\"id\":3}]", to: "more.json")
        let with =
            "{\"entities\":{\"item\":{\"identifier\":[\"id\"],\"attributes\":{\"id\":{\"type\":\"integer64\"}}}}}"
        let report = try ImportPipeline(sources: [more], into: job.store, job: try model(with), run: RunOptions()).run()
            .report
        #expect(report.unchanged == 1)
        #expect(report.inserted == 1)
        let unique = "SELECT count(*) FROM pragma_index_list('item') WHERE \"unique\""
        #expect(try StoreContent.query(job.store, unique) == "1")
    }

    /// Rows that share an identifier already are an answer, and nothing is written.
    @Test func refusesAnIdentifierThatRowsShare() throws {
        let job = try LibraryImport("[{\"id\":1},{\"id\":1}]")
        _ = try job.pipeline(try model("{\"entities\":{\"item\":{\"attributes\":{\"id\":{\"type\":\"integer64\"}}}}}"))
            .run()
        let before = try StoreContent.result(job.store)
        let with =
            "{\"entities\":{\"item\":{\"identifier\":[\"id\"],\"attributes\":{\"id\":{\"type\":\"integer64\"}}}}}"
        let more = try job.directory.write("[{\"id\":2}]", to: "more.json")
        let error = #expect(throws: ImportError.self) {
            try ImportPipeline(sources: [more], into: job.store, job: try model(with), run: RunOptions()).run()
        }
        #expect(error?.code == .badInput)
        #expect(try StoreContent.result(job.store) == before)
    }

    @Test func refusesBookkeepingOfAnotherMake() throws {
        let job = try LibraryImport("[{\"id\":1}]")
        _ = try job.pipeline().run()
        let change =
            "import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); d.execute('ALTER TABLE _import_job ADD COLUMN x INTEGER'); d.commit()"
        #expect(try Python.run(text: change, [job.store]).ending == .exit(0))
        #expect(throws: ImportError.self) { try StoreInspection(store: job.store).status() }
        #expect(throws: ImportError.self) { try job.pipeline().run() }
    }

    /// A manifest is believed only as far as it makes sense.
    @Test(arguments: [
        ("\"paths\":[[2,0]]", "\"paths\":[[2,99]]"), ("\"paths\":[[2,0]]", "\"paths\":[[-1,0],[3,0]]"),
        ("\"source\":0", "\"source\":7"), ("\"records\":2", "\"records\":1000000000000"),
        ("\"firstOrdinal\":1", "\"firstOrdinal\":-9223372036854775808"),
    ]) func doesNotBelieveAnEditedManifest(was: String, now: String) throws {
        let job = try LibraryImport("[{\"id\":1},{\"id\":2}]")
        let chunks = job.directory.path("split")
        _ = try ImportPipeline.split(
            sources: [job.source],
            to: chunks,
            job: JobOptions(),
            run: RunOptions(),
            progress: ImportProgress(),
            interruption: Interruption()
        )
        let manifest = chunks + "/manifest.ndjson"
        let text = try String(contentsOfFile: manifest, encoding: .utf8)
        #expect(text.contains(was))
        let changed = ManifestText.sealed(text.replacingOccurrences(of: was, with: now))
        try changed.write(toFile: manifest, atomically: false, encoding: .utf8)
        let pipeline = ImportPipeline(
            sources: [chunks],
            into: job.store,
            job: JobOptions(entity: "item"),
            run: RunOptions()
        )
        #expect(throws: ImportError.self) { try pipeline.run() }
    }

    /// Names of outside values are counted in source order, also past the thousandth, wherever chunks end.
    @Test func countsOutsideNamesWhateverTheChunks() throws {
        let documents = (0..<2).map { part in
            let names = (0..<700).map { "\"k\(part)_\(700 - $0)\":1" }
            return "{" + names.joined(separator: ",") + ",\"items\":[{\"a\":1}]}"
        }
        let text = "{\"x\":[" + documents.joined(separator: ",") + "]}"
        let options = JobOptions(records: [try RecordPath("$.x[*].items[*]")])
        let ledgers = try [1, 8 << 20].map { chunkSize in
            let job = try LibraryImport(text)
            _ = try job.pipeline(options, RunOptions(chunkSize: chunkSize)).run()
            return try StoreContent.query(job.store, "SELECT * FROM _import_ledger ORDER BY attribute")
        }
        #expect(ledgers[0] == ledgers[1])
        #expect(ledgers[0].contains("…|outside|400"))
    }
}
