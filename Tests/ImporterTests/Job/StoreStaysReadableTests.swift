import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

/// Whatever a call has for arguments: the importer can open the store that it leaves.
struct StoreStaysReadableTests {
    private let directory: TemporaryDirectory
    private let store: String
    private let source: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
        source = try directory.write("[{\"id\":1,\"name\":\"a\"},{\"id\":2}]", to: "item.json")
    }

    @Test func withoutSourcesNothingIsTouched() throws {
        let error = #expect(throws: ImportError.self) {
            try ImportPipeline(sources: [], into: store, job: JobOptions(), run: RunOptions()).run()
        }
        #expect(error?.code == .usage)
        let chunks = directory.path("chunks")
        let split = #expect(throws: ImportError.self) {
            try ImportPipeline.split(
                sources: [],
                to: chunks,
                job: JobOptions(),
                run: RunOptions(),
                progress: ImportProgress(),
                interruption: Interruption()
            )
        }
        #expect(split?.code == .usage)
        #expect(directory.names() == ["item.json"])
    }

    private static let odd: [@Sendable (inout JobOptions, inout RunOptions) -> Void] = [
        { job, _ in job.entity = "" }, { job, _ in job.entity = "a\0b" }, { job, _ in job.entity = " " },
        { job, _ in job.entity = "_import_job" }, { job, _ in job.entity = String(repeating: "e", count: 100_000) },
        { job, _ in job.identifiers = ["": [""]] }, { job, _ in job.identifiers = ["": ["id", "id"]] },
        { job, _ in job.types = ["": .date] },
        { job, _ in job.types = ["id": .bitfield] }, { job, _ in job.skip = -1 }, { job, _ in job.limit = -1 },
        { job, _ in job.limit = 0 }, { job, _ in job.skip = .max }, { job, _ in job.maxRecordBytes = 0 },
        { job, _ in job.maxRecordBytes = .max }, { job, _ in job.maxDepth = -1 }, { job, _ in job.maxDepth = .max },
        { job, _ in job.nestedDepth = -1 }, { job, _ in job.maxErrors = .count(-1) },
        { job, _ in job.maxErrors = .percent(.infinity) },
        { job, _ in job.model = ModelDescription(entities: []) },
        { job, _ in job.model = ModelDescription(entities: [EntityDescription(name: "", attributes: [])]) },
        { job, _ in job.model = ModelDescription(entities: [EntityDescription(name: "x", attributes: [])]) },
        { job, _ in job.mirror = MirrorOptions() }, { _, run in run.workers = 0 }, { _, run in run.chunkSize = 0 },
        { _, run in run.commitEvery = 0 }, { _, run in run.commitEvery = .max }, { _, run in run.chunkDirectory = "" },
        { _, run in run.indexes = [[]] }, { _, run in run.indexes = [[""]] }, { _, run in run.keepsUndo = true },
        { _, run in (run.again, run.restart) = (true, true) },
    ]

    @Test(arguments: odd.indices)
    func whateverTheOptionsAre(_ index: Int) throws {
        var (job, run) = (JobOptions(), RunOptions())
        Self.odd[index](&job, &run)
        if run.chunkDirectory == nil { run.chunkDirectory = directory.path("chunks") }
        _ = try? ImportPipeline(sources: [source], into: store, job: job, run: run).run()
        _ = try? ImportPipeline(records: [["id": 1]], entity: job.entity ?? "item", into: store, job: job, run: run)
            .run()
        if FileManager.default.fileExists(atPath: store) {
            _ = try StoreInspection(store: store).jobs()
        }
        let next = try directory.write("[{\"k\":1}]", to: "next.json")
        _ = try ImportPipeline(sources: [next], into: store, job: JobOptions(), run: RunOptions()).run()
    }
}
