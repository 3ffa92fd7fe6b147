import Foundation
import ImportModel
import Importer
import Synchronization
import TestSupport
import Testing

@testable import ImportEngine

struct MergeCenterTests {
    /// Notifications of commits that insert a row each; the last one ends its job.
    private static func commits(_ count: Int) -> [MergeNotification] {
        (1...count).map { commit in
            var change = EntityChanges(entity: "a", table: "a")
            change.insert(Int64(commit))
            return MergeNotification(
                job: 1,
                commit: Int64(commit),
                changes: [change],
                totals: [],
                marker: Marker(),
                isFinished: commit == count
            )
        }
    }

    /// The rows that were announced, in that order.
    private static func rows(_ merges: [MergeNotification]) -> [Int64] {
        merges.flatMap(\.changes).flatMap(\.insertedRanges).flatMap { Array($0) }
    }

    // MARK: Who gets what

    @Test func handsEverybodyAllOfItInOrder() async throws {
        let center = MergeCenter()
        let seen = SeenMerges(of: center)
        let readings = (0..<3).map { _ in
            let sequence = center.notifications()
            return Task { await sequence.all }
        }
        try center.open()
        for merge in Self.commits(1_000) { center.enqueue(merge) }
        center.close()
        for reading in readings { #expect(Self.rows(await reading.value) == Array(1...1_000)) }
        #expect(Self.rows(seen.all()) == Array(1...1_000))
    }

    /// A sequence has what is left after it was asked for, and nothing of what was left before.
    @Test func aSequenceBeginsWhereItIsAskedFor() async throws {
        let center = MergeCenter()
        try center.open()
        var sequences: [(first: Int64, sequence: MergeNotifications)] = []
        for merge in Self.commits(200) {
            if merge.commit % 40 == 1 { sequences.append((merge.commit, center.notifications())) }
            center.enqueue(merge)
        }
        center.close()
        for (first, sequence) in sequences { #expect(Self.rows(await sequence.all) == Array(first...200)) }
    }

    /// What is posted has the notification and the center, and nothing else is taken for it.
    @Test func postsToTheCenterThatItWasGiven() throws {
        let own = NotificationCenter()
        let center = MergeCenter(center: own)
        let posted = Shared<[MergeNotification]>([])
        let isOver = DispatchSemaphore(value: 0)
        let observer = own.addObserver(forName: .storeDidMerge, object: nil, queue: nil) { notification in
            guard notification.object as? MergeCenter === center, let merge = MergeNotification(notification) else {
                return
            }
            posted.change { $0.append(merge) }
            if merge.isFinished { isOver.signal() }
        }
        defer { own.removeObserver(observer) }
        try center.open()
        for merge in Self.commits(10) { center.enqueue(merge) }
        center.close()
        #expect(isOver.wait(timeout: .now() + .seconds(60)) == .success)
        #expect(Self.rows(posted.value) == Array(1...10))
        #expect(MergeNotification(Notification(name: .storeDidMerge, object: center)) == nil)
    }

    // MARK: Its life

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
        if let sequence { #expect(await sequence.all.last?.isFinished == true) }
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
        #expect(await center.notifications().all.isEmpty)
        try center.open()
        try center.open()
        let sequence = center.notifications()
        center.close()
        center.enqueue(merge(rounds + 1))
        center.close()
        #expect(await sequence.all.flatMap(\.finishedJobs) == [rounds + 1])
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
        let read = await sequence.all
        #expect(read.reduce(0) { $0 + $1.changes[0].updated } == merged?.changes[0].updated)
        #expect(read.last?.isFinished == true && read.allSatisfy { !$0.needsRefresh })
    }
}
