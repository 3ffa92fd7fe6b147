import Foundation
import ImportModel
import Synchronization
import Testing

@testable import Importer

struct MergeNotificationTests {
    /// Every commit is announced, in order, with exactly the rows that it inserted.
    @Test(arguments: [1, 7, 1000]) func announcesEveryCommitOnceReadersSeeIt(commitEvery: Int) async throws {
        let job = try LibraryImport(LibraryImport.items(100))
        let pipeline = job.pipeline(JobOptions(), RunOptions(workers: 2, chunkSize: 300, commitEvery: commitEvery))
        let seen = Mutex<[MergeNotification]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: .storeDidMerge,
            object: pipeline.merges,
            queue: nil
        ) { notification in
            if let merge = MergeNotification(notification) { seen.withLock { $0.append(merge) } }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let sequence = pipeline.merges.notifications()
        let reading = Task { await Self.collect(sequence) }
        _ = try pipeline.run()
        for merges in [seen.withLock { $0 }, await reading.value] {
            #expect(merges.map(\.commit) == merges.map(\.commit).sorted())
            #expect(merges.last?.isFinished == true)
            #expect(merges.dropLast().allSatisfy { !$0.isFinished })
            let rows = merges.flatMap(\.changes).flatMap(\.insertedRanges).flatMap { Array($0) }
            #expect(rows == Array(1...100))
            #expect(merges.last?.marker.recordOrdinal == 100)
        }
    }

    /// Rows whose records turn out to be rejects at the end are announced as gone, and their records as rejects.
    @Test func announcesRowsThatBecomeRejects() throws {
        let job = try LibraryImport("[" + [1, 2, 1, 3, 1].map { "{\"k\":\"\($0)\"}" }.joined(separator: ",") + "]")
        let model = #"{"entities": {"item": {"identifier": ["k"], "attributes": {"k": {"type": "string"}}}}}"#
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)), onConflict: .error)
        let pipeline = job.pipeline(options)
        let seen = Mutex<[EntityChanges]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: .storeDidMerge,
            object: pipeline.merges,
            queue: nil
        ) { notification in
            if let merge = MergeNotification(notification) { seen.withLock { $0 += merge.changes } }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let report = try pipeline.run().report
        #expect([report.recordsRead, report.inserted, report.rejected] == [5, 3, 2])
        let changes = seen.withLock { $0 }
        #expect(changes.flatMap(\.insertedRanges).flatMap { Array($0) } == Array(1...5))
        #expect(changes.flatMap(\.deletedRanges).flatMap { Array($0) } == [3, 5])
        #expect(changes.reduce(0) { $0 + $1.rejected } == 2)
    }

    private static func collect(_ sequence: MergeNotifications) async -> [MergeNotification] {
        var all: [MergeNotification] = []
        for await merge in sequence { all.append(merge) }
        return all
    }

    /// An observer that does not come back until the import is over holds nothing up, and misses nothing.
    @Test func mergesWhatComesWhileAnObserverIsBusy() throws {
        let job = try LibraryImport(LibraryImport.items(200))
        let pipeline = job.pipeline(JobOptions(), RunOptions(workers: 2, chunkSize: 500, commitEvery: 3))
        let isOver = DispatchSemaphore(value: 0)
        let seen = Mutex<[MergeNotification]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: .storeDidMerge,
            object: pipeline.merges,
            queue: nil
        ) { notification in
            guard let merge = MergeNotification(notification) else { return }
            if seen.withLock({
                $0.append(merge); return $0.count
            }) == 1 {
                isOver.wait()
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        // The last commit is durable while the first notification is still being looked at.
        let commits = try #require(try? withReleasedObserver(pipeline, isOver))
        let merges = seen.withLock { $0 }
        #expect(merges.count < commits)
        let rows = merges.flatMap(\.changes).flatMap(\.insertedRanges).flatMap { Array($0) }
        #expect(rows == Array(1...200))
    }

    /// Runs the import; lets the observer go when all commits are done, which is before `run` returns.
    private func withReleasedObserver(_ pipeline: ImportPipeline, _ isOver: DispatchSemaphore) throws -> Int {
        let watcher = Thread {
            while pipeline.progress.snapshot.phase != .finished { sched_yield() }
            isOver.signal()
        }
        watcher.start()
        return Int(try pipeline.run().report.recordsRead) / 3
    }

    @Test func rangesOfSeveralCommitsJoin() {
        var first = EntityChanges(entity: "a", table: "a")
        for row in [1, 2, 3, 7] as [Int64] { first.insert(row) }
        var second = EntityChanges(entity: "a", table: "a")
        for row in [8, 9] as [Int64] { second.insert(row) }
        second.update(2)
        first.add(second)
        #expect(first.insertedRanges == [1...3, 7...9])
        #expect(first.updatedRanges == [2...2])
        #expect(first.inserted == 6)
    }

    @Test func scatteredRowsTakeBoundedMemory() {
        var changes = EntityChanges(entity: "a", table: "a")
        for row in stride(from: Int64.min, to: Int64.max - (1 << 49), by: 1 << 49) { changes.insert(row) }
        #expect(changes.insertedRanges.count <= EntityChanges.maximumRanges)
        #expect(changes.insertedRanges.contains { $0.contains(Int64.min) })
    }
}
