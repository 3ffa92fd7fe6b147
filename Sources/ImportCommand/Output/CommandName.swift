import ImportModel

/// How this command was called, for texts that say what to type next.
enum CommandName {
    /// The name or path as it was typed, as a shell takes it.
    static var text: String {
        let name = CommandLine.arguments.first ?? ""
        return name.isEmpty ? "importer" : name.shellQuoted
    }

    /// A text of the library with the commands that it names (`` `importer resume STORE` ``) as they are to be typed here.
    static func named(in text: String, as command: String = Self.text) -> String {
        text.replacing("`importer ", with: "`\(command) ")
    }
}
