/// What may differ at every resume, because the result does not depend on it.
public struct RunOptions: Sendable, Hashable {
    /// The largest chunk size, in bytes: a chunk is in memory as a whole, more than once.
    public static let mostChunkBytes = 1 << 30
    /// The largest number of workers.
    public static let mostWorkers = 256

    /// Workers, each with a store connection of its own, from 1 to `mostWorkers`.
    public var workers: Int
    /// The size in bytes at which a chunk is closed, from 1 to `mostChunkBytes`.
    public var chunkSize: Int
    /// Records per commit, from 1; a commit never spans two chunks.
    public var commitEvery: Int
    /// The chunk directory; nil for the store's path with `.chunks` after it.
    public var chunkDirectory: String?
    /// Whether the chunk directory stays when the import is finished.
    public var keepsChunks: Bool
    /// Whether sources that this store has already finished are imported again.
    public var again: Bool
    /// Whether an interrupted job is restarted.
    public var restart: Bool
    /// SQLite's `synchronous` while importing.
    public var durability: Durability
    /// Indexes to build at the end, each as the attributes that it is on.
    ///
    /// Every entity that has all of them gets it, unless its table has an index on the same columns already. A resume
    /// without any builds those that were asked for before.
    public var indexes: [[String]]

    /// Whether a store that has another model than the one given is brought to it first (``ModelMigration``), as far as that
    /// loses nothing; without it such an import is refused.
    public var migrates: Bool
    /// Whether a new job keeps what is needed to undo it (``UndoPipeline``); a resumed one does as it began.
    public var keepsUndo: Bool

    /// SQLite's `PRAGMA synchronous`.
    public enum Durability: String, Sendable, Hashable, CaseIterable {
        case full
        case normal
        case off
    }

    // More than seven parameters, as it is a plain value: one for each property.
    /// Options; what is not given is as the command has it without options.
    ///
    /// There is an argument for each property, and all have defaults.
    public init(
        workers: Int = 2,
        chunkSize: Int = 8 << 20,
        commitEvery: Int = 10_000,
        chunkDirectory: String? = nil,
        keepsChunks: Bool = false,
        again: Bool = false,
        restart: Bool = false,
        durability: Durability = .normal,
        indexes: [[String]] = [],
        migrates: Bool = false,
        keepsUndo: Bool = false
    ) {
        self.workers = workers
        self.chunkSize = chunkSize
        self.commitEvery = commitEvery
        self.chunkDirectory = chunkDirectory
        self.keepsChunks = keepsChunks
        self.again = again
        self.restart = restart
        self.durability = durability
        self.indexes = indexes
        self.migrates = migrates
        self.keepsUndo = keepsUndo
    }

    /// Checks that all numbers are in their ranges, which those of a program may not be.
    ///
    /// - Throws: `ImportError` with `.usage` that names the one that is not.
    package func check() throws {
        try ImportError.check("workers", workers, 1...Self.mostWorkers)
        try ImportError.check("chunkSize", chunkSize, 1...Self.mostChunkBytes)
        try ImportError.check("commitEvery", commitEvery, 1...(.max))
        guard indexes.allSatisfy({ !$0.isEmpty }) else {
            throw ImportError(.optionInvalid, "an index of indexes has no attributes", advice: "Name at least one.")
        }
    }
}
