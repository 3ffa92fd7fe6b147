import ArgumentParser
import Foundation
import ImportModel
import ImportPostgreSQL

/// What is refused before the arguments are parsed, because the parser would take it for something else.
enum ArgumentCheck {
    /// What is wrong with `arguments`, for a person; nil where the parser may have them.
    static func problem(_ arguments: [String], commands: [String]) -> String? {
        serverAddress(arguments, commands: commands) ?? shortOption(arguments) ?? unknownCommand(
            arguments,
            commands: commands + ["help"]
        ) ?? unknownOption(arguments)
    }

    /// These take what comes next, whatever it begins with: `--where "-1 < age"`.
    private static let takingDashes: Set = ["--where", "--sort", "--columns"]

    /// The parser reads `-threads` as `-t -h …` and prints help, as if that had been asked for.
    private static func shortOption(_ arguments: [String]) -> String? {
        var previous: String?
        for argument in arguments {
            if let option = previous, takingDashes.contains(option) {
                previous = nil
                continue
            }
            if argument == "--" { return nil }
            defer { previous = argument }
            guard argument.hasPrefix("-"), !argument.hasPrefix("--"), argument != "-", argument != "-h",
                argument != "-q"
            else {
                continue
            }
            if previous == "--rowid", Int64(argument) != nil { continue }
            if Double(argument) != nil, let previous, previous.hasPrefix("--") {
                return "\(previous) must not be negative: \(argument)"
            }
            return "there is no option '\(argument)'; a file of that name is written ./\(argument)"
        }
        return nil
    }

