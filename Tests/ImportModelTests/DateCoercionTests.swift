import TestSupport
import Testing

@testable import ImportModel

struct DateCoercionTests {
    private func outcome(_ json: String, _ dates: DateCoercion) -> Outcome { coerce(json, with: dates).outcome }

    @Test func triesFormatsInTheirOrder() throws {
        let dates = try DateCoercion("unix", "dd/MM/yyyy", "MM/dd/yyyy", "mongo", "iso8601")
        #expect(outcome("86400", dates) == .text("1970-01-02T00:00:00.000Z"))
        #expect(outcome(#""86400""#, dates) == .text("1970-01-02T00:00:00.000Z"))
        #expect(outcome(#""03/04/2014""#, dates) == .text("2014-04-03T00:00:00.000Z"))
        #expect(outcome(#""03/14/2014""#, dates) == .text("2014-03-14T00:00:00.000Z"))
        #expect(outcome(#"{"$date":1}"#, dates) == .text("1970-01-01T00:00:00.001Z"))
        // Read as seconds, since that is named first.
        #expect(outcome(#""20141017""#, dates) == .text("1970-08-22T02:43:37.000Z"))
        #expect(outcome(#""2014-10-17""#, dates) == .text("2014-10-17T00:00:00.000Z"))
        #expect(outcome(#""17.10.2014""#, dates) == .error(.wrongForm))
    }

    @Test func saysWhichValuesNoFormatTakes() throws {
        let text = try DateCoercion("iso8601")
        let number = try DateCoercion("unix")
        let object = try DateCoercion("mongo")
        for json in ["true", "[]"] {
            #expect(outcome(json, text) == .error(.wrongKind))
            #expect(outcome(json, number) == .error(.wrongKind))
        }
        #expect(outcome("1", text) == .error(.wrongKind))
        #expect(outcome("1", object) == .error(.wrongKind))
        #expect(outcome("{}", text) == .error(.wrongKind))
        #expect(outcome("{}", object) == .error(.wrongForm))
        #expect(outcome(#""x""#, number) == .error(.wrongForm))
        #expect(outcome("null", text) == .null)
        #expect(
            coerce(#""x""#, with: number).error == CoercionError(code: .wrongForm, expected: "date", found: "string")
        )
    }

