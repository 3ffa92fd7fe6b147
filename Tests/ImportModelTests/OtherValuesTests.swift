import TestSupport
import Testing

@testable import ImportModel

/// Values in the forms that other programs write, by an attribute's type.
struct OtherValuesTests {
    @Test(arguments: ["NaN", "Infinity", "-Infinity"])
    func aTextOfNoFiniteNumberIsNull(text: String) {
        for type in [AttributeType.double, .float, .decimal, .integer64] {
            let coerced = coerce("\"\(text)\"", to: type)
            #expect(coerced.outcome == .null && coerced.notes == .notFinite, "\(type)")
        }
        #expect(coerce("\"\(text)\"", to: .string).outcome == .text(text))
    }

    @Test(arguments: ["nan", "Inf", "NaN1", "Infinit", "+Infinity", ""])
    func otherTextsAreNoNumbers(text: String) {
        #expect(coerce("\"\(text)\"", to: .double).outcome == .error(.wrongForm))
    }

    @Test func aRequiredNumberHasNoNull() throws {
        let attribute = AttributeDescription(name: "a", type: .double)
        #expect(throws: CoercionError.self) { try attribute.coerce(.string("NaN")) }
    }

    @Test(
        arguments: [
            (#""\\x00ff""#, [0, 255]), (#""\\x""#, []), (#""\\xABcd""#, [171, 205]), ("[0,255, 7]", [0, 255, 7]),
            ("[ ]", []),
        ] as [(String, [UInt8])]
    )
    func readsBytes(json: String, bytes: [UInt8]) {
        #expect(coerce(json, to: .binary).outcome == .blob(bytes))
    }

    @Test(arguments: [#""\\x0""#, #""\\xgg""#, #""\\X00""#, "[256]", "[-1]", "[1.5]", "[\"a\"]", "[[1]]", "[null]"])
    func readsNoOtherBytes(json: String) {
        #expect(coerce(json, to: .binary).outcome == .error(.wrongForm))
    }

    @Test(
        arguments: [
            (#"{"type":"Buffer","data":[97,98]}"#, .data), (#"{ "type" : "Buffer" , "data" : [] }"#, .data),
            (#"{"$binary":{"base64":"YfDEBFyzEeeQe6YAatPboA==","subType":"04"}}"#, .uuidData),
            (#"{"$binary":"YfDEBFyzEeeQe6YAatPboA==","$type":"3"}"#, .uuidData),
            (#"{"$binary":{"base64":"YfDEBFyzEeeQe6YAatPboA==","subType":"05"}}"#, .data),
            (#"{"$binary":{"base64":"AAEC","subType":"04"}}"#, .data),
            (#"{"type":"Buffer","data":[256]}"#, nil), (#"{"type":"Buffer","data":"ab"}"#, nil),
            (#"{"type":"Buffer","data":[1],"x":1}"#, nil), (#"{"type":"Buffet","data":[1]}"#, nil),
            (#"{"type":"Buffer"}"#, nil),
        ] as [(String, ExtendedJSON.Kind?)]
    )
    func knowsBytesInObjects(json: String, kind: ExtendedJSON.Kind?) {
        #expect(withView(json) { ExtendedJSON($0)?.kind } == kind)
    }

    @Test(arguments: [
        ("array", "[2024,1,2]", "2024-01-02T00:00:00.000Z"), ("array", "[2024, 1,2,3,4]", "2024-01-02T03:04:00.000Z"),
        ("array", "[2024,1,2,3,4,5,678000000]", "2024-01-02T03:04:05.678Z"),
        ("unixMicroseconds", "\"1700000000250002\"", "2023-11-14T22:13:20.250Z"),
        ("unixMicroseconds", "-1", "1969-12-31T23:59:59.999Z"),
        ("unixNanoseconds", "1700000000250000000", "2023-11-14T22:13:20.250Z"),
        ("referenceDate", "725846399.5", "2024-01-01T23:59:59.500Z"),
        ("referenceDate", "-978307200", "1970-01-01T00:00:00.000Z"),
        (
            "iso8601", #"{"date":"2024-01-02 03:04:05.678000","timezone_type":3,"timezone":"Europe/Oslo"}"#,
            "2024-01-02T02:04:05.678Z"
        ),
        (
            "iso8601", #"{"date":"2024-01-02 03:04:05.000000","timezone_type":1,"timezone":"+01:00"}"#,
            "2024-01-02T02:04:05.000Z"
        ),
        (
            "iso8601", #"{"date":"2024-01-02 03:04:05.000000","timezone_type":3,"timezone":"UTC"}"#,
            "2024-01-02T03:04:05.000Z"
        ),
        ("d MMM, h:mm a", "\"2 Jan, 3:04\u{202F}AM\"", "0001-01-02T03:04:00.000Z"),
        ("d MMM, h:mm a", "\"2\u{A0}Jan,\u{2009}3:04 AM\"", "0001-01-02T03:04:00.000Z"),
    ])
    func readsDates(format: String, json: String, text: String) throws {
        let format = format.hasPrefix("d ") ? "y \(format)" : format
        let json = format.hasPrefix("y ") ? json.replacing("\"2", with: "\"1 2", maxReplacements: 1) : json
        #expect(coerce(json, with: try DateCoercion(format)).outcome == .text(text))
    }

    @Test(arguments: [
        ("array", "[2024,1]"), ("array", "[2024,1,2,3]"), ("array", "[2024,13,2]"), ("array", "[2024,1,2,24,0]"),
        ("array", "[2024,1,2,3,4,5,6,7]"), ("array", "[2024,1,-2]"), ("array", "[2024,1,\"2\"]"), ("array", "[]"),
        ("iso8601", "[2024,1,2]"), ("referenceDate", "\"5\""), ("unixMicroseconds", "\"x\""),
        ("iso8601", #"{"date":"2024-01-02 03:04:05","timezone_type":3,"timezone":"Nowhere/No"}"#),
        ("iso8601", #"{"date":"2024-01-02 03:04:05","timezone_type":3}"#), ("iso8601", "{}"),
        ("yyyy MM", "\"2024-01\""), ("yyyy MM", "\"202401\""),
    ])
    func readsNoOtherDates(format: String, json: String) throws {
        guard case .error = coerce(json, with: try DateCoercion(format)).outcome else {
            Issue.record("\(json) is read as \(format)")
            return
        }
    }

    @Test func anAttributeOfAPHPDateIsADate() {
        let php = #"{"date":"2024-01-02 03:04:05.000000","timezone_type":3,"timezone":"UTC"}"#
        #expect(coerce(php, to: .date).outcome == .text("2024-01-02T03:04:05.000Z"))
        #expect(coerce("{}", to: .date).outcome == .error(.wrongKind))
        #expect(coerce("[2024,1,2]", to: .date).outcome == .error(.wrongKind))
    }
}
