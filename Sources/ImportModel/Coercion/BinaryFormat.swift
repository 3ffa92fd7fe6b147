import Foundation

/// How a binary's texts stand for bytes.
package enum BinaryFormat: String, Sendable, CaseIterable {
    /// RFC 4648 §4: `+` and `/`; padding is required.
    case base64
    /// RFC 4648 §5: `-` and `_`; padding may be left out.
    case base64url
    /// Either alphabet, but not both in one text; padding is required where `+` or `/` occur.
    case either
    /// 16 bytes: a UUID in any spelling, or base64.
    case uuid
    /// The text's own bytes, in UTF-8.
    case text
    /// Values of all kinds as they are, objects and arrays as JSON text.
    case any
    /// The same in a column of decimals: texts of numbers become numbers, and digits that a double does not have are lost.
    case decimal
    /// The same in a column of any other NUMERIC type, where a number that reads differently than its text is a loss.
    case numeric

    /// True if it has values of all kinds.
    package var takesAll: Bool { self == .any || self == .decimal || self == .numeric }

    /// The names that a model may give.
    static let names = allCases.filter { $0 != .either }.map(\.rawValue)

    /// True if all of a text certainly has the format: base64 with its padding, and no white space but line breaks; a UUID, also one
    /// of 32 digits.
    package func isWhole(_ text: ByteView) -> Bool {
        guard self != .uuid else { return UUIDText(text) != nil || UUIDText.isUndashed(text) }
        var (bytes, notes, breaks) = ([UInt8](), CoercionNotes(), 0)
        for index in 0..<text.count {
            if text[index] == 0x20 || text[index] == 0x09 { return false }
            if text[index] == 0x0A || text[index] == 0x0D { breaks += 1 }
        }
        return (text.count - breaks) % 4 == 0 && decode(text, to: &bytes, notes: &notes) != nil
    }

    /// Appends the bytes that `text` represents.
    ///
    /// - Returns: where they are in `output`, as `Base64Text.decode` does.
    func decode(_ text: ByteView, to output: inout [UInt8], notes: inout CoercionNotes) -> Range<Int>? {
        let start = output.count
        switch self {
        case .base64, .base64url, .either:
            return HexadecimalText.decode(text, to: &output)
                ?? Base64Text.decode(text, self, to: &output, notes: &notes)
        case .text, .any, .decimal, .numeric: output.append(contentsOf: text.buffer)
        case .uuid:
            if let uuid = UUIDText(text) {
                uuid.appendBytes(to: &output)
            } else if text.count == 32 {
                return HexadecimalText.digits(of: text, from: 0, to: &output)
            } else {
                let bytes = Base64Text.decode(text, .either, to: &output, notes: &notes)
                return bytes?.count == 16 ? bytes : nil
            }
        }
        return start..<output.count
    }
}

extension AttributeDescription {
    /// An attribute of a column without a declared type, or of one that says nothing, which holds values of any kind.
    package static func untyped(_ name: String, _ format: BinaryFormat = .any) -> AttributeDescription {
        var attribute = AttributeDescription(name: name, type: .binary, isOptional: true)
        attribute.formats = [format.rawValue]
        return attribute
    }

    /// True if it has values of all kinds, as a column without a declared type has them.
    package var isUntyped: Bool {
        type == .binary && formats.count == 1 && BinaryFormat(rawValue: formats[0])?.takesAll == true
    }

    /// The text that represents the bytes of a binary or UUID; nil where none does in its format.
    package func text(ofBinary bytes: some Collection<UInt8>) -> String? {
        switch type == .uuid ? [BinaryFormat.uuid.rawValue] : formats {
        case ["uuid"]:
            guard bytes.count == 16 else { return nil }
            return bytes.enumerated().map { index, byte in
                ([4, 6, 8, 10].contains(index) ? "-" : "") + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
            }.joined()
        case ["text"]: return String(validating: bytes, as: UTF8.self)
        default:
            let text = Data(bytes).base64EncodedString()
            return formats == ["base64url"] ? String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }) : text
        }
    }
}

/// Bytes as text (RFC 4648): base64 (§4) and base64url (§5).
enum Base64Text {
    /// Appends the bytes that `text` represents.
    ///
    /// White space within is passed over and noted.
    ///
    /// - Returns: where they are in `output`; nil if `text` is anything else, also where the last character has bits that
    ///   stand for nothing. `output` may then be longer than before.
    static func decode(
        _ text: ByteView,
        _ alphabet: BinaryFormat,
        to output: inout [UInt8],
        notes: inout CoercionNotes
    ) -> Range<Int>? {
        let start = output.count
        var (isStandard, isURLSafe) = (alphabet == .base64, alphabet == .base64url)
        var bits: UInt32 = 0
        var (digits, padding) = (0, 0)
        var hasWhiteSpace = false
        for index in 0..<text.count {
            let byte = text[index]
            let digit: UInt32
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = UInt32(byte) - 65
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = UInt32(byte) - 71
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt32(byte) + 4
            case UInt8(ascii: "+"), UInt8(ascii: "/"):
                guard !isURLSafe else { return nil }
                isStandard = true
                digit = byte == UInt8(ascii: "+") ? 62 : 63
            case UInt8(ascii: "-"), UInt8(ascii: "_"):
                guard !isStandard else { return nil }
                isURLSafe = true
                digit = byte == UInt8(ascii: "-") ? 62 : 63
            case UInt8(ascii: "="):
                padding += 1
                guard padding <= 2 else { return nil }
                continue
            case 0x20, 0x09, 0x0A, 0x0D:
                hasWhiteSpace = true
                continue
            default: return nil
            }
            guard padding == 0 else { return nil }
            bits = bits << 6 | digit
            digits += 1
            if digits % 4 == 0 {
                output.append(UInt8(truncatingIfNeeded: bits >> 16))
                output.append(UInt8(truncatingIfNeeded: bits >> 8))
                output.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        switch digits % 4 {
        case 2:
            guard bits & 0xF == 0 else { return nil }
            output.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3:
            guard bits & 0x3 == 0 else { return nil }
            output.append(UInt8(truncatingIfNeeded: bits >> 10))
            output.append(UInt8(truncatingIfNeeded: bits >> 2))
        case 1: return nil
        default: break
        }
        let missing = (4 - digits % 4) % 4
        guard padding == missing || padding == 0 && !isStandard else { return nil }
        if hasWhiteSpace { notes.insert(.trimmed) }
        return start..<output.count
    }
}
