import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine

/// Pipelines that run in tasks: cancelling the task interrupts, progress is a sequence with an end, and no thread that tasks
/// share is held up.
struct RunningInATaskTests {
    /// A named pipe whose writer stays open, after what it has written, until it is told to end.
    private final class OpenPipe: Sendable {
        let path: String
        private let isOver = DispatchSemaphore(value: 0)

        init(in directory: TemporaryDirectory, _ text: String) throws {
            let path = directory.path("item.fifo")
            unlink(path)
            #expect(mkfifo(path, 0o600) == 0)
            self.path = path
            Thread.detachNewThread { [isOver] in
                // Waits for the reader.
                let file = FileHandle(fileDescriptor: open(path, O_WRONLY | O_CLOEXEC), closeOnDealloc: true)
                // The reader may go away before it has everything.
                signal(SIGPIPE, SIG_IGN)
                try? file.write(contentsOf: Data(text.utf8))
                isOver.wait()
                try? file.close()
            }
        }

        func end() { isOver.signal() }
    }

    private static let small = RunOptions(workers: 2, chunkSize: 100_000, commitEvery: 1_000)

    private static func lines(_ range: Range<Int>) -> String {
        range.map { "{\"id\":\($0),\"name\":\"n\($0 % 7)\"}\n" }.joined()
    }

    private static func options() throws -> JobOptions {
        let model = """
            {"entities":{"item":{"attributes":{"id":{"type":"integer64"},"name":{"type":"string"}}}}}
            """
        return JobOptions(model: try ModelDescription(parsing: Array(model.utf8)), entity: "item")
    }

    private func pipeline(_ source: String, _ store: String) throws -> ImportPipeline {
        ImportPipeline(sources: [source], into: store, job: try Self.options(), run: Self.small)
    }

    /// What is committed when the task is cancelled stays, and the import that is resumed is that of one run.
    @Test func aCancelledImportIsInterruptedAndResumes() async throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let pipe = try OpenPipe(in: directory, Self.lines(0..<60_000))
        let first = try pipeline(pipe.path, store)
        let running = Task { try await first.run() }
        for await snapshot in first.progress.snapshots where snapshot.importedRecords > 0 {
            running.cancel()
            break
        }
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(first.progress.snapshot.end == .interrupted)
        let status = try StoreInspection(store: store).status()
        #expect(status.state == .interrupted)
        #expect((1..<60_000).contains(status.recordsRead))
        pipe.end()

        let again = try OpenPipe(in: directory, Self.lines(0..<70_000))
        let second = try pipeline(again.path, store)
        let resuming = Task { try await second.run() }
        for await snapshot in second.progress.snapshots where snapshot.splitRecords > 50_000 { break }
        again.end()
        #expect(try await resuming.value.report.inserted == 70_000)