    @Test func keepsWhatTheStorageHolds() throws {
        let rows: [(String, StorageForm, Outcome, CoercionNotes)] = [
            (#""1970-01-02T00:00:00.500Z""#, .unix, .integer(86_400), .digitsLost),
            (#""1970-01-02T00:00:00.5001Z""#, .unix, .integer(86_400), [.digitsLost, .subMillisecondLost]),
            (#""1969-12-31T23:59:59.500Z""#, .unix, .integer(-1), .digitsLost),
            (#""1970-01-02T00:00:00Z""#, .unix, .integer(86_400), []),
            (#""1970-01-02T00:00:00.500Z""#, .unixMilliseconds, .integer(86_400_500), []),
            (#""1969-12-31T23:59:59.500Z""#, .unixMilliseconds, .integer(-500), []),
            (#""0001-01-01""#, .unixMilliseconds, .integer(-62_135_596_800_000), []),
            (#""9999-12-31T23:59:59.999Z""#, .unixMilliseconds, .integer(253_402_300_799_999), []),
            (#""2024-01-02T03:04:05.678Z""#, .sqlite, .text("2024-01-02 03:04:05.678"), []),
            (
                #""2024-01-02 03:04:05.6789+01:00""#, .sqlite, .text("2024-01-02 02:04:05.678"),
                [.timeZoneLost, .subMillisecondLost]
            ),
            (#""0001-01-01""#, .sqlite, .text("0001-01-01 00:00:00.000"), []),
            (#""2001-01-01""#, .referenceDate, .real(0), []),
            (#""2000-12-31T23:59:59.999Z""#, .referenceDate, .real(-0.001), []),
            (#""9999-12-31T23:59:59.999Z""#, .referenceDate, .real(252_423_993_599.999), []),
        ]
        for (json, storage, expected, notes) in rows {
            let coerced = coerce(json, with: try DateCoercion("iso8601", storage: storage))
            #expect(coerced.outcome == expected, "\(json)")
            #expect(coerced.notes == notes, "\(json)")
        }
        let canonical = #""2014-10-17T00:54:11.428Z""#
        #expect(coerce(canonical, with: .iso8601).isVerbatim)
        #expect(coerce(canonical, with: try DateCoercion("iso8601", isWallClock: true)).isVerbatim)
        #expect(!coerce(#""2014-10-17T00:54:11Z""#, with: .iso8601).isVerbatim)
    }

    @Test func takesNumbersWithoutRoundingThem() throws {
        let rows: [(String, String, Outcome, CoercionNotes)] = [
            ("0.0009999999999999999999999999", "unix", .text("1970-01-01T00:00:00.000Z"), .subMillisecondLost),
            ("-0.0000000000000000000000001", "unix", .text("1969-12-31T23:59:59.999Z"), .subMillisecondLost),
            ("1413507251.42800000000000000000000000000000000000", "unix", .text("2014-10-17T00:54:11.428Z"), []),
            ("1.413507251428E9", "unix", .text("2014-10-17T00:54:11.428Z"), []),
            ("253402300799.999", "unix", .text("9999-12-31T23:59:59.999Z"), []),
            ("253402300799.9999999999999999", "unix", .text("9999-12-31T23:59:59.999Z"), .subMillisecondLost),
            ("253402300800", "unix", .error(.outOfRange), []),
            ("-62135596800", "unix", .text("0001-01-01T00:00:00.000Z"), []),
            ("-62135596800.0000000001", "unix", .error(.outOfRange), []), ("1e400", "unix", .error(.outOfRange), []),
            ("1e999999999999999999999", "unix", .error(.outOfRange), []),
            ("-0e99", "unix", .text("1970-01-01T00:00:00.000Z"), []),
            ("1e-999999999999999999999", "unix", .text("1970-01-01T00:00:00.000Z"), .subMillisecondLost),
            ("9223372036854775808", "unixMilliseconds", .error(.outOfRange), []),
            ("1413507251428.5", "unixMilliseconds", .text("2014-10-17T00:54:11.428Z"), .subMillisecondLost),
            (#"" 12 ""#, "unix", .text("1970-01-01T00:00:12.000Z"), [.trimmed, .kindChanged]),
            (#""+12""#, "unix", .error(.wrongForm), []), (#""0x12""#, "unix", .error(.wrongForm), []),
            (#""012""#, "unix", .error(.wrongForm), []), (#""1e""#, "unix", .error(.wrongForm), []),
            ("\"\"", "unix", .error(.wrongForm), []),
        ]
        for (json, format, expected, notes) in rows {
            let coerced = coerce(json, with: try DateCoercion(format))
            #expect(coerced.outcome == expected, "\(json)")
            #expect(coerced.notesButSpelling == notes, "\(json)")
        }
    }

    @Test func readsAndWritesTheDatesOfDotNet() throws {
        let dates = try DateCoercion("dotnet")
        let rows: [(String, Outcome, CoercionNotes)] = [
            (#""\/Date(836438400000)\/""#, .text("1996-07-04T00:00:00.000Z"), []),
            (#""/Date(1198908717056-0700)/""#, .text("2007-12-29T06:11:57.056Z"), .timeZoneLost),
            (#""/Date(1198908717056+0000)/""#, .text("2007-12-29T06:11:57.056Z"), []),
            (#"" \\/Date(-1)\\/ ""#, .text("1969-12-31T23:59:59.999Z"), .trimmed),
            (#""/Date(-62135596800000)/""#, .null, .minimumDate),
            (#""\/Date(-62135596800000+0100)\/ ""#, .null, [.minimumDate, .trimmed]),
            (#""/Date(-59011459200000)/""#, .null, .minimumDate),
            (#""/Date(-62135596799999)/""#, .text("0001-01-01T00:00:00.001Z"), []),
            (#""/Date(-62135596800001)/""#, .error(.outOfRange), []),
            (#""/Date(253402300800000)/""#, .error(.outOfRange), []),
            (#""/Date(99999999999999999999999999)/""#, .error(.outOfRange), []),
        ]
        for (json, expected, notes) in rows {
            let coerced = coerce(json, with: dates)
            #expect(coerced.outcome == expected, "\(json)")
            #expect(coerced.notesButSpelling == notes, "\(json)")
        }
        for text in [
            "/Date()/", "/Date(1)", "Date(1)", "/Date(1.5)/", "/Date(+1)/", "/Date(1+01)/", "/Date(1+2400)/",
            "/date(1)/",
            "/Date(1)/ x", "/Date(--1)/", "/Date(1+01:00)/", "/Date(1", "/", "",
        ] {
            #expect(outcome("\"\(text)\"", dates) == .error(.wrongForm), "\(text)")
        }
        #expect(DotNetDate.text(ofMilliseconds: -1) == "/Date(-1)/")
        #expect(StoredDate.milliseconds(of: .text("1996-07-04T00:00:00.000Z"), storage: .iso8601) == 836_438_400_000)
        #expect(StoredDate.milliseconds(of: .integer(836_438_400), storage: .unix) == 836_438_400_000)
        #expect(StoredDate.milliseconds(of: .integer(-1), storage: .unixMilliseconds) == -1)
        #expect(StoredDate.milliseconds(of: .integer(.max), storage: .unix) == nil)
        #expect(StoredDate.milliseconds(of: .null, storage: .iso8601) == nil)
        #expect(StoredDate.milliseconds(of: .text("1996-07-04"), storage: .iso8601) == nil)
        // What is written is read as what it was.
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<500 {
            let milliseconds = Int64.random(in: -62_135_596_799_999...253_402_300_799_999, using: &generator)
            let text = DotNetDate.text(ofMilliseconds: milliseconds)
            guard case .text(let stored) = outcome("\"\(text)\"", dates) else {
                Issue.record("\(text)")
                continue
            }
            #expect(StoredDate.milliseconds(of: .text(stored), storage: .iso8601) == milliseconds)
        }
    }

    @Test func takesOnlyTheDatesOfMongo() throws {
        let dates = try DateCoercion("mongo")
        for json in [
            #"{"$date":"2009-04-01T00:00:00.000-0700"}"#, #"{ "$date" : 1238569200000 }"#,
            #"{"$date":{"$numberLong":"1238569200000"}}"#, #"{"\u0024date":{ "$numberLong" : "1238569200000" } }"#,
            #"{"$date":"2009-04-01T07:00:00.000\u005a"}"#, #"{"$date":1.2385692e12}"#,
        ] {
            #expect(outcome(json, dates) == .text("2009-04-01T07:00:00.000Z"), "\(json)")
        }
        for json in [
            "{}", #"{"$date":null}"#, #"{"$date":"x"}"#, #"{"$date":1,"a":2}"#, #"{"a":1}"#, #"{"$date":[1]}"#,
            #"{"$date":{"$numberLong":1}}"#, #"{"$date":{"$numberLong":"1.5"}}"#, #"{"$date":{}}"#, #"{"date":1}"#,
            #"{"$date":{"$numberLong":"1","a":2}}"#, #"{"$date":true}"#, #"{"$date":1,"$date":2}"#, #"{"$dates":1}"#,
        ] {
            #expect(outcome(json, dates) == .error(.wrongForm), "\(json)")
        }
        #expect(outcome(#"{"$date":{"$numberLong":"253402300800000"}}"#, dates) == .error(.outOfRange))
        #expect(outcome(#"{"$date":253402300800000}"#, dates) == .error(.outOfRange))
    }

    @Test func takesTheDatesOfMail() throws {
        let dates = try DateCoercion("rfc2822")
        let rows: [(String, String, CoercionNotes)] = [
            ("Fri, 21 Nov 1997 09:55:06 -0600", "1997-11-21T15:55:06.000Z", .timeZoneLost),
            ("21 nov 97 09:55 gmt", "1997-11-21T09:55:00.000Z", []),
            ("Fri, 21 Nov 97 09(comment):   55  :  06 -0600", "1997-11-21T15:55:06.000Z", .timeZoneLost),
            ("Fri,21 Nov 97 09:55 EST", "1997-11-21T14:55:00.000Z", .timeZoneLost),
            ("21 Nov 49 00:00 UT", "2049-11-21T00:00:00.000Z", []),
            ("21 Nov 50 00:00 UT", "1950-11-21T00:00:00.000Z", []),
            ("21 Nov 103 00:00 Z", "2003-11-21T00:00:00.000Z", []),
            ("1 Jan 0001 00:00 +0000", "0001-01-01T00:00:00.000Z", []),
            (
                "Thu, 31 Dec 1998 18:59:60 -0500 (EST \\) (x))", "1999-01-01T00:00:00.000Z",
                [.leapSecond, .timeZoneLost]
            ),
        ]
        for (text, expected, notes) in rows {
            let json = "\"\(text.replacing("\\", with: "\\\\"))\""
            #expect(outcome(json, dates) == .text(expected), "\(text)")
            #expect(coerce(json, with: dates).notesButSpelling == notes, "\(text)")
        }
        for text in [
            "Thu, 21 Nov 1997 09:55:06 -0600", "30 Feb 1997 09:55:06 -0600", "21 Nov 1997 24:00:00 +0000",
            "21 Nov 1997 09:55:06", "21 Nov 1997 09:55:06 A", "21 Nov 1997 09:55:06 CET", "21 Nov 1997 9:55 GMT",
            "21 Nov 1997 09:55:06 +00:00", "21 Nov 1997 09:55:60 GMT", "21 November 1997 00:00 GMT",
            "21Nov 1997 00:00 GMT",
            "Fri 21 Nov 1997 00:00 GMT", "21 Nov 1997 00:00 GMT (", "21 Nov 1997 00:00 GMT)", "21 Nov 19970 00:00 GMT",
            "21 Nov 0000 00:00 GMT", "21 Nov 1997 00:00 GMTX", "21 Nov 1997 00:60 GMT", "", "Fri,",
            "21 Nov 7 00:00 GMT",
        ] {
            #expect(outcome("\"\(text)\"", dates) == .error(.wrongForm), "\(text)")
        }
    }

    @Test func takesOnlyWhatAPatternSays() throws {
        let rows: [(String, String, String)] = [
            ("dd/MM/yyyy", "01/02/2003", "2003-02-01T00:00:00.000Z"), ("d/M/y", "1/2/3", "0003-02-01T00:00:00.000Z"),
            ("d/M/yy", "1/12/68", "2068-12-01T00:00:00.000Z"), ("d/M/yy", "1/12/69", "1969-12-01T00:00:00.000Z"),
            ("yyyy", "2014", "2014-01-01T00:00:00.000Z"), ("MMMM yyyy", "may 2014", "2014-05-01T00:00:00.000Z"),
            ("yyyyMMddHHmm", "201410170054", "2014-10-17T00:54:00.000Z"),
            ("yyyy-MM-dd HH:mm", "2014-10-17 24:00", "2014-10-18T00:00:00.000Z"),
            ("yyyy-MM-dd hh:mma", "2014-10-17 12:05am", "2014-10-17T00:05:00.000Z"),
            ("yyyy-MM-dd h 'o''clock' a", "2014-10-17 12 o'clock PM", "2014-10-17T12:00:00.000Z"),
            ("yyyy-MM-dd''HH", "2014-10-17'05", "2014-10-17T05:00:00.000Z"),
            ("yyyy-MM-dd HH:mm:ss.S", "2014-10-17 00:54:11.42", "2014-10-17T00:54:11.420Z"),
            ("yyyy-MM-dd HH:mm:ss,SS", "2014-10-17 00:54:11,42", "2014-10-17T00:54:11.420Z"),
            ("yyyy-MM-dd HH:mm:ss", "1998-12-31 23:59:60", "1999-01-01T00:00:00.000Z"),
            ("yyyy-MM-dd HHZ", "2014-10-17 05-07:30", "2014-10-17T12:30:00.000Z"),
            ("yyyy-MM-dd HHX", "2014-10-17 05-07", "2014-10-17T12:00:00.000Z"),
            ("yyyy-MM-dd HHX", "2014-10-17 05-0730", "2014-10-17T12:30:00.000Z"),
            ("yyyy-MM-dd HHXXX", "2014-10-17 05-07:30", "2014-10-17T12:30:00.000Z"),
            ("yyyy-MM-dd HHXXX", "2014-10-17 05Z", "2014-10-17T05:00:00.000Z"),
            ("yyyy年M月d日", "2014年10月7日", "2014-10-07T00:00:00.000Z"),
        ]
        for (pattern, text, expected) in rows {
            #expect(outcome("\"\(text)\"", try DateCoercion(pattern)) == .text(expected), "\(pattern) \(text)")
        }
        for (pattern, text) in [
            ("dd/MM/yyyy", "1/02/2003"), ("dd/MM/yyyy", "01/02/03"), ("dd/MM/yyyy", "01/02/20030"),
            ("dd/MM/yyyy", "30/02/2003"), ("dd/MM/yyyy", "01-02-2003"), ("dd/MM/yyyy", "00/02/2003"),
            ("d/M/y", "1/2/0"), ("d/M/y", "001/2/2003"), ("MMM yyyy", "March 2003"), ("MMMM yyyy", "Mar 2003"),
            ("E, d MMM yyyy", "Mon, 17 Oct 2014"), ("yyyy-MM-dd HH", "2014-10-17 25"),
            ("yyyy-MM-dd HH:mm", "2014-10-17 24:01"),
            ("yyyy-MM-dd hha", "2014-10-17 13pm"), ("yyyy-MM-dd hha", "2014-10-17 00am"),
            ("yyyy-MM-dd hha", "2014-10-17 12"),
            ("yyyy-MM-dd HH:mm:ss.SSS", "2014-10-17 00:54:11.42"),
            ("yyyy-MM-dd HH:mm:ss.SS", "2014-10-17 00:54:11.428"),
            ("yyyy-MM-dd HHxxx", "2014-10-17 05Z"), ("yyyy-MM-dd HHXX", "2014-10-17 05-07:30"),
            ("yyyy-MM-dd HHXXX", "2014-10-17 05-0730"), ("yyyy-MM-dd HH:mm:ss", "2014-10-17 00:54:60"),
            ("yyyy", ""), ("yyyy-MM-dd", "２014-10-17"),
        ] {
            #expect(outcome("\"\(text)\"", try DateCoercion(pattern)) == .error(.wrongForm), "\(pattern) \(text)")
        }
    }

    @Test func saysWhatIsWrongWithAPattern() {
        let rows: [(String, Int?, String)] = [
            ("YYYY-MM-dd", 1, "YYYY"), ("yyyy-MM-DD", 9, "DD"), ("yyyy-mm-dd", 6, "hour"), ("yyyy-MM-ddTHH", 11, "'T'"),
            ("iso", 1, "i"), ("dd/MM", nil, "year"), ("yyy", 1, "yyy"), ("yyyy 'at", 6, "quote"), ("", nil, "year"),
            ("yyyy-MM-dd hh:mm", 12, "AM"), ("yyyy-MM-dd HH a", 15, "h"), ("yMMdd", 1, "ends"), ("yyyy dd", 6, "month"),
            ("yyyy yy", 6, "already"), ("yyyy-MM HH", 9, "day"), ("yyyy-MM-dd HH:ss", 15, "minute"),
            ("yyyy é zzz", 8, "zzz"),
            ("ISO8601", 1, "I"), ("yyyy MMMMM", 6, "MMMMM"),
        ]
        for (pattern, position, word) in rows {
            let error = #expect(throws: DateFormatError.self, "\(pattern)") { try DateFormat(pattern) }
            #expect(error?.position == position, "\(pattern)")
            #expect(error?.reason.contains(word) == true, "\(pattern): \(error?.reason ?? "")")
        }
        #expect(DateFormatError("a\u{1B}", position: 2, reason: "no").description == #""a\u001b", character 2: no"#)
    }

    @Test func keepsTheNamesOfFormats() throws {
        for name in ["iso8601", "dotnet", "unix", "unixMilliseconds", "mongo", "rfc2822", "dd/MM/yyyy"] {
            #expect(try DateFormat(name).name == name)
        }
        #expect(try DateFormat("dd/MM/yyyy") == .pattern("dd/MM/yyyy"))
        #expect(try DateFormat("unix") == .unix)
    }

    @Test func readsDatesWithoutAZoneInTheModels() throws {
        let rows: [(String, String, String)] = [
            // Clocks go forward from 02:00 to 03:00, back from 03:00 to 02:00.
            ("Europe/Oslo", "2014-03-30T01:59:59", "2014-03-30T00:59:59.000Z"),
            ("Europe/Oslo", "2014-03-30T02:30:00", "2014-03-30T01:30:00.000Z"),
            ("Europe/Oslo", "2014-03-30T03:00:00", "2014-03-30T01:00:00.000Z"),
            ("Europe/Oslo", "2014-10-26T02:30:00", "2014-10-26T00:30:00.000Z"),
            ("Europe/Oslo", "2014-10-26T03:00:00", "2014-10-26T02:00:00.000Z"),
            ("Europe/Oslo", "2014-07-01", "2014-06-30T22:00:00.000Z"),
            ("Europe/Oslo", "1999-01-01T00:59:60", "1999-01-01T00:00:00.000Z"),
            // The law of today continues.
            ("Europe/Oslo", "2150-07-01T12:00", "2150-07-01T10:00:00.000Z"),
            ("Europe/Oslo", "2150-01-01T12:00", "2150-01-01T11:00:00.000Z"),
            ("Asia/Kathmandu", "1800-01-01T05:41:16", "1800-01-01T00:00:00.000Z"),
            // A day that was left out.
            ("Pacific/Apia", "2011-12-30T12:00", "2011-12-30T22:00:00.000Z"),
            ("+02:00", "2014-07-01T12:00", "2014-07-01T10:00:00.000Z"),
            ("-0330", "2014-07-01T12:00", "2014-07-01T15:30:00.000Z"),
            ("UTC", "2014-07-01T12:00", "2014-07-01T12:00:00.000Z"),
            ("Etc/GMT+5", "2014-07-01T12:00", "2014-07-01T17:00:00.000Z"),
            ("Europe/Oslo", "2014-07-01T12:00Z", "2014-07-01T12:00:00.000Z"),
        ]
        for (zone, text, expected) in rows {
            let coerced = coerce("\"\(text)\"", with: try DateCoercion("iso8601", timeZone: zone))
            #expect(coerced.outcome == .text(expected), "\(zone) \(text)")
            #expect(coerced.notesButSpelling.subtracting(.leapSecond) == [], "\(zone) \(text)")
        }
        for zone in ["", "Europe/Nowhere", "CEST", "+25:00", "+2", "europe/oslo ", "../../etc/passwd", "\u{1B}[2J"] {
            #expect(throws: DateFormatError.self, "\(zone)") { try DateCoercion("iso8601", timeZone: zone) }
        }
    }

    @Test func keepsTheClockOfTheWriter() throws {
        let dates = try DateCoercion("iso8601", "dotnet", "unix", timeZone: "Europe/Oslo", isWallClock: true)
        let rows: [(String, String, CoercionNotes)] = [
            (#""2014-10-17T00:54:11+02:00""#, "2014-10-17T00:54:11.000Z", .timeZoneLost),
            (#""2014-10-17T00:54:11""#, "2014-10-17T00:54:11.000Z", []),
            // A time that no clock in Oslo showed stays as it is written.
            (#""2014-03-30T02:30:00""#, "2014-03-30T02:30:00.000Z", []),
            (#""/Date(1198908717056-0700)/""#, "2007-12-28T23:11:57.056Z", .timeZoneLost),
            ("86400", "1970-01-02T00:00:00.000Z", []),
            (#""9999-12-31T23:59:59-05:00""#, "9999-12-31T23:59:59.000Z", .timeZoneLost),
        ]
        for (json, expected, notes) in rows {
            let coerced = coerce(json, with: dates)
            #expect(coerced.outcome == .text(expected), "\(json)")
            #expect(coerced.notesButSpelling == notes, "\(json)")
        }
    }

    @Test func neverStopsAtABrokenText() throws {
        let dates = try DateCoercion(
            "iso8601",
            "dotnet",
            "unix",
            "rfc2822",
            "mongo",
            "E, d MMMM yyyy 'at' h:mm:ss.S a X",
            timeZone: "Europe/Oslo"
        )
        var generator = SeededGenerator(seed: 12)
        let seeds = [
            "2014-10-17T00:54:11.428+02:00", "/Date(1198908717056-0700)/", "Fri, 21 Nov 1997 09(c):55:06 -0600",
            "Fri, 21 November 1997 at 9:55:06.5 pm +01", "-1413507251.428e3", #"{"$date":{"$numberLong":"1"}}"#,
        ]
        for seed in seeds {
            for _ in 0..<300 {
                var bytes = Array(seed.utf8)
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let index = Int.random(in: 0..<bytes.count, using: &generator)
                    bytes[index] = UInt8.random(in: 0x20..<0x7F, using: &generator)
                }
                bytes.removeLast(
                    Int.random(in: 0..<bytes.count, using: &generator) * Int.random(in: 0...1, using: &generator)
                )
                for kind in [JSONKind.string, .number, .object] {
                    bytes.withUnsafeBufferPointer { buffer in
                        var scratch: [UInt8] = []
                        var notes: CoercionNotes = []
                        let token = JSONToken(kind: kind, bytes: ByteView(buffer), hasEscapes: bytes.contains(0x5C))
                        if case .scratch(let range)? = try? dates.coerce(token, scratch: &scratch, notes: &notes) {
                            // What it took is a date that it takes again, unchanged.
                            let text = String(decoding: scratch[range], as: UTF8.self)
                            #expect(coerce("\"\(text)\"", with: .iso8601).isVerbatim, "\(text)")
                        }
                    }
                }
            }
        }
    }
}
