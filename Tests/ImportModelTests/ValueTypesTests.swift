import Foundation
import TestSupport
import Testing

@testable import ImportModel

/// The types whose values have forms of their own: floats, URIs, binaries and bitfields.
struct ValueTypesTests {
    // MARK: Floats

    @Test(
        arguments: [
            ("0.1", Float(0.1), false), ("16777216", 16_777_216, false), ("16777217", 16_777_216, true),
            ("3.4028234663852886e38", .greatestFiniteMagnitude, false),
            ("3.4028235e38", .greatestFiniteMagnitude, false),
            ("1.401298464324817e-45", .leastNonzeroMagnitude, false), ("1e-45", .leastNonzeroMagnitude, false),
            ("2e-45", .leastNonzeroMagnitude, true), ("1e-60", 0, true), ("0e-60", 0, false), ("-0.5", -0.5, false),
            ("0.12345678901", 0.12345679, true), ("0.10000000149011612", 0.1, false),
            // Just above halfway between 1 and the next float; the nearest double lies halfway.
            ("1.00000005960464477540", 1.0000001, true), ("1.000000059604644775390625", 1, true),
            ("1.00000005960464477539", 1, true),
        ])
    func makesTheNearestFloat(text: String, value: Float, isLossy: Bool) {
        let coerced = coerce(text, to: .float)
        #expect(coerced.outcome == .real(Double(value)))
        #expect(coerced.notes == (isLossy ? .digitsLost : []))
    }

    @Test func refusesWhatNoFloatHolds() {
        for text in ["3.4028236e38", "1e39", "-1e400", "1e99999999999999999999"] {
            #expect(coerce(text, to: .float).outcome == .error(.outOfRange), "\(text)")
        }
        #expect(coerce("true", to: .float).outcome == .error(.wrongKind))
        #expect(coerce("\"nan\"", to: .float).outcome == .error(.wrongForm))
        #expect(coerce("\" 1.5 \"", to: .float).notes == [.kindChanged, .trimmed])
    }

    /// Against C's `strtof`, close to the places where a double between must not be rounded twice.
    @Test func roundsOnceOnly() {
        var generator = SeededGenerator(seed: 21)
        for _ in 0..<4_000 {
            var text: String
            if Bool.random(using: &generator) {
                text = generator.numberText(digits: 25, exponent: 40)
            } else {
                let float = Float(bitPattern: UInt32.random(in: 1...0x7F7F_FFFE, using: &generator))
                let middle = (Double(float) + Double(float.nextUp)) / 2
                // All digits of a point halfway, and one more digit after them, or none.
                text = String(format: "%.160e", middle)
                let end = text.firstIndex(of: "e") ?? text.endIndex
                if Bool.random(using: &generator) { text.insert("1", at: end) }
            }
            let expected = strtof(text, nil)
            let outcome = coerce(text, to: .float).outcome
            #expect(outcome == (expected.isFinite ? .real(Double(expected)) : .error(.outOfRange)), "\(text)")
        }
    }

    // MARK: URIs

    @Test(
        arguments: [
            "http://a/b?c=d&e[]", "https://example.org/%7Euser/?q=a%20b#top", "urn:isbn:0451450523", "mailto:a@b.c",
            "../up", "//host", "/path", "?query", "#fragment", "a/b:c", "http://user:pw@[2001:db8::1]:8080/", "x:",
            "http://a.b:", "tel:+1-816-555-1212", "file:///etc/hosts", "a",
        ])
    func keepsURIsAsWritten(text: String) {
        let isSound = !text.contains("[]")
        #expect(coerce("\"\(text)\"", to: .uri).outcome == (isSound ? .text(text) : .error(.wrongForm)))
    }

    @Test(
        arguments: [
            "", " http://a", "http://a b", "http://a/%2", "http://a/%zz", "1a:b", ":a", "http://[::1", "http://a:8o/",
            "http://a/ä", "a#b#c", "http://a/\\\\b", "http://<a>", "a\\u0000", "http://[]/", "http://a[b]/", "é:a",
            "a^b",
        ])
    func refusesWhatIsNoURI(text: String) {
        #expect(coerce("\"\(text)\"", to: .uri).outcome == .error(.wrongForm))
    }

