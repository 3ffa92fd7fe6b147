import ImportSources

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

    package enum CodingKeys: String, CodingKey {
        case store, action, sources
        case infersModel = "infers_model"
        case chunkDirectory = "chunk_directory"
        case workers
        case chunkSize = "chunk_size"
        case commitEvery = "commit_every"
    }
}
