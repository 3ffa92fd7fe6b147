import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

/// Imports that stopped continue from the store, whatever has become of the chunks, and refuse what is not the same.
struct ResumeTests {
    /// Small chunks and commits, so that there is something to stop in the middle of.
    private static let small = RunOptions(workers: 2, chunkSize: 2_000, commitEvery: 3)

    private func digest(_ text: String, _ job: JobOptions = JobOptions()) throws -> String {
        let whole = try LibraryImport(text)
        _ = try whole.pipeline(job).run()
        return try StoreContent.digest(whole.store)
    }

    /// A source with a byte order mark begins at byte 3, also when its first chunk has to be cut again.
    @Test(arguments: [true, false]) func goesOnBehindAByteOrderMark(keepsChunks: Bool) throws {
        let records = LibraryImport.items(2_000)
        let text = "{\"items\":\(records)}"
        let options = JobOptions(
            model: try ModelDescription(
                parsing: Array(
                    """
                    {"entities":{"item":{"attributes":{"id":{"type":"integer64"},"name":{"type":"string"}}}}}
                    """.utf8
                )
            ),
            records: [try RecordPath("$.items[*]")]
        )
        let job = try LibraryImport("\u{FEFF}" + text)
        let large = RunOptions(workers: 2, chunkSize: 8 << 20, commitEvery: 1)
        #expect(try job.pipeline(options, large).isStoppedAfterACommit())
        if !keepsChunks { try FileManager.default.removeItem(atPath: job.store + ".chunks") }
        _ = try ImportPipeline(resuming: job.store, run: Self.small).run()
        #expect(try StoreContent.digest(job.store) == digest(text, options))
        #expect(try StoreInspection(store: job.store).verify().allSatisfy(\.holds))
    }

    /// Kept chunks are the whole source's after a resume too, and can be imported by themselves.
    @Test func keepsTheChunksOfAllRuns() throws {
        let job = try LibraryImport(LibraryImport.items(3_000))
        var options = Self.small
        options.keepsChunks = true
        let model = try ImportPipeline.infer(
            sources: [job.source],
            job: JobOptions(),
            run: Self.small,
            progress: ImportProgress(),
            interruption: Interruption()
        )
        let given = JobOptions(model: try ModelDescription(parsing: Array(model.text.utf8)))
        #expect(try job.pipeline(given, options).isStoppedAfterACommit())
        _ = try job.pipeline(given, options).run()
        let directory = try ChunkDirectory(path: job.store + ".chunks", creates: false)
        let entries = try #require(try ChunkManifest.read(in: directory)).entries
        #expect(entries.reduce(0) { $0 + $1.records } == 3_000)
        #expect(try entries.allSatisfy { try directory.isIntact($0) })
    }

    /// What a source that was read to its end has grown by, while the import of another one was interrupted, is imported after it.
    @Test func importsWhatASourceHasGrownByMeanwhile() throws {
        let directory = try TemporaryDirectory()
        let first = try directory.write("{\"a\":1}\n{\"a\":2}\n", to: "first.ndjson")
        let second = try directory.write("{\"a\":3}\n{\"a\":4}\n{\"a\":", to: "second.ndjson")
        let store = directory.path("store.sqlite")
        let model = try ModelDescription(
            parsing: Array("{\"entities\":{\"item\":{\"attributes\":{\"a\":{\"type\":\"integer64\"}}}}}".utf8)
        )
        let pipeline = {
            ImportPipeline(sources: [first, second], into: store, job: JobOptions(model: model), run: Self.small)
        }
        #expect(throws: ImportError.self) { try pipeline().run() }
        try directory.write("{\"a\":1}\n{\"a\":2}\n{\"a\":9}\n", to: "first.ndjson")
        try directory.write("{\"a\":3}\n{\"a\":4}\n{\"a\":5}\n", to: "second.ndjson")
        let outcome = try pipeline().run()
        #expect(outcome.resumed?.inserted == 5 && outcome.report.inserted == 1)
        #expect(try StoreContent.query(store, "SELECT group_concat(a) FROM item") == "1,2,3,4,5,9")
        #expect(try pipeline().run().wasAlreadyFinished)
        // One that is another by now is refused.
        try directory.write("{\"a\":6}\n{\"a\":", to: "third.ndjson")
        let third = directory.path("third.ndjson")
        let others = {
            ImportPipeline(sources: [second, third], into: store, job: JobOptions(entity: "o"), run: Self.small)
        }
        #expect(throws: ImportError.self) { try others().run() }
        try directory.write("{\"a\":0}\n", to: "second.ndjson")
        let error = #expect(throws: ImportError.self) { try others().run() }
        #expect(error?.code == .badInput && error?.message.contains("second.ndjson") == true)
    }

