import Foundation

/// What is refused before the arguments are parsed, because the parser would take it for something else.
enum ArgumentCheck {
    /// What is wrong with `arguments`, for a person; nil where the parser may have them.
    static func problem(_ arguments: [String]) -> String? {
        shortOption(arguments)
    }

    /// The parser reads `-threads` as `-t -h …` and prints help, as if that had been asked for.
    private static func shortOption(_ arguments: [String]) -> String? {
        var previous: String?
        for argument in arguments {
            if argument == "--" { return nil }
            defer { previous = argument }
            guard argument.hasPrefix("-"), !argument.hasPrefix("--"), argument != "-", argument != "-h" else {
                continue
            }
            if Double(argument) != nil, let previous, previous.hasPrefix("--") {
                return "\(previous) must not be negative: \(argument)"
            }
            return "there is no option '\(argument)'; a file of that name is written ./\(argument)"
        }
        return nil
    }
}
