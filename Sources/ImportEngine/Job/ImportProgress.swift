import ImportSources
import Synchronization

/// How far a run has come, for observers on other threads and in other tasks.
public final class ImportProgress: Sendable {
    /// One look at it.
    ///
    /// Counts are of this job, earlier runs of it included.
    public struct Snapshot: Sendable, Hashable {
        /// What the import is doing now, or was doing when it ended.
        public var phase: Phase = .starting
        /// How the run has ended; nil until it has.
        public var end: End?
        /// The bytes of all sources, decompressed; nil where that cannot be known (standard input, compressed files).
        public var totalBytes: Int64?
        /// Bytes of the sources that have been cut into chunks.
        public var splitBytes: Int64 = 0
        /// Records that have been cut into chunks.
        public var splitRecords: Int64 = 0
        /// Bytes of the sources whose records are committed (in the phase `inferring`: have been looked at).
        public var importedBytes: Int64 = 0
        /// Records that are committed, rejects included.
        public var importedRecords: Int64 = 0
        /// Rejects that are committed.
        public var rejects: Int64 = 0
        /// Bytes and records that earlier runs of this job had already committed when this one began.
        public var resumedBytes: Int64 = 0
        /// Records that earlier runs of this job had already committed when this one began.
        public var resumedRecords: Int64 = 0
        /// What the job has taken in all of its runs, in seconds; nil until it is finished.
        public var seconds: Double?
        /// What has been decided and should be said once, in order: `records: $.features[*] (found in the first MiB)`.
        public var messages: [MessageText] = []

        /// Starts with nothing.
        public init() {}
    }

    /// The phases of an import, in their order.
    public enum Phase: String, Sendable, Hashable {
        case starting
        /// Splitting and inferring a model, without importing yet.
        case inferring
        /// Splitting and importing.
        case importing
        case finishing
        case finished
    }

    /// How a run ends.
    public enum End: String, Sendable, Hashable {
        /// It returned.
        case finished
        /// It threw an error. What was committed stays, and the job can be resumed.
        case failed
        /// Somebody asked it to stop, or its task was cancelled. What was committed stays, and the job can be resumed.
        case interrupted
    }

    private struct State {
        var snapshot = Snapshot()
        /// How often it was changed.
        var changes = 0
        var waiting: [ObjectIdentifier: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// Starts with nothing.
    public init() {}

    /// How far it is now.
    public var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// The snapshots from now on, as an asynchronous sequence: the present one at once, then each time that it changes, until
    /// the run has ended.
    ///
    /// The last snapshot is the one with an `end`. A reader that lags gets the latest snapshot and none of those before.
    /// Each iterator reads by itself, so several tasks may iterate. Iteration ends early when its task is cancelled, which
    /// leaves the run as it is.
    ///
    /// ```swift
    /// let pipeline = ImportPipeline(
    ///     sources: ["people.json"], into: "people.sqlite", job: JobOptions(), run: RunOptions())
    /// let running = Task { try await pipeline.run() }
    /// for await snapshot in pipeline.progress.snapshots {
    ///     print(snapshot.phase, snapshot.importedRecords, snapshot.end?.rawValue ?? "running")
    /// }
    /// ```
    public var snapshots: Snapshots { Snapshots(progress: self) }

    /// Changes the counts.
    package func update(_ change: (inout Snapshot) -> Void) {
        let waiting = state.withLock { state in
            change(&state.snapshot)
            state.changes += 1
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    /// Notes how a run has ended.
    ///
    /// - Parameter error: what it threw; nil if it returned.
    package func end(after error: (any Error)?) {
        guard let error else { return update { $0.end = .finished } }
        let isInterruption = (error as? ImportError)?.isInterruption == true || error is CancellationError
        update { $0.end = isInterruption ? .interrupted : .failed }
    }

    /// Does the work of a run, and notes how it ends.
    package func ending<Result>(_ work: () throws -> Result) throws -> Result {
        do {
            let result = try work()
            end(after: nil)
            return result
        } catch {
            end(after: error)
            throw error
        }
    }

    /// The snapshot after this many changes, and how many there are, as soon as there are more; nil when the task is cancelled.
    fileprivate func next(after changes: Int) async -> (snapshot: Snapshot, changes: Int)? {
        final class Waiter: Sendable {}
        let waiter = Waiter()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    // Where the task is cancelled later, the handler finds what waits.
                    guard state.changes <= changes, !Task.isCancelled else { return true }
                    state.waiting[ObjectIdentifier(waiter)] = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(waiter)) }?.resume()
        }
        guard !Task.isCancelled else { return nil }
        return state.withLock { ($0.snapshot, $0.changes) }
    }

    /// The snapshots of a run as they come.
    public struct Snapshots: AsyncSequence, Sendable {
        fileprivate let progress: ImportProgress

        /// Begins to read, by itself.
        public func makeAsyncIterator() -> Iterator { Iterator(progress: progress) }

        /// Reads the snapshots, the last of which has an `end`.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let progress: ImportProgress
            private var changes = -1
            private var hasEnded = false

            fileprivate init(progress: ImportProgress) {
                self.progress = progress
            }

            /// The next snapshot; nil after the end, or when the task is cancelled.
            public mutating func next() async -> Snapshot? {
                guard !hasEnded, let next = await progress.next(after: changes) else { return nil }
                changes = next.changes
                hasEnded = next.snapshot.end != nil
                return next.snapshot
            }
        }
    }
}