    /// A model that was inferred from the records before a fault is inferred again from all of them.
    @Test func infersAgainWhenABrokenSourceIsWhole() throws {
        let whole = "[{\"id\":1,\"a\":1},{\"id\":2,\"a\":2},{\"id\":3,\"a\":\"text\",\"b\":[1]}]"
        let job = try LibraryImport(String(whole.prefix(36)))
        let error = #expect(throws: ImportError.self) { try job.pipeline().run() }
        #expect(error?.code == .badInput)
        #expect(try StoreContent.query(job.store, "SELECT count(*) FROM item") == "2")
        try job.directory.write(whole, to: "item.json")
        let report = try job.pipeline().run().report
        #expect(report.rejected == 0)
        #expect(try StoreContent.digest(job.store) == digest(whole))
    }

    /// Chunks that somebody else has made are neither written over nor removed.
    @Test func leavesTheChunksOfASplitAlone() throws {
        let job = try LibraryImport(LibraryImport.items(500))
        let chunks = job.directory.path("split")
        _ = try ImportPipeline.split(
            sources: [job.source],
            to: chunks,
            job: JobOptions(),
            run: Self.small,
            progress: ImportProgress(),
            interruption: Interruption()
        )
        let before = job.directory.names(in: "split")
        var options = Self.small
        options.chunkDirectory = chunks
        let error = #expect(throws: ImportError.self) { try job.pipeline(JobOptions(), options).run() }
        #expect(error?.code == .cannotCreate)
        #expect(job.directory.names(in: "split") == before)
        // Imported by themselves, they give the same and stay.
        let other = job.directory.path("other.sqlite")
        let pipeline = ImportPipeline(
            sources: [chunks],
            into: other,
            job: JobOptions(entity: "item"),
            run: Self.small
        )
        #expect(try pipeline.run().report.inserted == 500)
        #expect(job.directory.names(in: "split") == before)
        #expect(try StoreContent.digest(other) == digest(LibraryImport.items(500)))
    }

    /// A split whose source broke off continues when the source is whole.
    @Test func splitsOnWhenTheSourceIsMended() throws {
        let text = LibraryImport.items(400)
        let job = try LibraryImport(String(text.prefix(5_000)))
        let split = {
            try ImportPipeline.split(
                sources: [job.source],
                to: job.directory.path("split"),
                job: JobOptions(),
                run: RunOptions(chunkSize: 500),
                progress: ImportProgress(),
                interruption: Interruption()
            )
        }
        #expect(throws: ImportError.self) { try split() }
        try job.directory.write(text, to: "item.json")
        #expect(try split().records == 400)
    }

    /// What was sealed before the data of a compressed source is damaged is imported, with and without a model.
    @Test func importsWhatStandsBeforeDamage() throws {
        let job = try LibraryImport(LibraryImport.items(20_000))
        let packed = job.directory.path("item.json.gz")
        let script = """
            import gzip, sys
            packed = gzip.compress(open(sys.argv[1], 'rb').read())
            open(sys.argv[2], 'wb').write(packed[:len(packed) // 2])
            """
        #expect(try Python.run(text: script, [job.source, packed]).ending == .exit(0))
        let pipeline = ImportPipeline(sources: [packed], into: job.store, job: JobOptions(), run: RunOptions())
        let error = #expect(throws: ImportError.self) { try pipeline.run() }
        #expect(error?.code == .badInput)
        #expect(try StoreContent.rowCount(job.store) > 1_000)
        #expect(try StoreInspection(store: job.store).verify().allSatisfy(\.holds))
    }
}
