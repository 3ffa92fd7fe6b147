/// Turns HTML's character references into characters as HTML 5 does.
///
/// Named ones with and without semicolon (the longest name that there is), decimal and hexadecimal ones with
/// windows-1252 instead of C1 controls. What is no character (surrogates, 0, past U+10FFFF) becomes U+FFFD, other
/// control characters and noncharacters become nothing, and what is no reference stays as it is: the same as Python's
/// `html.unescape`.
enum HTMLUnescape {
    /// The text with its references replaced; nil if that changes nothing.
    static func apply(_ text: ByteView) -> [UInt8]? {
        guard text.buffer.contains(UInt8(ascii: "&")) else { return nil }
        var output: [UInt8] = []
        output.reserveCapacity(text.count)
        var isChanged = false
        var index = 0
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "&"), let end = appendReference(in: text, at: index + 1, to: &output) {
                isChanged = true
                index = end
            } else {
                output.append(byte)
                index += 1
            }
        }
        return isChanged ? output : nil
    }

    /// Appends what the reference says whose `&` precedes `start`.
    ///
    /// - Returns: the offset just past it; nil if there is none.
    private static func appendReference(in text: ByteView, at start: Int, to output: inout [UInt8]) -> Int? {
        guard start < text.count else { return nil }
        if text[start] == UInt8(ascii: "#") { return appendNumber(in: text, at: start + 1, to: &output) }
        var end = start
        while end < text.count, end - start < HTMLEntities.longestName, isNameByte(text[end]) { end += 1 }
        if end < text.count, text[end] == UInt8(ascii: ";"), HTMLEntities.append(text[start..<end + 1], to: &output) {
            return end + 1
        }
        while end > start + 1 {
            if HTMLEntities.append(text[start..<end], to: &output) { return end }
            end -= 1
        }
        return nil
    }

    private static func appendNumber(in text: ByteView, at start: Int, to output: inout [UInt8]) -> Int? {
        let isHexadecimal = start < text.count && text[start] | 0x20 == UInt8(ascii: "x")
        let first = isHexadecimal ? start + 1 : start
        var index = first
        var number: UInt32 = 0
        while index < text.count, let digit = hexadecimalDigit(text[index]), isHexadecimal || digit < 10 {
            // What is past Unicode stays so.
            number = min(number * (isHexadecimal ? 16 : 10) + UInt32(digit), 0x110000)
            index += 1
        }
        guard index > first else { return nil }
        if let scalar = scalar(forReference: number) { JSONUnescaper.append(scalar: scalar, to: &output) }
        return index < text.count && text[index] == UInt8(ascii: ";") ? index + 1 : index
    }

    /// The character that a number refers to; nil for none.
    private static func scalar(forReference number: UInt32) -> UInt32? {
        switch number {
        case 0, 0xD800...0xDFFF, 0x110000...: 0xFFFD
        case 0x80...0x9F: windows1252[Int(number - 0x80)]
        case 0x09, 0x0A, 0x0C, 0x0D: number
        case 0x01...0x1F, 0x7F, 0xFDD0...0xFDEF: nil
        default: number & 0xFFFE == 0xFFFE ? nil : number
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
            || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    /// What 0x80 to 0x9F mean: the characters of windows-1252, and themselves where it has none.
    private static let windows1252: [UInt32] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x9D, 0x017E, 0x0178,
    ]
}

extension HTMLEntities {
    /// The length of the longest name, without its semicolon.
    static let longestName = 31

    /// Appends the characters with this name; false if there is no such name.
    static func append(_ name: ByteView, to output: inout [UInt8]) -> Bool {
        let bytes = ByteView(base: table.utf8Start, count: table.utf8CodeUnitCount)
        var (low, high) = (0, bytes.count)
        while low < high {
            var start = low + (high - low) / 2
            while start > low, bytes[start - 1] > 0x20 { start -= 1 }
            var end = start
            while end < bytes.count, bytes[end] > 0x20 { end += 1 }
            switch compare(name, with: bytes[start..<end]) {
            case ..<0: high = start
            case 1...: low = min(end + 1, high)
            default:
                appendCharacters(bytes[start + name.count + 1..<end], to: &output)
                return true
            }
        }
        return false
    }

    /// Less than 0, 0 or more, as `name` is before, at or after that of the entry.
    private static func compare(_ name: ByteView, with entry: ByteView) -> Int {
        for index in 0..<name.count {
            guard index < entry.count, entry[index] != UInt8(ascii: "=") else { return 1 }
            let difference = Int(name[index]) - Int(entry[index])
            if difference != 0 { return difference }
        }
        return name.count < entry.count && entry[name.count] == UInt8(ascii: "=") ? 0 : -1
    }

    private static func appendCharacters(_ codes: ByteView, to output: inout [UInt8]) {
        var scalar: UInt32 = 0
        for index in 0..<codes.count {
            if let digit = hexadecimalDigit(codes[index]) {
                scalar = scalar << 4 | UInt32(digit)
            } else {
                JSONUnescaper.append(scalar: scalar, to: &output)
                scalar = 0
            }
        }
        JSONUnescaper.append(scalar: scalar, to: &output)
    }
}
