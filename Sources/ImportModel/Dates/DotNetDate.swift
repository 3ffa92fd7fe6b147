/// Dates as .NET's `JavaScriptSerializer` and `DataContractJsonSerializer` write them: `/Date(1198908717056-0700)/`.
package enum DotNetDate {
    /// The milliseconds that stand for null: `DateTime.MinValue` (0001-01-01), and 0100-01-01, what scripts make of it.
    static let minimumMilliseconds: [Int64] = [-62_135_596_800_000, -59_011_459_200_000]

    /// The text for an instant, in milliseconds since 1970-01-01T00:00:00Z.
    ///
    /// JSON allows `/` to be written as `\/`; old readers of .NET want it so, and anyone who writes the JSON does that.
    package static func text(ofMilliseconds milliseconds: Int64) -> String { "/Date(\(milliseconds))/" }

    /// Reads such a text; a backslash that is left before its slashes does no harm.
    static func read(_ text: ByteView) -> DateReading {
        var cursor = DateCursor(text)
        _ = cursor.take(UInt8(ascii: "\\"))
        guard cursor.takeExactly("/Date(") else { return .noFit }
        let isNegative = cursor.take(UInt8(ascii: "-"))
        guard let digits = cursor.takeNumber(1...17) else { return .noFit }
        var isTooLong = false
        while cursor.takeNumber(1...1) != nil { isTooLong = true }
        var offset = 0
        if !cursor.take(UInt8(ascii: ")")) {
            guard let value = cursor.takeOffset(colon: .none), cursor.take(UInt8(ascii: ")")) else { return .noFit }
            offset = value
        }
        _ = cursor.take(UInt8(ascii: "\\"))
        guard cursor.take(UInt8(ascii: "/")), cursor.isAtEnd else { return .noFit }
        let milliseconds = Int64(isNegative ? -digits : digits)
        guard !isTooLong else { return .outOfRange }
        if minimumMilliseconds.contains(milliseconds) { return .minimumDate }
        guard let instant = Instant(unixMilliseconds: milliseconds) else { return .outOfRange }
        return .date(
            ParsedDate(
                clockSeconds: instant.seconds + offset,
                nanoseconds: instant.nanoseconds,
                offset: offset
            )
        )
    }
}