    // MARK: Binaries

    /// The examples of RFC 4648 §10.
    @Test(arguments: [
        ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zm9vYmFy", "foobar"),
    ])
    func readsBase64(text: String, bytes: String) throws {
        for formats in [[], ["base64"], ["base64url"], ["base64url", "base64"]] {
            let attribute = AttributeDescription(name: "a", type: .binary, formats: formats)
            #expect(try coerce("\"\(text)\"", to: attribute).outcome == .blob(Array(bytes.utf8)))
            let bare = text.replacing("=", with: "")
            let fits = bare == text || formats != ["base64"]
            #expect(
                try coerce("\"\(bare)\"", to: attribute).outcome
                    == (fits ? .blob(Array(bytes.utf8)) : .error(.wrongForm))
            )
        }
    }

    @Test func tellsTheAlphabetsApart() throws {
        let (plain, url, either) = (
            AttributeDescription(name: "a", type: .binary, formats: ["base64"]),
            AttributeDescription(name: "a", type: .binary, formats: ["base64url"]),
            AttributeDescription(name: "a", type: .binary)
        )
        let bytes: [UInt8] = [0xFB, 0xFF]
        #expect(try coerce(#""+/8=""#, to: plain).outcome == .blob(bytes))
        #expect(try coerce(#""+/8=""#, to: url).outcome == .error(.wrongForm))
        #expect(try coerce(#""-_8""#, to: url).outcome == .blob(bytes))
        #expect(try coerce(#""-_8=""#, to: plain).outcome == .error(.wrongForm))
        #expect(try coerce(#""-_8""#, to: either).outcome == .blob(bytes))
        #expect(try coerce(#""\u002b\/8=""#, to: either).outcome == .blob(bytes))
        #expect(try coerce(#""\u002b\/8=""#, to: plain).outcome == .blob(bytes))
        for text in ["+_8=", "+/8", "-/8="] {
            #expect(try coerce("\"\(text)\"", to: either).outcome == .error(.wrongForm))
        }
    }

    @Test func readsUUIDsAndTheBytesOfTexts() throws {
        let uuid = AttributeDescription(name: "a", type: .binary, formats: ["uuid"])
        let text = AttributeDescription(name: "a", type: .binary, formats: ["text"])
        let bytes = (0..<16).map { UInt8($0 * 17) }
        for spelling in [
            "00112233-4455-6677-8899-aabbccddeeff", "{00112233-4455-6677-8899-AABBCCDDEEFF}",
            "ABEiM0RVZneImaq7zN3u/w==", "00112233445566778899aabbccddeeff", "00112233445566778899AABBCCDDEEFF",
        ] {
            #expect(try coerce("\"\(spelling)\"", to: uuid).outcome == .blob(bytes))
            #expect(try coerce("\"\(spelling)\"", to: text).outcome == .blob(Array(spelling.utf8)))
        }
        #expect(uuid.text(ofBinary: bytes) == "00112233-4455-6677-8899-aabbccddeeff")
        #expect(uuid.text(ofBinary: bytes.dropLast()) == nil)
        #expect(try coerce(#""00112233445566778899aabbccddeefg""#, to: uuid).outcome == .error(.wrongForm))
        #expect(try coerce(#""AAEC""#, to: uuid).outcome == .error(.wrongForm))
        #expect(try coerce(#""Z\u00fcrich""#, to: text).outcome == .blob(Array("Zürich".utf8)))
        #expect(text.text(ofBinary: Array("Zürich".utf8)) == "Zürich")
        #expect(text.text(ofBinary: [0xFF]) == nil)
        #expect(try coerce("1", to: text).outcome == .error(.wrongKind))
    }

    @Test func refusesWhatIsNoBase64() {
        // The bits that stand for nothing are zero in "Zg==", and not in "Zh==".
        for text in [
            "Z", "Zh==", "Zm9=", "Zg=", "Zg===", "=Zg=", "Zg==Zg==", "Zm9v====", "Zm9v=", "Zm9\u{e9}", "Zm.v", "Zm9vZ",
        ] {
            #expect(coerce("\"\(text)\"", to: .binary).outcome == .error(.wrongForm), "\(text)")
        }
        #expect(coerce("12", to: .binary).outcome == .error(.wrongKind))
        let wrapped = coerce(#"" Zm9v\r\nYmFy\n""#, to: .binary)
        #expect(wrapped.outcome == .blob(Array("foobar".utf8)))
        #expect(wrapped.notes == .trimmed)
    }

    @Test func readsWhatFoundationWrites() {
        var generator = SeededGenerator(seed: 5)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(coerce("\"\(Data(bytes).base64EncodedString())\"", to: .binary).outcome == .blob(bytes))
        }
    }

    // MARK: Bitfields

    private static let rights = AttributeDescription(
        name: "rights",
        type: .bitfield,
        bits: [
            .init(name: "creator.share", position: 0), .init(name: "creator.edit", position: 1),
            .init(name: "creator-x", position: 2), .init(name: "locked", position: 5), .init(name: "top", position: 63),
        ]
    )

    @Test(
        arguments: [
            ("{}", 0), (#"{"creator":{"share":true}}"#, 1), (#"{ "creator.edit" : 1 , "locked":true}"#, 34),
            (#"{"creator":{"share":true,"edit":true},"locked":false}"#, 3), (#"{"top":true}"#, Int64.min),
            (#"{"locked":null,"creator":null}"#, 0), (#"{"cre\u0061tor":{"ed\u0069t":1.0}}"#, 2), ("3", 3),
            ("\"34\"", 34),
            ("3.0", 3), ("9223372036854775808", Int64.min), ("-9223372036854775808", Int64.min), ("0", 0),
            (#"{"creator-x":true,"creator":{}}"#, 4),
        ])
    func readsFlags(json: String, value: Int64) throws {
        #expect(try coerce(json, to: Self.rights).outcome == .integer(value))
    }

    @Test(
        arguments: [
            (#"{"nobody":true}"#, CoercionError.Code.unknownFlag, "nobody"),
            (#"{"creator":{"share":true,"a b":{"c":1}}}"#, .unknownFlag, "creator['a b']"),
            (#"{"creator":{"delete":null}}"#, .unknownFlag, "creator.delete"),
            (#"{"creator.":1}"#, .unknownFlag, "['creator.']"),
            (#"{"creat":{}}"#, .unknownFlag, "creat"), (#"{"locked":{"x":true}}"#, .wrongKind, "locked"),
            (#"{"locked":2}"#, .wrongForm, "locked"), (#"{"locked":"yes"}"#, .wrongKind, "locked"),
            (#"{"creator":true}"#, .wrongKind, "creator"), ("4.5", .notIntegral, ""), ("8", .unknownFlag, ""),
            ("-1", .unknownFlag, ""), ("1e30", .outOfRange, ""), ("true", .wrongKind, ""), ("[]", .wrongKind, ""),
            (#""a""#, .wrongForm, ""),
        ])
    func namesTheFlagThatIsWrong(json: String, code: CoercionError.Code, path: String) throws {
        let error = try #require(try coerce(json, to: Self.rights).error)
        #expect(error.code == code)
        #expect(error.path == path)
        #expect(error.keyPath(at: "rights") == "rights" + (path.isEmpty || path.hasPrefix("[") ? path : "." + path))
    }

    @Test func namesAllThatIsWrongWithItsFlagsInTheirOrder() throws {
        let json =
            #"{"x":1,"creator":{"share":true,"a b":1,"edit":"yes","y":{"z":1}},"locked":2,"creator.no":[],"top":1}"#
        let error = try #require(try coerce(json, to: Self.rights).error)
        let found = error.all.map { "\($0.keyPath(at: "rights")) \($0.code)" }
        #expect(
            found == [
                "rights.x unknownFlag", "rights.creator['a b'] unknownFlag", "rights.creator.edit wrongKind",
                "rights.creator.y unknownFlag", "rights.locked wrongForm", "rights['creator.no'] unknownFlag",
            ]
        )
        #expect(error.others.allSatisfy { $0.others.isEmpty })
    }

    @Test func tellsOfAFewAmongMillionsOfUnknownFlags() throws {
        let members = (0..<3_000).map { #""f\#($0)":{"g":1}"# }.joined(separator: ",")
        for json in ["{\(members)}", #"{"creator":{\#(members)},\#(members)}"#] {
            let error = try #require(try coerce(json, to: Self.rights).error)
            #expect(error.all.count == 100)
            #expect(Set(error.all.map(\.path)).count == 100)
        }
    }

    @Test func countsAFlagThatStandsTwice() throws {
        let coerced = try coerce(#"{"creator":{"share":true},"creator.share":false}"#, to: Self.rights)
        #expect(coerced.outcome == .integer(0))
        #expect(coerced.notes == .duplicateKey)
    }

    /// Against a slow reading of parsed JSON, with white space and escapes in between.
    @Test func readsFlagsAsAParserDoes() throws {
        var generator = SeededGenerator(seed: 23)
        let names = ["creator", "share", "edit", "locked", "top", "creator-x", "creator.edit", "x"]
        func object(depth: Int) -> JSONValue {
            .object(
                (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    let values: [JSONValue] = [.boolean(true), .boolean(false), .number("1"), .null, .string("a\"}")]
                    let value =
                        Int.random(in: 0..<3, using: &generator) == 0 && depth < 3
                        ? object(depth: depth + 1) : values.randomElement(using: &generator) ?? .null
                    return JSONValue.Member(key: names.randomElement(using: &generator) ?? "", value: value)
                }
            )
        }
        var taken = 0
        for _ in 0..<5_000 {
            let value = object(depth: 0)
            let layout: JSONValue.Layout = Bool.random(using: &generator) ? .indented : .compact
            let json = value.serialized(layout).replacing("t\"", with: "\\u0074\"")
            let expected = Self.slowFlags(value, prefix: "")
            let outcome = try coerce(json, to: Self.rights).outcome
            if let expected {
                taken += 1
                #expect(
                    outcome == .integer(Int64(bitPattern: expected.reduce(0) { $1.1 ? $0 | $1.0 : $0 & ~$1.0 })),
                    "\(json)"
                )
            } else if case .error = outcome {
            } else {
                Issue.record("\(json) gave \(outcome)")
            }
        }
        #expect(taken > 500)
    }

    /// The bits that an object sets and clears, in its order; nil if anything is wrong with it.
    private static func slowFlags(_ value: JSONValue, prefix: String) -> [(UInt64, Bool)]? {
        guard case .object(let members) = value else { return nil }
        var flags: [(UInt64, Bool)] = []
        for member in members {
            let name = prefix + member.key
            if let bit = rights.bits.first(where: { $0.name == name }) {
                switch member.value {
                case .boolean(let isSet): flags.append((1 << UInt64(bit.position), isSet))
                case .number: flags.append((1 << UInt64(bit.position), true))
                case .null: flags.append((1 << UInt64(bit.position), false))
                default: return nil
                }
            } else if rights.bits.contains(where: { $0.name.hasPrefix(name + ".") }) {
                if member.value == .null { continue }
                guard let inner = slowFlags(member.value, prefix: name + ".") else { return nil }
                flags += inner
            } else {
                return nil
            }
        }
        return flags
    }

    @Test func flagsComeBackAsTheSameInteger() throws {
        var generator = SeededGenerator(seed: 12)
        for _ in 0..<100 {
            var attribute = AttributeDescription(name: "a", type: .bitfield)
            attribute.addOptions(using: &generator)
            let mask = attribute.bits.reduce(Int64(0)) { $0 | 1 << Int64($1.position) }
            let value = Int64.random(in: .min ... .max, using: &generator) & mask
            #expect(try attribute.coerce(attribute.flags(of: value)).value == .integer(value))
            #expect(try attribute.coerce(.number("\(value)")).value == .integer(value))
        }
        #expect(Self.rights.flags(of: 2).serialized().hasPrefix(#"{"creator":{"share":false,"edit":true},"#))
    }
}
