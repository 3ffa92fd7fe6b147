/// What one format makes of a value.
enum DateReading {
    /// A date.
    case date(ParsedDate)
    /// A date that stands for null.
    case minimumDate
    /// A date outside of the years 0001 to 9999.
    case outOfRange
    /// The value has another form.
    case noFit

    /// A date, or nothing.
    init(_ date: ParsedDate?) {
        self = date.map(DateReading.date) ?? .noFit
    }

    /// The date that is a number of units after the beginning of 1970.
    init(_ number: JSONNumber?, unit: ParsedDate.UnixUnit) {
        guard let number else {
            self = .noFit
            return
        }
        self = ParsedDate(number, unit: unit).map(DateReading.date) ?? .outOfRange
    }

    /// The date in a `$date`.
    init(_ value: MongoDate?) {
        switch value {
        case nil:
            self = .noFit
        case .milliseconds(let number):
            self.init(number, unit: .milliseconds)
        case .text(let text):
            guard text.buffer.contains(UInt8(ascii: "\\")) else {
                self.init(ParsedDate(iso8601: text))
                return
            }
            var plain: [UInt8] = []
            _ = JSONUnescaper.append(text, to: &plain)
            self = plain.withUnsafeBufferPointer { buffer in
                var date = ParsedDate(iso8601: ByteView(buffer))
                date?.canonicalDigits = 0
                return DateReading(date)
            }
        }
    }
}
