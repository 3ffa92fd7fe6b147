/// Dates as a store keeps them, taken for the instants that they are.
package enum StoredDate {
    /// Milliseconds since 1970-01-01T00:00:00Z; nil for what is no date of this storage.
    ///
    /// What is less than a millisecond is cut off.
    /// Those of a `referenceDate` are the nearest, where a program has written more digits.
    package static func milliseconds(of stored: CoercedJSON, storage: StorageForm?) -> Int64? {
        switch (stored, storage ?? .iso8601) {
        case (.text(let text), .iso8601):
            return Array(text.utf8).withUnsafeBufferPointer { buffer in
                guard let date = ParsedDate(iso8601: ByteView(buffer)), date.canonicalDigits == 3 else { return nil }
                return Instant(seconds: date.clockSeconds, nanoseconds: date.nanoseconds)?.unixMilliseconds
            }
        case (.text(let text), .sqlite):
            var bytes = Array(text.utf8)
            guard bytes.count == 23, bytes[10] == UInt8(ascii: " ") else { return nil }
            bytes[10] = UInt8(ascii: "T")
            return milliseconds(of: .text(String(decoding: bytes, as: UTF8.self) + "Z"), storage: .iso8601)
        case (.integer(let seconds), .referenceDate):
            return milliseconds(of: .real(Double(seconds)), storage: .referenceDate)
        case (.real(let seconds), .referenceDate):
            let milliseconds = (seconds * 1_000).rounded()
            return abs(milliseconds) < 1e15 ? Int64(milliseconds) + referenceMilliseconds : nil
        case (.integer(let number), .unixReal), (.integer(let number), .julianDay):
            return milliseconds(of: .real(Double(number)), storage: storage)
        case (.real(let seconds), .unixReal):
            let milliseconds = (seconds * 1_000).rounded()
            return abs(milliseconds) < 1e15 ? Int64(milliseconds) : nil
        case (.real(let day), .julianDay):
            // As SQLite does (<https://www.sqlite.org/lang_datefunc.html>).
            return day >= 0 && day < 5_373_484.5 ? Int64(day * 86_400_000 + 0.5) - julianMilliseconds : nil
        case (.text(let text), let form) where form.isPattern:
            return DateLayout.instant(of: text)?.unixMilliseconds
        case (.integer(let milliseconds), .unixMilliseconds):
            return milliseconds
        case (.integer(let seconds), .unix):
            let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
            return overflow ? nil : milliseconds
        default:
            return nil
        }
    }

    /// From 1970-01-01 to 2001-01-01.
    private static let referenceMilliseconds: Int64 = 978_307_200_000

    /// Seconds since 2001-01-01T00:00:00Z, of milliseconds since 1970.
    static func referenceSeconds(_ milliseconds: Int64) -> Double {
        Double(milliseconds - referenceMilliseconds) / 1_000
    }

    /// From the Julian day 0 to 1970-01-01.
    private static let julianMilliseconds: Int64 = 210_866_760_000_000

    static func julianDay(_ milliseconds: Int64) -> Double { Double(milliseconds + julianMilliseconds) / 86_400_000 }

    /// The instant as `YYYY-MM-DDTHH:MM:SS.SSSZ`, with the digits that the storage has, of a value which that gives back; nil for
    /// others.
    package static func text(of stored: CoercedJSON, storage: StorageForm?) -> String? {
        guard let milliseconds = milliseconds(of: stored, storage: storage), isKept(stored, milliseconds, storage)
        else { return nil }
        return iso8601(stored, storage: storage)
    }

    /// The instant as `YYYY-MM-DDTHH:MM:SS.SSSZ`, with the digits that the storage has; nil for what is no date of this storage, and
    /// outside of the years 1 to 9999.
    package static func iso8601(_ stored: CoercedJSON, storage: StorageForm?) -> String? {
        guard let milliseconds = milliseconds(of: stored, storage: storage),
            let instant = exact(stored, storage) ?? Instant(unixMilliseconds: milliseconds)
        else { return nil }
        var text: [UInt8] = []
        instant.append(to: &text, digits: storage?.fraction ?? 3)
        return String(decoding: text, as: UTF8.self)
    }

    /// The nanoseconds of a date after its milliseconds.
    package static func nanoseconds(of stored: CoercedJSON, storage: StorageForm?) -> Int {
        exact(stored, storage).map { $0.nanoseconds % 1_000_000 } ?? 0
    }

    /// The instant of a text that may have more than milliseconds; nil for others.
    private static func exact(_ stored: CoercedJSON, _ storage: StorageForm?) -> Instant? {
        guard case .text(let text) = stored, let storage, storage.fraction > 3 else { return nil }
        return DateLayout.instant(of: text)
    }

    /// True if the store has an instant as an import writes it; other programs may have written more digits.
    private static func isKept(_ stored: CoercedJSON, _ milliseconds: Int64, _ storage: StorageForm?) -> Bool {
        switch storage {
        case .referenceDate: return stored.realBits == referenceSeconds(milliseconds).bitPattern
        case .unixReal: return stored.realBits == (Double(milliseconds) / 1_000).bitPattern
        case .julianDay: return stored.realBits == julianDay(milliseconds).bitPattern
        default: break
        }
        guard let layout = storage.flatMap(DateLayout.init) else { return true }
        guard case .text(let text) = stored, let instant = DateLayout.instant(of: text) else { return false }
        var written: [UInt8] = []
        layout.append(instant, to: &written)
        return written.elementsEqual(text.utf8)
    }

    /// Appends an instant as `YYYY-MM-DDTHH:MM:SS.SSSZ`, and says whether it has this form: it has in the years 1 to 9999.
    package static func appendISO8601(_ milliseconds: Int64, to output: inout [UInt8]) -> Bool {
        guard let instant = Instant(unixMilliseconds: milliseconds) else { return false }
        instant.append(to: &output)
        return true
    }
}

extension CoercedJSON {
    /// The bits of a double, which tell both zeros apart; nil for other values.
    fileprivate var realBits: UInt64? {
        guard case .real(let number) = self else { return nil }
        return number.bitPattern
    }
}
