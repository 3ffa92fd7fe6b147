import ArgumentParser
import Importer
import Testing

@testable import ImportCommand
@testable import ImportMigration

struct ArgumentTests {
    /// Parses `COMMAND ARGUMENT...` with the subcommand alone: a debug build checks the whole tree at every parse.
    @discardableResult
    private func parse<Command: ParsableCommand>(_ type: Command.Type, _ line: String) throws -> Command {
        try #require(try parse(line) as? Command)
    }

    private func parse(_ line: String) throws -> any ParsableCommand {
        let words = line.split(separator: " ").map(String.init)
        let subcommand = try #require(
            ImporterCommand.configuration.subcommands.first { $0.configuration.commandName == words.first }
        )
        return try subcommand.parse(Array(words.dropFirst()))
    }

    private func problem(_ line: [String]) -> String? {
        ArgumentCheck.problem(line, commands: ImporterCommand.commandNames)
    }

    @Test(
        arguments: [
            (["stats", "x.sqlite"], "'status'"), (["verfy", "x"], "'verify'"), (["nonsense"], "'nonsense'"),
            (["imprt", "a.json", "--into", "s"], "'import'"), (["help", "bogus"], "'bogus'"),
            (["--verson"], "'--version'"), (["--hepl"], "'--help'"),
        ])
    func namesWhatIsUnknownAndWhatIsNear(line: [String], word: String) {
        #expect(problem(line)?.contains(word) == true)
    }

    @Test(
        arguments: [
            ["people", "--into", "s"], ["people", "--into=s"], ["people.json"], ["/tmp"], ["./stats"], ["help"],
            ["help", "status"], ["status", "x"], ["--version"], ["--into", "s"], ["nonsense", "--help"], [],
        ])
    func leavesTheRestToTheParser(line: [String]) {
        #expect(problem(line) == nil)
    }

    @Test(
        arguments: [
            (["a", "--into", "s", "--into", "t"], "--into"), (["import", "a", "--into=s", "--into", "t"], "--into"),
            (["fetch", "s", "e", "--limit", "1", "--limit=2"], "--limit"),
            (["model", "print", "s", "--job", "1", "--job", "2"], ""),
            (["resume", "s", "--workers", "1", "--workers", "1"], "--workers"),
            (["import", "a", "--into", "s", "--records", "$", "--records", "$.a"], ""),
            (["import", "a", "--into", "s", "--quiet", "--quiet"], ""),
            (["fetch", "s", "e", "--where", "--limit", "--limit", "1"], ""),
            (["import", "--into", "s", "--", "--into", "--into"], ""),
        ])
    func anOptionThatCountsOnceIsNotGivenTwice(line: [String], name: String) {
        let commands = ImporterCommand.configuration.subcommands
        let command = commands.first { $0.configuration.commandName == line[0] } ?? ImportSubcommand.self
        let problem = ArgumentCheck.repeatedOption(line) { command }
        #expect(name.isEmpty ? problem == nil : problem?.hasPrefix("\(name) may be given only once") == true)
    }

    @Test func importsByDefault() throws {
        let root = try ImporterCommand.parseAsRoot(["a.json", "b.json", "--into", "s.sqlite"])
        let command = try #require(root as? ImportSubcommand)
        #expect(command.sources.given == ["a.json", "b.json"])
        #expect(command.into == "s.sqlite")
    }

    @Test func theOptionForNULIsPartOfTheJob() throws {
        let line = "import a --into postgresql://a@b/c --nul"
        #expect(try parse(ImportSubcommand.self, line + " replace").job.options() == JobOptions(nul: .replace))
        #expect(try parse(ImportSubcommand.self, line + " error").job.options() == JobOptions())
    }

    @Test func errorOptionsArePartOfTheJob() throws {
        let none = try parse(ImportSubcommand.self, "import a --into s").job.options()
        #expect(none == JobOptions())
        let line = "import a --into s --on-error null --max-errors 2.5% --lossless"
        let all = try parse(ImportSubcommand.self, line).job.options()
        #expect(all == JobOptions(onError: .null, maxErrors: .percent(2.5), isLossless: true))
        #expect(try parse(ImportSubcommand.self, "import a --into s --max-errors 0").job.maxErrors == .count(0))
        for options in ["--max-errors 1.5", "--max-errors 200%", "--on-error skip", "--on-error stop --max-errors 1"] {
            #expect(throws: (any Error).self) { try parse(ImportSubcommand.self, "import a --into s " + options) }
        }
        #expect(throws: (any Error).self) { try parse("split a --to d --lossless") }
    }

    @Test func takesADashForStandardInput() throws {
        #expect(try parse(ImportSubcommand.self, "import - --into s.sqlite").sources.given == ["-"])
        for sources in ["- -", "- --files-from -", "a --null", ""] {
            #expect(throws: (any Error).self) { try parse(ImportSubcommand.self, "import \(sources) --into s.sqlite") }
        }
        let list = try parse(ImportSubcommand.self, "import --files-from - --null --into s.sqlite").sources
        #expect(list.filesFrom == "-" && list.null)
    }

    @Test func optionsOfSourcesArePartOfTheJob() throws {
        let line = "import a --into s --include *.log --include b --exclude c --file-column f --on-bad-source skip"
        let expected = JobOptions(include: ["*.log", "b"], exclude: ["c"], fileColumn: "f", onBadSource: .skip)
        #expect(try parse(ImportSubcommand.self, line).job.options() == expected)
        let encoding = try parse(ImportSubcommand.self, "import a --into s --encoding latin1").job.options()
        #expect(encoding == JobOptions(encoding: "latin1"))
        let strict = try parse(ImportSubcommand.self, "import a --into s --strict").job.options()
        #expect(strict == JobOptions(reading: .strict))
        let rows = try parse(ImportSubcommand.self, "import a --into s --header-row").job.options()
        #expect(rows == JobOptions(headerRow: true))
        let shape = try parse(ImportSubcommand.self, "import a --into s --shape columns --prefix time,level").job
            .options()
        #expect(shape == JobOptions(shape: .columns, prefix: ["time", "level"]))
        let options = "--parse log --entity-by type,a.b --null-text NA --null-text n=- --detect-types"
        let texts = try parse(ImportSubcommand.self, "import a --into s " + options).job.options()
        let keys = [AttributePath(keys: ["type"]), AttributePath(keys: ["a", "b"])]
        let parsed = [AttributePath(keys: ["log"])]
        #expect(
            texts == JobOptions(parse: parsed, entityBy: keys, nullTexts: ["NA", "n=-"], detectsTypes: true)
        )
        #expect(throws: (any Error).self) {
            try parse(ImportSubcommand.self, "import a --into s --entity-by t --entity e")
        }
    }

    @Test func defaultsAreTheLibrarys() throws {
        let command = try parse(ImportSubcommand.self, "import a --into s")
        var expected = RunOptions()
        expected.workers = RunArguments.workers(nil)
        #expect(command.runArguments.options == expected)
        #expect(try command.job.options() == JobOptions())
        #expect((1...4).contains(expected.workers))
    }

    @Test func optionsReachTheLibrary() throws {
        let command = try parse(
            ImportSubcommand.self,
            "import a --into s --entity E --max-record-bytes 512M --max-depth 7 --workers 3 --chunk-size 2m "
                + "--commit-every 5 --chunks d --keep-chunks --durability off --progress json --report r --json"
        )
        #expect(try command.job.options() == JobOptions(entity: "E", maxRecordBytes: 512 << 20, maxDepth: 7))
        #expect(
            command.runArguments.options
                == RunOptions(
                    workers: 3,
                    chunkSize: 2 << 20,
                    commitEvery: 5,
                    chunkDirectory: "d",
                    keepsChunks: true,
                    durability: .off
                )
        )
        #expect(command.output.progress.progress == .json)
        #expect(command.output.report == "r")
        #expect(command.output.json)
        #expect(try parse(InferSubcommand.self, "infer a --into s").into == "s")
        #expect(try parse(InferSubcommand.self, "infer a").into == nil)
    }

    @Test func resumeTakesRunOptionsOnly() throws {
        #expect(try parse(ResumeSubcommand.self, "resume s --workers 1").runArguments.options.workers == 1)
        for option in ["--entity E", "--max-depth 3", "--model m.json", "--records $", "--again", "--restart"] {
            #expect(throws: (any Error).self) { try parse(ResumeSubcommand.self, "resume s \(option)") }
        }
    }

    @Test(
        arguments: [
            "import a", "import --into s", "import a --into s --workers 0", "import a --into s --workers -1",
            "import a --into s --chunk-size 0", "import a --into s --commit-every 0",
            "import a --into s --max-record-bytes 0", "import a --into s --max-record-bytes 2G",
            "import a --into s --max-depth 100001", "import a --into s --max-depth x",
            "import a --into s --progress loud", "import a --into s --again --restart",
            "import a --into s --dry-run --report r", "import a --into s --report -", "resume s --report -",
            "import a --into s --durability much",
            "split a", "split a --to d --max-depth 0", "infer", "infer a --workers 0",
            "infer a --into postgresql://h/d", "status", "verify", "rejects",
            "resume", "status s --nope", "verify a b", "watch", "watch s --sort a,,b", "watch s --sort :desc",
            "watch s --json --entity people", "watch s --json --sort id",
            "selftest s", "selftest --minutes 0", "selftest --minutes x", "selftest --seed -1", "selftest --dir=",
        ])
    func wrongUseIsRefused(line: String) {
        let error = #expect(throws: (any Error).self) {
            try parse(line)
        }
        // 64 is EX_USAGE.
        #expect(error.map { ImporterCommand.exitCode(for: $0).rawValue } == 64)
    }

    @Test(
        arguments: [
            ["-dash.json", "--into", "s"], ["-threads", "4"], ["import", "a", "--into", "s", "-x"], ["-help"], ["-hx"],
            ["fetch", "s", "e", "--where", "a = 1", "-x"], ["fetch", "s", "e", "--where=a", "-x"],
            ["fetch", "s", "e", "--where", "--where", "-x"], ["fetch", "s", "e", "--columns", "a", "--limit", "-1"],
            ["a", "--into", "s", "--workers", "-1"],
        ])
    func onlyADashAndAnHAreShort(line: [String]) {
        // The parser alone would find an `-h` in most of these and print help.
        #expect(problem(line) != nil)
    }

    @Test(
        arguments: [
            ["-", "--into", "s"], ["-h"], ["import", "-h"], ["./-dash.json", "--into", "s"],
            ["--into", "s", "--", "-dash.json"],
            ["fetch", "s", "e", "--where", "-1 < age", "--sort", "-x", "--limit", "1"],
            ["fetch", "s", "e", "--where", "--where", "--columns", "-h"],
        ])
    func dashesInTheirPlacesAreTaken(line: [String]) {
        #expect(problem(line) == nil)
    }

    /// What an option takes may begin with a dash, where no option could.
    @Test func predicatesAndNamesMayBeginWithADash() throws {
        func parse(_ line: [String]) throws -> FetchSubcommand {
            #expect(problem(["fetch"] + line) == nil)
            return try FetchSubcommand.parse(line)
        }
        let all = [
            "s", "e", "--where", "-1 < age", "--sort", "-x:desc", "--sort", "y", "--columns", "-x,--y", "--count",
        ]
        let command = try parse(all)
        #expect(command.predicate == "-1 < age")
        #expect(command.sort == ["-x:desc", "y"])
        #expect(command.columns == ["-x,--y"])
        #expect(command.count && command.store == "s" && command.entity == "e")
        for text in ["-x", "-h", "--limit", "--where", "-1", "-"] {
            #expect(try parse(["s", "e", "--where", text]).predicate == text)
            #expect(try parse(["s", "e", "--where=\(text)"]).predicate == text)
            // A minus alone reverses nothing.
            if text != "-" { #expect(try parse(["--sort", text, "s", "e"]).sort == [text]) }
        }
        #expect(throws: (any Error).self) { try FetchSubcommand.parse(["s", "e", "--where"]) }
        #expect(try WatchSubcommand.parse(["s", "--sort", "-x"]).sort == ["-x"])
    }

    @Test(
        arguments: [
            ("1", 1), ("4096", 4096), ("512K", 512 << 10), ("8M", 8 << 20), ("8m", 8 << 20), ("1G", 1 << 30),
            ("2MiB", 2 << 20), ("3kB", 3 << 10), ("10B", 10),
        ])
    func sizesHaveSuffixes(text: String, count: Int) {
        #expect(ByteSize(argument: text)?.count == count)
    }

    @Test(arguments: ["", "K", "B", "1.5M", "-1", "+1", "1T", "1KK", "0x10", " 1", "9223372036854775807K", "١"])
    func otherSizesAreRefused(text: String) {
        #expect(ByteSize(argument: text) == nil)
    }

    @Test func aSizePrintsAsItIsTyped() {
        for text in ["1", "1023", "1K", "8M", "64M", "1G", "1025"] {
            #expect(ByteSize(argument: text)?.description == text)
        }
    }

    @Test func helpNamesOnlyWhatThereIs() {
        let names = ImporterCommand.configuration.subcommands.map { $0.configuration.commandName }
        let commands = [
            "import", "resume", "status", "sources", "split", "infer", "model", "fetch", "query", "memory", "rejects",
            "retry", "explain",
            "verify", "selftest", "watch", "serve", "migrate", "work", "diff", "patch", "undo", "merge", "conflicts",
            "resolve",
            "mirror",
            "strip",
        ]
        #expect(names == commands)
    }
}
