import Foundation
import ImportModel
import ImportSources

/// Writes the stored values of one attribute as JSON that gives back each of them, storage class and bytes.
///
/// What is stored as the attribute's type has it is written as `fetch` writes it; all else with an escape.
package struct StoredValueWriter: Sendable {
    private let attribute: AttributeDescription?

    /// - Parameter attribute: nil for values of any kind.
    package init(_ attribute: AttributeDescription?) { self.attribute = attribute }

    /// Appends a value.
    package func append(_ value: StoredValue, to output: inout [UInt8]) {
        guard let attribute, !attribute.isUntyped else { return Self.appendPlain(value, to: &output) }
        switch value {
        case .null: output.append(contentsOf: "null".utf8)
        case .integer(let number): append(number, attribute, to: &output)
        case .real(let number):
            switch attribute.type {
            case .double,
                .decimal where attribute.storage == .real:
                Self.appendPlain(value, to: &output)
            case .float where Double(Float(number)) == number: Self.appendPlain(value, to: &output)
            case .date:
                guard let text = StoredDate.text(of: .real(number), storage: attribute.ownForm) else { fallthrough }
                Self.appendString(text, to: &output)
            default: Self.appendEscape(.real, StoredValue.digits(number), to: &output)
            }
        case .text(let text): append(text, attribute, to: &output)
        case .blob(let bytes):
            guard attribute.type == .binary || attribute.storage == .blob, let text = attribute.text(ofBinary: bytes)
            else { fallthrough }
            Self.appendString(text, to: &output)
        case .textBytes: Self.appendPlain(value, to: &output)
        }
    }

    private func append(_ number: Int64, _ attribute: AttributeDescription, to output: inout [UInt8]) {
        switch attribute.type {
        case .integer16 where Int16(exactly: number) != nil, .integer32 where Int32(exactly: number) != nil, .integer64:
            output.append(contentsOf: String(number).utf8)
            return
        case .boolean where number == 0 || number == 1:
            output.append(contentsOf: (number == 1 ? "true" : "false").utf8)
            return
        case .bitfield where UInt64(bitPattern: number) & ~attribute.bitMask == 0:
            output.append(contentsOf: attribute.flags(of: number).serialized().utf8)
            return
        case .date:
            if let text = StoredDate.text(of: .integer(number), storage: attribute.ownForm) {
                return Self.appendString(text, to: &output)
            }
        default: break
        }
        Self.appendEscape(.integer, String(number), to: &output)
    }

    private func append(_ text: String, _ attribute: AttributeDescription, to output: inout [UInt8]) {
        switch attribute.type {
        case .string, .uri,
            .uuid where attribute.ownForm == nil:
            return Self.appendString(text, to: &output)
        case .decimal where attribute.ownForm == nil && Self.isCanonicalDecimal(text):
            output.append(contentsOf: text.utf8)
            return
        case .json where Self.isCompactJSON(text):
            if Self.beginsLikeEscape(text) {
                output.append(contentsOf: "{\"$json\":".utf8)
                output.append(contentsOf: text.utf8)
                output.append(UInt8(ascii: "}"))
            } else {
                output.append(contentsOf: text.utf8)
            }
            return
        case .date:
            guard let date = StoredDate.text(of: .text(text), storage: attribute.ownForm) else { fallthrough }
            Self.appendString(date, to: &output)
        default:
            Self.appendEscape(.text, text, to: &output)
        }
    }

    // MARK: Parts

    /// Appends a value of no type.
    package static func appendPlain(_ value: StoredValue, to output: inout [UInt8]) {
        switch value {
        case .null: output.append(contentsOf: "null".utf8)
        case .integer(let number): output.append(contentsOf: String(number).utf8)
        case .real(let number) where number.isFinite: output.append(contentsOf: StoredValue.digits(number).utf8)
        case .real(let number): appendEscape(.real, StoredValue.digits(number), to: &output)
        case .text(let text): appendString(text, to: &output)
        case .textBytes(let bytes): appendEscape(.textBytes, Data(bytes).base64EncodedString(), to: &output)
        case .blob(let bytes): appendEscape(.blob, Data(bytes).base64EncodedString(), to: &output)
        }
    }

    /// Appends a text as a JSON string.
    package static func appendString(_ text: String, to output: inout [UInt8]) {
        var text = text
        text.withUTF8 { JSONOutput.append($0, to: &output) }
    }

    private static func appendEscape(_ escape: StoredValue.Escape, _ text: String, to output: inout [UInt8]) {
        output.append(contentsOf: "{\"\(escape.rawValue)\":".utf8)
        appendString(text, to: &output)
        output.append(UInt8(ascii: "}"))
    }

    /// True if a number of these digits would be stored as this text.
    static func isCanonicalDecimal(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard let first = bytes.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
            bytes.withUnsafeBufferPointer({ JSONNumber(ByteView($0)) }) != nil
        else { return false }
        let decimal = AttributeDescription(name: "", type: .decimal)
        guard case .text(let canonical)? = try? decimal.coerce(.number(text)).value else { return false }
        return canonical.hasSameBytes(as: text)
    }

    /// True if a text can be in a line as it is and be told from what is around it; `null` would be read as NULL.
    private static func isCompactJSON(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            guard let first = bytes.first, let last = bytes.last, first != UInt8(ascii: " "), last != UInt8(ascii: " "),
                !bytes.elementsEqual("null".utf8), isShallow(bytes)
            else { return false }
            // It reads one byte past the end of what it is given.
            return (Array(bytes) + [0]).withUnsafeBufferPointer {
                JSONOutput.isValue(UnsafeBufferPointer(rebasing: $0.dropLast()))
            }
        }
    }

    /// True if JSON is nested so little that a line with it stays within the depth that is read.
    private static func isShallow(_ json: UnsafeBufferPointer<UInt8>) -> Bool {
        var depth = 0
        var index = 0
        var isInString = false
        while index < json.count {
            switch json[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "{") where !isInString, UInt8(ascii: "[") where !isInString:
                depth += 1
                if depth > ChangeSetScanner.mostLevels / 2 { return false }
            case UInt8(ascii: "}") where !isInString, UInt8(ascii: "]") where !isInString: depth -= 1
            default: break
            }
            index += 1
        }
        return true
    }

    /// True if JSON is an object whose first key begins with a dollar sign, as an escape is.
    private static func beginsLikeEscape(_ json: String) -> Bool {
        var rest = json.utf8[...]
        for mark in [UInt8(ascii: "{"), UInt8(ascii: "\"")] {
            rest = rest.drop { $0 == 0x20 }
            guard rest.first == mark else { return false }
            rest = rest.dropFirst()
        }
        // A dollar sign may be written as an escape, too.
        return rest.first == UInt8(ascii: "$") || rest.first == UInt8(ascii: "\\")
    }
}
