import ImportModel

/// What the result of an import depends on: kept with the job, and refused when a resume gives others.
public struct JobOptions: Sendable, Hashable, Codable {
    /// The model; nil to infer one from all records.
    public var model: ModelDescription?
    /// The entity of the records of a source with one record path; nil to take its file name.
    public var entity: String?
    /// Where records are; empty to find out.
    public var records: [RecordPath]
    /// The attributes of inferred entities by which two records are the same object, by entity: `["people": ["id"]]`.
    ///
    /// Those under an empty name are the only entity's.
    public var identifiers: [String: [String]]
    /// Types that replace those that inference finds, by attribute, in every entity that has it.
    public var types: [String: AttributeType]
    /// Forms in which values are stored, by attribute, in every entity of an inferred model that has it.
    public var storages: [String: StorageForm]
    /// The library for whose forms an inferred model is made, where nothing else is said; nil for the standard forms.
    ///
    /// A model that is given gets them from `ModelDescription.stored(for:)`.
    public var client: StoreClient?
    /// What an inferred model makes of objects and arrays within records.
    public var nested: NestedPolicy
    /// How many levels of child tables ``NestedPolicy/tables`` makes, from 1: with 2, children and their children.
    public var nestedDepth: Int
    /// The arrays that ``NestedPolicy/tables`` makes tables of, by the keys that lead to them; empty for all.
    ///
    /// Arrays within the objects of another have that one's keys before their own (`lines.taxes`), and it becomes a table too.
    public var nestedOnly: [AttributePath]
    /// What a record does whose identifier exists already.
    public var onConflict: ConflictPolicy
    /// What a value does that does not fit its attribute.
    public var onError: ErrorPolicy
    /// What a text with U+0000 does in a server's schema; SQLite keeps it, and refuses ``NULPolicy/replace``.
    public var nul: NULPolicy
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
    /// Whether, and how, objects are deleted that the sources no longer have; nil to delete none.
    public var mirror: MirrorOptions?

    /// What `maxRecordBytes` may be.
    public static let recordBytesRange = 1...1_000_000_000
    /// What `maxDepth` may be.
    public static let depthRange = 1...100_000
    /// What `nestedDepth` may be.
    public static let nestedDepthRange = 1...16

    // More than seven parameters, as it is a plain value: one for each property.
    /// Options; what is not given is as the command has it without options.
    ///
    /// There is an argument for each property, and all have defaults.
    public init(
        model: ModelDescription? = nil,
        entity: String? = nil,
        records: [RecordPath] = [],
        identifiers: [String: [String]] = [:],
        types: [String: AttributeType] = [:],
        storages: [String: StorageForm] = [:],
        client: StoreClient? = nil,
        nested: NestedPolicy = .flatten,
        nestedDepth: Int = 2,
        nestedOnly: [AttributePath] = [],
        onConflict: ConflictPolicy = .merge,
        onError: ErrorPolicy = .reject,
        nul: NULPolicy = .error,
        maxErrors: ErrorLimit? = nil,
        isLossless: Bool = false,
        skip: Int64 = 0,
        limit: Int64? = nil,
        maxRecordBytes: Int = 64 << 20,
        maxDepth: Int = 1024,
        mirror: MirrorOptions? = nil
    ) {
        self.model = model
        self.entity = entity
        self.records = records
        self.identifiers = identifiers
        self.types = types
        self.storages = storages
        self.client = client
        self.nested = nested
        self.nestedDepth = nestedDepth
        self.nestedOnly = nestedOnly
        self.onConflict = onConflict
        self.onError = onError
        self.nul = nul
        self.maxErrors = maxErrors
        self.isLossless = isLossless
        self.skip = skip
        self.limit = limit
        self.maxRecordBytes = maxRecordBytes
        self.maxDepth = maxDepth
        self.mirror = mirror
    }

    /// The identifying attributes as the command has them: an entity and a colon before those of a named one.
    package var identifierNames: [String] {
        identifiers.sorted { $0.key < $1.key }.flatMap { entity, names in
            names.map { entity.isEmpty ? $0 : "\(entity):\($0)" }
        }
    }

    /// Whether all numbers are in their ranges, which those of a program may not be.
    ///
    /// - Throws: `ImportError` with `.usage` that names the one that is not.
    package func check() throws {
        try ImportError.check("maxRecordBytes", maxRecordBytes, Self.recordBytesRange)
        try ImportError.check("maxDepth", maxDepth, Self.depthRange)
        try ImportError.check("nestedDepth", nestedDepth, Self.nestedDepthRange)
        try ImportError.check("skip", skip, 0...(.max))
        try ImportError.check("limit", limit ?? 0, 0...(.max))
        for (name, isSound) in [("maxErrors", maxErrors?.isSound), ("maxDelete", mirror?.maxDelete?.isSound)]
        where isSound == false {
            throw ImportError(
                .optionInvalid,
                "\(name) is out of its range",
                advice: "Give a count from 0, or 0 to 100 percent."
            )
        }
        guard nul == .error || !isLossless else {
            throw ImportError(
                .optionsConflict,
                "\(.nul, NULPolicy.replace.rawValue) loses something, which \(.isLossless) forbids",
                advice: "Leave one of them out."
            )
        }
        guard mirror != nil, skip > 0 || limit != nil else { return }
        throw ImportError(
            .optionsConflict,
            "\(.mirror) needs all records: what is passed over would be deleted",
            advice: "Leave \(.skip) and \(.limit) out, or \(.mirror)."
        )
    }
}
