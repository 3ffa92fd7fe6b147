import Foundation
import ImportModel

/// Reads what `StoredValueWriter` has written, and what people have edited.
package struct StoredValueReader: Sendable {
    /// Gives the value of JSON that does not fit an attribute's type; nil where it has none either.
    package typealias Converter = @Sendable (JSONValue, AttributeDescription) -> StoredValue?

    private let attribute: AttributeDescription?
    /// The attribute as it reads values that are in another form than its own.
    private let lenient: AttributeDescription?
    /// The same with dates in ISO 8601, the form in which they are written whatever the attribute's own formats are.
    private let canonical: AttributeDescription?

    private let converter: Converter?

    /// - Parameter attribute: nil for values of any kind.
    package init(_ attribute: AttributeDescription?, _ converter: Converter? = nil) {
        self.converter = converter
        self.attribute = attribute
        lenient = attribute.map { given in
            AttributeDescription(
                name: given.name,
                type: given.type,
                isOptional: true,
                formats: given.formats,
                timeZone: given.timeZone,
                isWallClock: given.isWallClock,
                fraction: given.fraction,
                storage: given.storage,
                bits: given.bits
            )
        }
        canonical = lenient.map { given in
            var canonical = given
            if given.type == .date { canonical.formats = [] }
            canonical.timeZone = nil
            canonical.isWallClock = false
            return canonical
        }
    }

    /// Reads the next value.
    package func value(_ json: inout ChangeSetScanner) throws(ChangeSetScanner.LineError) -> StoredValue {
        if try json.null() { return .null }
        if json.peek() == UInt8(ascii: "{"), let escaped = try escaped(&json) { return escaped }
        guard let attribute, !attribute.isUntyped else { return try plain(&json) }
        if attribute.type == .json {
            let range = try json.skip()
            return .text(String(decoding: json.bytes[range].buffer, as: UTF8.self))
        }
        switch json.peek() {
        case UInt8(ascii: "\""):
            let text = try json.string()
            switch attribute.type {
            case .string, .uri,
                .uuid where attribute.ownForm == nil:
                return .text(text)
            default: return try coerced(.string(text), json)
            }
        case UInt8(ascii: "t"), UInt8(ascii: "f"):
            return try coerced(.boolean(try json.boolean()), json)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let range = try json.skip()
            guard let value = try? JSONValue(parsing: Array(json.bytes[range].buffer)) else {
                throw json.error("a value that is none of \(attribute.name)")
            }
            return try coerced(value, json)
        default:
            let digits = try json.number()
            // A negative zero is one.
            let isReal = attribute.type == .double || attribute.storage == .real
            if isReal || attribute.type == .float, let number = Double(digits), number.isFinite,
                isReal || Double(Float(number)) == number
            {
                return .real(number)
            }
            return try coerced(.number(digits), json)
        }
    }

    /// A value of no type.
    private func plain(_ json: inout ChangeSetScanner) throws(ChangeSetScanner.LineError) -> StoredValue {
        switch json.peek() {
        case UInt8(ascii: "\""): return .text(try json.string())
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .integer(try json.boolean() ? 1 : 0)
        case UInt8(ascii: "{"), UInt8(ascii: "["): throw json.error("a value is missing")
        default:
            let digits = try json.number()
            if !digits.utf8.contains(where: { $0 == 0x2E || $0 | 0x20 == UInt8(ascii: "e") }) {
                guard let number = Int64(digits) else { throw json.error("an integer of more than 64 bits") }
                return .integer(number)
            }
            guard let number = Double(digits), number.isFinite else { throw json.error("a number that is too large") }
            return .real(number)
        }
    }

    /// An object with an escape, which is passed over; nil for any other object, which is not.
    private func escaped(_ json: inout ChangeSetScanner) throws(ChangeSetScanner.LineError) -> StoredValue? {
        var ahead = json
        try ahead.openObject()
        guard let key = try ahead.key(), let escape = StoredValue.Escape(rawValue: key) else {
            return nil
        }
        let value: StoredValue
        if escape == .json {
            let range = try ahead.skip()
            value = .text(String(decoding: ahead.bytes[range].buffer, as: UTF8.self))
        } else {
            guard let read = StoredValue(escape: escape, try ahead.string()) else {
                throw ahead.error("not a value of \(key)")
            }
            value = read
        }
        guard try ahead.key() == nil else { throw ahead.error("a second key beside \(key)") }
        json = ahead
        return value
    }

    private func coerced(_ value: JSONValue, _ json: borrowing ChangeSetScanner) throws(ChangeSetScanner.LineError)
        -> StoredValue
    {
        for attribute in [canonical, lenient] {
            guard let stored = try? attribute?.coerce(value).value else { continue }
            switch stored {
            case .null: return .null
            case .integer(let number): return .integer(number)
            case .real(let number): return .real(number)
            case .text(let text): return .text(text)
            case .blob(let bytes): return .blob(bytes)
            }
        }
        if let converter, let attribute, let converted = converter(value, attribute) { return converted }
        throw json.error("a value that is none of \(attribute?.name ?? "its attribute")")
    }
}
