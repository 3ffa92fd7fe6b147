import ArgumentParser
import Foundation
import Importer

/// The `importer` command: arguments in, exit code out.
@main
struct ImporterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "importer",
        abstract: "Imports large JSON into SQLite, in parallel, and resumes exactly where it was interrupted.",
        discussion: """
            importer people.json --into people.sqlite   # Ctrl-C, and again: resumes
            importer status people.sqlite               # what is done, what is left
            importer rejects people.sqlite              # rejected records, and why

            SOURCE is a path, or - for standard input. Arrays, NDJSON, concatenated values and documents with \
            records inside are recognized; gzip, zstd, xz, bzip2, zip and tar are decompressed.

            Results go to standard output, progress and messages to standard error.
            Exit codes: 0 done; 64 usage; 65 bad input data, or nothing accepted; 66 no such input; 69 no server; \
            71 no thread or descriptor; 73 cannot create output; 74 I/O error; 75 the store is in use; 77 not permitted by \
            the server; 129, 130, 143 interrupted, resumable.
            """,
        version: VersionText.text,
        subcommands: [
            ImportSubcommand.self, ResumeSubcommand.self, StatusSubcommand.self, SourcesSubcommand.self,
            SplitSubcommand.self,
            InferSubcommand.self, ModelSubcommand.self, FetchSubcommand.self, QuerySubcommand.self,
            MemorySubcommand.self, RejectsSubcommand.self,
            RetrySubcommand.self, ExplainSubcommand.self, VerifySubcommand.self, SelftestSubcommand.self,
            WatchSubcommand.self, ServeSubcommand.self,
            MigrateSubcommand.self, WorkSubcommand.self,
            DiffSubcommand.self, PatchSubcommand.self, UndoSubcommand.self, MergeSubcommand.self,
            ConflictsSubcommand.self, ResolveSubcommand.self, MirrorSubcommand.self, StripSubcommand.self,
        ],
        defaultSubcommand: ImportSubcommand.self
    )

    static func main() {
        // A reader that goes away must end a write with EPIPE, not the import with a signal.
        signal(SIGPIPE, SIG_IGN)
        // A limit to the size of files must be an error like a full disk.
        signal(SIGXFSZ, SIG_IGN)
        Foundation.exit(run(Array(CommandLine.arguments.dropFirst())))
    }

    /// Parses, runs, says what went wrong, and returns the exit code.
    static func run(_ arguments: [String]) -> Int32 {
        // Scripts ask for it often: the parser's first look at all commands takes longer than the rest of the start.
        if arguments == ["--version"] { return printed(VersionText.text + "\n") }
        let inner = configuration.subcommands.first { $0.configuration.commandName == arguments.first }
        if let problem = ArgumentCheck.problem(arguments, commands: commandNames)
            ?? ArgumentCheck.unknownInner(arguments, inner.map(commandNames(of:)) ?? [])
            ?? ArgumentCheck.repeatedOption(arguments, of: { self.command(arguments) })
        {
            return usageError(problem, arguments)
        }
        var command: any ParsableCommand
        do {
            guard !arguments.isEmpty else {
                StandardError.write(helpMessage(columns: StandardError.helpColumns) + "\n")
                return ImportError.Code.usage.rawValue
            }
            command = try subcommand(arguments) ?? parseAsRoot(arguments)
        } catch {
            return report(parsing: error, arguments)
        }
        do {
            try command.run()
            return 0
        } catch {
            // Help is a command that ends with an error of success.
            let isParsers = [ExitCode.success, .validationFailure].contains(exitCode(for: error))
            let store = (command as? any StoreCommand)?.store
            return isParsers && !(error is ExitCode)
                ? report(parsing: error, arguments) : CommandExit(error, store: store).report()
        }
    }

    /// The subcommand that arguments begin with, as they say; nil where they are none or ask for help.
    ///
    /// The parser's first look at all commands takes a quarter of the start, so that is left for what it has to say.
    private static func subcommand(_ arguments: [String]) -> (any ParsableCommand)? {
        guard let named = configuration.subcommands.first(where: { $0.configuration.commandName == arguments.first }),
            let command = try? named.parseAsRoot(Array(arguments.dropFirst())), type(of: command) == named
        else { return nil }
        return command
    }

    /// The names of the subcommands.
    static var commandNames: [String] { commandNames(of: Self.self) }

    private static func commandNames(of command: any ParsableCommand.Type) -> [String] {
        command.configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// The command that arguments begin with.
    private static func command(_ arguments: [String]) -> any ParsableCommand.Type {
        var command: any ParsableCommand.Type = ImporterCommand.self
        for argument in arguments {
            let configuration = command.configuration
            guard let inner = configuration.subcommands.first(where: { $0.configuration.commandName == argument })
            else {
                return configuration.defaultSubcommand ?? command
            }
            command = inner
        }
        return command.configuration.defaultSubcommand ?? command
    }

    /// Help and version that were asked for go to standard output; everything else is a usage error.
    private static func report(parsing error: any Error, _ arguments: [String]) -> Int32 {
        let text = fullMessage(for: error, columns: StandardError.helpColumns)
        guard exitCode(for: error) != .success else {
            return printed(text.hasSuffix("\n") ? text : text + "\n")
        }
        let prefix = "Error: "
        var message = text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
        // Where an argument is missing, the parser does not say that an option in its place is unknown.
        let help = helpMessage(for: command(arguments), columns: 200)
        if message.hasPrefix("Missing ") || message.hasPrefix("Unknown option"),
            let problem = ArgumentCheck.unknownOption(arguments, help: help)
                ?? (message.hasPrefix("Missing expected argument '--into") ? ArgumentCheck.missingInto(arguments) : nil)
        {
            let usage = message.split(separator: "\n").drop { !$0.hasPrefix("Usage: ") }
            message = ([problem[...]] + usage).joined(separator: "\n")
        }
        return usageError(message, arguments)
    }

    /// Writes to standard output, and returns the exit code.
    private static func printed(_ text: String) -> Int32 {
        do {
            try StandardOutput.write(text)
            return 0
        } catch {
            return CommandExit(error).report()
        }
    }

    private static func usageError(_ message: String, _ arguments: [String]) -> Int32 {
        // The parser's messages have several lines; a line break in an argument is not to make one more.
        var message = message
        for argument in arguments.flatMap({ [$0, $0.split(separator: "=", maxSplits: 1).last.map(String.init) ?? ""] })
        where argument.contains("\n") {
            message = message.replacing(argument, with: TerminalText.escaped(argument))
        }
        message = message.replacing("See 'importer ", with: "See '\(CommandName.text) ")
        StandardError.write("importer: error: " + TerminalText.escaped(message, keepingLineBreaks: true) + "\n")
        return ImportError.Code.usage.rawValue
    }
}
