/// Forms that every string of an attribute has so far.
///
/// Two of them decide a type, the others are only pointed out; those of bytes decide how a BLOB column's texts are read.
package struct StringFormats: OptionSet, Sendable, Hashable {
    @usableFromInline package let rawValue: UInt32

    @inlinable package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// True if there is none of them: asked of every string, in another module.
    @inlinable package var isEmpty: Bool { rawValue == 0 }

    /// `2015-01-01T15:00:00Z`, in UTC in any spelling, with at most nanoseconds: what a `date` gives back as the same instant.
    package static let utcInstant = StringFormats(rawValue: 1 << 0)
    /// A UUID in lower case.
    package static let lowercaseUUID = StringFormats(rawValue: 1 << 1)
    /// `2015-01-01`.
    package static let day = StringFormats(rawValue: 1 << 2)
    /// `2015-01-01T15:00…`, with any zone or none.
    package static let dayAndTime = StringFormats(rawValue: 1 << 3)
    /// `/Date(1420124400000)/`.
    package static let dotnet = StringFormats(rawValue: 1 << 4)
    /// `31/12/2015`, `1/2/15`.
    package static let slashed = StringFormats(rawValue: 1 << 5)
    /// `Thu Jan 01 15:00:00 +0000 2015`.
    package static let weekday = StringFormats(rawValue: 1 << 6)
    /// `Thu, 01 Jan 2015 15:00:00 GMT`.
    package static let mail = StringFormats(rawValue: 1 << 7)

    /// `NaN`, `Infinity` or `-Infinity`.
    package static let notFinite = StringFormats(rawValue: 1 << 14)

    /// An object of JSON, by its brackets and its first key.
    package static let object = StringFormats(rawValue: 1 << 15)

    /// An integer of 64 bits, as JSON prints it.
    package static let integerText = StringFormats(rawValue: 1 << 16)
    /// The same, or a fraction, as a double is printed.
    package static let numberText = StringFormats(rawValue: 1 << 17)
    /// A number as a decimal is printed.
    package static let decimalText = StringFormats(rawValue: 1 << 18)
    /// `true` or `false`.
    package static let booleanText = StringFormats(rawValue: 1 << 19)

    /// Of a date: no digits of a second behind the first three.
    package static let milliseconds = StringFormats(rawValue: 1 << 20)
    /// Of a date: none behind the first six.
    package static let microseconds = StringFormats(rawValue: 1 << 21)
    /// Of a date: none behind the first nine, as a `date` has no more.
    package static let nanoseconds = StringFormats(rawValue: 1 << 22)

    /// The forms of values of other kinds, which are looked for where types are detected.
    package static let values: StringFormats = [
        .integerText, .numberText, .decimalText, .booleanText,
    ]

    /// The forms of dates with at most this many digits of a second: 3, 6 or 9; more than nine have none.
    private static func fraction(_ digits: Int) -> StringFormats {
        switch digits {
        case ...3: [.milliseconds, .microseconds, .nanoseconds]
        case ...6: [.microseconds, .nanoseconds]
        case ...9: .nanoseconds
        default: []
        }
    }

    /// The digits of a second that a `date` needs for all of the strings: 3, 6 or 9; 3 where they are no dates.
    package var fraction: Int {
        if contains(.milliseconds) || !contains(.nanoseconds) { return 3 }
        return contains(.microseconds) ? 6 : 9
    }

    /// Bytes, of Extended JSON: no string has it.
    package static let data = StringFormats(rawValue: 1 << 13)

    /// A UUID in any spelling.
    package static let uuid = StringFormats(rawValue: 1 << 8)
    /// Whole base64.
    package static let base64 = StringFormats(rawValue: 1 << 9)
    /// Whole base64url.
    package static let base64url = StringFormats(rawValue: 1 << 10)
    /// Digits only, or hexadecimal of one case: base64 only by chance.
    package static let digits = StringFormats(rawValue: 1 << 11)
    /// Letters, all but the first in lower case, and hyphens: rarely base64.
    package static let word = StringFormats(rawValue: 1 << 12)

    /// The forms of bytes, which are looked for where there is a BLOB column.
    package static let bytes: StringFormats = [.uuid, .base64, .base64url, .digits, .word]
    package static let all: StringFormats = [
        .utcInstant, .lowercaseUUID, .day, .dayAndTime, .dotnet, .slashed, .weekday, .mail, .data,
        .notFinite, .object, .milliseconds, .microseconds, .nanoseconds,
    ]

    /// The forms among `candidates` that a string has.
    ///
    /// The string's bytes are between its quotes, as written.
    package static func forms(of bytes: ByteView, hasEscapes: Bool, among candidates: StringFormats) -> StringFormats {
        guard candidates.isDisjoint(with: .bytes) else {
            var text: [UInt8] = []
            if hasEscapes { _ = JSONUnescaper.append(bytes, to: &text) }
            return text.withUnsafeBufferPointer {
                ofBytes(hasEscapes ? ByteView($0) : bytes, among: candidates)
            }.union(forms(of: bytes, hasEscapes: hasEscapes, among: candidates.subtracting(.bytes)))
        }
        // .NET writes its dates with an escaped slash; of all others an escape only hides the form.
        if hasEscapes {
            if candidates.contains(.object), isObject(bytes, hasEscapes: true) { return .object }
            return hasPrefix(#"\/Date("#, bytes) && DateFormat.dotnet.reads(bytes, hasEscapes: true)
                ? candidates.intersection(.dotnet) : []
        }
        var forms: StringFormats = []
        // An instant in UTC is a date and a time, which is not looked at again.
        if candidates.contains(.utcInstant), let digits = ImportModel.fraction(ofUTCInstant: bytes) {
            return candidates.intersection(fraction(digits).union([.utcInstant, .dayAndTime]))
        }
        if candidates.contains(.lowercaseUUID), isLowercaseUUID(bytes) { forms.insert(.lowercaseUUID) }
        if candidates.contains(.day), bytes.count == 10, matches("dddd-dd-dd", bytes), DateFormat.iso8601.reads(bytes) {
            forms.insert(.day)
        }
        if candidates.contains(.dayAndTime), bytes.count <= 80,
            matches("dddd-dd-dd", bytes) && bytes.count > 10 || matches("dddddddd", bytes) && bytes.count > 13,
            DateFormat.iso8601.reads(bytes)
        {
            forms.insert(.dayAndTime)
        }
        if candidates.contains(.dotnet), hasPrefix("/Date(", bytes), DateFormat.dotnet.reads(bytes) {
            forms.insert(.dotnet)
        }
        if candidates.contains(.mail), bytes.count <= 40, DateFormat.rfc2822.reads(bytes) { forms.insert(.mail) }
        if candidates.contains(.object), isObject(bytes, hasEscapes: false) { forms.insert(.object) }
        if !candidates.isDisjoint(with: .values) { forms.formUnion(ofValue(bytes).intersection(candidates)) }
        if !forms.isDisjoint(with: [.day, .dayAndTime]) {
            forms.formUnion(fraction(digits(ofFraction: bytes)).intersection(candidates))
        }
        if candidates.contains(.notFinite), bytes.isNotFinite { forms.insert(.notFinite) }
        if candidates.contains(.slashed), isSlashed(bytes) { forms.insert(.slashed) }
        if candidates.contains(.weekday), isWeekday(bytes) { forms.insert(.weekday) }
        return forms
    }

    /// True if a text is empty braces, or begins with a key, whose quotes are escaped, and a colon: arrays of PostgreSQL have braces, too.
    private static func isObject(_ text: ByteView, hasEscapes: Bool) -> Bool {
        let (backslash, quote, last) = (UInt8(ascii: "\\"), UInt8(ascii: "\""), text.count - 1)
        guard last > 0, text[0] == UInt8(ascii: "{"), text[last] == UInt8(ascii: "}") else { return false }
        func afterSpaces(_ start: Int) -> Int {
            var index = start
            while index < last {
                if text[index] == backslash, "nrt".utf8.contains(text[index + 1]) {
                    index += 2
                } else if text[index] == UInt8(ascii: " ") {
                    index += 1
                } else {
                    break
                }
            }
            return index
        }
        var index = afterSpaces(1)
        if index >= last { return true }
        guard hasEscapes, text[index] == backslash, text[index + 1] == quote else { return false }
        index += 2
        while index < last, text[index] != backslash || text[index + 1] != quote {
            // What is escaped in the key has one more escape in the text.
            let isEscape = text[index] == backslash && text[index + 1] == backslash && index + 2 < last
            index += !isEscape ? 1 : text[index + 2] == backslash ? 4 : 3
        }
        let colon = afterSpaces(index + 2)
        return colon < last && text[colon] == UInt8(ascii: ":")
    }

    /// The forms of a text that spells a value of another kind.
    private static func ofValue(_ text: ByteView) -> StringFormats {
        if text.buffer.elementsEqual("true".utf8) || text.buffer.elementsEqual("false".utf8) { return .booleanText }
        guard text.count <= 40, let number = JSONNumber(text), number.fitsDecimal else { return [] }
        let spelled = String(decoding: text.buffer, as: UTF8.self)
        if let integer = number.int64 {
            guard String(integer) == spelled else { return [] }
            return integer.magnitude > 1 << 53
                ? [.integerText, .decimalText] : [.integerText, .numberText, .decimalText]
        }
        var forms: StringFormats = number.double.description == spelled ? .numberText : []
        var (scratch, canonical) = ([UInt8](), [UInt8]())
        switch number.canonicalDecimal(scratch: &scratch) {
        case .verbatim(let bytes): canonical = Array(bytes.buffer)
        case .scratch(let range): canonical = Array(scratch[range])
        default: break
        }
        if canonical.elementsEqual(text.buffer) { forms.insert(.decimalText) }
        return forms
    }

    /// How many digits follow a point or a comma, up to the last that is not 0.
    private static func digits(ofFraction text: ByteView) -> Int {
        let fraction = text.buffer.drop { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: ",") }.dropFirst()
            .prefix { $0 &- UInt8(ascii: "0") < 10 }
        return fraction.lastIndex { $0 != UInt8(ascii: "0") }.map { $0 - fraction.startIndex + 1 } ?? 0
    }

    /// The forms of bytes among `candidates` that a text has; a UUID is base64 only by chance.
    static func ofBytes(_ text: ByteView, among candidates: StringFormats = .bytes) -> StringFormats {
        if BinaryFormat.uuid.isWhole(text) { return candidates.subtracting([.base64, .base64url, .word]) }
        let all: [(StringFormats, (ByteView) -> Bool)] = [
            (.base64, BinaryFormat.base64.isWhole), (.base64url, BinaryFormat.base64url.isWhole),
            (.digits, areDigits), (.word, isWord),
        ]
        return StringFormats(all.filter { candidates.contains($0.0) && $0.1(text) }.map(\.0))
    }

    private static func areDigits(_ text: ByteView) -> Bool {
        let digits = text.buffer.count(where: isDigit)
        if digits == text.count { return true }
        guard digits > 0, text.count >= 8, text.count % 2 == 0 else { return false }
        let isCapital = text.buffer.contains { $0 < UInt8(ascii: "a") && !isDigit($0) }
        let letters = isCapital ? UInt8(ascii: "A")...UInt8(ascii: "F") : UInt8(ascii: "a")...UInt8(ascii: "f")
        return text.buffer.allSatisfy { isDigit($0) || letters.contains($0) }
    }

    private static func isWord(_ text: ByteView) -> Bool {
        text.buffer.enumerated().allSatisfy { index, byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= (index == 0 ? byte | 0x20 : byte)
                || [UInt8(ascii: "-"), UInt8(ascii: "_")].contains(byte)
        }
    }

    /// How the form is named to people; nil for forms that decide a type.
    package var label: String? {
        switch self {
        case .day: "days (2015-01-31)"
        case .dayAndTime: "dates and times that are not all in UTC with at most nanoseconds"
        case .dotnet: ".NET dates (/Date(1420124400000)/)"
        case .mail: "dates of mail and HTTP (Thu, 01 Jan 2015 15:00:00 GMT)"
        case .slashed: "dates with slashes (31/12/2015), which need a \"format\" in a model file"
        case .weekday: "dates with their weekday, which need a \"format\" in a model file"
        default: nil
        }
    }

    private static func hasPrefix(_ prefix: StaticString, _ bytes: ByteView) -> Bool {
        let count = prefix.utf8CodeUnitCount
        guard bytes.count >= count else { return false }
        for index in 0..<count where bytes[index] != prefix.utf8Start[index] { return false }
        return true
    }

    /// True if the bytes begin like the pattern, where `d` is any digit and any other character is itself.
    private static func matches(_ pattern: StaticString, _ bytes: ByteView) -> Bool {
        let count = pattern.utf8CodeUnitCount
        guard bytes.count >= count else { return false }
        for index in 0..<count {
            let wanted = pattern.utf8Start[index]
            if wanted == UInt8(ascii: "d") {
                guard isDigit(bytes[index]) else { return false }
            } else if bytes[index] != wanted {
                return false
            }
        }
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    private static func isSlashed(_ bytes: ByteView) -> Bool {
        guard bytes.count >= 6, bytes.count <= 10 else { return false }
        var slashes = 0
        var digits = 0
        for index in 0..<bytes.count {
            if isDigit(bytes[index]) {
                digits += 1
            } else if bytes[index] == UInt8(ascii: "/"), digits > 0 {
                slashes += 1
                digits = 0
            } else {
                return false
            }
        }
        return slashes == 2 && digits > 0
    }

    private static func isWeekday(_ bytes: ByteView) -> Bool {
        guard bytes.count >= 16, bytes.count <= 40, bytes[3] == UInt8(ascii: ",") || bytes[3] == UInt8(ascii: " ")
        else { return false }
        let names: StaticString = "MonTueWedThuFriSatSun"
        for day in 0..<7 {
            let name = names.utf8Start + day * 3
            if bytes[0] == name[0], bytes[1] == name[1], bytes[2] == name[2] { return true }
        }
        return false
    }
}
