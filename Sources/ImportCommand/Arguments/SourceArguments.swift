import ArgumentParser
import Importer

/// The sources of a command.
struct SourceArguments: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Files, folders, patterns in quotes ('logs/**/*.json'), archives, or - for standard input.",
            valueName: "source"
        )
    )
    var given: [String] = []

    @Option(
        help: ArgumentHelp(
            "A file that lists more sources, one per line; - for standard input.",
            valueName: "file"
        )
    )
    var filesFrom: String?

    @Flag(help: ArgumentHelp("In --files-from, sources are separated by null bytes.", visibility: .hidden))
    var null = false

    func validate() throws {
        if given.isEmpty && filesFrom == nil { throw ValidationError("Missing expected argument '<source> ...'") }
        let streams = given.count { $0 == "-" } + (filesFrom == "-" ? 1 : 0)
        if streams > 1 { throw ValidationError("standard input can be given only once") }
        if null && filesFrom == nil { throw ValidationError("--null needs --files-from") }
    }

    /// All sources, those of a list last.
    ///
    /// - Throws: `ImportError` when the list cannot be read.
    func all() throws -> [String] {
        try given + (filesFrom.map { try SourceList.sources(in: $0, isNull: null) } ?? [])
    }
}
