import Foundation
import ImportModel
import Importer
import Synchronization
import TestSupport
import Testing

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
        let reading = Task { await sequence.all }
        _ = try await pipeline.run()
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

    // MARK: Observers of every kind

    /// The errors that observers may have.
    private struct Nonsense: Error {}

    /// Whatever observers do, the import continues, and the others see all of it.
    @Test func outlivesItsObservers() async throws {
        let job = try LibraryImport(LibraryImport.items(300))
        let pipeline = job.pipeline(JobOptions(), RunOptions(workers: 2, chunkSize: 500, commitEvery: 3))
        let center = pipeline.merges
        // One that never reads, and one that nobody ever will.
        let unread = center.notifications()
        _ = center.notifications()
        // One that goes away in the middle, with an error.
        let throwing = center.notifications()
        let thrown = Task {
            for await _ in throwing { throw Nonsense() }
        }
        // One that detaches in its own callback.
        let detaching = DetachingObserver(of: center)
        let seen = SeenMerges(of: center)
        let readings = (0..<20).map { _ in
            let sequence = center.notifications()
            return Task { await sequence.all }
        }
        _ = try await pipeline.run()
        #expect(seen.all().rows(of: "item") == Array(1...300))
        #expect(detaching.calls.value == 1)
        for reading in readings { #expect(await reading.value.rows(of: "item") == Array(1...300)) }
        await #expect(throws: Nonsense.self) { try await thrown.value }
        // It was kept in one notification for as long as it took.
        let late = await unread.all
        #expect(late.count == 1)
        #expect(late.rows(of: "item") == Array(1...300))
    }

    /// An observer that never comes back does not keep the import from its end, nor sequences from theirs.
    @Test func doesNotWaitForAnObserverThatNeverReturns() async throws {
        let job = try LibraryImport(LibraryImport.items(100))
        let pipeline = job.pipeline(JobOptions(), RunOptions(workers: 2, chunkSize: 500, commitEvery: 3))
        let isTestOver = DispatchSemaphore(value: 0)
        let observer = NotificationCenter.default.addObserver(
            forName: .storeDidMerge,
            object: pipeline.merges,
            queue: nil
        ) { _ in isTestOver.wait() }
        defer {
            NotificationCenter.default.removeObserver(observer)
            isTestOver.signal()
        }
        let sequence = pipeline.merges.notifications()
        let reading = Task { await sequence.all }
        #expect(try await pipeline.run().report.inserted == 100)
        #expect(await reading.value.last?.isFinished == true)
    }

    /// What is merged at the end is announced before the job is said to be finished.
    @Test func announcesWhatIsMergedAtTheEnd() throws {
        let job = try LibraryImport(
            "[" + [1, 2, 1].map { "{\"k\":\"\($0)\",\"v\":\($0)}" }.joined(separator: ",") + "]"
        )
        let pipeline = job.pipeline(JobOptions(identifiers: ["": ["k"]]))
        let sequence = SeenMerges(of: pipeline.merges)
        _ = try pipeline.run()
        let merges = sequence.all()
        #expect(merges.rows(of: "item") == [1, 2])
        #expect(merges.last?.isFinished == true)
        #expect(merges.last?.totals.map(\.unchanged) == [1])
        #expect(merges.last?.totals.map(\.rows) == [2])
    }

    @Test func aRefreshStaysOneWhateverComesThen() {
        let change = { (row: Int64) -> EntityChanges in
            var change = EntityChanges(entity: "a", table: "a")
            change.insert(row)
            return change
        }
        var first = MergeNotification(
            job: 1,
            commit: 1,
            changes: [change(1)],
            totals: [],
            marker: Marker(),
            isFinished: false
        )
        first.merge(first.refreshing())
        first.merge(
            MergeNotification(job: 2, commit: 5, changes: [change(2)], totals: [], marker: Marker(), isFinished: true)
        )
        #expect(first.needsRefresh && first.changes.isEmpty)
        #expect(first.job == 2 && first.commit == 5 && first.isFinished)
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

    /// However many rows, in whatever order: the ranges are bounded, have all of them, and are as narrow as can be.
    @Test func scatteredRowsTakeBoundedMemory() {
        var changes = EntityChanges(entity: "a", table: "a")
        for row in stride(from: Int64.min, to: Int64.max - (1 << 49), by: 1 << 49) { changes.insert(row) }
        #expect(changes.insertedRanges.count <= EntityChanges.maximumRanges)
        #expect(changes.insertedRanges.contains { $0.contains(Int64.min) })
        var near = EntityChanges(entity: "a", table: "a")
        for row in [90, 1, 95, 3, 2, 50, 92] as [Int64] { near.update(row) }
        #expect(near.coarsened(to: 3).updatedRanges == [1...3, 50...50, 90...95])
        #expect(near.coarsened(to: 1).updatedRanges == [1...95])
        #expect(near.coarsened(to: 9).updatedRanges == [1...3, 50...50, 90...90, 92...92, 95...95])
    }
}
