/// Where values end, of which it is known where they begin.
package enum JSONValueEnd {
    /// The bytes of the value that begins at an index: a whole string, number, literal, object or array.
    ///
    /// It does not check what is between them.
    ///
    /// - Returns: nil where no value begins there, or where it breaks off.
    package static func range(at start: Int, in json: [UInt8]) -> Range<Int>? {
        guard json.indices.contains(start) else { return nil }
        var depth = 0
        var index = start
        while index < json.endIndex {
            switch json[index] {
            case UInt8(ascii: "\""):
                guard let end = endOfString(at: index, in: json) else { return nil }
                index = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return nil }
                depth -= 1
                index += 1
            case let byte where isInToken(byte):
                index = json[index...].firstIndex { !isInToken($0) } ?? json.endIndex
            default:
                guard depth > 0 else { return nil }
                index += 1
            }
            if depth == 0 { return start..<index }
        }
        return nil
    }

    private static func endOfString(at start: Int, in json: [UInt8]) -> Int? {
        var isEscaped = false
        let quote = json[(start + 1)...].firstIndex { byte in
            defer { isEscaped = byte == UInt8(ascii: "\\") && !isEscaped }
            return byte == UInt8(ascii: "\"") && !isEscaped
        }
        return quote.map { $0 + 1 }
    }

    /// True if a number or a literal can have it.
    private static func isInToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
            UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
