import ArgumentParser
import Foundation
import ImportModel
import Importer

/// Reads records back, or lists the entities that there are.
///
/// `importer fetch STORE [ENTITY]`
struct FetchSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Read records back, also while an import is running.",
        discussion: """
            Without ENTITY it lists the entities and how many records each has.

            --where accepts comparisons (= != < <= > >=), in (…), between … and …, is null, is not null, like, \
            contains, begins with, ends with, combined with and, or, not and parentheses. Texts are in single \
            quotes, names that are not plain words in double quotes. Dates are texts: '2024-02-29'. A comparison with a \
            null is neither true nor false. Attributes of the object that a to-one relationship leads to are named by their \
            path (customer.city), and a to-many has a count (lines.count > 3).

            --include nests the objects of relationships in each record, a to-many as an array. Records then have their own \
            attributes, without the columns that hold references and positions.

            Without --sort records come in the order of their row ids. While an import is running, records come from \
            several of its commits; a message says so.

            From a server (postgresql://…), records come in the order of their identifiers, all from one snapshot. There are \
            no row ids and no relationships there.

            EXAMPLES
              importer fetch people.sqlite
              importer fetch people.sqlite people --limit 10
              importer fetch people.sqlite people --where "age > 30 and name like 'A%'"
              importer fetch people.sqlite people --sort created:desc,name --format csv
              importer fetch people.sqlite people --count --where "note is null"
              importer fetch people.sqlite people --format ndjson | gzip > people.gz
              importer fetch shop.sqlite order --where "lines.count > 3"
              importer fetch shop.sqlite person --include orders.lines --format ndjson
              importer fetch postgresql://importer@db/shop people --limit 10
            """
    )

    /// The forms in which records are printed.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case table, json, ndjson, csv, markdown
    }

    @Argument(help: "The store.")
    var store: String

    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments

    @Argument(help: "The entity's name; without it all are listed.")
    var entity: String?

    @Option(
        name: .customLong("where"),
        // What begins with a dash is a predicate too: -1 < age.
        parsing: .unconditional,
        help: ArgumentHelp("Print only records that match.", valueName: "predicate")
    )
    var predicate: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Sort by these attributes; after a name :desc reverses the order, :nocase ignores the case of ASCII letters.",
            valueName: "name[:desc],…"
        )
    )
    var sort: [String] = []

    @Option(help: ArgumentHelp("Print at most this many records.", valueName: "number"))
    var limit: Int?

    @Option(help: ArgumentHelp("Skip this many records first.", valueName: "number"))
    var offset = 0

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Print only these attributes, in this order; rowid is the row id, and @source.NAME a value outside of the records \
            of their source. Names may be quoted as in --where.
            """,
            valueName: "name,…"
        )
    )
    var columns: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Nest the objects of these relationships in each record, as in orders.lines; for --format json and ndjson.",
            valueName: "path,…"
        )
    )
    var include: [String] = []

    @Flag(help: "Print only how many records there are.")
    var count = false

    @Option(help: "Output format.")
    var format: Format?

    @Flag(help: "The same as --format json.")
    var json = false

    @Option(help: ArgumentHelp("How dates are printed; unix is seconds as a number.", valueName: "form"))
    var dates = DateStyle.iso8601

    @Flag(help: "Print a model file for importing the output of --format ndjson, instead of records.")
    var printModel = false

    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json and --format \(format) exclude each other")
        }
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
        _ = try RecordSort.lists(sort)
        for text in columns { _ = try NameList.names(in: text, of: "--columns") }
        for text in include { _ = try NameList.names(in: text, of: "--include") }
        if offset < 0 { throw ValidationError("--offset must not be negative") }
        if entity == nil, let option = optionForRecords {
            throw ValidationError("\(option) is for records: give the name of an entity, or leave both out for a list")
        }
        if !include.isEmpty {
            for (option, isGiven) in [("--count", count), ("--print-model", printModel)] where isGiven {
                throw ValidationError("--include and \(option) exclude each other")
            }
            guard chosenFormat == .json || chosenFormat == .ndjson else {
                throw ValidationError(
                    "--include nests objects, which --format \(chosenFormat.rawValue) cannot show; "
                        + "use --format ndjson or --format json"
                )
            }
        }
        if count && printModel { throw ValidationError("--count and --print-model exclude each other") }
    }

    func run() throws {
        let predicate = try predicate.map { try RecordPredicate(parsing: $0) }
        let reader = try StoreLocation(store, schema).reader()
        guard let entity = try entity.map({ try reader.entity(named: $0) }) else { return try listEntities(reader) }
        if printModel {
            let model = ModelDescription(entities: [entity.readingBack])
            return try StandardOutput.write(TerminalText.escapedInJSON(model.encoded()))
        }
        let request = FetchRequest(
            entity: entity.name,
            where: predicate,
            sortedBy: try RecordSort.lists(sort),
            offset: offset,
            limit: limit,
            including: try include.flatMap { try NameList.names(in: $0, of: "--include") }
        )
        if count { return try printCount(request, reader) }
        let names = columns.isEmpty ? nil : try columns.flatMap { try NameList.names(in: $0, of: "--columns") }
        let isConsistent =
            if let format = RecordFormat(rawValue: chosenFormat.rawValue) {
                try write(request, names, format, reader)
            } else {
                try writeTable(request, names ?? entity.attributes.map(\.name), entity, reader)
            }
        guard !isConsistent else { return }
        StandardError.write(
            "importer: the store has changed meanwhile: the records are not all from the same state of it\n"
        )
    }

    /// The first option that was given and says something of records.
    private var optionForRecords: String? {
        let isList = format == nil || format == .table || format == .json
        let given: [(String, Bool)] = [
            ("--where", predicate != nil), ("--sort", !sort.isEmpty), ("--limit", limit != nil),
            ("--offset", offset != 0), ("--columns", !columns.isEmpty), ("--include", !include.isEmpty),
            ("--count", count),
            ("--format \(chosenFormat)", !isList), ("--print-model", printModel),
        ]
        return given.first { $0.1 }?.0
    }

    private func listEntities(_ reader: any RecordReading) throws {
        let entities = try reader.entityCounts()
        if chosenFormat == .json { return try StandardOutput.write(json: entities) }
        var table = ColumnText(headers: ["entity", "records", "attributes"], numbers: [false, true, true])
        let hasOtherTables = entities.contains { $0.table != $0.entity }
        if hasOtherTables { table.addColumn("table", isNumber: false) }
        for entity in entities {
            let cells = [
                TerminalText.escaped(entity.entity), NumberText.grouped(entity.records), "\(entity.attributes)",
            ]
            table.addRow(hasOtherTables ? cells + [TerminalText.escaped(entity.table)] : cells)
        }
        try StandardOutput.write(table.lines.joined(separator: "\n") + "\n")
    }

    private var chosenFormat: Format { json ? .json : format ?? .table }

    private func printCount(_ request: FetchRequest, _ reader: any RecordReading) throws {
        let count = try reader.count(request)
        switch chosenFormat {
        case .json, .ndjson: try StandardOutput.write("{\"count\":\(count)}\n")
        case .table, .csv, .markdown: try StandardOutput.write("\(count)\n")
        }
    }

    private func write(
        _ request: FetchRequest,
        _ names: [String]?,
        _ format: RecordFormat,
        _ reader: any RecordReading
    ) throws -> Bool {
        try reader.write(request, attributes: names, as: format, dates: dates) { bytes in
            try StandardOutput.write(records: bytes, as: format)
        }
    }

    private func writeTable(
        _ request: FetchRequest,
        _ names: [String],
        _ entity: EntityDescription,
        _ reader: any RecordReading
    ) throws -> Bool {
        let attributes = try reader.attributes(named: names, of: entity)
        var table = TableText(attributes, dates: dates, columns: Terminal.columns(of: STDOUT_FILENO))
        var pending = ""
        let isConsistent = try reader.forEachRecord(request, attributes: names) { record in
            pending += table.append(record)
            guard pending.utf8.count >= 1 << 16 else { return }
            try StandardOutput.write(pending)
            pending = ""
        }
        try StandardOutput.write(pending + table.end())
        return isConsistent
    }
}

extension DateStyle: ExpressibleByArgument {}
