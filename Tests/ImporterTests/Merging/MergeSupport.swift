import Foundation
import ImportModel
import Importer
import Synchronization
import TestSupport
import Testing

@testable import ImportMigration

/// A value that several tasks change.
final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value { state.withLock { $0 } }

    @discardableResult
    func change<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        state.withLock { body(&$0) }
    }
}

/// What an observer of an import in this process has seen.
final class SeenMerges: Sendable {
    private let seen = Shared<[MergeNotification]>([])
    // Set before anybody else knows of the object, and never changed.
    nonisolated(unsafe) private let observer: any NSObjectProtocol

    init(of center: MergeCenter) {
        observer = NotificationCenter.default.addObserver(
            forName: .storeDidMerge,
            object: center,
            queue: nil
        ) { [seen] notification in
            guard let merge = MergeNotification(notification) else { return }
            seen.change { $0.append(merge) }
        }
    }

    deinit {
        NotificationCenter.default.removeObserver(observer)
    }

    /// All that was seen when the last notification has come, which is told after `run` has returned maybe.
    func all(upTo isLast: (MergeNotification) -> Bool = \.isFinished) -> [MergeNotification] {
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            let seen = seen.value
            if seen.last.map(isLast) ?? false { return seen }
            sched_yield()
        }
        return seen.value
    }
}

/// An observer that detaches in its own callback.
final class DetachingObserver: Sendable {
    let calls = Shared(0)
    // Set before the import begins, and used by the one thread that posts.
    nonisolated(unsafe) private var token: (any NSObjectProtocol)?

    init(of center: MergeCenter) {
        token = NotificationCenter.default.addObserver(
            forName: .storeDidMerge,
            object: center,
            queue: nil
        ) { [weak self] _ in
            self?.calls.change { $0 += 1 }
            if let token = self?.token { NotificationCenter.default.removeObserver(token) }
        }
    }
}

extension [MergeNotification] {
    /// All of them as one, as an observer sees them that was busy meanwhile.
    var merged: MergeNotification? {
        guard var all = first else { return nil }
        for next in dropFirst() { all.merge(next) }
        return all
    }

    /// The rows that an entity's table has in the end, if it had none before.
    func rows(of entity: String) -> [Int64] {
        var rows: Set<Int64> = []
        for change in flatMap(\.changes) where change.entity == entity {
            rows.formUnion(change.insertedRanges.joined())
            rows.subtract(change.deletedRanges.joined())
        }
        return rows.sorted()
    }
}

extension MergeNotifications {
    /// All of them, once no more come.
    var all: [MergeNotification] {
        get async {
            var all: [MergeNotification] = []
            for await merge in self { all.append(merge) }
            return all
        }
    }
}

extension StoreFollower {
    /// All that there is now.
    func pollAll() throws -> [MergeNotification] {
        var all: [MergeNotification] = []
        while let next = try poll() { all.append(next) }
        return all
    }
}

/// Runs tasks on one thread, and other tasks are no part of it.
private final class OneThread: TaskExecutor {
    private let queue = DispatchQueue(label: "one thread")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Has a task wait for something.
///
/// - Parameters:
///   - release: ends what it waits for; called when another task has run on its thread, or none could for a minute.
///   - wait: what it does.
/// - Returns: whether another task could run on its thread meanwhile.
func leavesItsThreadToOthers(
    release: @escaping @Sendable () -> Void,
    _ wait: @escaping @Sendable () async throws -> Void
) async throws -> Bool {
    let executor = OneThread()
    let hasRun = Shared(false)
    let waiting = Task(executorPreference: executor) { try await wait() }
    let other = Task(executorPreference: executor) { hasRun.change { $0 = true } }
    let result = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            for _ in 0..<6_000 where !hasRun.value { usleep(10_000) }
            let result = hasRun.value
            release()
            continuation.resume(returning: result)
        }
    }
    await other.value
    try await waiting.value
    return result
}
