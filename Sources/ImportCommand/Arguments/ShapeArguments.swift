import ArgumentParser
import ImportModel
import Importer

/// The options that say what a record is.
struct ShapeArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Files in folders and archives to import instead of data files, as '*.log'. May be repeated.",
            discussion: "A glob with a / matches the path below the folder.",
            valueName: "glob"
        )
    )
    var include: [String] = []

    @Option(help: ArgumentHelp("Files in folders and archives to leave out. May be repeated.", valueName: "glob"))
    var exclude: [String] = []

    @Option(
        help: ArgumentHelp("Name of an attribute for the path of each record's source.", valueName: "name")
    )
    var fileColumn: String?

    @Option(
        help: ArgumentHelp(
            "What happens at a source that is not JSON, or damaged: stop, or skip (the rest of it).",
            discussion: "Default: stop. The records before are imported either way.",
            valueName: "policy"
        )
    )
    var onBadSource: BadSourcePolicy?

    @Option(
        help: ArgumentHelp(
            "How the sources are encoded, as iconv -l names it: ISO-8859-1.",
            discussion: "Default: UTF-8, or UTF-16 or -32 where their first bytes say so.",
            valueName: "name"
        )
    )
    var encoding: String?

    @Flag(help: "Accept only what JSON has, and every value as it is written.")
    var strict = false

    @Flag(help: "The first record of a source names the columns of the others, which are arrays.")
    var headerRow = false

    @Option(
        help: ArgumentHelp(
            "What documents are read as: records, rows (arrays beside the names of their columns), or columns.",
            discussion: "Default: what each looks like, which is printed.",
            valueName: "policy"
        )
    )
    var shape: ShapePolicy?

    @Option(
        help: ArgumentHelp(
            "Names of the parts of the text before the object on each line, as time,level; none drops it.",
            discussion: "Default: one attribute line_prefix. Cut at tabs if there are any, else at blanks.",
            valueName: "names"
        )
    )
    var prefix: String?

    @Option(
        help: ArgumentHelp(
            "Key of texts that are JSON, which become what is in them. May be repeated.",
            valueName: "name"
        ),
        transform: Self.attributePath
    )
    var parse: [AttributePath] = []

    @Option(
        help: ArgumentHelp(
            "Keys whose values say of which entity a record is: type, or type,stream.",
            discussion: "Each value is an entity, and so is each pair of values; at most 63, the rest is other.",
            valueName: "key"
        ),
        transform: { try $0.split(separator: ",").map { try Self.attributePath(String($0)) } }
    )
    var entityBy: [AttributePath]?

    @Option(
        name: .customLong("null-text"),
        help: ArgumentHelp(
            "Text that is null, as NA, or score=NA for one attribute alone. May be repeated.",
            valueName: "text"
        )
    )
    var nullTexts: [String] = []

    @Flag(
        name: .customLong("detect-types"),
        help: "Infer numbers, booleans, days and dates where all texts of an attribute spell them."
    )
    var detectsTypes = false

    @Option(
        help: ArgumentHelp(
            "Entity (and table) of the records of sources with one record path.",
            discussion: "Default: what the names of the sources have in common. Required for standard input.",
            valueName: "name"
        )
    )
    var entity: String?

    @Option(
        help: ArgumentHelp(
            "Where records are: '$', '$[*]', '$.items[*]', '$.users.*'. May be repeated.",
            discussion: "Default: found in the first MiB and printed.",
            valueName: "path"
        ),
        transform: Self.recordPath
    )
    var records: [RecordPath] = []

    @Option(
        help: ArgumentHelp("Skip this many records first, at each record path of a source.", valueName: "n")
    )
    var skip: Int64 = 0

    @Option(
        help: ArgumentHelp(
            "Import at most this many records of each record path of a source.",
            discussion: "Default: all. The source is not read any further.",
            valueName: "n"
        )
    )
    var limit: Int64?

    @Option(help: ArgumentHelp("Reject records larger than this, with K/M/G suffixes.", valueName: "bytes"))
    var maxRecordBytes = ByteSize(count: JobOptions().maxRecordBytes)

    @Option(help: ArgumentHelp("Reject records nested more deeply than this.", valueName: "n"))
    var maxDepth = JobOptions().maxDepth

    /// All but the model.
    var options: JobOptions {
        JobOptions(
            include: include.isEmpty ? nil : include,
            exclude: exclude.isEmpty ? nil : exclude,
            encoding: encoding,
            fileColumn: fileColumn,
            onBadSource: onBadSource,
            reading: strict ? .strict : .found,
            headerRow: headerRow,
            shape: shape,
            prefix: prefix?.split(separator: ",").map(String.init),
            parse: parse.isEmpty ? nil : parse,
            entityBy: entityBy,
            nullTexts: nullTexts.isEmpty ? nil : nullTexts,
            detectsTypes: detectsTypes,
            entity: entity,
            records: records,
            skip: skip,
            limit: limit,
            maxRecordBytes: maxRecordBytes.count,
            maxDepth: maxDepth
        )
    }

    func validate() throws {
        try Self.check(Int(skip), "--skip", in: 0...(.max))
        try Self.check(Int(limit ?? 0), "--limit", in: 0...(.max))
        try Self.check(maxRecordBytes.count, "--max-record-bytes", in: JobOptions.recordBytesRange)
        try Self.check(maxDepth, "--max-depth", in: JobOptions.depthRange)
        if fileColumn?.isEmpty == true { throw ValidationError("--file-column: the name is empty") }
        if prefix?.split(separator: ",").isEmpty == true { throw ValidationError("--prefix: the name is empty") }
        if entityBy != nil, entity != nil {
            throw ValidationError("--entity-by names the entities: leave --entity out")
        }
        if entity?.isEmpty == true { throw ValidationError("--entity: the name is empty") }
    }

    /// - Throws: `ValidationError` that names the option and what it takes.
    static func check(_ value: Int, _ option: String, in range: ClosedRange<Int>) throws {
        guard range.contains(value) else {
            let bounds =
                range.upperBound == .max
                ? "at least \(range.lowerBound)"
                : "from \(range.lowerBound) to \(NumberText.grouped(Int64(range.upperBound)))"
            throw ValidationError("\(option) must be \(bounds), not \(value)")
        }
    }

    private static func attributePath(_ text: String) throws -> AttributePath {
        guard let path = try? AttributePath(text), !path.keys.isEmpty else {
            throw ValidationError("'\(text)' is not a key path. Examples: log  detail.body  ['a.b']")
        }
        return path
    }

    private static func recordPath(_ text: String) throws -> RecordPath {
        do {
            return try RecordPath(text)
        } catch {
            throw ValidationError("'\(text)' is not a record path: \(error). Examples: $  $[*]  $.items[*]  $.users.*")
        }
    }
}

extension BadSourcePolicy: ExpressibleByArgument {}
extension ShapePolicy: ExpressibleByArgument {}
