import Foundation

/// A value as SQLite stores it: its storage class and its bytes.
///
/// Two values are equal when both are: `1` is neither `1.0` nor `'1'`, and two spellings of `é` differ.
public enum StoredValue: Sendable {
    /// NULL.
    case null
    /// INTEGER.
    case integer(Int64)
    /// REAL.
    case real(Double)
    /// TEXT, which may contain NUL.
    case text(String)
    /// TEXT that is not UTF-8.
    case textBytes([UInt8])
    /// BLOB.
    case blob([UInt8])

    /// Creates a TEXT of the given bytes, which may not be UTF-8.
    public init(text bytes: [UInt8]) {
        self = String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .textBytes(bytes)
    }

    /// The bytes of a TEXT; nil for any other value.
    public var bytesOfText: [UInt8]? {
        switch self {
        case .text(let text): Array(text.utf8)
        case .textBytes(let bytes): bytes
        case .null, .integer, .real, .blob: nil
        }
    }
}

extension StoredValue: Hashable {
    /// True if storage class and bytes are the same.
    public static func == (one: StoredValue, other: StoredValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one.bitPattern == other.bitPattern
        case (.text(let one), .text(let other)): one.utf8.elementsEqual(other.utf8)
        case (.textBytes(let one), .textBytes(let other)): one == other
        case (.blob(let one), .blob(let other)): one == other
        default: false
        }
    }

    /// Equal values have the same class and bytes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let number): hasher.combine(number)
        case .real(let number): hasher.combine(number.bitPattern)
        case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
        case .textBytes(let bytes), .blob(let bytes): hasher.combine(bytes)
        }
    }
}

extension StoredValue: Codable {
    /// The key of an escape, by which a change set writes a value that is none of JSON's.
    package enum Escape: String, CodingKey, CaseIterable {
        case text = "$text"
        case integer = "$integer"
        case real = "$real"
        case blob = "$blob"
        case textBytes = "$textBytes"
        case json = "$json"
    }

    /// Reads null, an integer, a string, or an object with an escape.
    ///
    /// - Throws: `DecodingError` for anything else.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Escape.self), let key = container.allKeys.first {
            let text = try container.decode(String.self, forKey: key)
            guard let value = StoredValue(escape: key, text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key,
                    in: container,
                    debugDescription: "not a value of \(key.rawValue)"
                )
            }
            self = value
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .real(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    /// Writes null, an integer or a string as it is, and others as an object with an escape, as not every encoder distinguishes `1.0` from
    /// `1`.
    public func encode(to encoder: any Encoder) throws {
        func escape(_ key: Escape, _ text: String) throws {
            var container = encoder.container(keyedBy: Escape.self)
            try container.encode(text, forKey: key)
        }
        switch self {
        case .null: try Int64?.none.encode(to: encoder)
        case .integer(let number): try number.encode(to: encoder)
        case .text(let text): try text.encode(to: encoder)
        case .real(let number): try escape(.real, Self.digits(number))
        case .blob(let bytes): try escape(.blob, Data(bytes).base64EncodedString())
        case .textBytes(let bytes): try escape(.textBytes, Data(bytes).base64EncodedString())
        }
    }

    /// The value that an escape gives; nil for none, and for `$json`, whose value is no text.
    package init?(escape: Escape, _ text: String) {
        switch escape {
        case .text: self = .text(text)
        case .integer:
            guard let number = Int64(text) else { return nil }
            self = .integer(number)
        case .real:
            guard let number = Double(text), !number.isNaN else { return nil }
            self = .real(number)
        case .blob:
            guard let data = Data(base64Encoded: text) else { return nil }
            self = .blob(Array(data))
        case .textBytes:
            guard let data = Data(base64Encoded: text) else { return nil }
            self = .init(text: Array(data))
        case .json: return nil
        }
    }

    /// The fewest digits that give a number back; `inf` and `-inf` for what JSON has no number for.
    package static func digits(_ number: Double) -> String { "\(number)" }
}
