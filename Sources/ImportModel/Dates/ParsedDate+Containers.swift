import Synchronization

extension ParsedDate {
    /// Reads an array of integers: year, month and day, then perhaps hour and minute, second, nanosecond; nil if it is anything else.
    init?(array: ByteView) {
        var fields: [Int] = []
        for field in array[1..<array.count - 1].buffer.split(
            separator: UInt8(ascii: ","),
            omittingEmptySubsequences: false
        ) {
            let digits = field.filter { !JSONSyntax.isWhiteSpace($0) }
            guard fields.count < 7, digits.count <= 9, let number = Int(String(decoding: digits, as: UTF8.self)),
                number >= 0
            else { return nil }
            fields.append(number)
        }
        guard fields.count == 3 || fields.count >= 5,
            let days = CalendarDay.daysSinceYearOne(year: fields[0], month: fields[1], day: fields[2])
        else { return nil }
        fields += Array(repeating: 0, count: 7 - fields.count)
        guard fields[3] < 24, fields[4] < 60, fields[5] < 60 else { return nil }
        self.init(
            clockSeconds: days * 86_400 + fields[3] * 3_600 + fields[4] * 60 + fields[5],
            nanoseconds: fields[6]
        )
    }

    /// Reads what PHP makes of a `DateTime`, `{"date": …, "timezone_type": …, "timezone": …}`; nil if it is anything else.
    init?(php object: ByteView) {
        var (members, values) = (JSONMembers(object), [String: JSONToken]())
        while let (key, value) = members.next() {
            guard values.count < 3, !value.hasEscapes || value.kind == .string else { return nil }
            values[String(decoding: key.buffer, as: UTF8.self)] = value
        }
        guard values.count == 3, let date = values["date"], date.kind == .string, let type = values["timezone_type"],
            type.kind == .number, let zone = values["timezone"], zone.kind == .string
        else { return nil }
        var name: [UInt8] = []
        _ = JSONUnescaper.append(zone.bytes, to: &name)
        guard let zone = PHPZones.rules(String(decoding: name, as: UTF8.self)) else { return nil }
        self.init(iso8601: date.bytes)
        guard offset == nil else { return nil }
        offset = zone.offset(atLocal: clockSeconds)
        hasZoneName = type.bytes.buffer.elementsEqual("3".utf8) && name != Array("UTC".utf8)
        canonicalDigits = 0
    }
}

/// The zones that were named, which take long to look up.
private enum PHPZones {
    private static let known = Mutex<[String: ZoneRules?]>([:])
    /// More names than this are no zones.
    private static let most = 1_000

    static func rules(_ name: String) -> ZoneRules? {
        known.withLock { known in
            if let rules = known[name] { return rules }
            let rules = try? ZoneRules(name)
            if known.count < most { known[name] = .some(rules) }
            return rules
        }
    }
}
