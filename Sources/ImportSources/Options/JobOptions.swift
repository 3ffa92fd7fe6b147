import ImportModel

/// Options that determine the imported rows.
///
/// They are stored with the job; resuming with other values throws an error.
public struct JobOptions: Sendable, Hashable, Codable {
    /// The model; nil to infer one from all records.
    public var model: ModelDescription?
    /// Globs of the files in folders, patterns and archives that are sources; nil for the names of data files, as `.json` and `.ndjson.gz`.
    ///
    /// A glob without `/` matches a file's name, one with it the path below the folder.
    public var include: [String]?
    /// Globs of the files in folders, patterns and archives that are no sources; nil for none.
    public var exclude: [String]?
    /// How the sources' texts are encoded, a name that `iconv_open(3)` knows; nil to judge by their first bytes: UTF-8, -16 or -32.
    public var encoding: String?
    /// The name of an attribute of each record with the path of its source; nil for none.
    public var fileColumn: String?
    /// How a source is handled that is not JSON from some byte on, or damaged; nil for ``BadSourcePolicy/stop``.
    public var onBadSource: BadSourcePolicy?
    /// How JSON is read as other programs write it.
    public var reading: ReadingPolicy {
        get { otherReading ?? .found }
        set { otherReading = newValue == .found ? nil : newValue }
    }
    /// Only what is not the default is coded.
    private var otherReading: ReadingPolicy?
    /// True if the first record of each record path of a source names the columns of the others, which are rows: arrays.
    public var headerRow: Bool {
        get { isHeaderRow ?? false }
        set { isHeaderRow = newValue ? true : nil }
    }
    private var isHeaderRow: Bool?
    /// What documents are read as; nil for what each looks like.
    public var shape: ShapePolicy?
    /// The names of the parts of the text before the object on each line; nil for one attribute `line_prefix`, `["none"]` to drop it.
    ///
    /// The text is cut at tabs if there are any, else at blanks; the last part takes the rest.
    public var prefix: [String]?
    /// The key paths of texts that are replaced by the JSON that is in them, where they are JSON; nil for none.
    public var parse: [AttributePath]?
    /// The key paths of the values that say of which entity a record is; nil for one entity.
    public var entityBy: [AttributePath]?
    /// Texts that are null, as `NA`, or `score=NA` for one attribute alone; nil for none.
    public var nullTexts: [String]?
    /// True if an inferred model has the types of what texts spell: numbers, booleans, days and dates.
    public var detectsTypes: Bool {
        get { isDetecting ?? false }
        set { isDetecting = newValue ? true : nil }
    }
    private var isDetecting: Bool?
    /// The entity of the records of a source with one record path; nil to use its file name.
    public var entity: String?
    /// The record paths; empty to detect them.
    public var records: [RecordPath]
    /// The identifiers of inferred entities, by entity: `["people": ["id"]]`.
    ///
    /// Those under an empty name belong to the only entity. `["": ["none"]]` is no identifier, whatever keys a table has.
    public var identifiers: [String: [String]]
    /// Types that replace inferred ones, by attribute name, in every entity that has the attribute.
    public var types: [String: AttributeType]
    /// Forms in which values are stored, by attribute name, in every entity of an inferred model that has the attribute.
    public var storages: [String: StorageForm]
    /// The digits of a second of attributes that are dates by `types`: 3, 6 or 9; those without have the most that any value has.
    public var fractions: [String: Int] {
        get { givenFractions ?? [:] }
        set { givenFractions = newValue.isEmpty ? nil : newValue }
    }
    private var givenFractions: [String: Int]?
    /// The library whose storage forms an inferred model has by default; nil for the standard forms.
    ///
    /// For a given model, use `ModelDescription.stored(for:)`.
    public var client: StoreClient?
    /// How an inferred model stores objects and arrays within records.
    public var nested: NestedPolicy
    /// The number of levels of child tables that ``NestedPolicy/tables`` makes, from 1: with 2, children and their children.
    public var nestedDepth: Int
    /// The arrays that ``NestedPolicy/tables`` makes tables of, by the keys that lead to them; empty for all.
    ///
    /// An array within the objects of another has the keys of that one before its own (`lines.taxes`); both become tables.
    public var nestedOnly: [AttributePath]
    /// True if tables that the importer has not made get columns for keys that have none; else these keys are left out.
    public var altersTables: Bool {
        get { isAltering ?? false }
        set { isAltering = newValue ? true : nil }
    }
    private var isAltering: Bool?
    /// True if triggers of the store may use what SQLite refuses otherwise, as virtual tables of full-text search
    /// (<https://www.sqlite.org/pragma.html#pragma_trusted_schema>).
    public var trustsTriggers: Bool {
        get { isTrusting ?? false }
        set { isTrusting = newValue ? true : nil }
    }
    private var isTrusting: Bool?
    /// How a record is handled whose identifier is already in the store.
    public var onConflict: ConflictPolicy
    /// How a value is handled that cannot be coerced to its attribute's type.
    public var onError: ErrorPolicy
    /// How a text with U+0000 is handled in a server's schema.
    ///
    /// A SQLite store keeps U+0000, and refuses ``NULPolicy/replace``.
    public var nul: NULPolicy
    /// The maximum number of rejects; nil for no limit, except that a job stops if its first 1,000 records are all rejected.
    ///
    /// A resume may set a new limit, which is stored with the job.
    public var maxErrors: ErrorLimit?
    /// True if a coercion that loses something is an error.
    public var isLossless: Bool
    /// The number of records of each record path to skip.
    public var skip: Int64
    /// The maximum number of records of each record path to import, from 0; nil for all.
    public var limit: Int64?
    /// The maximum size of a record; larger records are rejects.
    ///
    /// In bytes, from 1 to 1,000,000,000, which is SQLite's limit for a value (`SQLITE_MAX_LENGTH`).
    public var maxRecordBytes: Int
    /// The maximum depth of a record; records nested more deeply are rejects.
    ///
    /// In containers, from 1 to 100,000.
    public var maxDepth: Int
    /// How objects that the sources no longer have are deleted; nil to delete none.
    public var mirror: MirrorOptions?

