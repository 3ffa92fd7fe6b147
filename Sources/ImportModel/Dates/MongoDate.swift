/// What stands in MongoDB's `{"$date": …}`: relaxed and canonical extended JSON, versions 1 and 2.
enum MongoDate {
    /// The text between the quotes of a string, escapes and all.
    case text(ByteView)
    /// Milliseconds since 1970, as a number or the string of a `$numberLong`.
    case milliseconds(NumberForm)

    /// Reads an object, of which the bytes are valid JSON; nil if it is no such date.
    init?(_ object: ByteView) {
        var cursor = DateCursor(object)
        guard let value = cursor.takeMember("$date", value: { $0.takeValue() }) else { return nil }
        cursor.skipSpace()
        guard cursor.isAtEnd else { return nil }
        self = value
    }
}

extension DateCursor {
    /// Passes over white space as JSON has it.
    fileprivate mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { advance() }
    }

    /// Passes over an object that has this member and no other.
    fileprivate mutating func takeMember(
        _ key: StaticString,
        value: (inout DateCursor) -> MongoDate?
    ) -> MongoDate? {
        guard take(UInt8(ascii: "{")) else { return nil }
        skipSpace()
        guard let name = takeString(), Self.isSame(name, key) else { return nil }
        skipSpace()
        guard take(UInt8(ascii: ":")) else { return nil }
        skipSpace()
        guard let result = value(&self) else { return nil }
        skipSpace()
        return take(UInt8(ascii: "}")) ? result : nil
    }

    fileprivate mutating func takeValue() -> MongoDate? {
        switch next {
        case UInt8(ascii: "\""):
            return takeString().map { .text($0) }
        case UInt8(ascii: "{"):
            return takeMember("$numberLong") { cursor in
                guard let digits = cursor.takeString(), let number = NumberForm(digits), number.isInteger else {
                    return nil
                }
                return .milliseconds(number)
            }
        default:
            let start = index
            while let byte = next, byte > 0x20, byte != UInt8(ascii: "}"), byte != UInt8(ascii: ",") { advance() }
            return NumberForm(text[start..<index]).map { .milliseconds($0) }
        }
    }

    /// Passes over a string and gives what stands between its quotes.
    private mutating func takeString() -> ByteView? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = index
        while let byte = next, byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") { advance() }
            advance()
        }
        let string = text[start..<index]
        return take(UInt8(ascii: "\"")) ? string : nil
    }

    /// Whether what stands between a string's quotes spells `word`.
    private static func isSame(_ string: ByteView, _ word: StaticString) -> Bool {
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard string.buffer.contains(UInt8(ascii: "\\")) else { return string.buffer.elementsEqual(expected) }
        var plain: [UInt8] = []
        _ = Unescaping.append(string, to: &plain)
        return plain.elementsEqual(expected)
    }
}
