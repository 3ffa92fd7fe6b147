import ArgumentParser
import ImportPostgreSQL
import Importer

/// Says which records an object was imported from.
///
/// `importer explain STORE ENTITY KEY`
struct ExplainSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show which records of which sources an object comes from.",
        discussion: """
            For each record that has the object, in the order in which they were imported: the source, line, bytes, number \
            in its job and chunk, where the object is in the record, and the attributes that the record has. The sources \
            are read again, so they have to be as they were.

            KEY is the value of the identifier; of several attributes it is written as region=eu,number=7.

            EXAMPLES
              importer explain people.sqlite person 4711
              importer explain shop.sqlite order 17 --show
              importer explain logs.sqlite log --rowid 1000 --json
              importer explain people.sqlite --reject 3
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Argument(help: "The entity, or its table.")
    var entity: String?

    @Argument(help: "The value of the object's identifier.")
    var key: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("The object with this row id, instead of KEY.", valueName: "n")
    )
    var rowid: Int64?

    @Option(help: ArgumentHelp("The reject with this number, instead of an object.", valueName: "n"))
    var reject: Int64?

    @Flag(help: "Print the records, as they are in their sources.")
    var show = false

    @Flag(help: "Print the answer as JSON.")
    var json = false

    func validate() throws {
        if PostgreSQLAddress.isOne(store) { throw ValidationError("explain is for a SQLite store") }
        if reject != nil {
            guard entity == nil, rowid == nil else { throw ValidationError("--reject names no entity and no object") }
        } else if entity == nil {
            throw ValidationError("an entity is missing: importer explain STORE ENTITY KEY")
        } else if (key == nil) == (rowid == nil) {
            throw ValidationError("give the object's KEY or --rowid")
        }
    }

    func run() throws {
        let inspection = StoreInspection(store: store)
        let watch = InterruptibleRun(mode: .quiet)
        if let reject {
            let found = try watch.perform { try inspection.explain(reject: reject, interruption: watch.interruption) }
            guard !json else {
                let line = try JSONText.line(RejectJSON(reject: found.reject, showsRecord: show, line: found.line))
                return try StandardOutput.write(line)
            }
            let text = RejectText.text(found.reject, showsRecord: false)
            let line =
                found.line.map { "line \(NumberText.grouped($0))" } ?? "its source cannot be read again as it was"
            try StandardOutput.write("\(text)    \(line), job \(found.reject.job)\n")
            if show { try StandardOutput.write(bytes: found.reject.record + [UInt8(ascii: "\n")]) }
            return
        }
        let explanation = try watch.perform {
            let entity = entity ?? ""
            if let rowid {
                return try inspection.explain(
                    entity,
                    rowID: rowid,
                    includingRecords: show,
                    interruption: watch.interruption
                )
            }
            return try inspection.explain(
                entity,
                key: key ?? "",
                includingRecords: show,
                interruption: watch.interruption
            )
        }
        if json { return try StandardOutput.write(JSONText.line(ExplanationJSON(explanation))) }
        try write(explanation)
    }

    private func write(_ explanation: RowExplanation) throws {
        let name = TerminalText.escaped(
            "\(explanation.entity), row \(explanation.rowID) of the table \(explanation.table)"
        )
        let job = explanation.insertedBy.map { "inserted by job \($0)" } ?? "inserted by no import that is known"
        try StandardOutput.write("\(name), \(job)\n")
        for origin in explanation.origins {
            try StandardOutput.write(Self.text(origin))
            if let record = origin.record { try StandardOutput.write(bytes: record + [UInt8(ascii: "\n")]) }
        }
        if explanation.origins.isEmpty { try StandardOutput.write("  no record of it was found\n") }
        for note in explanation.notes { StandardError.write(message: note, mode: .lines) }
    }

    private static func text(_ origin: RecordOrigin) -> String {
        let (first, end) = (NumberText.grouped(origin.bytes.lowerBound), NumberText.grouped(origin.bytes.upperBound))
        var text = "  \(origin.source), line \(NumberText.grouped(origin.line)), bytes \(first) to \(end)"
        text += ", record \(NumberText.grouped(origin.ordinal)) of job \(origin.job)"
        if let chunk = origin.chunk {
            let (first, end) = (NumberText.grouped(chunk.lowerBound), NumberText.grouped(chunk.upperBound))
            text += ", in the chunk of bytes \(first) to \(end)"
        }
        if origin.isRejected { text += ", rejected" }
        text += "\n    "
        if !origin.path.isEmpty { text += "\(origin.path): " }
        return TerminalText.escaped(text + origin.attributes.joined(separator: ", "), keepingLineBreaks: true) + "\n"
    }
}
