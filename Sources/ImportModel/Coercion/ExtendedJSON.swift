/// A value as MongoDB's Extended JSON has it: an object with exactly the keys of its type and a value of its kind, `{"$oid": "…"}`.
///
/// Versions 1 and 2, canonical and relaxed, as
/// <https://github.com/mongodb/specifications/blob/master/source/extended-json/extended-json.md> has them. Objects of other types
/// (`$regex`, `$timestamp`, `$minKey` …) are no such values, nor are those whose value is outside of what the type can have.
/// Node's `{"type":"Buffer","data":[…]}` is one as well.
package struct ExtendedJSON {
    /// What the value is.
    package enum Kind: Sendable, Hashable {
        /// `$undefined`, and a number that is not finite.
        case null
        /// `$oid`, `$symbol`, `$code`.
        case text
        /// `$numberInt`, `$numberLong`.
        case integer
        /// `$numberDouble`.
        case double
        /// `$numberDecimal`.
        case decimal
        /// `$date`.
        case date
        /// `$uuid`.
        case uuid
        /// `$binary`, and a buffer of Node.
        case data
        /// `$binary` of a subtype that says that its 16 bytes are a UUID.
        case uuidData
    }

    package let kind: Kind
    /// The value within: a number, a string, or null; of a date the object as a whole.
    package let token: JSONToken
    /// True if it is null in place of a number that is not finite.
    package let isNotFinite: Bool

    /// Reads an object, of which the bytes are JSON, which may have comments; nil if it is no such value.
    package init?(_ object: ByteView) {
        guard Self.beginsLikeOne(object) else { return nil }
        var members = JSONMembers(object)
        guard let first = members.next() else { return nil }
        let second = members.next()
        guard members.next() == nil else { return nil }
        let found: (Kind, JSONToken)?
        if let second {
            found = Self.buffer(first, second) ?? Self.data(first, second, keys: ("$binary", "$type"))
        } else {
            found = Self.value(first.value, key: Self.text(first.key), object)
        }
        guard let found else { return nil }
        (kind, token) = found
        isNotFinite = kind == .null && first.value.kind == .string
    }

    /// True if an object's first key begins with `$`, or with an escape.
    private static func beginsLikeOne(_ object: ByteView) -> Bool {
        var index = 1
        while index < object.count, JSONSyntax.isWhiteSpace(object[index]) || object[index] == UInt8(ascii: "/") {
            let isSpace = JSONSyntax.isWhiteSpace(object[index])
            index = isSpace ? index + 1 : JSONSyntax.endOfComment(in: object, at: index)
        }
        guard index + 1 < object.count, object[index] == UInt8(ascii: "\"") else { return false }
        return object[index + 1] == UInt8(ascii: "$") || object[index + 1] == UInt8(ascii: "\\")
            || beginsLikeBuffer(object, index)
    }

    /// True if the key that begins at an index is `type`, and its value may be `Buffer`.
    private static func beginsLikeBuffer(_ object: ByteView, _ start: Int) -> Bool {
        guard start + 14 < object.count, object[start..<start + 6].buffer.elementsEqual("\"type\"".utf8) else {
            return false
        }
        let value = object.buffer[(start + 6)...].drop { JSONSyntax.isWhiteSpace($0) || $0 == UInt8(ascii: ":") }
        return value.starts(with: "\"Buffer\"".utf8)
    }

    /// Bytes as Node writes them.
    private static func buffer(
        _ type: (key: ByteView, value: JSONToken),
        _ data: (key: ByteView, value: JSONToken)
    ) -> (Kind, JSONToken)? {
        guard type.key.buffer.elementsEqual("type".utf8), type.value.kind == .string,
            type.value.bytes.buffer.elementsEqual("Buffer".utf8), data.key.buffer.elementsEqual("data".utf8),
            data.value.kind == .array, Self.bytes(of: data.value) != nil
        else { return nil }
        return (.data, data.value)
    }

    private static func value(_ value: JSONToken, key: String, _ object: ByteView) -> (Kind, JSONToken)? {
        switch (key, value.kind) {
        case ("$oid", .string), ("$symbol", .string), ("$code", .string): return (.text, value)
        case ("$undefined", .boolean): return value.isTrue ? (.null, null) : nil
        case ("$uuid", .string): return !value.hasEscapes && UUIDText(value.bytes) != nil ? (.uuid, value) : nil
        case ("$numberInt", .string): return integer(value, in: Int64(Int32.min)...Int64(Int32.max))
        case ("$numberLong", .string): return integer(value, in: .min ... .max)
        case ("$numberDouble", .string): return number(value, .double) { $0.double.isFinite }
        case ("$numberDecimal", .string): return number(value, .decimal) { $0.fitsDecimal }
        case ("$date", _): return isDate(value, object) ? (.date, JSONToken(kind: .object, bytes: object)) : nil
        case ("$binary", .object):
            var members = JSONMembers(value.bytes)
            guard let first = members.next(), let second = members.next(), members.next() == nil else { return nil }
            return data(first, second, keys: ("base64", "subType"))
        default: return nil
        }
    }

    private static var null: JSONToken {
        let text: StaticString = "null"
        return JSONToken(kind: .null, bytes: ByteView(base: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private static func integer(_ value: JSONToken, in range: ClosedRange<Int64>) -> (Kind, JSONToken)? {
        let digits = value.bytes.buffer.drop { $0 == UInt8(ascii: "-") }
        guard !value.hasEscapes, digits.allSatisfy({ $0 &- UInt8(ascii: "0") < 10 }),
            let number = JSONNumber(value.bytes)?.int64, range.contains(number)
        else { return nil }
        return (.integer, JSONToken(kind: .number, bytes: value.bytes))
    }

    private static func number(
        _ value: JSONToken,
        _ kind: Kind,
        _ isInRange: (JSONNumber) -> Bool
    ) -> (Kind, JSONToken)? {
        guard !value.hasEscapes else { return nil }
        if value.bytes.isNotFinite { return (.null, null) }
        guard let number = JSONNumber(value.bytes), isInRange(number) else { return nil }
        return (kind, JSONToken(kind: .number, bytes: value.bytes))
    }

    /// True if a `$date` is one that every date can hold, and its milliseconds are whole.
    private static func isDate(_ value: JSONToken, _ object: ByteView) -> Bool {
        if value.kind == .number, JSONNumber(value.bytes)?.isInteger != true { return false }
        var (scratch, notes) = ([UInt8](), CoercionNotes())
        let token = JSONToken(kind: .object, bytes: object)
        return (try? DateCoercion.mongo.coerce(token, scratch: &scratch, notes: &notes)) != nil
    }

    /// Bytes in base64 and the number of their subtype, in either order.
    private static func data(
        _ first: (key: ByteView, value: JSONToken),
        _ second: (key: ByteView, value: JSONToken),
        keys: (String, String)
    ) -> (Kind, JSONToken)? {
        let isInOrder = text(first.key) == keys.0
        let (bytes, subtype) = isInOrder ? (first, second) : (second, first)
        guard text(bytes.key) == keys.0, text(subtype.key) == keys.1, bytes.value.kind == .string,
            subtype.value.kind == .string, (1...2).contains(subtype.value.bytes.count),
            subtype.value.bytes.buffer.allSatisfy({ hexadecimalDigit($0) != nil }),
            let data = Self.bytes(of: bytes.value)
        else { return nil }
        let number = subtype.value.bytes.buffer.reduce(0) { $0 << 4 | (hexadecimalDigit($1) ?? 0) }
        return (data.count == 16 && (number == 3 || number == 4) ? .uuidData : .data, bytes.value)
    }

    /// The bytes that a string in base64, or an array of numbers, has; nil where it has none.
    package static func bytes(of value: JSONToken) -> [UInt8]? {
        var (text, bytes, notes) = ([UInt8](), [UInt8](), CoercionNotes())
        if value.kind == .array { return ByteList.append(value.bytes, to: &bytes) == nil ? nil : bytes }
        _ = JSONUnescaper.append(value.bytes, to: &text)
        let range = text.withUnsafeBufferPointer {
            Base64Text.decode(ByteView($0), .base64, to: &bytes, notes: &notes)
        }
        return range == nil ? nil : bytes
    }

    private static func text(_ key: ByteView) -> String {
        var plain: [UInt8] = []
        _ = JSONUnescaper.append(key, to: &plain)
        return String(decoding: plain, as: UTF8.self)
    }
}
