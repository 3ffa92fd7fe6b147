import ImportModel

/// The whole journey: sources, chunks, workers, store.
public final class ImportPipeline: Sendable {
    /// Shared with whoever watches.
    public let progress = ImportProgress()
    /// Shared with whoever may stop it.
    public let interruption = Interruption()

    private let store: String
    private let runOptions: RunOptions

    /// Prepares an import of `sources` into `store`; nothing is touched before `run`.
    ///
    /// - Parameter sources: paths, `-` for standard input, or one chunk directory.
    public init(sources: [String], into store: String, job: JobOptions, run: RunOptions) {
        self.store = store
        runOptions = run
    }

    /// Prepares to carry on with the interrupted import of `store`.
    public init(resuming store: String, run: RunOptions) {
        self.store = store
        runOptions = run
    }

    /// Runs the import on this thread and its workers until it is finished, interrupted or failed.
    ///
    /// - Returns: the report of the finished job; `alreadyFinished` if there was nothing to do.
    /// - Throws: `ImportError`. What was committed before stays, and the job can be resumed.
    public func run() throws -> Outcome {
        throw ImportError(.software, "not yet")
    }

    /// What came of a run.
    public struct Outcome: Sendable {
        public let report: ImportReport
        /// Whether the store had all of it already and nothing was changed.
        public let wasAlreadyFinished: Bool
    }
}

/// Looks into a store without importing.
public struct StoreInspection: Sendable {
    public let store: String
    public init(store: String) { self.store = store }

    /// The report of the last job. Throws `ImportError` with `.noInput` when the file is not there or is no store.
    public func status() throws -> ImportReport { throw ImportError(.software, "not yet") }

    /// Calls `body` with each reject of all jobs, in order.
    public func forEachReject(_ body: (Reject) throws -> Void) throws { throw ImportError(.software, "not yet") }

    /// Proves that every record is accounted for: one line per check.
    public func verify() throws -> [Check] { throw ImportError(.software, "not yet") }

    /// One thing that `verify` looked at.
    public struct Check: Sendable, Hashable, Codable {
        public let name: String
        public let holds: Bool
        public let detail: String
    }

    /// One record that was not taken.
    public struct Reject: Sendable, Hashable, Codable {
        public let number: Int64
        public let job: Int64
        public let ordinal: Int64
        public let entity: String
        public let source: String
        public let byteOffset: Int64
        public let length: Int64
        public let errors: [RecordError]
        /// The original bytes, or the first of them where the record was passed over.
        public let record: [UInt8]
    }
}