        let whole = try LibraryImport(Self.lines(0..<70_000), named: "item.ndjson")
        _ = try await whole.pipeline(try Self.options()).run()
        #expect(try StoreContent.digest(store) == StoreContent.digest(whole.store))
    }

    /// A task that is cancelled already begins nothing.
    @Test func aTaskThatIsCancelledAlreadyMakesNoStore() async throws {
        let job = try LibraryImport(LibraryImport.items(10))
        let pipeline = job.pipeline()
        let running = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pipeline.run()
        }
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(!FileManager.default.fileExists(atPath: job.store))
    }

    /// Tasks share as few threads as there are processors: an import is on none of them.
    @Test func anImportLeavesTheThreadsOfTasksToOthers() async throws {
        let directory = try TemporaryDirectory()
        let pipe = try OpenPipe(in: directory, Self.lines(0..<60_000))
        let running = try pipeline(pipe.path, directory.path("store.sqlite"))
        #expect(
            try await leavesItsThreadToOthers {
                pipe.end()
            } _: {
                _ = try await running.run()
            }
        )
    }

    // MARK: Progress

    private static func all(_ progress: ImportProgress) async -> [ImportProgress.Snapshot] {
        var all: [ImportProgress.Snapshot] = []
        for await snapshot in progress.snapshots { all.append(snapshot) }
        return all
    }

    /// Whoever reads, before, during or after the run, gets the end and nothing after it.
    @Test func everyIteratorEndsWithTheEnd() async throws {
        let job = try LibraryImport(LibraryImport.items(500))
        let pipeline = job.pipeline(try Self.options(), Self.small)
        async let one = Self.all(pipeline.progress)
        async let other = Self.all(pipeline.progress)
        _ = try await pipeline.run()
        for snapshots in [await one, await other, await Self.all(pipeline.progress)] {
            #expect(snapshots.count { $0.end != nil } == 1)
            #expect(snapshots.last?.end == .finished)
            #expect(snapshots.last?.phase == .finished)
            #expect(snapshots.last?.importedRecords == 500)
            #expect(snapshots.map(\.importedRecords) == snapshots.map(\.importedRecords).sorted())
        }
    }

    @Test func aFailedRunEndsAsFailed() async throws {
        let job = try LibraryImport("[{\"id\":1},{\"id\":2")
        let pipeline = job.pipeline()
        async let snapshots = Self.all(pipeline.progress)
        await #expect(throws: ImportError.self) { try await pipeline.run() }
        #expect(await snapshots.last?.end == .failed)
        let missing = ImportProgress()
        #expect(throws: ImportError.self) {
            try ImportPipeline.infer(
                sources: [job.directory.path("none")],
                job: JobOptions(),
                run: RunOptions(),
                progress: missing,
                interruption: Interruption()
            )
        }
        #expect(await Self.all(missing).map(\.end) == [.failed])
    }

    /// A reader that gives up leaves the run as it is, and ends at once.
    @Test func aCancelledReaderEnds() async throws {
        let progress = ImportProgress()
        let reading = Task { await Self.all(progress) }
        reading.cancel()
        #expect(await reading.value.allSatisfy { $0.end == nil })
        #expect(progress.snapshot.end == nil)
    }

    // MARK: One run each

    @Test func aSecondRunIsRefused() async throws {
        let job = try LibraryImport(LibraryImport.items(10))
        let pipeline = job.pipeline()
        _ = try await pipeline.run()
        let before = try StoreContent.digest(job.store)
        for _ in 1...2 {
            let error = await #expect(throws: ImportError.self) { try await pipeline.run() }
            #expect(error?.code == .usage)
            #expect(error?.message.contains("has been run already") == true)
        }
        await #expect(throws: ImportError.self) { try await pipeline.plan() }
        #expect(try StoreContent.digest(job.store) == before)
        #expect(pipeline.progress.snapshot.end == .finished)
    }

    /// What a plan has read of a pipe, a run would lack.
    @Test func aPlanOfAPipeSpendsItsPipeline() async throws {
        let directory = try TemporaryDirectory()
        let pipe = try OpenPipe(in: directory, Self.lines(0..<10))
        let pipeline = try pipeline(pipe.path, directory.path("store.sqlite"))
        async let plan = pipeline.plan()
        pipe.end()
        #expect(try await plan.action == .begin)
        await #expect(throws: ImportError.self) { try await pipeline.run() }

        let job = try LibraryImport(LibraryImport.items(10))
        let repeatable = job.pipeline()
        #expect(try await repeatable.plan().action == .begin)
        #expect(try await repeatable.run().report.inserted == 10)
    }

    // MARK: Without a run

    @Test func plansInferencesAndSplitsInATaskAreThoseOfAThread() async throws {
        let job = try LibraryImport(LibraryImport.items(100))
        let blocking = { try job.pipeline().plan() }
        #expect(try await job.pipeline().plan() == blocking())
        let inferred = try await ImportPipeline.infer(sources: [job.source])
        _ = try await job.pipeline().run()
        let blockingInference = {
            try ImportPipeline.infer(
                sources: [job.source],
                job: JobOptions(),
                run: RunOptions(),
                progress: ImportProgress(),
                interruption: Interruption()
            )
        }
        #expect(try inferred.text == blockingInference().text)
        let chunks = job.directory.path("chunks")
        #expect(try await ImportPipeline.split(sources: [job.source], to: chunks).records == 100)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await ImportPipeline.infer(sources: [job.source])
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    private struct Item: FetchableObject, Hashable {
        static let entityName = "item"
        let id: Int
        let name: String
    }

    @Test func fetchesInATaskAreThoseOfAThread() async throws {
        let job = try LibraryImport(LibraryImport.items(100))
        _ = try await job.pipeline().run()
        let reader = try StoreReader(store: job.store)
        let predicate = try RecordPredicate("id > 40")
        let blocking = { try Item.fetchAll(in: reader, where: predicate, sortedBy: [RecordSort("id")], limit: 30) }
        let items = try await Item.fetchAll(in: reader, where: predicate, sortedBy: [RecordSort("id")], limit: 30)
        #expect(try items == blocking())
        #expect(items.map(\.id) == Array(41...70))
        #expect(try await Item.fetchCount(in: reader, where: predicate) == 60)
        #expect(try await Item.fetchFirst(in: reader, sortedBy: [RecordSort("id")])?.id == 1)
        #expect(try await reader.fetch("item", limit: 2).count == 2)
        #expect(try await reader.perform { try $0.entities.map(\.name) } == ["item"])
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await Item.fetchAll(in: reader)
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }
}
