import TestSupport
import Testing

@testable import ImportModel

/// The coercion table, cell by cell.
struct CoercionTableTests {
    struct Row: Sendable {
        let json: String
        let type: AttributeType
        let outcome: Outcome
        let notes: CoercionNotes

        init(_ json: String, _ type: AttributeType, _ outcome: Outcome, _ notes: CoercionNotes = []) {
            self.json = json
            self.type = type
            self.outcome = outcome
            self.notes = notes
        }
    }

    private func check(_ rows: [Row]) {
        for row in rows {
            let coerced = coerce(row.json, to: row.type)
            #expect(coerced.outcome == row.outcome, "\(row.json) to \(row.type)")
            #expect(coerced.notes == row.notes, "\(row.json) to \(row.type)")
        }
    }

    @Test func givesBackNullForEveryType() {
        for type in AttributeType.allCases {
            #expect(coerce("null", to: type).outcome == .null)
        }
    }

    @Test func takesNoObjectsAndArraysButAsJSON() {
        for type in AttributeType.allCases where type != .json {
            for (json, found) in [("{\"a\":1}", "object"), ("[1]", "array"), ("{}", "object"), ("[]", "array")] {
                // Bytes may be a list of their numbers.
                if type == .binary, found == "array" { continue }
                let error = coerce(json, to: type).error
                #expect(error == CoercionError(code: .wrongKind, expected: type.rawValue, found: found))
            }
        }
    }

