/// The kinds of JSON values (RFC 8259 §3), with `true` and `false` as one kind.
public enum JSONKind: UInt8, Sendable, Hashable, Codable, CaseIterable {
    case null
    case boolean
    case number
    case string
    case object
    case array

    /// The kind in words, as errors have it.
    package var name: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .number: "number"
        case .string: "string"
        case .object: "object"
        case .array: "array"
        }
    }
}

/// One JSON value as it is in its record: borrowed bytes, nothing decoded yet.
@usableFromInline
package struct JSONToken {
    @usableFromInline package let kind: JSONKind
    /// The token's bytes.
    ///
    /// A string's are between its quotes, escapes and all; a number's are its digits as written; an object's or
    /// array's go from its opening to its closing bracket; a boolean's are `true` or `false`.
    @usableFromInline package let bytes: ByteView
    /// True if a string has a backslash, so that its bytes are not yet its value, or if an object or array may have within it
    /// what is nearly JSON.
    @usableFromInline package let hasEscapes: Bool

    @inlinable
    @inline(__always)
    package init(kind: JSONKind, bytes: ByteView, hasEscapes: Bool = false) {
        self.kind = kind
        self.bytes = bytes
        self.hasEscapes = hasEscapes
    }

    /// A string or key without its escapes; of any other token its bytes.
    package var text: String {
        guard kind == .string, hasEscapes else { return String(decoding: bytes.buffer, as: UTF8.self) }
        var text: [UInt8] = []
        _ = JSONUnescaper.append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// True if a boolean is `true`.
    @inline(__always)
    var isTrue: Bool { bytes.count == 4 }
}
