import ImportModel

/// What can be done with sources besides importing them.
extension ImportPipeline {
    /// Only cuts sources into numbered chunks in a directory (DESIGN §6).
    ///
    /// Carries on when the directory holds the beginning of the same split.
    ///
    /// - Throws: `ImportError`. Chunks that are sealed stay, and the same call resumes.
    public static func split(
        sources: [String],
        to directory: String,
        job: JobOptions,
        run: RunOptions,
        progress: ImportProgress,
        interruption: Interruption
    ) throws -> SplitSummary {
        try SplitTool(
            directory: directory,
            job: job,
            run: run,
            opener: SourceOpener(),
            progress: progress,
            interruption: interruption
        ).split(sources)
    }

    /// Works out a model from all records of `sources` (DESIGN §7), keeping nothing else.
    ///
    /// - Throws: `ImportError`, also when the sources are not sound to their end.
    public static func infer(
        sources: [String],
        job: JobOptions,
        run: RunOptions,
        progress: ImportProgress,
        interruption: Interruption
    ) throws -> InferredModel {
        try InferTool(
            job: job,
            run: run,
            opener: SourceOpener(),
            progress: progress,
            interruption: interruption.child()
        ).infer(sources)
    }
}

/// What an import would do.
public struct ImportPlan: Sendable, Hashable, Codable {
    /// What the store is to the import.
    public enum Action: String, Sendable, Hashable, Codable {
        /// A new job.
        case begin
        /// Carry on with an interrupted job.
        case resume
        /// Remove what an interrupted job inserted, and restart it.
        case restart
        /// The store has it all already.
        case nothing
    }

    /// One source of the plan.
    public struct Source: Sendable, Hashable, Codable {
        /// As it was given.
        public let name: String
        /// In bytes, as it is stored; nil where that cannot be known.
        public let bytes: Int64?
        /// How its records are laid out.
        public let shape: SourceShape
        /// The entities of the record paths, in the same order.
        public let entities: [String]

        /// Puts a source together.
        public init(name: String, bytes: Int64?, shape: SourceShape, entities: [String]) {
            self.name = name
            self.bytes = bytes
            self.shape = shape
            self.entities = entities
        }
    }

    /// The store's path.
    public let store: String
    /// What is to be done.
    public let action: Action
    /// In the job's order.
    public let sources: [Source]
    /// Whether the model is to be inferred from all records.
    public let infersModel: Bool
    /// Its path.
    public let chunkDirectory: String
    /// How many.
    public let workers: Int
    /// In bytes.
    public let chunkSize: Int
    /// In records.
    public let commitEvery: Int

    /// Puts a plan together.
    public init(
        store: String,
        action: Action,
        sources: [Source],
        infersModel: Bool,
        chunkDirectory: String,
        workers: Int,
        chunkSize: Int,
        commitEvery: Int
    ) {
        self.store = store
        self.action = action
        self.sources = sources
        self.infersModel = infersModel
        self.chunkDirectory = chunkDirectory
        self.workers = workers
        self.chunkSize = chunkSize
        self.commitEvery = commitEvery
    }

    enum CodingKeys: String, CodingKey {
        case store, action, sources
        case infersModel = "infers_model"
        case chunkDirectory = "chunk_directory"
        case workers
        case chunkSize = "chunk_size"
        case commitEvery = "commit_every"
    }
}

/// What a split has done.
public struct SplitSummary: Sendable, Hashable, Codable {
    /// Where the chunks are.
    public let directory: String
    /// How many there are.
    public let chunks: Int
    /// Records in the chunks, passed-over ones included.
    public let records: Int64
    /// Records that were passed over: too large, or nested too deeply.
    public let passedOver: Int64
    /// Bytes of the sources, decompressed.
    public let bytes: Int64
    /// Values that are outside the record paths, counted by where they are.
    public let outside: [String: Int64]
    /// The record paths at which nothing is in any source, not even an empty collection.
    public let notFound: [String]

    /// Puts a summary together.
    public init(
        directory: String,
        chunks: Int,
        records: Int64,
        passedOver: Int64,
        bytes: Int64,
        outside: [String: Int64],
        notFound: [String] = []
    ) {
        self.directory = directory
        self.chunks = chunks
        self.records = records
        self.passedOver = passedOver
        self.bytes = bytes
        self.outside = outside
        self.notFound = notFound
    }

    enum CodingKeys: String, CodingKey {
        case directory, chunks, records
        case passedOver = "passed_over"
        case bytes, outside
        case notFound = "not_found"
    }
}

/// A model that was worked out from records.
public struct InferredModel: Sendable, Hashable {
    /// The model in the model file's format, one JSON object.
    public let text: String
    /// What was noticed on the way: identifier candidates, dates in other formats, kinds that vary.
    public let notices: [String]

    /// Puts a text and its notices together.
    public init(text: String, notices: [String]) {
        self.text = text
        self.notices = notices
    }
}
