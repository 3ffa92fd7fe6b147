import Foundation

/// By how much a place's clocks were and will be ahead of UTC.
///
/// The rules are Foundation's. Those of 1900 to 2099 are gathered once, so that a date costs a search in an array.
struct ZoneRules: Sendable {
    /// Where the clocks of each period between two changes stop, in their own time; never less than the one before.
    private var localEnds: [Int] = []
    /// When each period begins, in seconds since 0001-01-01T00:00:00Z.
    private var starts: [Int] = []
    /// By how many seconds the clocks are ahead of UTC in each period.
    private var offsets: [Int] = []
    /// For the years outside; nil for an offset that never changes.
    private let zone: TimeZone?
    /// The offset of a zone that is no more than that.
    private let fixedOffset: Int

    /// 1900-01-01 and 2100-01-01.
    private static let gathered = 693_595 * 86_400..<766_644 * 86_400

    static let utc = ZoneRules(offset: 0)

    private init(offset: Int) {
        fixedOffset = offset
        zone = nil
    }

    private init(_ zone: TimeZone) {
        self.zone = zone
        fixedOffset = 0
        gather(zone)
    }

    /// The zone with this name: one of the IANA database (`Europe/Oslo`), `UTC` or `Z`, or an offset (`+02:00`).
    ///
    /// - Throws: `DateFormatError` for a name that Foundation does not know.
    init(_ name: String) throws(DateFormatError) {
        if name == "UTC" || name == "GMT" || name == "Z" {
            self = .utc
            return
        }
        let offset = Array(name.utf8).withUnsafeBufferPointer { buffer -> Int? in
            buffer.isEmpty ? nil : ParsedDate.zoneOffset(ByteView(buffer), from: 0)
        }
        if let offset {
            self.init(offset: offset)
            return
        }
        let isName = name.utf8.allSatisfy { byte in
            byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "z")
                || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || "/_-+".utf8.contains(byte)
        }
        guard isName, let zone = TimeZone(identifier: name) else {
            throw DateFormatError(
                name,
                reason: "no time zone of this name; give one like Europe/Oslo, or an offset like +02:00"
            )
        }
        self.init(zone)
    }

    /// By how many seconds clocks that show this time are ahead of UTC.
    ///
    /// Where they show it twice it is the first time that counts. Where they never show it, because they were put
    /// forward, it is taken to be what they would have shown had they not been: that moves the time forward by the gap.
    ///
    /// - Parameter local: seconds since 0001-01-01T00:00:00 on these clocks.
    func offset(atLocal local: Int) -> Int {
        guard let zone else { return fixedOffset }
        // Two days are more than any clock is from UTC.
        guard local > Self.gathered.lowerBound + 172_800, local < Self.gathered.upperBound - 172_800 else {
            return Self.offset(atLocal: local, in: zone)
        }
        var low = 0
        var high = localEnds.count - 1
        while low < high {
            let middle = (low + high) / 2
            if local < localEnds[middle] { high = middle } else { low = middle + 1 }
        }
        // Before the period begins: in the gap before it.
        return low > 0 && local < starts[low] + offsets[low] ? offsets[low - 1] : offsets[low]
    }

    /// The same for any year, asking Foundation.
    private static func offset(atLocal local: Int, in zone: TimeZone) -> Int {
        let before = offset(at: local - 86_400, in: zone)
        if offset(at: local - before, in: zone) == before { return before }
        let after = offset(at: local + 86_400, in: zone)
        return offset(at: local - after, in: zone) == after ? after : before
    }

    private static func offset(at instant: Int, in zone: TimeZone) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(instant - Instant.secondsBeforeUnix)))
    }

    private mutating func gather(_ zone: TimeZone) {
        var start = Self.gathered.lowerBound
        while true {
            let offset = Self.offset(at: start, in: zone)
            var end = Self.nextChange(after: start, in: zone)
            // A change that was not announced.
            if Self.offset(at: end - 1, in: zone) != offset {
                var (low, high) = (start, end - 1)
                while high - low > 1 {
                    let middle = low + (high - low) / 2
                    if Self.offset(at: middle, in: zone) == offset { low = middle } else { high = middle }
                }
                end = high
            }
            starts.append(start)
            offsets.append(offset)
            localEnds.append(max(end + offset, localEnds.last ?? .min))
            guard end < Self.gathered.upperBound else { return }
            start = end
        }
    }

    /// The next second after which the clocks change, at most the end of what is gathered.
    private static func nextChange(after start: Int, in zone: TimeZone) -> Int {
        let date = Date(timeIntervalSince1970: Double(start - Instant.secondsBeforeUnix))
        guard let next = zone.nextDaylightSavingTimeTransition(after: date) else { return gathered.upperBound }
        let seconds = next.timeIntervalSince1970.rounded(.up)
        guard seconds < Double(gathered.upperBound - Instant.secondsBeforeUnix) else { return gathered.upperBound }
        return max(Int(seconds) + Instant.secondsBeforeUnix, start + 1)
    }
}
