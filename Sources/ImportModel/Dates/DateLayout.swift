/// The text of a date in a storage form that is a pattern (``StorageForm/isPattern``).
struct DateLayout: Hashable {
    private enum Zone {
        case none
        case utc
        case offset
    }

    /// Between day and time; nil for a day alone.
    private let separator: UInt8?
    /// Of the fraction of a second: 0, 3, 6 or 9.
    private let digits: Int
    private let zone: Zone

    private init(separator: UInt8?, digits: Int = 0, zone: Zone = .none) {
        self.separator = separator
        self.digits = digits
        self.zone = zone
    }

    /// The layout of a form; nil for one that is no pattern.
    init?(_ form: StorageForm) {
        guard form.isPattern else { return nil }
        let pattern = form.rawValue
        let isDay = form == .day
        self.init(
            separator: isDay ? nil : UInt8(ascii: pattern.contains("'T'") ? "T" : " "),
            digits: pattern.count { $0 == "S" },
            zone: pattern.hasSuffix("'Z'") ? .utc : pattern.hasSuffix("xxx") ? .offset : .none
        )
    }

    /// True if an instant has a time, or milliseconds, that the text does not have.
    func loses(_ instant: Instant) -> Bool {
        if separator == nil { return instant.seconds % 86_400 != 0 || instant.milliseconds != 0 }
        return digits == 0 && instant.milliseconds != 0
    }

    func append(_ instant: Instant, to output: inout [UInt8]) {
        let start = output.count
        instant.append(to: &output, digits: digits)
        guard let separator else { return output.removeLast(output.count - start - 10) }
        output[start + 10] = separator
        if digits == 0 { output.removeLast(5) } else if zone != .utc { output.removeLast() }
        switch zone {
        case .none: break
        case .utc: if digits == 0 { output.append(UInt8(ascii: "Z")) }
        case .offset: output += "+00:00".utf8
        }
    }

    /// The instant of a text in any of these layouts.
    static func instant(of text: String) -> Instant? {
        Array(text.utf8).withUnsafeBufferPointer { buffer in
            guard StorageForm(ofDate: buffer) != nil, let date = ParsedDate(iso8601: ByteView(buffer)) else {
                return nil
            }
            return Instant(seconds: date.clockSeconds - (date.offset ?? 0), nanoseconds: date.nanoseconds)
        }
    }

    /// The forms by their layouts.
    fileprivate static let forms: [DateLayout: StorageForm] = {
        var forms: [DateLayout: StorageForm] = [
            DateLayout(separator: UInt8(ascii: "T"), digits: 3, zone: .utc): .iso8601,
            DateLayout(separator: UInt8(ascii: " "), digits: 3): .sqlite,
        ]
        for form in StorageForm.allCases {
            if let layout = DateLayout(form) { forms[layout] = form }
        }
        return forms
    }()

    /// The form with this layout, or with fewer digits; nil where there is none.
    fileprivate var form: StorageForm? {
        Self.forms[self] ?? (digits == 9 ? Self.forms[DateLayout(separator: separator, digits: 6, zone: zone)] : nil)
    }

    /// The layout that a text has; nil where it is in none of them.
    fileprivate init?(_ text: UnsafeBufferPointer<UInt8>) {
        func areDigits(_ range: Range<Int>) -> Bool { range.allSatisfy { text[$0] &- UInt8(ascii: "0") < 10 } }
        func has(_ byte: Unicode.Scalar, _ place: Int) -> Bool { text[place] == UInt8(ascii: byte) }
        guard text.count >= 10, areDigits(0..<4), has("-", 4), areDigits(5..<7), has("-", 7), areDigits(8..<10) else {
            return nil
        }
        guard text.count > 10 else {
            self.init(separator: nil)
            return
        }
        guard text.count >= 19, has("T", 10) || has(" ", 10), areDigits(11..<13), has(":", 13), areDigits(14..<16),
            has(":", 16), areDigits(17..<19)
        else { return nil }
        var place = 19
        var digits = 0
        if place < text.count, has(".", place) {
            place += 1
            while place < text.count, areDigits(place..<place + 1) { (place, digits) = (place + 1, digits + 1) }
            guard digits > 0 else { return nil }
        }
        let zone: Zone
        switch text.count - place {
        case 0: zone = .none
        case 1 where has("Z", place): zone = .utc
        case 6
        where (has("+", place) || has("-", place)) && areDigits(place + 1..<place + 3) && has(":", place + 3)
            && areDigits(place + 4..<place + 6):
            zone = .offset
        default: return nil
        }
        self.init(separator: text[10], digits: digits == 0 ? 0 : digits <= 3 ? 3 : digits <= 6 ? 6 : 9, zone: zone)
    }
}

extension StorageForm {
    /// The form of a date's text; nil where it has none of them.
    package init?(ofDate text: UnsafeBufferPointer<UInt8>) {
        guard let layout = DateLayout(text), let form = layout.form else { return nil }
        self = form
    }
}
