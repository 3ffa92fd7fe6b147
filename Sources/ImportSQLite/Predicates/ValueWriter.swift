import Foundation
import ImportEngine
import ImportModel
import ImportSources

/// Writes the values of one attribute, as JSON or as plain text.
///
/// What is not stored as the attribute's type has it (another program may have written it) is written as what it is.
package struct ValueWriter {
    private enum Kind {
        case asStored
        case boolean
        case decimal
        case json
        case date(StorageForm?, DateStyle)
        case binary(AttributeDescription)
        case bitfield(AttributeDescription, mask: UInt64)
    }

    private let kind: Kind

    package init(_ attribute: AttributeDescription, dates: DateStyle) {
        switch attribute.type {
        case .boolean: kind = .boolean
        case .decimal: kind = .decimal
        case .json: kind = .json
        case .date: kind = .date(attribute.ownForm, dates)
        case .binary: kind = .binary(attribute)
        case .uuid where attribute.storage == .blob: kind = .binary(attribute)
        case .bitfield: kind = .bitfield(attribute, mask: attribute.bitMask)
        case .string, .uri, .uuid, .integer16, .integer32, .integer64, .float, .double: kind = .asStored
        }
    }

    // MARK: JSON

    /// Appends the value as JSON: booleans as `true` and `false`, decimals with all their digits, binaries in their format, bitfields as
    /// objects of flags, JSON as it is.
    package func appendJSON(_ value: StoredRow.Value, to output: inout [UInt8]) {
        switch (kind, value) {
        case (_, .null):
            output.append(contentsOf: "null".utf8)
        case (.boolean, .integer(let number)) where number == 0 || number == 1:
            output.append(contentsOf: (number == 1 ? "true" : "false").utf8)
        case (.bitfield(let attribute, let mask), .integer(let number)) where UInt64(bitPattern: number) & ~mask == 0:
            output.append(contentsOf: attribute.flags(of: number).serialized().utf8)
        case (.date(let storage, let style), _):
            appendDate(value, storage, style, isJSON: true, to: &output)
        case (.json, .text(let bytes)) where JSONOutput.isValue(bytes):
            output.append(contentsOf: bytes)
        case (.decimal, .text(let bytes)) where Self.isNumber(bytes):
            output.append(contentsOf: bytes)
        case (_, .text(let bytes)):
            JSONOutput.append(bytes, to: &output)
        case (_, .integer(let number)):
            output.append(contentsOf: String(number).utf8)
        case (_, .real(let number)):
            output.append(contentsOf: Self.text(number).utf8)
        case (_, .blob(let bytes)):
            var text = text(bytes)
            text.withUTF8 { JSONOutput.append($0, to: &output) }
        }
    }

    // MARK: Plain text

    /// Appends the value as a text without quotes; a null is nothing.
    package func appendPlain(_ value: StoredRow.Value, to output: inout [UInt8]) {
        switch (kind, value) {
        case (_, .null): break
        case (.date(let storage, let style), _): appendDate(value, storage, style, isJSON: false, to: &output)
        case (.bitfield, .integer(let number)): output.append(contentsOf: String(number).utf8)
        case (_, .integer), (_, .real): appendJSON(value, to: &output)
        case (_, .text(let bytes)): JSONOutput.appendRepaired(bytes, to: &output)
        case (_, .blob(let bytes)): output.append(contentsOf: text(bytes).utf8)
        }
    }

    // MARK: Parts

    private func appendDate(
        _ value: StoredRow.Value,
        _ storage: StorageForm?,
        _ style: DateStyle,
        isJSON: Bool,
        to output: inout [UInt8]
    ) {
        let quotes = isJSON ? "\"" : ""
        if case .text(let bytes) = value, storage == nil, style == .iso8601 {
            // What is stored as it is to be written.
            return isJSON ? JSONOutput.append(bytes, to: &output) : JSONOutput.appendRepaired(bytes, to: &output)
        }
        guard let milliseconds = StoredDate.milliseconds(of: value.stored, storage: storage) else {
            let plain = ValueWriter(kind: .asStored)
            return isJSON ? plain.appendJSON(value, to: &output) : plain.appendPlain(value, to: &output)
        }
        switch style {
        case .iso8601:
            // Beyond the years that have four digits it is a number.
            let text = StoredDate.iso8601(value.stored, storage: storage).map { quotes + $0 + quotes }
            output.append(contentsOf: (text ?? Self.seconds(milliseconds)).utf8)
        case .dotnet:
            output.append(contentsOf: (quotes + DotNetDate.text(ofMilliseconds: milliseconds) + quotes).utf8)
        case .unix:
            let nanoseconds = StoredDate.nanoseconds(of: value.stored, storage: storage)
            output.append(contentsOf: Self.seconds(milliseconds, nanoseconds, digits: storage?.fraction ?? 3).utf8)
        }
    }

    private init(kind: Kind) { self.kind = kind }

    /// Milliseconds, and nanoseconds after them, as seconds, whole or with this many digits.
    private static func seconds(_ milliseconds: Int64, _ nanoseconds: Int = 0, digits: Int = 3) -> String {
        var (seconds, rest) = milliseconds.magnitude.quotientAndRemainder(dividingBy: 1_000)
        rest *= 1_000_000
        if milliseconds >= 0 {
            rest += UInt64(nanoseconds)
        } else if nanoseconds > 0 {
            // The milliseconds are before it.
            if rest == 0 { (seconds, rest) = (seconds - 1, 1_000_000_000) }
            rest -= UInt64(nanoseconds)
        }
        let fraction = rest == 0 ? "" : "." + String(1_000_000_000 + rest).dropFirst().prefix(digits)
        return (milliseconds < 0 ? "-" : "") + String(seconds) + fraction
    }

    /// The shortest digits that stand for the same number; infinity as what reads as it.
    private static func text(_ number: Double) -> String {
        number.isFinite ? "\(number)" : number < 0 ? "-1e999" : "1e999"
    }

    private static func isNumber(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.baseAddress != nil && JSONNumber(ByteView(bytes)) != nil
    }

    /// Bytes in the format of a binary, or as a UUID, or else in base64.
    private func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        if case .binary(let attribute) = kind, let text = attribute.text(ofBinary: bytes) { return text }
        return Data(bytes).base64EncodedString()
    }
}
