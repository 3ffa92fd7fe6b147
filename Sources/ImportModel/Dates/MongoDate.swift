/// What is in MongoDB's `{"$date": …}`: relaxed and canonical extended JSON, versions 1 and 2.
enum MongoDate {
    /// The text between the quotes of a string, escapes and all.
    case text(ByteView)
    /// Milliseconds since 1970, as a number or the string of a `$numberLong`.
    case milliseconds(JSONNumber)

    /// Reads an object, of which the bytes are valid JSON; nil if it is no such date.
    init?(_ object: ByteView) {
        guard let value = Self.onlyMember("$date", of: object) else { return nil }
        switch value.kind {
        case .string:
            self = .text(value.bytes)
        case .number:
            guard let number = JSONNumber(value.bytes) else { return nil }
            self = .milliseconds(number)
        case .object:
            guard let digits = Self.onlyMember("$numberLong", of: value.bytes), digits.kind == .string,
                let number = JSONNumber(digits.bytes), number.isInteger
            else { return nil }
            self = .milliseconds(number)
        case .null, .boolean, .array:
            return nil
        }
    }

    /// The value of an object's member with this key; nil if it has another one too, or none.
    private static func onlyMember(_ key: StaticString, of object: ByteView) -> JSONToken? {
        var members = JSONMembers(object)
        guard let member = members.next(), isSame(member.key, key), members.next() == nil else { return nil }
        return member.value
    }

    /// True if what is between a string's quotes spells `word`.
    private static func isSame(_ string: ByteView, _ word: StaticString) -> Bool {
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard string.buffer.contains(UInt8(ascii: "\\")) else { return string.buffer.elementsEqual(expected) }
        var plain: [UInt8] = []
        _ = JSONUnescaper.append(string, to: &plain)
        return plain.elementsEqual(expected)
    }
}
