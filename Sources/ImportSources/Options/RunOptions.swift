/// Options that never change the imported rows, such as the number of workers.
///
/// They may differ on each resume.
public struct RunOptions: Sendable, Hashable {
    /// The largest chunk size, in bytes: a chunk is in memory as a whole, more than once.
    public static let mostChunkBytes = 1 << 30
    /// The largest number of workers.
    public static let mostWorkers = 256

    /// The number of workers, each with a store connection of its own, from 1 to `mostWorkers`.
    public var workers: Int
    /// The size in bytes at which a chunk is closed, from 1 to `mostChunkBytes`.
    public var chunkSize: Int
    /// The number of records per commit, from 1; small sources that follow one another are committed together.
    public var commitEvery: Int
    /// The chunk directory; nil for the store's path with `.chunks` after it.
    public var chunkDirectory: String?
    /// True if the chunk directory is kept when the import is finished.
    public var keepsChunks: Bool
    /// True if sources that are already imported are imported again.
    public var again: Bool
    /// True if a source that has changed since it was imported replaces what its earlier version has inserted, where its records have no
    /// identifier to be merged by.
    public var replacesSources: Bool
    /// True if an interrupted job is restarted.
    public var restart: Bool
    /// True if the import goes on after what is there: files that are added and what files have grown by are imported as they come, until
    /// it is interrupted.
    ///
    /// All that is imported meanwhile is one job, which is finished whenever nothing is left to be imported. A source in which something
    /// is wrong does not end it (``BadSourcePolicy/skip``).
    public var follows: Bool
    /// The time within which something new is committed, from one millisecond to a day, if the import follows its sources.
    public var commitInterval: Duration
    /// SQLite's `synchronous` while importing.
    public var durability: Durability
    /// Indexes to build at the end, each by its attributes.
    ///
    /// Every entity with all of the attributes gets the index, unless its table already has an index on the same columns. A resume
    /// without indexes builds those requested before.
    public var indexes: [[String]]

    /// True if a store with another model is migrated first (``ModelMigration``), as far as nothing is lost; if false, such an import is
    /// refused.
    public var migrates: Bool
    /// True if a new job can be undone (``UndoPipeline``); a resumed job keeps its setting.
    public var keepsUndo: Bool

    /// SQLite's `PRAGMA synchronous`.
    public enum Durability: String, Sendable, Hashable, CaseIterable {
        case full
        case normal
        case off
    }

    // More than seven parameters, as it is a plain value: one for each property.
    /// Creates options; the defaults are those of the command.
    ///
    /// There is an argument for each property, and all have defaults.
    public init(
        workers: Int = 2,
        chunkSize: Int = 8 << 20,
        commitEvery: Int = 10_000,
        chunkDirectory: String? = nil,
        keepsChunks: Bool = false,
        again: Bool = false,
        replacesSources: Bool = false,
        restart: Bool = false,
        follows: Bool = false,
        commitInterval: Duration = .seconds(1),
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
        self.replacesSources = replacesSources
        self.restart = restart
        self.follows = follows
        self.commitInterval = commitInterval
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
        guard (.milliseconds(1)...(.seconds(86_400))).contains(commitInterval) else {
            throw ImportError(
                .optionInvalid,
                "the commitInterval of run options is not from a millisecond to a day",
                advice: "Give one that is."
            )
        }
        guard indexes.allSatisfy({ !$0.isEmpty }) else {
            throw ImportError(.optionInvalid, "an index of indexes has no attributes", advice: "Name at least one.")
        }
    }
}
