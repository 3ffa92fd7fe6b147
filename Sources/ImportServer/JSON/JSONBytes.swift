import Foundation

/// Encodes values for answers and events.
enum JSONBytes {
    /// The value on one line, its line break included.
    static func line(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf",
            negativeInfinity: "-inf",
            nan: "nan"
        )
        return [UInt8](try encoder.encode(value)) + [UInt8(ascii: "\n")]
    }
}