    /// As `import` may be left out, the parser takes an unknown command for a source, and misses the store.
    private static func unknownCommand(_ arguments: [String], commands: [String]) -> String? {
        guard let first = arguments.first else { return nil }
        if first == "help" {
            guard let topic = arguments.dropFirst().first, !topic.hasPrefix("-"), !commands.contains(topic) else {
                return nil
            }
            return "there is no command '\(topic)'" + suggestion(for: topic, among: commands)
        }
        let suggestion = suggestion(for: first, among: commands + ["--version"])
        let looksLikeCommand = first.utf8.allSatisfy { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "/") }
        guard !first.hasPrefix("-"), looksLikeCommand, !commands.contains(first),
            !suggestion.isEmpty || !arguments.contains(where: { $0 == "--into" || $0.hasPrefix("--into=") }),
            !arguments.contains("--help"), !arguments.contains("-h"),
            !FileManager.default.fileExists(atPath: first)
        else { return nil }
        return "there is no command or file '\(first)'" + suggestion
    }

    /// A command with commands of its own, given one that it does not have.
    ///
    /// - Parameter inner: the names of its commands; none where it has none.
    static func unknownInner(_ arguments: [String], _ inner: [String]) -> String? {
        guard !inner.isEmpty, arguments.count > 1, !arguments[1].hasPrefix("-"), !inner.contains(arguments[1]) else {
            return nil
        }
        return "there is no command '\(arguments[0]) \(arguments[1])'" + suggestion(for: arguments[1], among: inner)
    }

    /// Commands that take the address of a server for a store.
    static let takingServers: Set = [
        "fetch", "import", "resume", "retry", "status", "rejects", "strip", "verify", "work",
    ]

    /// The address of a server, given to a command that needs a SQLite store.
    static func serverAddress(_ arguments: [String], commands: [String]) -> String? {
        guard let command = arguments.first, commands.contains(command), !takingServers.contains(command),
            arguments.contains(where: PostgreSQLAddress.isOne)
        else { return nil }
        return "\(command) needs a SQLite store; these commands accept a server's database: "
            + takingServers.sorted().joined(separator: ", ")
    }

    /// Alone, an unknown option would be answered with what else is missing.
    private static func unknownOption(_ arguments: [String]) -> String? {
        guard arguments.count == 1, let option = arguments.first, option.hasPrefix("--") else { return nil }
        let known = ["--help", "--version"]
        let suggestion = suggestion(for: option, among: known)
        return known.contains(option) || suggestion.isEmpty ? nil : "there is no option '\(option)'" + suggestion
    }

    /// An option that a command does not have: what it was meant for is all that the parser says is missing.
    static func unknownOption(_ arguments: [String], help: String) -> String? {
        let lines = help.matches(of: /^ +(?:-[a-z], )?(--[a-z-]+)/.anchorsMatchLineEndings())
        let known = lines.map { String($0.output.1) }
        var previous = ""
        for argument in arguments.prefix(while: { $0 != "--" }) {
            defer { previous = argument }
            let name = String(argument.prefix { $0 != "=" })
            guard name.hasPrefix("--"), !known.contains(name), !takingDashes.contains(previous) else { continue }
            let near = suggestion(for: name, among: known)
            let other = name.dropFirst(2)
            let word =
                meanings[other] != nil || !near.isEmpty
                ? other
                : NameSuggestion.nearest(
                    to: String(other),
                    among: meanings.keys.map(String.init)
                )?[...]
            let meant = word.flatMap { meanings[$0] }?.first(where: known.contains)
            return "there is no option '\(name)'" + (meant.map { "; did you mean '\($0)'?" } ?? near)
        }
        return nil
    }

    /// What to write where the store is given as if it were a source; nil where none looks like a store.
    static func missingInto(_ arguments: [String]) -> String? {
        guard let store = arguments.dropFirst().last,
            PostgreSQLAddress.isOne(store)
                || [".sqlite", ".sqlite3", ".db"].contains(where: store.lowercased().hasSuffix)
        else { return nil }
        return "give the store with --into \(store.shellQuoted)"
    }

    /// What other programs call options.
    private static let meanings: [Substring: [String]] = [
        "table": ["--entity"], "table-name": ["--entity"], "name": ["--entity"],
        "pk": ["--identifier"], "primary-key": ["--identifier"], "key": ["--identifier"], "id": ["--identifier"],
        "db": ["--into"], "database": ["--into"], "output": ["--into", "--to"],
        "out": ["--into", "--to", "--output"], "overwrite": ["--restart"], "force": ["--restart", "--allow-loss"],
        "append": ["--again"], "json": ["--format"], "to": ["--into", "--output"],
        "batch-size": ["--commit-every"], "threads": ["--workers"], "jobs": ["--workers"],
        "upsert": ["--on-conflict"], "replace": ["--on-conflict"], "ignore": ["--on-conflict"],
        "verbose": ["--progress"], "debug": ["--progress"], "no-progress": ["--progress"], "silent": ["--quiet"],
        "filter": ["--where"], "order-by": ["--sort"], "fields": ["--columns"], "select": ["--columns"],
    ]

    /// An option with a value that is given twice though only one counts.
    ///
    /// - Parameter command: whose options they are; asked only where an option is there twice.
    static func repeatedOption(_ arguments: [String], of command: () -> any ParsableCommand.Type) -> String? {
        var (seen, repeated, previous): (Set<Substring>, Set<Substring>, String) = ([], [], "")
        for argument in arguments.prefix(while: { $0 != "--" }) {
            defer { previous = argument }
            guard argument.hasPrefix("--"), !takingDashes.contains(previous) else { continue }
            let name = argument.dropFirst(2).prefix { $0 != "=" }
            if !seen.insert(name).inserted { repeated.insert(name) }
        }
        guard !repeated.isEmpty,
            let known = try? JSONDecoder().decode(Tool.self, from: Data(command()._dumpHelp().utf8))
        else { return nil }
        let option = known.command.arguments?.first { argument in
            argument.kind == "option" && !argument.isRepeating
                && argument.names?.contains { repeated.contains($0.name[...]) } == true
        }
        guard let name = option?.names?.first(where: { repeated.contains($0.name[...]) })?.name else { return nil }
        return "--\(name) may be given only once"
    }

    /// What the parser says of a command's options, as far as it is asked for.
    private struct Tool: Decodable {
        let command: Command

        struct Command: Decodable {
            let arguments: [Argument]?
        }

        struct Argument: Decodable {
            let kind: String
            let isRepeating: Bool
            let names: [Name]?
        }

        struct Name: Decodable {
            let name: String
        }
    }

    private static func suggestion(for word: String, among words: [String]) -> String {
        let letters = Array(word.utf8)
        let near = words.map { (word: $0, distance: NameSuggestion.distance(letters, Array($0.utf8))) }.min {
            $0.distance < $1.distance
        }
        guard let near, near.distance <= 2, near.distance < word.count else { return "" }
        return "; did you mean '\(near.word)'?"
    }
}
