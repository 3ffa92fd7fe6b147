import Foundation

/// Values that the bookkeeping keeps as JSON texts.
package enum BookkeepingJSON {
    package static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try makeEncoder().encode(value), as: UTF8.self)
    }

    /// An encoder for many values.
    package static func makeEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    package static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
