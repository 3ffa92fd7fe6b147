import ArgumentParser
import Foundation
import Importer

/// Shows a store while it fills.
///
/// `importer watch STORE`
struct WatchSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show a store live, while an import fills it.",
        discussion: """
            On a terminal: how far the import is, how fast it goes, the counts of each entity, the newest rejects, and \
            the rows of one entity, new ones marked with + and changed ones with *. Elsewhere a line per second.

            It may be started before the import, waits for an interrupted one to be resumed, and ends by itself when the \
            import is finished. The import never waits for it.

            KEYS
              q                      quit
              Tab, Shift-Tab         next, previous entity
              s, S                   sort by the next, previous attribute; r: reversed
              arrows, PgUp, PgDn     other rows and columns; g, G: first and last rows
              Ctrl-L                 draw everything again

            EXAMPLES
              importer watch people.sqlite
              importer watch people.sqlite --entity people --sort age:desc,name
              importer watch people.sqlite --follow
            """
    )

    @Argument(help: "The store; it need not exist yet.")
    var store: String

    @Option(
        help: ArgumentHelp(
            "Entity to begin with, on a terminal.",
            discussion: "Default: the import's first.",
            valueName: "name"
        )
    )
    var entity: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Sort its records by these attributes; after a name :desc reverses the order, :nocase ignores the case of "
                + "ASCII letters.",
            discussion: "Default: the newest records first.",
            valueName: "name[:desc],…"
        )
    )
    var sort: [String] = []

    @Flag(help: "Stay when the import is finished.")
    var follow = false

    @Flag(help: "Print a JSON object per second.")
    var json = false

    func validate() throws {
        if store.isEmpty { throw ValidationError("the store's path is empty") }
        _ = try RecordSort.lists(sort)
        if json, choosesRecords {
            throw ValidationError("--entity and --sort are for the terminal, not for --json")
        }
    }

    /// True if it is said which records to show.
    private var choosesRecords: Bool { entity != nil || !sort.isEmpty }

    func run() throws {
        try Self.checkFolder(of: store)
        let interruption = Interruption()
        let sort = try RecordSort.lists(sort)
        let options = WatchScreen.Options(store: store, entity: entity, sort: sort, follows: follow)
        let display = json ? nil : try WatchScreen.Display(options, output: STDOUT_FILENO)
        try SignalForwarding.start(to: interruption)
        if let display {
            let screen = try WatchScreen(display)
            switch screen.run({ (interruption.isRequested, nil) }) {
            case .finished: try StandardOutput.write(ProgressLine.text(screen.frame) + "\n")
            case .failed(let error): throw error
            case .closed: throw OutputClosed()
            case .quit, .stopped: break
            }
        } else {
            if choosesRecords {
                StandardError.write("importer: --entity and --sort have no effect without a terminal\n")
            }
            try WatchLines(store: store, follows: follow, isJSON: json).run(interruption)
        }
        if let reason = interruption.reason { throw ExitCode(reason.exitCode) }
    }

    /// A store that is not there yet can only come where its folder is.
    static func checkFolder(of store: String) throws {
        let folder = URL(fileURLWithPath: store).deletingLastPathComponent().path
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory), isDirectory.boolValue else {
            throw ImportError(.storeNotFound, at: store, "its folder does not exist", advice: "Check the path.")
        }
    }
}
