import TestSupport
import Testing

@testable import ImportModel

/// Dates with three, six or nine digits of a second.
struct FractionTests {
    private static func attribute(_ fraction: Int, _ format: String? = nil) -> AttributeDescription {
        AttributeDescription(name: "a", type: .date, formats: format.map { [$0] } ?? [], fraction: fraction)
    }

    @Test(arguments: [3, 6, 9])
    func keepsTheDigitsThatAreDeclared(_ fraction: Int) throws {
        var random = SeededGenerator(seed: UInt64(fraction))
        func digits(_ count: Int, below limit: Int) -> String {
            let text = String(random.next(limit))
            return String(repeating: "0", count: count - text.count) + text
        }
        for _ in 0..<2_000 {
            let day = "\(1_000 + random.next(9_000))-0\(1 + random.next(9))-1\(random.next(10))"
            let time = "\(digits(2, below: 24)):\(digits(2, below: 60)):\(digits(2, below: 60))"
            let written = digits(1 + random.next(12), below: 10)
            let text = "\(day)T\(time).\(written)Z"
            let kept = (written + "000000000").prefix(fraction)
            let expected = "\(day)T\(time).\(kept)Z"
            let coerced = try coerce("\"\(text)\"", to: Self.attribute(fraction))
            #expect(coerced.outcome == .text(expected), "\(text)")
            #expect(coerced.isVerbatim == (text == expected), "\(text)")
            let isLost = written.dropFirst(fraction).contains { $0 != "0" }
            #expect(coerced.notes.contains(.subMillisecondLost) == isLost, "\(text)")
            #expect(coerced.notes.contains(.respelled) == (text != expected), "\(text)")
            let form = Self.attribute(fraction).ownForm
            #expect(StoredDate.text(of: .text(expected), storage: form) == expected)
        }
    }

    @Test func readsAllFormatsExactly() throws {
        let php = #"{"date": "2024-01-02 03:04:05.123456", "timezone_type": 3, "timezone": "UTC"}"#
        // Worked out with Python's datetime and Decimal.
        let rows: [(String, String?, String)] = [
            (#""2024-01-02 03:04:05,63""#, nil, "2024-01-02T03:04:05.630000000Z"),
            (#""2024-01-02T04:04:05.123456789+01:00""#, nil, "2024-01-02T03:04:05.123456789Z"),
            (#""20240102T030405.000000001Z""#, nil, "2024-01-02T03:04:05.000000001Z"),
            (#""02/01/2024 03:04:05.1234567""#, "dd/MM/yyyy HH:mm:ss.SSSSSSS", "2024-01-02T03:04:05.123456700Z"),
            ("1704164645123456", "unixMicroseconds", "2024-01-02T03:04:05.123456000Z"),
            (#""1704164645123456789""#, "unixNanoseconds", "2024-01-02T03:04:05.123456789Z"),
            ("-1", "unixNanoseconds", "1969-12-31T23:59:59.999999999Z"),
            ("-1704164645123456789", "unixNanoseconds", "1915-12-31T20:55:54.876543211Z"),
            ("253402300799999999999", "unixNanoseconds", "9999-12-31T23:59:59.999999999Z"),
            ("-62135596800000000000", "unixNanoseconds", "0001-01-01T00:00:00.000000000Z"),
            ("1704164645.000000001", "unix", "2024-01-02T03:04:05.000000001Z"),
            ("1.704164645123e12", "unixMilliseconds", "2024-01-02T03:04:05.123000000Z"),
            ("1e-9", "unix", "1970-01-01T00:00:00.000000001Z"),
            ("0.5", "referenceDate", "2001-01-01T00:00:00.500000000Z"),
            ("[2024,1,2,3,4,5,678000001]", "array", "2024-01-02T03:04:05.678000001Z"),
            (php, nil, "2024-01-02T03:04:05.123456000Z"),
        ]
        for (json, format, expected) in rows {
            let coerced = try coerce(json, to: Self.attribute(9, format))
            #expect(coerced.outcome == .text(expected), "\(json)")
            #expect(!coerced.notes.contains(.subMillisecondLost), "\(json)")
        }
        let lost = try coerce("-0.0000000001", to: Self.attribute(9, "unix"))
        #expect(lost.outcome == .text("1969-12-31T23:59:59.999999999Z") && lost.notes.contains(.subMillisecondLost))
        for json in ["253402300800000000000", "-62135596800000000001"] {
            #expect(try coerce(json, to: Self.attribute(9, "unixNanoseconds")).error?.code == .outOfRange)
        }
    }

    @Test func goesWithTheFormsOfSQLite() throws {
        var attribute = Self.attribute(6)
        attribute.storage = .sqlite
        let coerced = try coerce(#""2024-01-02T03:04:05.123456Z""#, to: attribute)
        #expect(coerced.outcome == .text("2024-01-02 03:04:05.123456"))
        #expect(
            StoredDate.iso8601(.text("2024-01-02 03:04:05.123456"), storage: attribute.ownForm)
                == "2024-01-02T03:04:05.123456Z"
        )
    }

    @Test func modelsSayItOnlyWhereItIsNotThree() throws {
        func model(_ member: String) throws -> ModelDescription {
            let text = #"{"entities": {"e": {"attributes": {"a": {"type": "date"\#(member)}}}}}"#
            return try ModelDescription(parsing: Array(text.utf8))
        }
        let fine = try model(#", "fraction": 6"#)
        #expect(fine.entities[0].attributes[0].fraction == 6)
        #expect(try ModelDescription(parsing: Array(fine.encoded().utf8)) == fine)
        #expect(try model(#", "fraction": 3"#) == model(""))
        #expect(try !model(#", "fraction": 3"#).encoded().contains("fraction"))
    }

    @Test func stringsNeedTheMostThatAnyHas() {
        let rows: [([String], Int)] = [
            (["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.1230000Z"], 3),
            (["2024-01-02T03:04:05Z", "2024-01-02T03:04:05.1234Z"], 6),
            (["2024-01-02T03:04:05.1234567Z", "2024-01-02T03:04:05.1234Z"], 9),
            (["2024-01-02T03:04:05.1234Z", "2024-01-02T03:04:05.1234567+02:00"], 9),
            (["2024-01-02", "2024-01-03"], 3), (["a", "2024-01-02T03:04:05.1234Z"], 3),
        ]
        for (texts, expected) in rows {
            let forms = texts.reduce(StringFormats.all) { forms, text in
                withView(text) { StringFormats.forms(of: $0, hasEscapes: false, among: forms) }
            }
            #expect(forms.fraction == expected, "\(texts)")
        }
        #expect(
            withView("2024-01-02T03:04:05.1234567891Z") {
                !StringFormats.forms(of: $0, hasEscapes: false, among: .all).contains(.utcInstant)
            }
        )
        #expect(withView("plain") { StringFormats.forms(of: $0, hasEscapes: false, among: .all) } == [])
    }
}
