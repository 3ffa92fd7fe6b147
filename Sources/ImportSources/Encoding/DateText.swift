import Foundation
import ImportModel

/// Dates as texts in ISO 8601 that give back the very same `Date`.
///
/// A `Date` is a `Double` of seconds since 2001, which has more digits than the milliseconds of a stored date. Where
/// milliseconds give it back, the text has three digits after the second, as stored dates have; else it has as many as it
/// takes, and at least four of them count.
package enum DateText {
    /// So many digits after the second are tried at most; the least `Double` of today's dates has 23.
    private static let mostDigits = 40

    /// The text `YYYY-MM-DDTHH:MM:SS.SSS…Z`; nil outside of the years 1 to 9999, where there is none.
    package static func text(of date: Date) -> String? {
        let time = date.timeIntervalSinceReferenceDate
        guard abs(time) < 1e12 else { return nil }
        let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
        if self.date(milliseconds: Int64(milliseconds)) == date { return stored(Int64(milliseconds)) }
        for digits in 6...mostDigits {
            let number = Self.text(of: abs(time), digits: digits)
            guard Double(number) == abs(time), let point = number.firstIndex(of: "."),
                var seconds = Int64(number[..<point])
            else { continue }
            var fraction = number[number.index(after: point)...].utf8.map { $0 - UInt8(ascii: "0") }
            guard let last = fraction.lastIndex(where: { $0 != 0 }), last >= 3 else { continue }
            if time < 0 {
                complement(&fraction)
                seconds = -seconds - 1
            }
            let unix = seconds + Int64(Date.timeIntervalBetween1970AndReferenceDate)
            guard let whole = stored(unix * 1_000) else { return nil }
            return whole.dropLast(4) + fraction.map(String.init).joined() + "Z"
        }
        return nil
    }

    /// The date that `text(of:)` has made a text of; nil for any other text.
    package static func date(of text: String) -> Date? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 24, bytes.count <= 24 + mostDigits, bytes[19] == UInt8(ascii: "."),
            bytes.last == UInt8(ascii: "Z")
        else { return nil }
        var fraction = bytes[20..<bytes.count - 1].map { $0 &- UInt8(ascii: "0") }
        let whole = String(decoding: bytes[..<19], as: UTF8.self)
        guard fraction.allSatisfy({ $0 < 10 }),
            let milliseconds = StoredDate.milliseconds(
                of: .text(fraction.count == 3 ? text : whole + ".000Z"),
                storage: .iso8601
            )
        else { return nil }
        if fraction.count == 3 { return date(milliseconds: milliseconds) }
        var seconds = milliseconds / 1_000 - Int64(Date.timeIntervalBetween1970AndReferenceDate)
        let isNegative = seconds < 0
        if isNegative {
            guard fraction.contains(where: { $0 != 0 }) else { return nil }
            complement(&fraction)
            seconds = -seconds - 1
        }
        guard let time = Double("\(seconds)." + fraction.map(String.init).joined()) else { return nil }
        return Date(timeIntervalSinceReferenceDate: isNegative ? -time : time)
    }

    /// A number below 1e12 with this many digits after the point, rounded from its exact value: Foundation gives no more digits
    /// than tell it from other numbers.
    private static func text(of number: Double, digits: Int) -> String {
        var text = [CChar](repeating: 0, count: 16 + mostDigits)
        let count = withVaList([Int32(digits), number]) { vsnprintf(&text, text.count, "%.*f", $0) }
        return String(decoding: text.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The date of a stored date's milliseconds since 1970.
    package static func date(milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
    }

    private static func stored(_ milliseconds: Int64) -> String? {
        var output: [UInt8] = []
        guard StoredDate.appendISO8601(milliseconds, to: &output) else { return nil }
        return String(decoding: output, as: UTF8.self)
    }

    /// What is missing to a whole: 0.25 for 0.75; the digits are not all 0.
    private static func complement(_ digits: inout [UInt8]) {
        guard let last = digits.lastIndex(where: { $0 != 0 }) else { return }
        for index in 0...last { digits[index] = (index == last ? 10 : 9) - digits[index] }
    }
}
