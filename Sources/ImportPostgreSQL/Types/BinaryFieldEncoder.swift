import Glibc

/// Values as COPY's binary format has them (<https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.55.9.4>):
/// numbers in network byte order, each type as its `…recv` function reads it.
///
/// All of these write to memory that the caller has made room in, without a look at its end: `slack` bytes more than
/// they say.
enum BinaryFieldEncoder {
    /// How many bytes past the end of a value may be overwritten.
    static let slack = 16
    /// Of 2000-01-01, from 0001-01-01.
    private static let daysBefore2000 = 730_119

    @inline(__always)
    static func put<Number: FixedWidthInteger>(_ number: Number, at place: UnsafeMutableRawPointer) {
        place.storeBytes(of: number.bigEndian, as: Number.self)
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    private static func half(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt64 {
        UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
    }

    /// Copies bytes.
    ///
    /// - Returns: whether none of them is zero (`textrecv` refuses U+0000).
    @inline(__always)
    static func copyText(_ text: UnsafeRawPointer, _ count: Int, to place: UnsafeMutableRawPointer) -> Bool {
        if count >= 8 {
            guard count <= 128 else { return copyLongText(text, count, to: place) }
            // The last eight bytes are copied twice, in part.
            let last = text.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
            var zeros = zeros(last)
            var offset = 0
            while offset &+ 8 < count {
                let word = text.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                zeros |= Self.zeros(word)
                place.storeBytes(of: word, toByteOffset: offset, as: UInt64.self)
                offset &+= 8
            }
            place.storeBytes(of: last, toByteOffset: count &- 8, as: UInt64.self)
            return zeros == 0
        }
        if count >= 4 {
            let first = text.loadUnaligned(as: UInt32.self)
            let last = text.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
            place.storeBytes(of: first, as: UInt32.self)
            place.storeBytes(of: last, toByteOffset: count &- 4, as: UInt32.self)
            return zeros(UInt64(first) | UInt64(last) << 32) == 0
        }
        guard count > 0 else { return true }
        let (first, middle) = (text.load(as: UInt8.self), text.load(fromByteOffset: count >> 1, as: UInt8.self))
        let last = text.load(fromByteOffset: count &- 1, as: UInt8.self)
        place.storeBytes(of: first, as: UInt8.self)
        place.storeBytes(of: middle, toByteOffset: count >> 1, as: UInt8.self)
        place.storeBytes(of: last, toByteOffset: count &- 1, as: UInt8.self)
        return first != 0 && middle != 0 && last != 0
    }

    /// Copies a text with U+FFFD in place of each U+0000.
    ///
    /// - Parameter place: has room for `lengthReplacingNUL`.
    /// - Returns: how many bytes it has now.
    @inline(never)
    static func copyReplacingNUL(_ text: UnsafeRawBufferPointer, to place: UnsafeMutableRawPointer) -> Int {
        var length = 0
        for byte in text {
            if byte == 0 {
                place.advanced(by: length).copyMemory(from: replacement, byteCount: replacement.count)
                length &+= replacement.count
            } else {
                place.storeBytes(of: byte, toByteOffset: length, as: UInt8.self)
                length &+= 1
            }
        }
        return length
    }

    /// How many bytes a text has with U+FFFD in place of each U+0000.
    @inline(never)
    static func lengthReplacingNUL(_ text: UnsafeRawBufferPointer) -> Int {
        text.count &+ (replacement.count &- 1) &* text.count { $0 == 0 }
    }

    private static let replacement = Array("\u{FFFD}".utf8)

    @inline(never)
    private static func copyLongText(_ text: UnsafeRawPointer, _ count: Int, to place: UnsafeMutableRawPointer) -> Bool
    {
        memcpy(place, text, count)
        return memchr(text, 0, count) == nil
    }

    /// Not zero where a byte of the word is.
    @inline(__always)
    private static func zeros(_ word: UInt64) -> UInt64 {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
    }

    // MARK: UUIDs

    /// Writes the 16 bytes of a UUID (`uuid_recv`).
    ///
    /// - Parameter text: its canonical text, of 36 bytes.
    /// - Returns: false where it is not one.
    @inline(__always)
    static func putUUID(_ text: UnsafeRawPointer, at place: UnsafeMutableRawPointer) -> Bool {
        // 8-4-4-4-12 digits, eight at a time.
        let first = nibbles(word(text, 0))
        let second = nibbles(half(text, 9) | half(text, 14) << 32)
        let third = nibbles(half(text, 19) | half(text, 24) << 32)
        let fourth = nibbles(word(text, 28))
        let hyphens = UInt32(ascii("-")) &* 0x0101_0101
        let found =
            UInt32(text.load(fromByteOffset: 8, as: UInt8.self)) | UInt32(text.load(fromByteOffset: 13, as: UInt8.self))
            << 8
            | UInt32(text.load(fromByteOffset: 18, as: UInt8.self)) << 16
            | UInt32(text.load(fromByteOffset: 23, as: UInt8.self)) << 24
        guard (first | second | third | fourth) & 0xF0F0_F0F0_F0F0_F0F0 == 0, found == hyphens else { return false }
        put(packed(first) << 32 | packed(second), at: place)
        put(packed(third) << 32 | packed(fourth), at: place + 8)
        return true
    }

    @inline(__always)
    private static func ascii(_ scalar: Unicode.Scalar) -> UInt8 { UInt8(truncatingIfNeeded: scalar.value) }

    /// The values of eight hexadecimal digits in lower case, a byte each; other bits than the lower four where one is
    /// no digit.
    @inline(__always)
    private static func nibbles(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high: UInt64 = 0x8080_8080_8080_8080
        // Letters are 0x61 to 0x66, digits 0x30 to 0x39. No sum of bytes below 0x80 reaches the next one.
        let low = word & ~high
        let isLetter = ((low &+ ones &* 0x1F) & ~(low &+ ones &* 0x19) & high) >> 7
        let isDigit = ((low &+ ones &* 0x50) & ~(low &+ ones &* 0x46) & high) >> 7
        let isOther = (ones ^ (isLetter | isDigit)) | (word & high) >> 7
        return ((low & (ones &* 0x0F)) &+ isLetter &* 9) | isOther << 4
    }

    /// Eight values below 16, the first in the lowest byte, as a number whose first digit is the highest.
    @inline(__always)
    private static func packed(_ values: UInt64) -> UInt64 {
        // Pairs of digits, then pairs of bytes, all the way up.
        let bytes = ((values << 4) | (values >> 8)) & 0x00FF_00FF_00FF_00FF
        let pairs = ((bytes << 8) | (bytes >> 16)) & 0x0000_FFFF_0000_FFFF
        return ((pairs << 16) | (pairs >> 32)) & 0x0000_0000_FFFF_FFFF
    }

    // MARK: Dates

    /// An instant in microseconds since 2000-01-01 (`timestamp_recv`, `timestamptz_recv`).
    ///
    /// - Parameter text: `YYYY-MM-DDTHH:MM:SS.SSSZ`, or with six digits; of the years that it can have, the server holds all.
    /// - Returns: nil where it is none.
    @inline(__always)
    static func microseconds(_ text: UnsafeRawPointer, _ count: Int) -> Int64? {
        if count == 24 { return microseconds(text, rest: word(text, 16)) }
        guard count == 27, text.load(fromByteOffset: 26, as: UInt8.self) == UInt8(ascii: "Z") else { return nil }
        var last: Int64 = 0
        for place in 23..<26 {
            let digit = text.load(fromByteOffset: place, as: UInt8.self) &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            last = last &* 10 &+ Int64(digit)
        }
        let rest = word(text, 16) & 0x00FF_FFFF_FFFF_FFFF | UInt64(UInt8(ascii: "Z")) << 56
        return microseconds(text, rest: rest).map { $0 &+ last }
    }

    /// - Parameter rest: the last eight bytes of a text with three digits.
    @inline(__always)
    private static func microseconds(_ text: UnsafeRawPointer, rest: UInt64) -> Int64? {
        // `YYYY-MM-`, `DDTHH:MM` and `:SS.SSSZ`; the digits leave their values, all else leaves zero.
        let day = word(text, 0) ^ 0x2D30_302D_3030_3030
        let clock = word(text, 8) ^ 0x3030_3A30_3054_3030
        let rest = rest ^ 0x5A30_3030_2E30_303A
        let tooLarge =
            ((day &+ nines) | day | (clock &+ nines) | clock | (rest &+ nines) | rest) & 0x8080_8080_8080_8080
        let others = day & 0xFF00_00FF_0000_0000 | clock & 0x0000_FF00_00FF_0000 | rest & 0xFF00_0000_FF00_00FF
        guard tooLarge == 0, others == 0 else { return nil }
        // Each byte with the one after it as two digits.
        let (days, hours, seconds) = (day &* 10 &+ day >> 8, clock &* 10 &+ clock >> 8, rest &* 10 &+ rest >> 8)
        let year = byte(days, 0) &* 100 &+ byte(days, 2)
        let (month, dayOfMonth) = (byte(days, 5), byte(hours, 0))
        let (hour, minute, second) = (byte(hours, 3), byte(hours, 6), byte(seconds, 1))
        guard year > 0, month &- 1 < 12, dayOfMonth &- 1 < 31, hour < 24, minute < 60, second < 60 else { return nil }
        let milliseconds = byte(seconds, 4) &* 10 &+ byte(rest, 6)
        // Years begin in March, so that the leap day is the last; the months before a month have (153 × month + 2) / 5
        // days.
        let shifted = month > 2 ? month &- 3 : month &+ 9
        let from = month > 2 ? year : year &- 1
        let sum = from &* 365 &+ from / 4 &- from / 100 &+ from / 400 &+ (153 &* shifted &+ 2) / 5 &+ dayOfMonth
        let total = Int64(truncatingIfNeeded: sum) &- 307 &- Int64(daysBefore2000)
        let inDay = Int64(truncatingIfNeeded: (hour &* 60 &+ minute) &* 60 &+ second)
        return ((total &* 86_400 &+ inDay) &* 1_000 &+ Int64(truncatingIfNeeded: milliseconds)) &* 1_000
    }

    /// Added to a byte above 9, it reaches 0x80.
    private static var nines: UInt64 { 0x7676_7676_7676_7676 }

    @inline(__always)
    private static func byte(_ word: UInt64, _ place: UInt64) -> UInt64 { (word >> (8 &* place)) & 0xFF }
}
