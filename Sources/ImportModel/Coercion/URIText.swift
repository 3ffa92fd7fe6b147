/// A URI or a relative reference (RFC 3986 §4.1).
enum URIText {
    /// True if `text` is one, and not empty.
    ///
    /// That is: the characters of RFC 3986 only, so no space, control character or anything outside of ASCII; percent
    /// signs with two hexadecimal digits after them; a scheme that begins with a letter if there is a colon before the
    /// first `/`, `?` or `#`; digits as the port; brackets around an IP address only; and one `#` at most. What the parts
    /// mean (that a host is a name that there is, say) is not looked at.
    static func isReference(_ text: ByteView) -> Bool {
        guard text.count > 0 else { return false }
        var index = 0
        if let colon = first(of: ":/?#", in: text, from: 0), text[colon] == UInt8(ascii: ":") {
            guard isScheme(text[0..<colon]) else { return false }
            index = colon + 1
        }
        if index + 1 < text.count, text[index] == UInt8(ascii: "/"), text[index + 1] == UInt8(ascii: "/") {
            index += 2
            let end = first(of: "/?#", in: text, from: index) ?? text.count
            guard isAuthority(text[index..<end]) else { return false }
            index = end
        }
        if let fragment = first(of: "#", in: text, from: index) {
            return areCharacters(text[index..<fragment], and: "/?:@")
                && areCharacters(text[fragment + 1..<text.count], and: "/?:@")
        }
        return areCharacters(text[index..<text.count], and: "/?:@")
    }

    private static func isScheme(_ text: ByteView) -> Bool {
        guard text.count > 0, isLetter(text[0]) else { return false }
        return text.buffer.allSatisfy { isLetter($0) || isDigit($0) || contains("+-.", $0) }
    }

    /// `user@host:port`, of which only the host must be there, and even that may be empty.
    private static func isAuthority(_ text: ByteView) -> Bool {
        var host = text
        if let at = first(of: "@", in: text, from: 0) {
            guard areCharacters(text[0..<at], and: ":") else { return false }
            host = text[at + 1..<text.count]
        }
        var end = first(of: ":", in: host, from: 0) ?? host.count
        if host.count > 0, host[0] == UInt8(ascii: "[") {
            guard let close = first(of: "]", in: host, from: 1), close > 1,
                areCharacters(host[1..<close], and: ":"), !host[1..<close].buffer.contains(UInt8(ascii: "%"))
            else { return false }
            end = close + 1
        } else if !areCharacters(host[0..<end], and: "") {
            return false
        }
        guard end < host.count else { return true }
        return host[end] == UInt8(ascii: ":") && host[end + 1..<host.count].buffer.allSatisfy(isDigit)
    }

    /// True if all are unreserved characters, delimiters within parts, escapes or one of `others`.
    private static func areCharacters(_ text: ByteView, and others: StaticString) -> Bool {
        var index = 0
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < text.count, hexadecimalDigit(text[index + 1]) != nil,
                    hexadecimalDigit(text[index + 2]) != nil
                else { return false }
                index += 3
                continue
            }
            guard isLetter(byte) || isDigit(byte) || contains("-._~!$&'()*+,;=", byte) || contains(others, byte) else {
                return false
            }
            index += 1
        }
        return true
    }

    private static func first(of characters: StaticString, in text: ByteView, from start: Int) -> Int? {
        (start..<text.count).first { contains(characters, text[$0]) }
    }

    private static func contains(_ characters: StaticString, _ byte: UInt8) -> Bool {
        UnsafeBufferPointer(start: characters.utf8Start, count: characters.utf8CodeUnitCount).contains(byte)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
}
