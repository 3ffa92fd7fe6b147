import TestSupport
import Testing

@testable import ImportModel

struct DateTextTests {
    private func date(_ text: String) -> Coerced { coerce("\"\(text)\"", to: .date) }

    @Test func takesEveryNotation() {
        let rows: [(String, String, CoercionNotes)] = [
            ("2014-10-17T00:54:11.428Z", "2014-10-17T00:54:11.428Z", []),
            ("2014-10-17t00:54:11.428z", "2014-10-17T00:54:11.428Z", []),
            ("2014-10-17 00:54:11Z", "2014-10-17T00:54:11.000Z", []),
            ("2014-10-17T00:54:11", "2014-10-17T00:54:11.000Z", []),
            ("2014-10-17T00:54Z", "2014-10-17T00:54:00.000Z", []),
            ("2014-10-17", "2014-10-17T00:00:00.000Z", []),
            ("20141017", "2014-10-17T00:00:00.000Z", []),
            ("20141017T005411Z", "2014-10-17T00:54:11.000Z", []),
            ("20141017T0054", "2014-10-17T00:54:00.000Z", []),
            ("20141017T005411.5+0200", "2014-10-16T22:54:11.500Z", .timeZoneLost),
            ("2014-10-17T00:54:11,4Z", "2014-10-17T00:54:11.400Z", []),
            ("2014-10-17T00:54:11.4285840", "2014-10-17T00:54:11.428Z", .subMillisecondLost),
            ("2014-10-17T00:54:11.428000000000Z", "2014-10-17T00:54:11.428Z", []),
            ("2014-10-17T00:54:11.9999Z", "2014-10-17T00:54:11.999Z", .subMillisecondLost),
            ("2009-04-01T00:00:00.000-0700", "2009-04-01T07:00:00.000Z", .timeZoneLost),
            ("2009-04-01T00:00:00+05:30", "2009-03-31T18:30:00.000Z", .timeZoneLost),
            ("2009-04-01T00:00:00+05", "2009-03-31T19:00:00.000Z", .timeZoneLost),
            ("2009-04-01T00:00:00+00:00", "2009-04-01T00:00:00.000Z", []),
            ("2009-04-01T00:00:00-00:00", "2009-04-01T00:00:00.000Z", []),
            ("2009-12-31T23:59:59-23:59", "2010-01-01T23:58:59.000Z", .timeZoneLost),
            ("2009-12-31T24:00", "2010-01-01T00:00:00.000Z", []),
            ("2009-12-31T24:00:00.000Z", "2010-01-01T00:00:00.000Z", []),
            ("1998-12-31T23:59:60Z", "1999-01-01T00:00:00.000Z", .leapSecond),
            ("1990-12-31T15:59:60.5-08:00", "1991-01-01T00:00:00.500Z", [.leapSecond, .timeZoneLost]),
            ("0001-01-01", "0001-01-01T00:00:00.000Z", []), ("9999-12-31", "9999-12-31T00:00:00.000Z", []),
            ("2000-02-29", "2000-02-29T00:00:00.000Z", []), ("2012-02-29", "2012-02-29T00:00:00.000Z", []),
        ]
        for (text, expected, notes) in rows {
            let coerced = date(text)
            #expect(coerced.outcome == .text(expected), "\(text)")
            #expect(coerced.notes == (text == expected ? notes : notes.union(.respelled)), "\(text)")
        }
    }

