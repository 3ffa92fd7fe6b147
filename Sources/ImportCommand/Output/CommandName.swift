import ImportModel

/// How this command was called, for texts that say what to type next.
enum CommandName {
    /// The name or path as it was typed, as a shell takes it.
    static var text: String {
        let name = CommandLine.arguments.first ?? ""
        return name.isEmpty ? "importer" : name.shellQuoted
    }
}
