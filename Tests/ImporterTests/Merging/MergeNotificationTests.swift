import Foundation
import ImportModel
import Synchronization
import TestSupport
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
            return Task { await Self.collect(sequence) }
        }
        _ = try await pipeline.run()
        #expect(seen.all().rows(of: "item") == Array(1...300))
        #expect(detaching.calls.value == 1)
        for reading in readings { #expect(await reading.value.rows(of: "item") == Array(1...300)) }
        await #expect(throws: Nonsense.self) { try await thrown.value }
        // It was kept in one notification for as long as it took.
        let late = await Self.collect(unread)
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
        let reading = Task { await Self.collect(sequence) }
        #expect(try await pipeline.run().report.inserted == 100)
        #expect(await reading.value.last?.isFinished == true)
    }

    // MARK: What it costs

    /// Notifications whose ranges are as many as can be, and do not join.
    private static func scattered(_ count: Int) -> [MergeNotification] {
        (0..<count).map { commit in
            var change = EntityChanges(entity: "a", table: "a")
            for row in 0..<EntityChanges.maximumRanges { change.update(Int64(row * 1_000 + commit * 2)) }
            return MergeNotification(
                job: 1,
                commit: Int64(commit + 1),
                changes: [change],
                totals: [],
                marker: Marker(),
                isFinished: commit == count - 1
            )
        }
    }

    /// The processor time of `body`, whatever else runs.
    private static func cost(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        try body()
        return now() - start
    }

    /// Merging is not the commit's work, however late an observer is; a stuck observer does not keep it from a sequence either.
    @Test func aCommitDoesNotMerge() async throws {
        let merges = Self.scattered(16)
        var merged: MergeNotification?
        let mergingCost = Self.cost { merged = merges.merged }
        let center = MergeCenter()
        let isTestOver = DispatchSemaphore(value: 0)
        let observer = NotificationCenter.default.addObserver(
            forName: .storeDidMerge,
            object: center,
            queue: nil
        ) { _ in isTestOver.wait() }
        defer {
            NotificationCenter.default.removeObserver(observer)
            isTestOver.signal()
        }
        let sequence = center.notifications()
        try center.open()
        let cost = Self.cost { for merge in merges { center.enqueue(merge) } }
        #expect(cost < mergingCost / 10)
        center.close()
        let read = await Self.collect(sequence)
        #expect(read.reduce(0) { $0 + $1.changes[0].updated } == merged?.changes[0].updated)
        #expect(read.last?.isFinished == true && read.allSatisfy { !$0.needsRefresh })
    }

    /// However long nobody takes anything, what is kept is bounded, and what it ends with is not lost.
    @Test(arguments: [1, EntityChanges.maximumRanges]) func theQueueIsBounded(ranges: Int) throws {
        var change = EntityChanges(entity: "a", table: "a")
        for row in 0..<ranges { change.update(Int64(row * 2)) }
        var queue = MergeQueue()
        let last = 5_000
        for commit in 1...last {
            queue.add(
                MergeNotification(
                    job: Int64(commit / 1_000 + 1),
                    commit: Int64(commit),
                    changes: [change],
                    totals: [],
                    marker: Marker(),
                    isFinished: commit % 1_000 == 999
                )
            )
        }
        let merges = queue.takeAll().compactMap { item -> MergeNotification? in
            if case .merge(let merge) = item { merge } else { nil }
        }
        #expect(merges.count <= MergeQueue.mostMerges)
        #expect(merges.reduce(0) { $0 + $1.changes.reduce(0) { $0 + $1.rangeCount } } <= MergeQueue.mostRanges)
        let merged = try #require(merges.merged)
        #expect(merged.needsRefresh && merged.commit == Int64(last))
        #expect(merged.finishedJobs == [1, 2, 3, 4, 5])
        #expect(merges.first?.needsRefresh == false)
        #expect(queue.isEmpty)
    }

    /// Its threads end with the import, and nothing holds the center then.
    @Test func leavesNoThreadBehind() async throws {
        weak var center: MergeCenter?
        var sequence: MergeNotifications?
        do {
            let made = MergeCenter()
            center = made
            sequence = made.notifications()
            try made.open()
            for merge in Self.scattered(2) { made.enqueue(merge) }
            made.close()
        }
        if let sequence { #expect(await Self.collect(sequence).last?.isFinished == true) }
        let deadline = ContinuousClock.now + patience
        while center != nil, ContinuousClock.now < deadline { await Task.yield() }
        #expect(center == nil)
    }

    /// A center serves one import after the other, and several at once: what each leaves is posted, and sequences end with
    /// the last.
    @Test func servesManyImports() async throws {
        let center = MergeCenter()
        let posted = Mutex<Set<Int64>>([])
        let observer = NotificationCenter.default.addObserver(forName: .storeDidMerge, object: center, queue: nil) {
            guard let merge = MergeNotification($0) else { return }
            posted.withLock { $0.formUnion(merge.finishedJobs) }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        func merge(_ job: Int64) -> MergeNotification {
            MergeNotification(job: job, commit: 1, changes: [], totals: [], marker: Marker(), isFinished: true)
        }
        let rounds: Int64 = 200
        for job in 1...rounds {
            try center.open()
            center.enqueue(merge(job))
            center.close()
        }
        // Asked for between two imports, it has nothing to wait for; while there are users, it waits for all of them.
        #expect(await Self.collect(center.notifications()).isEmpty)
        try center.open()
        try center.open()
        let sequence = center.notifications()
        center.close()
        center.enqueue(merge(rounds + 1))
        center.close()
        #expect(await Self.collect(sequence).flatMap(\.finishedJobs) == [rounds + 1])
        let deadline = ContinuousClock.now + patience
        while posted.withLock({ $0.count }) <= rounds, ContinuousClock.now < deadline { await Task.yield() }
        #expect(posted.withLock { $0 } == Set(1...rounds + 1))
    }

    /// A second reader of the same sequence takes the first one's place: nobody waits for ever.
    @Test func letsNoReaderWaitForEver() async {
        let mailbox = MergeNotifications.Mailbox()
        let readers = (0..<3).map { _ in Task { await mailbox.next() } }
        // Two of the three end because another one waits, whichever comes first.
        let ended = Shared(0)
        let waiting = readers.map { reader in
            Task {
                _ = await reader.value
                ended.change { $0 += 1 }
            }
        }
        while ended.value < 2 { await Task.yield() }
        mailbox.close()
        for task in waiting { await task.value }
    }

    /// What is merged at the end is announced before the job is said to be finished.
    @Test func announcesWhatIsMergedAtTheEnd() throws {
        let job = try LibraryImport(
            "[" + [1, 2, 1].map { "{\"k\":\"\($0)\",\"v\":\($0)}" }.joined(separator: ",") + "]"
        )
        let pipeline = job.pipeline(JobOptions(identifier: ["k"]))
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
