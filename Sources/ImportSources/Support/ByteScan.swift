/// Loops over many bytes, eight at a time in a word, which the compiler can turn into vector instructions.
package enum ByteScan {
    private static let lowBits: UInt64 = 0x7F7F_7F7F_7F7F_7F7F

    @inline(__always)
    private static func word(_ bytes: UnsafePointer<UInt8>, _ index: Int) -> UInt64 {
        UnsafeRawPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    /// The high bit of each byte of `word` that is `byte`, and nothing else.
    @inline(__always)
    private static func matches(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ (0x0101_0101_0101_0101 &* UInt64(byte))
        return ~(((difference & lowBits) &+ lowBits) | difference | lowBits)
    }

    /// How many bytes are LF.
    package static func countLineBreaks(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        var total = 0
        var index = 0
        while index + 8 <= count {
            // Each byte of a sum counts up to 255 before it would overflow.
            let words = min((count - index) / 8, 255)
            var sums: UInt64 = 0
            for position in 0..<words { sums &+= matches(word(bytes, index + 8 * position), 0x0A) >> 7 }
            let pairs = (sums & 0x00FF_00FF_00FF_00FF) &+ ((sums >> 8) & 0x00FF_00FF_00FF_00FF)
            total += Int((pairs &* 0x0001_0001_0001_0001) >> 48)
            index += 8 * words
        }
        while index < count {
            if bytes[index] == 0x0A { total += 1 }
            index += 1
        }
        return total
    }

    /// Where the first form feed or vertical tab is; `count` if there is none.
    static func firstFormFeed(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        firstOf(0x0B, 0x0C, bytes, count)
    }

    /// True if a byte is CR or LF.
    static func hasLineBreaks(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> Bool {
        firstOf(0x0A, 0x0D, bytes, count) < count
    }

    @inline(__always)
    private static func firstOf(_ one: UInt8, _ other: UInt8, _ bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        var index = 0
        while index + 128 <= count {
            var found: UInt64 = 0
            for position in 0..<16 {
                let word = word(bytes, index + 8 * position)
                found |= matches(word, one) | matches(word, other)
            }
            if found != 0 { break }
            index += 128
        }
        while index < count, bytes[index] != one, bytes[index] != other { index += 1 }
        return index
    }

    /// Makes each CR and LF a space.
    static func replaceLineBreaks(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) {
        let words = count / 8
        for position in 0..<words {
            let value = word(bytes, 8 * position)
            let breaks = matches(value, 0x0A) | matches(value, 0x0D)
            let mask = breaks | (breaks &- (breaks >> 7))
            let replaced = (value & ~mask) | (0x2020_2020_2020_2020 & mask)
            UnsafeMutableRawPointer(bytes).storeBytes(of: replaced, toByteOffset: 8 * position, as: UInt64.self)
        }
        for index in 8 * words..<count where bytes[index] == 0x0A || bytes[index] == 0x0D { bytes[index] = 0x20 }
    }

    /// Makes each CR and LF a space that is not between two quotes.
    ///
    /// For bytes that nobody has parsed: a line break inside of a string is a fault that must stay one.
    static func replaceLineBreaksBetweenStrings(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int) {
        var isInString = false
        var index = 0
        while index < count {
            switch bytes[index] {
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "\\") where isInString: index += 1
            case 0x0A, 0x0D: if !isInString { bytes[index] = 0x20 }
            default: break
            }
            index += 1
        }
    }

    /// True if JSON calls this byte white space.
    @inline(__always)
    package static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }
}
