import ArgumentParser
import ImportPostgreSQL
import Importer

/// The main job.
///
/// `importer import SOURCE... --into STORE`
struct ImportSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import JSON into a SQLite store.",
        discussion: """
            After an interruption, the same command resumes the import where it stopped. After a finished import it \
            imports what is new: files that were added, and what logs have grown by. With other sources it is a new \
            import into the same store.

            MOST USED
              --entity NAME          the table, instead of the file's name
              --identifier NAME      records with the same value are one object
              --model FILE           types, names and tables (importer infer prints one)
              --records PATH         where the records are, as in '$.features[*]'
              --type NAME:TYPE       an attribute's type where none is given
              --nested tables        make tables of arrays of objects
              --dry-run              say what the import would do
              --on-error stop        stop at the first record that does not match
              --limit N              import the first N records alone
              --quiet                print nothing but errors

            EXAMPLES
              importer people.json --into people.sqlite
              importer orders.ndjson.gz --into shop.sqlite --model shop.model.json
              importer logs/ --into logs.sqlite --file-column file --follow
              importer map.json --into map.sqlite --records '$.features[*]' --entity Place
              gzip -dc events.gz | importer import - --into e.sqlite --entity Event
              importer users.json --into users.sqlite --identifier id --mirror --dry-run

            The job options decide the result: a resume with others is refused. All other options may \
            change with every run.
            """
    )

    @OptionGroup var sources: SourceArguments

    @Option(
        help: ArgumentHelp(
            "The SQLite file to import into, created if it does not exist; or postgresql://USER@HOST/DATABASE.",
            valueName: "store"
        )
    )
    var into: String

    @OptionGroup(title: "Job options") var job: JobArguments
    @OptionGroup(title: "Mirror options, which are job options, too") var mirror: MirrorArguments
    @OptionGroup(title: "Run options") var runArguments: RunArguments

    @Flag(
        help: ArgumentHelp(
            "Import sources again that this store has already, as a new job.",
            discussion: "A stream becomes a new import beside an interrupted one."
        )
    )
    var again = false

    @Flag(
        help:
            "Take out the rows that a source brought before it changed, where no identifier tells which records are the same."
    )
    var replaceSource = false

    @Flag(help: "Restart an interrupted import: rows that it inserted are removed, merges that it made stay.")
    var restart = false

    @Flag(
        help: ArgumentHelp(
            "Go on after what is there: import new files and new lines as they come, until Ctrl-C.",
            discussion: "The next start goes on where it ended, with or without it."
        )
    )
    var follow = false

    @Option(
        help: ArgumentHelp("Seconds within which something new is committed (--follow).", valueName: "seconds")
    )
    var commitInterval: Double?

    @Flag(
        help:
            "First migrate the store to the model, if that loses nothing (see importer migrate)."
    )
    var migrate = false

    @Flag(help: "Keep what is needed to undo the import (see importer undo).")
    var undo = false

    @Flag(help: "Remove the importer's own tables from the store at the end (see importer strip).")
    var strip = false

    @Flag(help: "Print the plan, and what the first MiB would give: columns, types, rows, counts. Change nothing.")
    var dryRun = false

    @Flag(help: "Show the store in a browser meanwhile, and until Ctrl-C (see importer serve).")
    var serve = false

    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments
    @OptionGroup(title: "Server options") var messages: PostgreSQLMessageArguments
    @OptionGroup(title: "Output options") var output: OutputArguments
    @OptionGroup(title: "Page options") var page: ServeArguments

    var store: String { into }

    func validate() throws {
        if into.isEmpty { throw ValidationError("--into: the path is empty") }
        if replaceSource && (again || restart || mirror.options != nil) {
            throw ValidationError("--replace-source excludes --again, --restart and --mirror")
        }
        if again && restart { throw ValidationError("--again and --restart exclude each other") }
        for (option, isGiven) in [
            ("--again", again), ("--restart", restart), ("--strip", strip), ("--dry-run", dryRun),
            ("--keep-chunks", runArguments.keepChunks), ("--mirror", mirror.options != nil),
        ] where follow && isGiven {
            throw ValidationError("--follow and \(option) exclude each other")
        }
        if let commitInterval {
            guard follow else { throw ValidationError("--commit-interval needs --follow") }
            guard (0.001...86_400).contains(commitInterval) else {
                throw ValidationError("--commit-interval: give seconds from 0.001 to 86400")
            }
        }
        if migrate && job.model == nil { throw ValidationError("--migrate needs --model") }
        if PostgreSQLAddress.isOne(into) {
            for (option, isGiven) in [
                ("--migrate", migrate), ("--undo", undo), ("--replace-source", replaceSource), ("--serve", serve),
                ("--watch", output.watch),
                ("--mirror", mirror.options != nil),
            ] where isGiven {
                throw ValidationError("\(option) needs a SQLite store")
            }
        }
        if strip && (dryRun || serve || undo) {
            throw ValidationError("--strip excludes --dry-run, --serve and --undo")
        }
        if dryRun && serve { throw ValidationError("--dry-run makes no store to serve") }
        if !serve && page.isGiven {
            throw ValidationError("--port, --bind, --host, --hide-values and --open need --serve")
        }
        if dryRun && output.report != nil { throw ValidationError("--dry-run makes no report") }
    }

    func run() throws {
        var runOptions = runArguments.options
        runOptions.again = again
        runOptions.replacesSources = replaceSource
        runOptions.restart = restart
        runOptions.follows = follow
        if let commitInterval { runOptions.commitInterval = .seconds(commitInterval) }
        runOptions.migrates = migrate
        runOptions.keepsUndo = undo
        var jobOptions = try job.options(isQuiet: output.progress.quiet)
        jobOptions.mirror = mirror.options
        let given = [("--nul", job.nul != nil), ("--show-values", messages.showValues)]
        let location = try StoreLocation(into, schema, given, showsValues: messages.showValues)
        let sources = try sources.all()
        let pipeline = pipeline(sources, into: location, jobOptions, runOptions)
        if dryRun {
            return try printPreview(of: pipeline, location)
        }
        var others: [(role: String, path: String)] = []
        if let model = job.model { others.append((role: "the model", path: model)) }
        if let chunks = runArguments.chunks { others.append((role: "the chunk directory", path: chunks)) }
        var run = ImportRun(
            store: into,
            inspection: location.inspection,
            sources: sources,
            others: others,
            output: output,
            hasModel: job.model != nil,
            follows: follow
        )
        guard serve else {
            try run.perform(pipeline)
            guard strip else { return }
            let outcome = try location.stripped()
            if !output.json, !output.progress.quiet { try StandardOutput.write(StripSubcommand.text(outcome, into)) }
            return
        }
        // What reads the report from standard output reads nothing else there.
        let isReport = output.json
        let server = ServeRun(page, store: into, progress: pipeline.progress) { address in
            if isReport { StandardError.write(address) } else { try StandardOutput.write(address) }
        }
        run.server = server
        try server.perform(until: pipeline.interruption) { try run.perform(pipeline) }
    }

    private func pipeline(
        _ sources: [String],
        into location: StoreLocation,
        _ job: JobOptions,
        _ run: RunOptions
    ) -> ImportPipeline {
        switch location {
        case .file(let path): ImportPipeline(sources: sources, into: path, job: job, run: run)
        case .server(let server): ImportPipeline(sources: sources, into: server, job: job, run: run)
        }
    }

    private func printPreview(of pipeline: ImportPipeline, _ location: StoreLocation) throws {
        let watch = InterruptibleRun(
            progress: pipeline.progress,
            interruption: pipeline.interruption,
            mode: output.progress.quiet ? .quiet : .none
        )
        let preview = try watch.perform { try pipeline.preview() }
        if output.json {
            try StandardOutput.write(json: preview)
        } else {
            let names = preview.plan.sources.map(\.name)
            let unfinished = (try? location.inspection.unfinished()) ?? []
            try StandardOutput.write(PreviewText.text(preview, job: unfinished.last { $0.sources == names }))
        }
        if preview.fails { throw ExitCode(ImportError.Code.badInput.rawValue) }
    }
}
