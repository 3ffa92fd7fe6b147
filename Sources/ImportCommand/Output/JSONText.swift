import Foundation

/// JSON for scripts, with the keys sorted.
enum JSONText {
    /// A document of several lines, its line break included.
    static func document(_ value: some Encodable) throws -> String {
        try text(value, formatting: [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes])
    }

    /// One line, its line break included.
    static func line(_ value: some Encodable) throws -> String {
        try text(value, formatting: [.sortedKeys, .withoutEscapingSlashes])
    }

    private static func text(_ value: some Encodable, formatting: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        // 1e999 seconds cannot be, but a crash over it must not be either.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return TerminalText.escapedInJSON(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    }
}
