/// Dates as a store keeps them, taken for the instants that they are.
package enum StoredDate {
    /// Milliseconds since 1970-01-01T00:00:00Z; nil for what is no date of this storage.
    package static func milliseconds(of stored: CoercedJSON, storage: DateStorage) -> Int64? {
        switch (stored, storage) {
        case (.text(let text), .iso8601):
            return Array(text.utf8).withUnsafeBufferPointer { buffer in
                guard let date = WrittenDate(iso8601: ByteView(buffer)), date.isCanonical else { return nil }
                return Instant(seconds: date.clockSeconds, milliseconds: date.milliseconds)?.unixMilliseconds
            }
        case (.integer(let milliseconds), .unixMilliseconds):
            return milliseconds
        case (.integer(let seconds), .unix):
            let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
            return overflow ? nil : milliseconds
        default:
            return nil
        }
    }

    /// Appends an instant as `YYYY-MM-DDTHH:MM:SS.SSSZ`, and says whether it has this form: it has in the years 1 to 9999.
    package static func appendISO8601(_ milliseconds: Int64, to output: inout [UInt8]) -> Bool {
        guard let instant = Instant(unixMilliseconds: milliseconds) else { return false }
        instant.append(to: &output)
        return true
    }
}
