/// The check of UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing past U+10FFFF, nothing broken off.
package enum UTF8Validation {
    /// The offset of the first byte that does not begin or continue with a well-formed character; nil if all is well.
    ///
    /// A character that is wrong anywhere is reported at its first byte.
    package static func firstInvalid(in bytes: ByteView) -> Int? {
        let count = bytes.count
        let raw = UnsafeRawPointer(bytes.base)
        var index = 0
        while true {
            while index &+ 16 <= count {
                let first = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                let second = raw.loadUnaligned(fromByteOffset: index &+ 8, as: UInt64.self)
                let high = (first | second) & 0x8080_8080_8080_8080
                guard high == 0 else {
                    // Straight to the first byte of the first character that is not ASCII.
                    let (one, other) = (first & 0x8080_8080_8080_8080, second & 0x8080_8080_8080_8080)
                    let word = UInt64(littleEndian: one != 0 ? one : other)
                    index &+= (one != 0 ? 0 : 8) &+ word.trailingZeroBitCount >> 3
                    break
                }
                index &+= 16
            }
            while index < count, bytes[index] < 0x80 { index &+= 1 }
            // Text of other scripts comes in runs: stay here until the next ASCII byte.
            while index < count, bytes[index] >= 0x80 {
                let length = characterLength(in: bytes, at: index)
                guard length > 0 else { return index }
                index &+= length
            }
            guard index < count else { return nil }
        }
    }

    /// The length of the well-formed character of several bytes at `index`, or 0.
    @inline(__always)
    private static func characterLength(in bytes: ByteView, at index: Int) -> Int {
        let lead = bytes[index]
        let left = bytes.count &- index
        switch lead {
        case 0xC2...0xDF:
            return left >= 2 && isContinuation(bytes[index &+ 1]) ? 2 : 0
        case 0xE0...0xEF:
            guard left >= 3, isContinuation(bytes[index &+ 2]) else { return 0 }
            let second = bytes[index &+ 1]
            // E0: no overlong forms; ED: no surrogates.
            let lowest: UInt8 = lead == 0xE0 ? 0xA0 : 0x80
            let highest: UInt8 = lead == 0xED ? 0x9F : 0xBF
            return second >= lowest && second <= highest ? 3 : 0
        case 0xF0...0xF4:
            guard left >= 4, isContinuation(bytes[index &+ 2]), isContinuation(bytes[index &+ 3]) else { return 0 }
            let second = bytes[index &+ 1]
            // F0: no overlong forms; F4: nothing past U+10FFFF.
            let lowest: UInt8 = lead == 0xF0 ? 0x90 : 0x80
            let highest: UInt8 = lead == 0xF4 ? 0x8F : 0xBF
            return second >= lowest && second <= highest ? 4 : 0
        default:
            return 0
        }
    }

    @inline(__always)
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
