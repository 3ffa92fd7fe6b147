/// Dates as a store keeps them, taken for the instants that they are.
package enum StoredDate {
    /// Milliseconds since 1970-01-01T00:00:00Z; nil for what is no date of this storage.
    ///
    /// Those of a `referenceDate` are the nearest, where a program has written more digits.
    package static func milliseconds(of stored: CoercedJSON, storage: StorageForm?) -> Int64? {
        switch (stored, storage ?? .iso8601) {
        case (.text(let text), .iso8601):
            return Array(text.utf8).withUnsafeBufferPointer { buffer in
                guard let date = ParsedDate(iso8601: ByteView(buffer)), date.isCanonical else { return nil }
                return Instant(seconds: date.clockSeconds, milliseconds: date.milliseconds)?.unixMilliseconds
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

    /// The instant as `YYYY-MM-DDTHH:MM:SS.SSSZ`, of a value which that gives back; nil for others.
    package static func text(of stored: CoercedJSON, storage: StorageForm?) -> String? {
        var text: [UInt8] = []
        guard let milliseconds = milliseconds(of: stored, storage: storage), appendISO8601(milliseconds, to: &text),
            storage != .referenceDate || stored.realBits == referenceSeconds(milliseconds).bitPattern
        else { return nil }
        return String(decoding: text, as: UTF8.self)
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
