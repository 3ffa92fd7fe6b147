import ImportModel

/// What the result of an import depends on: kept with the job, and refused when a resume gives others (DESIGN §5).
public struct JobOptions: Sendable, Hashable {
    /// The model; nil to infer one from all records.
    public var model: ModelDescription?
    /// The entity of the records of a source with one record path; nil to take its file name.
    public var entity: String?
    /// Where records are; empty to find out.
    public var records: [RecordPath]
    /// The attributes of an inferred entity by which two of its records are the same object; empty for none.
    ///
    /// Where the job has several entities: `ENTITY:ATTRIBUTE`. An attribute without an entity belongs to that of the one
    /// before it.
    public var identifier: [String]
    /// Types that replace those that inference finds, by attribute, in every entity that has it.
    public var types: [String: AttributeType]
    /// What a record does whose identifier is there already.
    public var onConflict: ConflictPolicy
    /// What a value does that does not fit its attribute.
    public var onError: ErrorPolicy
    /// How many rejects there may be; nil for no limit, but for a job whose first 1,000 records are all rejected.
    ///
    /// An unfinished job may be given another one, which it keeps from then on.
    public var maxErrors: ErrorLimit?
    /// Whether a coercion that loses something is an error.
    public var isLossless: Bool
    /// How many records of each record path are passed over, from 0.
    public var skip: Int64
    /// How many records of each record path are imported at most, from 0; nil for all.
    public var limit: Int64?
    /// Larger records are rejects.
    ///
    /// In bytes, from 1 to 1,000,000,000, which is SQLite's limit for a value (`SQLITE_MAX_LENGTH`).
    public var maxRecordBytes: Int
    /// Records nested more deeply are rejects.
    ///
    /// In containers, from 1 to 100,000.
    public var maxDepth: Int

    /// What `maxRecordBytes` may be.
    public static let recordBytesRange = 1...1_000_000_000
    /// What `maxDepth` may be.
    public static let depthRange = 1...100_000

    /// Creates one.
    public init(
        model: ModelDescription? = nil,
        entity: String? = nil,
        records: [RecordPath] = [],
        identifier: [String] = [],
        types: [String: AttributeType] = [:],
        onConflict: ConflictPolicy = .merge,
        onError: ErrorPolicy = .reject,
        maxErrors: ErrorLimit? = nil,
        isLossless: Bool = false,
        skip: Int64 = 0,
        limit: Int64? = nil,
        maxRecordBytes: Int = 64 << 20,
        maxDepth: Int = 1024
    ) {
        self.model = model
        self.entity = entity
        self.records = records
        self.identifier = identifier
        self.types = types
        self.onConflict = onConflict
        self.onError = onError
        self.maxErrors = maxErrors
        self.isLossless = isLossless
        self.skip = skip
        self.limit = limit
        self.maxRecordBytes = maxRecordBytes
        self.maxDepth = maxDepth
    }

    /// Whether all numbers are in their ranges, which those of a program may not be.
    ///
    /// - Throws: `ImportError` with `.usage` that names the one that is not.
    func check() throws {
        func check<Number: Comparable>(_ name: String, _ value: Number, _ range: ClosedRange<Number>) throws {
            guard !range.contains(value) else { return }
            throw ImportError(
                .usage,
                "\(name) is \(value)",
                advice: "It must be from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        try check("maxRecordBytes", maxRecordBytes, Self.recordBytesRange)
        try check("maxDepth", maxDepth, Self.depthRange)
        try check("skip", skip, 0...(.max))
        try check("limit", limit ?? 0, 0...(.max))
    }
}

/// What a record does whose identifier a stored object has already.
public enum ConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// It sets what it mentions; missing is not null.
    case merge
    /// It sets all attributes, those that it lacks to their defaults.
    case replace
    /// It is left out, and counted.
    case ignore
    /// It is a reject.
    case error
}

/// What a value does that does not fit its attribute.
public enum ErrorPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Its record is a reject.
    case reject
    /// It becomes null where the attribute is optional, and is counted; elsewhere its record is a reject.
    case null
    /// The import stops before its record.
    case stop
}

/// How many rejects a job may have.
public enum ErrorLimit: Sendable, Hashable, Codable {
    /// The import stops before the record that would be one reject too many, in source order.
    case count(Int64)
    /// Judged at the end: percent of the records read, from 0 to 100.
    case percent(Double)
    /// No limit, not even for a job whose first 1,000 records are all rejected.
    case unlimited
}

extension ErrorLimit: LosslessStringConvertible {
    /// Reads `5`, `2.5%` or `none`; nil for anything else.
    public init?(_ description: String) {
        if description == "none" {
            self = .unlimited
        } else if description.last == "%" {
            let digits = description.dropLast()
            guard digits.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }),
                let percent = Double(digits), (0...100).contains(percent)
            else { return nil }
            self = .percent(percent)
        } else {
            guard description.utf8.allSatisfy({ (48...57).contains($0) }), let count = Int64(description) else {
                return nil
            }
            self = .count(count)
        }
    }

    /// The limit as it is given on the command line.
    public var description: String {
        switch self {
        case .count(let count): "\(count)"
        case .unlimited: "none"
        case .percent(let percent): percent == percent.rounded() ? "\(Int64(percent))%" : "\(percent)%"
        }
    }
}

/// What may differ at every resume, because the result does not depend on it (DESIGN §5).
public struct RunOptions: Sendable, Hashable {
    /// The largest chunk size, in bytes: a chunk is in memory as a whole, more than once.
    public static let mostChunkBytes = 1 << 30

    /// Workers, each with a store connection of its own, from 1.
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

    /// SQLite's `PRAGMA synchronous`.
    public enum Durability: String, Sendable, Hashable, CaseIterable {
        case full
        case normal
        case off
    }

    /// Creates one.
    public init(
        workers: Int = 2,
        chunkSize: Int = 8 << 20,
        commitEvery: Int = 10_000,
        chunkDirectory: String? = nil,
        keepsChunks: Bool = false,
        again: Bool = false,
        restart: Bool = false,
        durability: Durability = .normal,
        indexes: [[String]] = []
    ) {
        self.workers = max(1, workers)
        self.chunkSize = min(max(1, chunkSize), Self.mostChunkBytes)
        self.commitEvery = max(1, commitEvery)
        self.chunkDirectory = chunkDirectory
        self.keepsChunks = keepsChunks
        self.again = again
        self.restart = restart
        self.durability = durability
        self.indexes = indexes
    }
}
