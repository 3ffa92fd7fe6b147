import ImportModel

/// Numbers for people, the same in every locale.
enum NumberText {
    /// Digits in groups: `1,234,567`.
    static func grouped(_ number: Int64) -> String { number.grouped }

    /// The same without its fraction.
    static func grouped(whole number: Double) -> String { grouped(Int64(limited(number))) }

    /// A number and its noun: `1,234,567 records`, `1 record`.
    static func counted(_ number: Int64, _ singular: String, _ plural: String? = nil) -> String {
        grouped(number) + " " + (number == 1 ? singular : plural ?? singular + "s")
    }

    /// Decimal units, three or four digits: `999 B`, `12.3 MB`, `1.25 GB`.
    static func bytes(_ count: Double) -> String {
        var value = limited(count)
        guard value >= 1000 else { return "\(Int64(value)) B" }
        var unit = 0
        let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
        // 999.5 would be printed as 1000.
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return fixed(value, digits: value < 9.995 ? 2 : value < 99.95 ? 1 : 0) + " " + units[unit]
    }

    static func bytes(_ count: Int64) -> String { bytes(Double(count)) }

    /// Whole percent, rounded down: 100 only when it is all done.
    static func percent(_ done: Int64, of total: Int64) -> String {
        guard done < total else { return "100%" }
        return "\(min(max(Int(Double(done) / Double(total) * 100), 0), 99))%"
    }

    /// A time span: `0:07`, `12:34`, `1:02:03`.
    static func clock(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 360_000 else { return "--:--" }
        let total = Int(seconds.rounded(.up))
        let (hours, minutes, rest) = (total / 3600, total / 60 % 60, total % 60)
        return hours > 0
            ? "\(hours):\(twoDigits(minutes)):\(twoDigits(rest))"
            : "\(minutes):\(twoDigits(rest))"
    }

    /// A time span in words: `0.42 s`, `12.3 s`, `1:02:03`.
    static func seconds(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0 else { return "0 s" }
        if seconds < 9.995 { return fixed(seconds, digits: 2) + " s" }
        return seconds < 99.95 ? fixed(seconds, digits: 1) + " s" : clock(seconds)
    }

    /// The number as far as an `Int64` goes; nothing for a NaN.
    private static func limited(_ number: Double) -> Double {
        number.isNaN ? 0 : min(max(number, 0), Double(Int64.max).nextDown)
    }

    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    /// `value`, below 10^15, with this many digits after the point.
    private static func fixed(_ value: Double, digits: Int) -> String {
        var scale: Int64 = 1
        for _ in 0..<digits { scale *= 10 }
        let scaled = Int64((value * Double(scale)).rounded())
        guard digits > 0 else { return String(scaled) }
        let fraction = String(scaled % scale)
        return "\(scaled / scale)." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
