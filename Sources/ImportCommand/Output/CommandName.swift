import ImportModel
import ImportPostgreSQL

/// How this command was called, for texts that say what to type next.
enum CommandName {
    /// The name or path as it was typed, as a shell takes it.
    static var text: String {
        let name = CommandLine.arguments.first ?? ""
        return name.isEmpty ? "importer" : name.shellQuoted
    }

    /// `--schema NAME` where that was typed, as a shell takes it: what is to be typed next for the same server needs it, too.
    static var schema: String? { schema(in: CommandLine.arguments) }

    /// The same of other arguments.
    static func schema(in arguments: [String]) -> String? {
        let option = "--schema"
        guard let index = arguments.firstIndex(where: { $0 == option || $0.hasPrefix(option + "=") }) else {
            return nil
        }
        let name = arguments[index] == option ? arguments.dropFirst(index + 1).first : nil
        return "\(option) \((name ?? String(arguments[index].dropFirst(option.count + 1))).shellQuoted)"
    }
}

extension String {
    /// A store as the command takes it: as a shell takes its path, or a server's address with the schema behind it.
    func storeWords(_ schema: String? = CommandName.schema) -> String {
        guard let schema, PostgreSQLAddress.isOne(self) else { return shellQuoted }
        return "\(shellQuoted) \(schema)"
    }
}
