import ImportSources
import Synchronization

/// The progress of a run, for observers on other threads and in other tasks.
public final class ImportProgress: Sendable {
    /// The progress at one moment.
    ///
    /// Counts are those of the job, including its earlier runs.
    public struct Snapshot: Sendable, Hashable {
        /// The current phase of the import, or the last one if it has ended.
        public var phase: Phase = .starting
        /// The end of the run; nil while it is running.
        public var end: End?
        /// The size of all sources in bytes, decompressed; nil if it is unknown (standard input, compressed files).
        public var totalBytes: Int64?
        /// The number of bytes of the sources that have been cut into chunks.
        public var splitBytes: Int64 = 0
        /// The number of records that have been cut into chunks.
        public var splitRecords: Int64 = 0
        /// The number of bytes of the sources whose records are committed (in the phase `inferring`, examined).
        public var importedBytes: Int64 = 0
        /// The number of committed records, including rejects.
        public var importedRecords: Int64 = 0
        /// The number of committed rejects.
        public var rejects: Int64 = 0
        /// The number of bytes that earlier runs of the job had committed when this run began.
        public var resumedBytes: Int64 = 0
        /// The number of records that earlier runs of the job had committed when this run began.
        public var resumedRecords: Int64 = 0
        /// The time spent in all runs of the job, in seconds; nil until it is finished.
        public var seconds: Double?
        /// Messages about decisions, each to be shown once, in order: `records: $.features[*] (found in the first MiB)`.
        public var messages: [MessageText] = []

        /// Creates the progress of a run that has not started.
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
        /// Waiting for what comes (``RunOptions/follows``).
        case following
        case finished
    }

    /// The ways in which a run ends.
    public enum End: String, Sendable, Hashable {
        /// The run returned.
        case finished
        /// The run threw an error. Commits stay, and the job can be resumed.
        case failed
        /// The run was interrupted, or its task was cancelled. Commits stay, and the job can be resumed.
        case interrupted
    }

    private struct State {
        /// Of the round at hand, where the run follows its sources.
        var snapshot = Snapshot()
        /// Of the rounds before it, where the run follows its sources; else nil.
        var earlier: Snapshot?

        var whole: Snapshot {
            guard let earlier else { return snapshot }
            var whole = snapshot
            // It is finished when it is interrupted, and what is to come is not known.
            (whole.totalBytes, whole.seconds) = (nil, nil)
            if whole.phase == .finished { whole.phase = .following }
            whole.splitBytes += earlier.splitBytes
            whole.splitRecords += earlier.splitRecords
            whole.importedBytes += earlier.importedBytes
            whole.importedRecords += earlier.importedRecords
            whole.rejects += earlier.rejects
            return whole
        }

        /// The number of changes of the snapshot.
        var changes = 0
        var waiting: [ObjectIdentifier: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    /// Creates the progress of a run that has not started.
    public init() {}

    /// The current progress.
    public var snapshot: Snapshot { state.withLock { $0.whole } }

    /// The snapshots from now on, as an asynchronous sequence: the current one at once, then one after each change, until the run has
    /// ended.
    ///
    /// The last snapshot has an `end`. A slow reader gets only the latest snapshot. Each iterator reads independently, so several tasks
    /// may iterate. Iteration ends early when its task is cancelled, which does not interrupt the run.
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

    /// Begins a round of a run that follows its sources, whose counts come to those before it.
    package func beginRound() {
        state.withLock { state in
            var next = Snapshot()
            (next.phase, next.messages) = (.following, state.snapshot.messages)
            state.earlier = state.earlier == nil ? Snapshot() : state.whole
            state.snapshot = next
        }
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
        return state.withLock { ($0.whole, $0.changes) }
    }

    /// The snapshots of a run, as an asynchronous sequence.
    public struct Snapshots: AsyncSequence, Sendable {
        fileprivate let progress: ImportProgress

        /// Creates an iterator, which reads independently of others.
        public func makeAsyncIterator() -> Iterator { Iterator(progress: progress) }

        /// Reads the snapshots, the last of which has an `end`.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let progress: ImportProgress
            fileprivate var changes = -1
            fileprivate var hasEnded = false

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
