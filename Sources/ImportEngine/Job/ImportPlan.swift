import ImportSources

/// The plan of an import.
public struct ImportPlan: Sendable, Hashable, Codable {
    /// The action of an import on its store.
    public enum Action: String, Sendable, Hashable, Codable {
        /// Starts a new job.
        case begin
        /// Resumes an interrupted job.
        case resume
        /// Removes the rows that an interrupted job inserted, and restarts it.
        case restart
        /// Does nothing, as the job is finished.
        case nothing
    }

    /// One source of the plan.
    public struct Source: Sendable, Hashable, Codable {
        /// The name of the source, as passed to the import.
        public let name: String
        /// The size in bytes, as stored (compressed, if it is); nil if it is unknown.
        public let bytes: Int64?
        /// The layout of its records.
        public let shape: SourceShape
        /// The entities of the record paths, in the same order.
        public let entities: [String]
    }

    /// The store's path.
    public let store: String
    /// The action of the import.
    public let action: Action
    /// The sources, in the job's order.
    public let sources: [Source]
    /// True if the model is to be inferred from all records.
    public let infersModel: Bool
    /// The path of the chunk directory.
    public let chunkDirectory: String
    /// The number of workers.
    public let workers: Int
    /// The size of a chunk in bytes.
    public let chunkSize: Int
    /// The number of records per commit.
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
