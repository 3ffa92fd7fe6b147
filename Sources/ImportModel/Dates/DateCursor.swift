/// A position in a date's text, for the formats whose parts are at no fixed offsets.
struct DateCursor {
    let text: ByteView
    private(set) var index = 0

    init(_ text: ByteView) {
        self.text = text
    }

    var isAtEnd: Bool { index == text.count }

    /// The byte that comes next; nil at the end.
    var next: UInt8? { index < text.count ? text[index] : nil }

    /// Passes over the next byte.
    mutating func advance() {
        if index < text.count { index &+= 1 }
    }

    /// Passes over `byte` if it comes next.
    mutating func take(_ byte: UInt8) -> Bool {
        guard index < text.count, text[index] == byte else { return false }
        index &+= 1
        return true
    }

    /// Passes over any space of Unicode, as Java writes U+202F before AM.
    mutating func takeSpace() -> Bool {
        if take(0x20) { return true }
        let bytes = text.buffer[index...].prefix(3)
        let isShort = bytes.starts(with: [0xC2, 0xA0])
        let isLong =
            bytes.starts(with: [0xE2, 0x80]) && (0x80...0x8A ~= bytes.last ?? 0 || bytes.last == 0xAF)
            || [[0xE1, 0x9A, 0x80], [0xE2, 0x81, 0x9F], [0xE3, 0x80, 0x80]].contains { bytes.elementsEqual($0) }
        guard isShort || isLong && bytes.count == 3 else { return false }
        index &+= isShort ? 2 : 3
        return true
    }

    /// Passes over `word`, which is ASCII, in any case if it comes next.
    mutating func take(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard index &+ count <= text.count else { return false }
        for offset in 0..<count {
            let (byte, expected) = (text[index &+ offset], word.utf8Start[offset])
            guard byte == expected || byte ^ expected == 0x20 && Self.isLetter(byte) else { return false }
        }
        index &+= count
        return true
    }

    /// Passes over `word`, which is ASCII, if it comes next just so.
    mutating func takeExactly(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard index &+ count <= text.count else { return false }
        for offset in 0..<count where text[index &+ offset] != word.utf8Start[offset] {
            return false
        }
        index &+= count
        return true
    }

    /// Passes over a number of at least and at most this many digits, at most 18; nil if there is none.
    ///
    /// Digits beyond stay where they are.
    mutating func takeNumber(_ digits: ClosedRange<Int>) -> Int? {
        var value = 0
        var end = index
        while end < text.count, end &- index < digits.upperBound {
            let digit = text[end] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            value = value &* 10 &+ Int(digit)
            end &+= 1
        }
        guard end &- index >= digits.lowerBound else { return nil }
        index = end
        return value
    }

    /// Passes over the digits of a fraction of a second, at least one.
    ///
    /// - Returns: the nanoseconds, and whether a digit after them is not zero; nil if there are no digits.
    mutating func takeFraction(atMost most: Int) -> (nanoseconds: Int, hasMore: Bool)? {
        var nanoseconds = 0
        var hasMore = false
        let start = index
        while index &- start < most, let digit = takeNumber(1...1) {
            if index &- start <= 9 { nanoseconds = nanoseconds &* 10 &+ digit } else { hasMore = hasMore || digit != 0 }
        }
        return index > start ? (nanoseconds * ParsedDate.unit(ofDigits: index &- start), hasMore) : nil
    }

    /// Passes over `±hhmm`, with a colon between if that is allowed or asked for; gives seconds.
    mutating func takeOffset(colon: Colon) -> Int? {
        let isNegative = next == UInt8(ascii: "-")
        guard isNegative || next == UInt8(ascii: "+") else { return nil }
        advance()
        guard let hours = takeNumber(2...2), hours < 24 else { return nil }
        let hasColon = take(UInt8(ascii: ":"))
        guard hasColon ? colon != .none : colon != .always else { return nil }
        guard let minutes = takeNumber(2...2), minutes < 60 else { return nil }
        let offset = hours * 3_600 + minutes * 60
        return isNegative ? -offset : offset
    }

    /// Whether a colon is between the hours and the minutes of an offset.
    enum Colon {
        case none
        case optional
        case always
    }

    /// Passes over an English month's name, or its first three letters; gives 1 to 12.
    mutating func takeMonth(isFull: Bool) -> Int? {
        take(oneOf: isFull ? Self.months : Self.shortMonths).map { $0 + 1 }
    }

    /// Passes over an English weekday's name, or its first three letters; gives 0 for Monday to 6 for Sunday.
    mutating func takeWeekday(isFull: Bool) -> Int? {
        take(oneOf: isFull ? Self.weekdays : Self.shortWeekdays)
    }

    private mutating func take(oneOf words: [StaticString]) -> Int? {
        for number in 0..<words.count where take(words[number]) {
            return number
        }
        return nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
    }

    private static let months: [StaticString] = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let shortMonths: [StaticString] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let weekdays: [StaticString] = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]
    private static let shortWeekdays: [StaticString] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
}
