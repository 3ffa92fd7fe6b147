/// A form in which dates are written.
package enum DateFormat: Sendable, Hashable {
    /// ISO 8601, with all of RFC 3339: `2014-10-17T00:54:11.428+02:00`, a date only, the basic format.
    ///
    /// Also what PHP makes of a `DateTime`: `{"date": …, "timezone_type": …, "timezone": …}`.
    case iso8601
    /// What .NET's older serializers write: `/Date(1198908717056-0700)/`.
    ///
    /// The number is the instant in milliseconds, the offset only the writer's zone. The minimum dates
    /// -62135596800000 and -59011459200000 stand for null.
    case dotnet
    /// A number, or a string that is one: seconds since 1970-01-01T00:00:00Z, fractions allowed.
    case unix
    /// A number, or a string that is one: milliseconds since 1970-01-01T00:00:00Z, fractions allowed.
    case unixMilliseconds
    /// The same in microseconds, as journald has them.
    case unixMicroseconds
    /// The same in nanoseconds, as OpenTelemetry has them.
    case unixNanoseconds
    /// A number: seconds since 2001-01-01T00:00:00Z, fractions allowed, as Swift and Core Data have them.
    case referenceDate
    /// An array of integers, as Jackson writes a date of Java: year, month, day, and then hour and minute, second, nanosecond.
    case array
    /// MongoDB's extended JSON: `{"$date": "2009-04-01T00:00:00Z"}`, `{"$date": 1238544000000}` and
    /// `{"$date": {"$numberLong": "1238544000000"}}`.
    case mongo
    /// Dates of mail and HTTP (RFC 2822, with its obsolete forms): `Fri, 21 Nov 1997 09:55:06 -0600`.
    ///
    /// Of the obsolete zones those are read that have one meaning: `UT`, `GMT`, `Z` and the eight of North America.
    case rfc2822
    /// A Unicode date pattern (UTS #35), as `DateFormatter` takes it: `dd/MM/yyyy`.
    ///
    /// Read are `y` `yy` `yyyy`, `M` `MM` `MMM` `MMMM`, `d` `dd`, `E` to `EEEE`, `H` `HH`, `h` `hh` with `a`, `m` `mm`,
    /// `s` `ss`, `S`…, `Z`, `ZZZZZ`, `X` to `XXX`, `x` to `xxx`, and literals, letters in single quotes. Names are English, in
    /// any case. One letter reads any number of digits that makes sense, more letters just as many digits. `yy` is one
    /// of the years 1969 to 2068, as in POSIX. What is not in the pattern is the first of its kind: January, the 1st,
    /// midnight.
    case pattern(String)

    /// The names that are no patterns.
    static let keywords = named.map(\.name)
    private static let named: [DateFormat] = [
        .iso8601, .dotnet, .unix, .unixMilliseconds, .unixMicroseconds, .unixNanoseconds, .referenceDate, .array,
        .mongo, .rfc2822,
    ]

    /// The format with this name; a name that is none of the keywords is a pattern.
    ///
    /// - Throws: `DateFormatError` if it is neither.
    package init(_ name: String) throws(DateFormatError) {
        if let format = Self.named.first(where: { $0.name == name }) {
            self = format
        } else {
            _ = try DatePattern(name)
            self = .pattern(name)
        }
    }

    /// The keyword, or the pattern itself.
    package var name: String {
        switch self {
        case .iso8601: "iso8601"
        case .dotnet: "dotnet"
        case .unix: "unix"
        case .unixMilliseconds: "unixMilliseconds"
        case .unixMicroseconds: "unixMicroseconds"
        case .unixNanoseconds: "unixNanoseconds"
        case .referenceDate: "referenceDate"
        case .array: "array"
        case .mongo: "mongo"
        case .rfc2822: "rfc2822"
        case .pattern(let pattern): pattern
        }
    }
}
