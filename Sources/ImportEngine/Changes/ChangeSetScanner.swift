import ImportModel
import ImportSources

/// Walks a line of JSON strictly (RFC 8259), without keeping more of it than is asked for.
///
/// It lives as long as the bytes that it borrows: during one call.
package struct ChangeSetScanner {
    /// How many containers may be inside each other.
    package static let mostLevels = 1024

    /// Why a line is not what it should be, and the offset of the byte.
    package struct LineError: Error {
        package let reason: String
        package let byteOffset: Int
        package var advice: MessageText? = nil

        package init(reason: String, byteOffset: Int, advice: MessageText? = nil) {
            self.reason = reason
            self.byteOffset = byteOffset
            self.advice = advice
        }
    }

    package let bytes: ByteView
    package private(set) var index = 0
    private var depth = 0
    /// True if the container that is read has had no member or element yet.
    private var isFirst = false

    /// - Throws: `LineError` where the bytes are not UTF-8.
    package init(_ bytes: ByteView) throws(LineError) {
        self.bytes = bytes
        if let offset = UTF8Validation.firstInvalid(in: bytes) {
            throw LineError(reason: "bytes that are not UTF-8", byteOffset: offset)
        }
    }

    package func error(_ reason: String) -> LineError { LineError(reason: reason, byteOffset: index) }

    /// The next byte that is not white space; 0 at the end.
    package mutating func peek() -> UInt8 {
        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            default: return bytes[index]
            }
        }
        return 0
    }

    /// - Throws: `LineError` where anything but white space is left.
    package mutating func end() throws(LineError) {
        if peek() != 0 || index < bytes.count { throw error("unexpected text after the value") }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ character: Character, _ what: String) throws(LineError) {
        guard let byte = character.asciiValue, take(byte) else { throw error("\(what) is missing") }
    }

    // MARK: Containers

    private mutating func open(_ character: Character, _ what: String) throws(LineError) {
        try checkDepth(depth)
        try expect(character, what)
        depth += 1
        isFirst = true
    }

    private func checkDepth(_ depth: Int) throws(LineError) {
        guard depth < Self.mostLevels else { throw error("nested more than \(Self.mostLevels) deep") }
    }

    package mutating func openObject() throws(LineError) { try open("{", "an object") }
    package mutating func openArray() throws(LineError) { try open("[", "an array") }

    /// The next member's key, its value to be read next; nil at the end of the object.
    package mutating func key() throws(LineError) -> String? {
        guard try !ends("}") else { return nil }
        let key = try string()
        try expect(":", "a colon")
        return key
    }

    /// True if there is another element, to be read next.
    package mutating func element() throws(LineError) -> Bool { try !ends("]") }

    private mutating func ends(_ end: Character) throws(LineError) -> Bool {
        defer { isFirst = false }
        if let byte = end.asciiValue, take(byte) {
            depth -= 1
            return true
        }
        if !isFirst { try expect(",", "a comma or \(end)") }
        return false
    }

    // MARK: Scalars

    /// True if the next value is null, which is passed over then.
    package mutating func null() throws(LineError) -> Bool {
        guard peek() == UInt8(ascii: "n") else { return false }
        try word("null")
        return true
    }

    private mutating func word(_ word: StaticString) throws(LineError) {
        for offset in 0..<word.utf8CodeUnitCount {
            guard index < bytes.count, bytes[index] == word.utf8Start[offset] else {
                throw error("a value is missing")
            }
            index += 1
        }
    }

    package mutating func boolean() throws(LineError) -> Bool {
        let isTrue = peek() == UInt8(ascii: "t")
        try word(isTrue ? "true" : "false")
        return isTrue
    }

    package mutating func string() throws(LineError) -> String {
        guard peek() == UInt8(ascii: "\"") else { throw error("a string is missing") }
        let start = index + 1
        let hasEscapes = try skipString()
        let token = JSONToken(kind: .string, bytes: bytes[start..<index - 1], hasEscapes: hasEscapes)
        if hasEscapes, let offset = JSONUnescaper.firstLoneSurrogate(in: token.bytes) {
            throw LineError(reason: "half of a surrogate pair", byteOffset: start + offset)
        }
        return token.text
    }

    /// The digits of a number as written.
    package mutating func number() throws(LineError) -> String {
        _ = peek()
        let start = index
        try skipNumber()
        return String(decoding: bytes[start..<index].buffer, as: UTF8.self)
    }

    // MARK: Passing over

    /// Passes over a value of any kind, and says where it is.
    package mutating func skip() throws(LineError) -> Range<Int> {
        _ = peek()
        let start = index
        // The containers that are open here: true for an object. Not the call stack, which is for the changes themselves.
        var containers: [Bool] = []
        repeat {
            switch peek() {
            case UInt8(ascii: "{"):
                index += 1
                try checkDepth(depth + containers.count)
                if take(UInt8(ascii: "}")) { break }
                containers.append(true)
                try skipKey()
                continue
            case UInt8(ascii: "["):
                index += 1
                try checkDepth(depth + containers.count)
                if take(UInt8(ascii: "]")) { break }
                containers.append(false)
                continue
            default: try skipScalar()
            }
            // After a value: the ends of containers, and then the next value.
            while let isObject = containers.last {
                if take(UInt8(ascii: ",")) {
                    if isObject { try skipKey() }
                    break
                }
                try expect(isObject ? "}" : "]", "a comma or an end")
                containers.removeLast()
            }
        } while !containers.isEmpty
        return start..<index
    }

    private mutating func skipKey() throws(LineError) {
        guard peek() == UInt8(ascii: "\"") else { throw error("a key in quotes is missing") }
        _ = try skipString()
        try expect(":", "a colon")
    }

    private mutating func skipScalar() throws(LineError) {
        switch peek() {
        case UInt8(ascii: "\""): _ = try skipString()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: try skipNumber()
        }
    }

    private mutating func skipNumber() throws(LineError) {
        let start = index
        index = JSONSyntax.endOfNumber(in: bytes, at: start)
        guard index > start, JSONNumber(bytes[start..<index]) != nil else { throw error("a value is missing") }
    }

    /// Passes over a string, and says whether it has escapes.
    private mutating func skipString() throws(LineError) -> Bool {
        index += 1
        var hasEscapes = false
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index += 1
                return hasEscapes
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try skipEscape()
            case ..<0x20: throw error("a control character in a string")
            default: index += 1
            }
        }
        throw error("the closing quote is missing")
    }

    private mutating func skipEscape() throws(LineError) {
        guard index + 1 < bytes.count else { throw error("the closing quote is missing") }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 2
        case UInt8(ascii: "u"):
            guard index + 6 <= bytes.count, (index + 2..<index + 6).allSatisfy({ hexadecimalDigit(bytes[$0]) != nil })
            else { throw error("\\u needs four hexadecimal digits") }
            index += 6
        default: throw error("an unknown escape")
        }
    }
}