    @Test func makesStrings() {
        check([
            Row(#""""#, .string, .text("")),
            Row(#"" a ""#, .string, .text(" a ")),
            Row(#""é漢😀""#, .string, .text("é漢😀")),
            Row(#""a\"\\\/\b\f\n\r\tz""#, .string, .text("a\"\\/\u{8}\u{c}\n\r\tz")),
            Row(#""\u0000""#, .string, .text("\0")),
            Row(#""\ud83d\ude00""#, .string, .text("😀")),
            Row(#""\ud800x""#, .string, .text("\u{FFFD}x"), .loneSurrogate),
            Row("1e2", .string, .text("1e2"), .kindChanged),
            Row("-0.10", .string, .text("-0.10"), .kindChanged),
            Row("true", .string, .text("true"), .kindChanged),
            Row("false", .string, .text("false"), .kindChanged),
        ])
    }

    @Test func makesIntegers() {
        for type in [AttributeType.integer16, .integer32, .integer64] {
            check([
                Row("0", type, .integer(0)), Row("-0", type, .integer(0), .respelled), Row("3.0", type, .integer(3)),
                Row("3e2", type, .integer(300)), Row("3.25e2", type, .integer(325)),
                Row("-120E-1", type, .integer(-12)),
                Row("0.0e999999999999999999999", type, .integer(0)), Row("0e-5", type, .integer(0)),
                Row("3.5", type, .error(.notIntegral)), Row("1e-1", type, .error(.notIntegral)),
                Row("1e-999999999999999999999", type, .error(.notIntegral)),
                Row("1e19", type, .error(.outOfRange)), Row("1e999999999999999999999", type, .error(.outOfRange)),
                Row("true", type, .integer(1), .kindChanged), Row("false", type, .integer(0), .kindChanged),
                Row(#""12""#, type, .integer(12), .kindChanged),
                Row(#""-12""#, type, .integer(-12), .kindChanged),
                Row(#""007""#, type, .integer(7), .kindChanged),
                Row(#"" 12\n""#, type, .integer(12), [.kindChanged, .trimmed]),
                Row(#""\u0031""#, type, .integer(1), .kindChanged),
                Row(#""99999999999999999999""#, type, .error(.outOfRange)),
                Row(#""12abc""#, type, .error(.wrongForm)), Row(#""3.0""#, type, .error(.wrongForm)),
                Row(#""""#, type, .error(.wrongForm)), Row(#"" ""#, type, .error(.wrongForm)),
                Row(#""-""#, type, .error(.wrongForm)), Row(#""+1""#, type, .error(.wrongForm)),
                Row(#""1 2""#, type, .error(.wrongForm)), Row(#""１""#, type, .error(.wrongForm)),
            ])
        }
    }

    @Test func keepsIntegersWithinTheirLimits() {
        let limits: [(AttributeType, Int64, Int64)] = [
            (.integer16, -32768, 32767), (.integer32, -2_147_483_648, 2_147_483_647), (.integer64, .min, .max),
        ]
        for (type, lowest, highest) in limits {
            check([
                Row("\(lowest)", type, .integer(lowest)), Row("\(highest)", type, .integer(highest)),
                Row("\(lowest).0", type, .integer(lowest)), Row("\(highest)0e-1", type, .integer(highest)),
                Row("\"\(lowest)\"", type, .integer(lowest), .kindChanged),
                Row("\"\(highest)\"", type, .integer(highest), .kindChanged),
            ])
            for outside in [Self.plusOne("\(highest)"), "-" + Self.plusOne(String("\(lowest)".dropFirst()))] {
                check([
                    Row(outside, type, .error(.outOfRange)), Row("\(outside).0", type, .error(.outOfRange)),
                    Row("\"\(outside)\"", type, .error(.outOfRange)),
                ])
            }
        }
    }

    /// The digits plus one; the last one is below 9.
    private static func plusOne(_ digits: String) -> String {
        String(digits.dropLast()) + String((digits.last?.wholeNumberValue ?? 0) + 1)
    }

    @Test func makesDoubles() {
        check([
            Row("0", .double, .real(0)), Row("0.1", .double, .real(0.1)), Row("-1.5e3", .double, .real(-1500)),
            Row("1.7976931348623157e308", .double, .real(.greatestFiniteMagnitude)),
            Row("5e-324", .double, .real(.leastNonzeroMagnitude)),
            Row("4.9e-324", .double, .real(.leastNonzeroMagnitude)),
            Row("4.8e-324", .double, .real(.leastNonzeroMagnitude), .digitsLost),
            Row("1e999", .double, .error(.outOfRange)), Row("-1e309", .double, .error(.outOfRange)),
            Row("1e99999999999999999999", .double, .error(.outOfRange)),
            Row("1e-999", .double, .real(0), .digitsLost),
            Row("1e-99999999999999999999", .double, .real(0), .digitsLost),
            Row("0e999", .double, .real(0)), Row("-0.0", .double, .real(0), .respelled),
            Row("-0", .float, .real(0), .respelled), Row("0.0", .double, .real(0)),
            Row("9007199254740993", .double, .real(9_007_199_254_740_992), .digitsLost),
            Row("9007199254740992", .double, .real(9_007_199_254_740_992)),
            Row("18446744073709551616", .double, .real(18_446_744_073_709_551_616)),
            Row("18446744073709551617", .double, .real(18_446_744_073_709_551_616), .digitsLost),
            Row("1267650600228229401496703205376", .double, .real(1_267_650_600_228_229_401_496_703_205_376)),
            Row("0.12345678901234567891", .double, .real(0.12345678901234568), .digitsLost),
            Row("0.10000000000000000", .double, .real(0.1)),
            Row("0.30000000000000004", .double, .real(0.1 + 0.2)),
            Row("0.30000000000000005", .double, .real(0.1 + 0.2), .digitsLost),
            Row("100000000000000000000000", .double, .real(1e23)),
            Row(#""1.5""#, .double, .real(1.5), .kindChanged),
            Row(#""\t1.5 ""#, .double, .real(1.5), [.kindChanged, .trimmed]),
            Row(#"" 1e-999""#, .double, .real(0), [.kindChanged, .trimmed, .digitsLost]),
            Row(#""1e999""#, .double, .error(.outOfRange)),
            Row("true", .double, .error(.wrongKind)),
        ])
        for text in [
            "", "nan", "inf", "0x10", "1,5", ".5", "5.", "+1", "01", "1e", "1e+", "--1", "-",
        ] {
            check([
                Row("\"\(text)\"", .double, .error(.wrongForm)), Row("\"\(text)\"", .decimal, .error(.wrongForm)),
            ])
        }
    }

    @Test func makesDecimals() {
        check([
            Row("0", .decimal, .text("0")), Row("-0", .decimal, .text("0"), .respelled),
            Row("-0.00e7", .decimal, .text("0"), .respelled),
            Row("10.50", .decimal, .text("10.5"), .respelled), Row("1e3", .decimal, .text("1000"), .respelled),
            Row("12.5e-3", .decimal, .text("0.0125"), .respelled), Row("-1200", .decimal, .text("-1200")),
            Row("1.0", .decimal, .text("1"), .respelled), Row("0.1", .decimal, .text("0.1")),
            Row("123e-1", .decimal, .text("12.3"), .respelled),
            Row("1e40", .decimal, .text("1" + String(repeating: "0", count: 40)), .respelled),
            Row("1e41", .decimal, .text("1E+41"), .respelled), Row("1E+41", .decimal, .text("1E+41")),
            Row("-1.25E-79", .decimal, .text("-1.25E-79")),
            Row("1" + String(repeating: "0", count: 41), .decimal, .text("1E+41"), .respelled),
            Row("0." + String(repeating: "0", count: 41) + "1", .decimal, .text("1E-42"), .respelled),
            Row("12e40", .decimal, .text("12" + String(repeating: "0", count: 40)), .respelled),
            Row("12e41", .decimal, .text("1.2E+42"), .respelled),
            Row("1e-41", .decimal, .text("0." + String(repeating: "0", count: 40) + "1"), .respelled),
            Row("1e-42", .decimal, .text("1E-42"), .respelled),
            Row("-12.5e-80", .decimal, .text("-1.25E-79"), .respelled),
            Row("1e999999999999999999", .decimal, .text("1E+999999999999999999"), .respelled),
            Row("1e1000000000000000000", .decimal, .error(.outOfRange)),
            Row("1e-1000000000000000000", .decimal, .error(.outOfRange)),
            Row("0e1000000000000000000", .decimal, .text("0"), .respelled),
            Row(#""0012""#, .decimal, .error(.wrongForm)),
            Row(#""32.3800""#, .decimal, .text("32.38"), [.kindChanged, .respelled]),
            Row(#"" 5 ""#, .decimal, .text("5"), [.kindChanged, .trimmed]),
            Row(#""\u0035""#, .decimal, .text("5"), .kindChanged),
            Row("false", .decimal, .error(.wrongKind)),
        ])
        let long = "1" + String(repeating: "234567890", count: 1000)
        check([Row(long + ".5", .decimal, .text(long + ".5"))])
    }

    @Test func makesBooleans() {
        check([
            Row("true", .boolean, .integer(1)), Row("false", .boolean, .integer(0)),
            Row("1", .boolean, .integer(1), .kindChanged), Row("0", .boolean, .integer(0), .kindChanged),
            Row("1.0", .boolean, .integer(1), .kindChanged),
            Row("2", .boolean, .error(.wrongForm)), Row("-1", .boolean, .error(.wrongForm)),
            Row("0.5", .boolean, .error(.wrongForm)),
            Row(#"" True ""#, .boolean, .integer(1), [.kindChanged, .trimmed]),
            Row(#""tru\u0065""#, .boolean, .integer(1), .kindChanged),
        ])
        for text in ["true", "TRUE", "True", "yes", "Yes", "Y", "y", "t", "T", "1"] {
            check([Row("\"\(text)\"", .boolean, .integer(1), .kindChanged)])
        }
        for text in ["false", "FALSE", "no", "NO", "n", "N", "f", "F", "0"] {
            check([Row("\"\(text)\"", .boolean, .integer(0), .kindChanged)])
        }
        for text in ["", "on", "off", "truee", "2", "1.0", "ye", "\u{11}", "ja"] {
            check([Row("\"\(text)\"", .boolean, .error(.wrongForm))])
        }
    }

    @Test func makesUUIDs() {
        let canonical = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
        check([
            Row("\"\(canonical)\"", .uuid, .text(canonical)),
            Row("\"\(canonical.uppercased())\"", .uuid, .text(canonical), .respelled),
            Row("\"{\(canonical)}\"", .uuid, .text(canonical), .respelled),
            Row("\"urn:uuid:\(canonical)\"", .uuid, .text(canonical), .respelled),
            Row("\"URN:UUID:\(canonical.uppercased())\"", .uuid, .text(canonical), .respelled),
            Row("\"\\u0066\(canonical.dropFirst())\"", .uuid, .text(canonical)),
            Row("\"{\(canonical)\"", .uuid, .error(.wrongForm)),
            Row("\" \(canonical)\"", .uuid, .error(.wrongForm)),
            Row("\"\(canonical.dropLast())g\"", .uuid, .error(.wrongForm)),
            Row("\"\(canonical.dropLast())\"", .uuid, .error(.wrongForm)),
            Row("\"urn-uuid:\(canonical)\"", .uuid, .error(.wrongForm)),
            Row("\"urn:uuid\u{1a}\(canonical)\"", .uuid, .error(.wrongForm)),
            Row("\"f81d4fae+7dec-11d0-a765-00a0c91e6bf6\"", .uuid, .error(.wrongForm)),
            Row("12", .uuid, .error(.wrongKind)), Row("true", .uuid, .error(.wrongKind)),
        ])
        withView(canonical) { #expect(isLowercaseUUID($0)) }
        for other in [canonical.uppercased(), "{\(canonical)}", "", "f81d4fae7dec11d0a76500a0c91e6bf6"] {
            withView(other) { #expect(!isLowercaseUUID($0)) }
        }
    }

    /// Every byte at every place of a UUID, in lower case and in capitals, against what RFC 9562 §4 says in words.
    @Test func tellsUUIDsByEachOfTheirBytes() {
        let canonical = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"
        var mistaken: [String] = []
        for spelling in [canonical, canonical.uppercased()] {
            for place in 0..<36 {
                for byte in UInt8.min...UInt8.max {
                    var bytes = Array(spelling.utf8)
                    bytes[place] = byte
                    let character = Character(Unicode.Scalar(byte))
                    let isHyphen = [8, 13, 18, 23].contains(place)
                    let isUUID = isHyphen ? character == "-" : character.isASCII && character.isHexDigit
                    let isLowercase = isUUID && !bytes.contains { Character(Unicode.Scalar($0)).isUppercase }
                    let expected = isUUID ? String(decoding: bytes, as: UTF8.self).lowercased() : nil
                    let made = bytes.withUnsafeBufferPointer { bytes -> (text: String?, isLowercase: Bool) in
                        let view = ByteView(bytes)
                        var output: [UInt8] = []
                        let uuid = UUIDText(view)
                        uuid?.append(to: &output)
                        return (uuid.map { _ in String(decoding: output, as: UTF8.self) }, isLowercaseUUID(view))
                    }
                    if made != (expected, isLowercase) { mistaken.append("\(spelling): \(byte) at \(place)") }
                }
            }
        }
        #expect(mistaken == [])
    }

    @Test func keepsJSONWithoutInsignificantWhiteSpace() {
        check([
            Row("12.50", .json, .text("12.50")), Row("true", .json, .text("true")),
            Row(#""a \" b\u0041""#, .json, .text(#""a \" b\u0041""#)), Row(#""""#, .json, .text(#""""#)),
            Row(#"{"a b":[1,"\\"," "]}"#, .json, .text(#"{"a b":[1,"\\"," "]}"#)),
            Row("{ \"a b\" :\t[ 1 ,\r\n\"x \\\" y\" , {} ] }", .json, .text(#"{"a b":[1,"x \" y",{}]}"#)),
            Row("[ ]", .json, .text("[]")),
        ])
    }

    @Test func takesDatesFromStringsOnly() {
        check([
            Row(#""2014-10-17T00:54:11Z""#, .date, .text("2014-10-17T00:54:11.000Z"), .respelled),
            Row(#""2014-10-17T00:54:11.000Z""#, .date, .text("2014-10-17T00:54:11.000Z")),
            Row(#"" 2014-10-17T00:54:11.000\u005a""#, .date, .text("2014-10-17T00:54:11.000Z"), .trimmed),
            Row(#"" 2014-10-17 ""#, .date, .text("2014-10-17T00:00:00.000Z"), [.trimmed, .respelled]),
            Row(#""2014\u002d10-17""#, .date, .text("2014-10-17T00:00:00.000Z"), .respelled),
            Row("1413507251", .date, .error(.wrongKind)), Row("true", .date, .error(.wrongKind)),
            Row(#""""#, .date, .error(.wrongForm)), Row(#""17.10.2014""#, .date, .error(.wrongForm)),
        ])
    }

    @Test func handsBackTheTokensOwnBytesWhereTheyAreTheValue() {
        let rows: [(String, AttributeType, Bool)] = [
            (#""plain""#, .string, true), (#""a\nb""#, .string, false), ("12", .string, true),
            ("12.5", .decimal, true), ("12.50", .decimal, false), (#"" 12.5""#, .decimal, true), ("0", .decimal, true),
            (#""2014-10-17T00:54:11.000Z""#, .date, true), (#""2014-10-17T00:54:11Z""#, .date, false),
            (#""f81d4fae-7dec-11d0-a765-00a0c91e6bf6""#, .uuid, true), ("{\"a\":[1]}", .json, true),
            ("{\"a\": 1}", .json, false), (#""a\nb""#, .json, true),
        ]
        for (json, type, isVerbatim) in rows {
            #expect(coerce(json, to: type).isVerbatim == isVerbatim, "\(json) to \(type)")
        }
    }

    @Test func namesWhatWasExpectedAndFoundButNeverTheValue() {
        #expect(
            coerce("3.5", to: .integer16).error
                == CoercionError(code: .notIntegral, expected: "integer16", found: "number with a fraction")
        )
        #expect(
            coerce("\"secret\"", to: .date).error
                == CoercionError(code: .wrongForm, expected: "date", found: "string")
        )
        #expect(
            coerce("70000", to: .integer16).error
                == CoercionError(code: .outOfRange, expected: "integer16", found: "number")
        )
    }

    @Test func neverStopsAtAnyText() {
        var generator = SeededGenerator(seed: 9)
        let alphabet = Array("0123456789-+.:eEtTzZ {}aF,\u{e9}")
        for _ in 0..<3_000 {
            let count = Int.random(in: 0...50, using: &generator)
            let text = String((0..<count).map { _ in alphabet.randomElement(using: &generator) ?? " " })
            for type in AttributeType.allCases {
                let coerced = coerce("\"\(text)\"", to: type)
                // What is refused has left no trace in the notes, and texts fit strings and JSON always.
                if coerced.error != nil { #expect(coerced.notes == [] && type != .string && type != .json) }
            }
        }
    }
}
