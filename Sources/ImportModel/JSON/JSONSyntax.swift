/// What JSON's text is made of (RFC 8259 §2 and §7), for those who walk valid JSON without decoding it.
package enum JSONSyntax {
    @inline(__always)
    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// The offset just past the bytes from `index` on that numbers are made of.
    package static func endOfNumber(in json: ByteView, at index: Int) -> Int {
        var index = index
        while index < json.count, isPartOfNumber(json[index]) { index += 1 }
        return index
    }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// The offset just past the string that opens at `index`, or the end if it is not closed.
    @inline(__always)
    package static func endOfString(in json: ByteView, at index: Int) -> Int {
        var index = index &+ 1
        while index < json.count {
            switch json[index] {
            case UInt8(ascii: "\""): return index &+ 1
            case UInt8(ascii: "\\"): index &+= 2
            default: index &+= 1
            }
        }
        return json.count
    }

    /// The offset just past the comment that begins at `index`, or the end if it is not closed; past `index` where there is none.
    static func endOfComment(in json: ByteView, at index: Int) -> Int {
        guard index + 1 < json.count else { return json.count }
        switch json[index + 1] {
        case UInt8(ascii: "/"):
            return json.buffer[(index + 2)...].firstIndex(of: 0x0A) ?? json.count
        case UInt8(ascii: "*"):
            var end = index + 2
            while end + 1 < json.count {
                if json[end] == UInt8(ascii: "*"), json[end + 1] == UInt8(ascii: "/") { return end + 2 }
                end += 1
            }
            return json.count
        default: return index + 1
        }
    }
}