    @Test func refusesDaysAndTimesThatThereAreNot() {
        for text in [
            "2013-02-29", "1900-02-29", "2014-04-31", "2014-13-01", "2014-00-01", "2014-01-00", "2014-01-32",
            "0000-01-01",
            "2014-10-17T25:00:00Z", "2014-10-17T24:00:01Z", "2014-10-17T24:00:00.001Z", "2014-10-17T24:00:00.0001Z",
            "2014-10-17T00:60:00Z", "2014-10-17T00:00:61Z", "2014-10-17T00:00:60Z", "1998-12-31T23:59:60+01:00",
            "2014-10-17T00:00:00+24:00", "2014-10-17T00:00:00+00:60", "9999-12-31T23:59:60Z",
        ] {
            #expect(date(text).outcome == .error(.wrongForm), "\(text)")
        }
        for text in ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01", "9999-12-31T24:00:00Z"] {
            #expect(date(text).outcome == .error(.outOfRange), "\(text)")
        }
    }

    @Test func refusesOtherNotations() {
        let valid = "2014-10-17T00:54:11.428+02:00"
        // Whatever is broken off is no date, except where that leaves a shorter notation.
        let shorter = [10, 16, 19, 21, 22, 23, 26]
        for count in 0..<valid.count where !shorter.contains(count) {
            #expect(date(String(valid.prefix(count))).outcome == .error(.wrongForm), "\(valid.prefix(count))")
        }
        for text in [
            "2014-10-17T", "2014-10-17Z", "2014-10-17T00", "2014-10-17T00:54:", "2014-10-17T00:54:11.Z", "2014-1-17",
            "14-10-17", "2014/10/17", "2014-1017", "201410-17", "2014-10-17T00:5411", "2014-10-17T00:54:11ZZ",
            "2014-10-17T00:54:11Z ago", "2014-10-17  00:54", "2014-10-17T00:54:11  +0200",
            "2014-10-17T00:54:11 CET", "2014-10-17T00:54:11[UTC]", "2014-10-17T00:54:11Z[]",
            "2014-10-17T00:54:11+01:00:60",
            "2014101700541", "2014-W42-5", "2014-290",
            "2014",
            "2014-10", "+2014-10-17", "２014-10-17", "Jun 12 1998", "2014-10-17T00:54:11.5.5Z", "2014-10-17T00:54.5Z",
        ] {
            #expect(date(text).outcome == .error(.wrongForm), "\(text)")
        }
    }

    @Test func neverStopsAtAByteThatIsOutOfPlace() {
        let valid = "2014-10-17T00:54:11.428+02:00"
        for index in valid.utf8.indices {
            for byte in [UInt8(0x20), 0x2D, 0x2E, 0x30, 0x39, 0x3A, 0x5A, 0x54, 0x7E] {
                var bytes = Array(valid.utf8)
                bytes[valid.utf8.distance(from: valid.utf8.startIndex, to: index)] = byte
                _ = date(String(decoding: bytes, as: UTF8.self))
            }
        }
    }

    /// Every day's date, counted up day by day with the calendar's rules.
    private struct DayCounter {
        var year = 1
        var month = 1
        var day = 1

        var length: Int {
            switch month {
            case 2: year % 400 == 0 || year % 4 == 0 && year % 100 != 0 ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        }

        var text: String { pad(year, 4) + "-" + pad(month, 2) + "-" + pad(day, 2) }

        mutating func advance() {
            day += 1
            if day > length { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }

        private func pad(_ number: Int, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: width - digits.count) + digits
        }
    }

    @Test func countsDaysAsTheCalendarDoes() {
        var counter = DayCounter()
        var day = 0
        while counter.year < 10_000 {
            // All days of the centuries' turns and of one leap cycle, the ends of months elsewhere.
            let isWatched =
                counter.year % 100 < 2 || counter.year > 1990 && counter.year < 2010 || counter.day == counter.length
            if isWatched, counter.year % 3 != 0 || counter.month < 4 {
                let count = withView(counter.text) { CalendarDay($0)?.daysSinceYearOne }
                #expect(count == day)
                let date = CalendarDay.date(daysSinceYearOne: day)
                #expect(date.year == counter.year && date.month == counter.month && date.day == counter.day)
            }
            if counter.month == 2, counter.day == counter.length {
                var impossible = counter
                impossible.day += 1
                #expect(withView(impossible.text) { CalendarDay($0) == nil })
            }
            counter.advance()
            day += 1
        }
        #expect(day == 3_652_059)
    }

    @Test func movesOffsetsAcrossDaysAndYears() {
        // Days of the turn of the century, by hand; every quarter of an hour of offset moves the clock by as much.
        var generator = SeededGenerator(seed: 6)
        let days = ["1999-12-30", "1999-12-31", "2000-01-01", "2000-01-02", "2000-01-03"]
        func pad(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
        for _ in 0..<2_000 {
            let minute = Int.random(in: 1_440..<3 * 1_440, using: &generator)
            let offset = Int.random(in: -1_439...1_439, using: &generator)
            let utc = minute - offset
            guard utc >= 0, utc < days.count * 1_440 else { continue }
            let zone = (offset < 0 ? "-" : "+") + pad(abs(offset) / 60) + ":" + pad(abs(offset) % 60)
            let text = "\(days[minute / 1_440])T\(pad(minute / 60 % 24)):\(pad(minute % 60)):07\(zone)"
            let expected = "\(days[utc / 1_440])T\(pad(utc / 60 % 24)):\(pad(utc % 60)):07.000Z"
            #expect(date(text).outcome == .text(expected), "\(text)")
        }
    }

    @Test func knowsInstantsInUTC() {
        for text in [
            "2014-10-17T00:54:11Z", "2014-10-17T00:54:11.4Z", "2014-10-17T00:54:11.42Z", "2014-10-17T00:54:11.428Z",
            "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z", "2014-10-17T00:54:11+00:00", "2014-10-17 00:54:11Z",
            "2014-10-17 00:54:11 UTC", "2014-10-17 00:54:11 +0000", "2014-10-17T00:54:11.500000+00:00",
            "2014-10-17T00:54:11Z[UTC]", "2014-10-17T00:54:11,4Z", "2014-10-17T00:54Z", "2014-10-17t00:54:11z",
            "2014-10-17T00:54:11-00:00", "2014-10-17 00:54:11 -0000", "20141017T005411.000Z", "20141017005411Z",
            "2014-10-17T005411.000Z", "2014-10-17T24:00:00Z",
        ] {
            #expect(withView(text) { fraction(ofUTCInstant: $0) } == 3, "\(text)")
        }
        for text in [
            "", "2014-10-17", "2014-10-17T00:54:11", "2014-10-17T00:54:11.4285000001Z",
            "2014-10-17T00:54:11.Z", "2014-10-17T00:54:11+01:00", "2014-10-17T00:54:11+00:00:01", "20141017",
            "1998-12-31T23:59:60Z", "2013-02-29T00:00:00Z", "2014-10-17T00:54.1111Z",
        ] {
            #expect(withView(text) { fraction(ofUTCInstant: $0) } == nil, "\(text)")
        }
    }
}