    /// The valid values of `maxRecordBytes`.
    public static let recordBytesRange = 1...1_000_000_000
    /// The valid values of `maxDepth`.
    public static let depthRange = 1...100_000
    /// The valid values of `nestedDepth`.
    public static let nestedDepthRange = 1...16

    // More than seven parameters, as it is a plain value: one for each property.
    /// Creates options; the defaults are those of the command.
    ///
    /// There is an argument for each property, and all have defaults.
    public init(
        model: ModelDescription? = nil,
        include: [String]? = nil,
        exclude: [String]? = nil,
        encoding: String? = nil,
        fileColumn: String? = nil,
        onBadSource: BadSourcePolicy? = nil,
        reading: ReadingPolicy = .found,
        headerRow: Bool = false,
        shape: ShapePolicy? = nil,
        prefix: [String]? = nil,
        parse: [AttributePath]? = nil,
        entityBy: [AttributePath]? = nil,
        nullTexts: [String]? = nil,
        detectsTypes: Bool = false,
        entity: String? = nil,
        records: [RecordPath] = [],
        identifiers: [String: [String]] = [:],
        types: [String: AttributeType] = [:],
        storages: [String: StorageForm] = [:],
        fractions: [String: Int] = [:],
        client: StoreClient? = nil,
        nested: NestedPolicy = .flatten,
        nestedDepth: Int = 2,
        nestedOnly: [AttributePath] = [],
        altersTables: Bool = false,
        trustsTriggers: Bool = false,
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
        self.include = include
        self.exclude = exclude
        self.encoding = encoding
        self.fileColumn = fileColumn
        self.onBadSource = onBadSource
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
        self.reading = reading
        self.headerRow = headerRow
        self.shape = shape
        self.prefix = prefix
        self.parse = parse
        self.entityBy = entityBy
        self.nullTexts = nullTexts
        self.detectsTypes = detectsTypes
        self.altersTables = altersTables
        self.trustsTriggers = trustsTriggers
        self.fractions = fractions
    }

    /// The identifying attributes as the command has them: an entity and a colon before those of a named one.
    package var identifierNames: [String] {
        identifiers.sorted { $0.key < $1.key }.flatMap { entity, names in
            names.map { entity.isEmpty ? $0 : "\(entity):\($0)" }
        }
    }

    /// True if records are not merged by the key of a table that the importer has not made.
    package var hasNoIdentifier: Bool { identifiers == ["": ["none"]] }

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
        if mirror != nil, onBadSource == .skip {
            throw ImportError(
                .optionsConflict,
                "\(.mirror) needs all records: those after a fault would be deleted",
                advice: "Leave \(.onBadSource) out, or \(.mirror)."
            )
        }
        guard mirror != nil, skip > 0 || limit != nil else { return }
        throw ImportError(
            .optionsConflict,
            "\(.mirror) needs all records: those that are skipped would be deleted",
            advice: "Leave \(.skip) and \(.limit) out, or \(.mirror)."
        )
    }
}
