import Foundation
import TestSupport
import Testing

@testable import ImportModel

/// What is a value of Extended JSON, and what becomes of it by an attribute's type.
struct ExtendedJSONTests {
    private func kind(_ json: String) -> ExtendedJSON.Kind? { withView(json) { ExtendedJSON($0)?.kind } }

    /// What an attribute of a type makes of a value, and what it notes; nil where it does not take it out of its object.
    private func coerced(_ json: String, _ attribute: AttributeDescription) throws -> Coerced? {
        let coercion = try AttributeCoercion(attribute)
        let isTaken = withView(json) { bytes in ExtendedJSON(bytes).map(coercion.takes) ?? false }
        guard isTaken else { return nil }
        return coerce(json) { token, scratch, notes throws(CoercionError) in
            guard let value = ExtendedJSON(token.bytes) else { return .null }
            return try coercion.coerce(value, scratch: &scratch, notes: &notes)
        }
    }

    private func coerced(_ json: String, _ type: AttributeType) throws -> Coerced? {
        try coerced(json, AttributeDescription(name: "a", type: type, isOptional: true))
    }

    @Test(
        arguments: [
            (#"{"$oid":"5f1d7f0e8f1b2c3d4e5f6a7b"}"#, .text), (#"{ "$symbol" : "a\"b" }"#, .text),
            (#"{"$code":"function() {}"}"#, .text), (#"{"\u0024oid":"x"}"#, .text),
            (#"{"$date":"2020-01-01T00:00:00Z"}"#, .date), (#"{"$date":"2020-01-01T00:00:00.123+0200"}"#, .date),
            (#"{"$date":1577836800000}"#, .date), (#"{"$date":-1}"#, .date),
            (#"{"$date":{"$numberLong":"1577836800000"}}"#, .date),
            (#"{"$numberInt":"-2147483648"}"#, .integer), (#"{"$numberLong":"9223372036854775807"}"#, .integer),
            (#"{"$numberDouble":"1.0"}"#, .double), (#"{"$numberDouble":"-1.5E+300"}"#, .double),
            (#"{"$numberDouble":"NaN"}"#, .null), (#"{"$numberDouble":"-Infinity"}"#, .null),
            (#"{"$numberDecimal":"1.10"}"#, .decimal), (#"{"$numberDecimal":"0E-6176"}"#, .decimal),
            (#"{"$numberDecimal":"Infinity"}"#, .null), (#"{"$undefined":true}"#, .null),
            (#"{"$binary":{"base64":"AAEC","subType":"00"}}"#, .data),
            (#"{"$binary":{"subType":"4","base64":""}}"#, .data), (#"{"$type":"00","$binary":"AAEC"}"#, .data),
            (#"{"$binary":"\/\/8=","$type":"80"}"#, .data),
            (#"{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"}"#, .uuid),
        ] as [(String, ExtendedJSON.Kind)]
    )
    func isAValue(json: String, kind: ExtendedJSON.Kind) {
        #expect(self.kind(json) == kind)
    }

    /// All others are objects as any other.
    @Test(arguments: [
        "{}", #"{"a":1}"#, #"{"$oid":5}"#, #"{"$oid":null}"#, #"{"$oid":"a","more":1}"#, #"{"$oid":"a","$oid":"b"}"#,
        #"{"oid":"a"}"#, #"{"$OID":"a"}"#, #"{"$numberInt":5}"#, #"{"$numberInt":"2147483648"}"#,
        #"{"$numberInt":"1.0"}"#, #"{"$numberInt":"01"}"#, #"{"$numberInt":"-"}"#, #"{"$numberInt":""}"#,
        #"{"$numberLong":"9223372036854775808"}"#, #"{"$numberLong":" 5"}"#, #"{"$numberLong":"+5"}"#,
        #"{"$numberDouble":"nan"}"#, #"{"$numberDouble":"1e400"}"#, #"{"$numberDouble":"x"}"#,
        #"{"$numberDecimal":"1,5"}"#, #"{"$date":"soon"}"#, #"{"$date":1.5}"#, #"{"$date":true}"#,
        #"{"$date":{"$numberLong":5}}"#, #"{"$date":{"$numberLong":"253402300800000"}}"#,
        #"{"$binary":"AAEC"}"#, #"{"$binary":"A","$type":"00"}"#, #"{"$binary":"AAEC","$type":0}"#,
        #"{"$binary":{"base64":"AAEC"}}"#, #"{"$binary":{"base64":"AAEC","subType":"x"}}"#,
        #"{"$binary":{"base64":"AAEC","subType":"00","x":1}}"#, #"{"$uuid":"3b241101"}"#, #"{"$undefined":false}"#,
        #"{"$undefined":null}"#, #"{"$regex":"a","$options":""}"#,
        #"{"$regularExpression":{"pattern":"a","options":""}}"#,
        #"{"$timestamp":{"t":1,"i":1}}"#, #"{"$minKey":1}"#, #"{"$code":"x","$scope":{}}"#, #"{"$ref":"c","$id":"1"}"#,
    ])
    func isNone(json: String) {
        #expect(kind(json) == nil)
    }

    @Test func attributesTakeWhatFits() throws {
        let instant = Outcome.text("2020-01-01T00:00:00.000Z")
        #expect(try coerced(#"{"$date":1577836800000}"#, .date)?.outcome == instant)
        #expect(try coerced(#"{"$date":"2020-01-01T00:00:00Z"}"#, .string)?.outcome == instant)
        #expect(try coerced(#"{"$numberLong":"5"}"#, .string)?.outcome == .text("5"))
        #expect(try coerced(#"{"$numberLong":"5"}"#, .double)?.outcome == .real(5))
        #expect(try coerced(#"{"$numberInt":"70000"}"#, .integer16)?.outcome == .error(.outOfRange))
        #expect(try coerced(#"{"$oid":"a\tb"}"#, .string)?.outcome == .text("a\tb"))
        #expect(try coerced(#"{"$undefined":true}"#, .date)?.outcome == .null)
        #expect(try coerced(#"{"$binary":{"base64":"AAEC","subType":"00"}}"#, .binary)?.outcome == .blob([0, 1, 2]))
        let uuid = "3b241101-e2bb-4255-8caf-4136c566a962"
        let bytes = #"{"$binary":{"base64":"OyQRAeK7QlWMr0E2xWapYg==","subType":"04"}}"#
        #expect(try coerced(bytes, .uuid)?.outcome == .text(uuid))
        #expect(try coerced(bytes, .string)?.outcome == .text(uuid))
        #expect(try coerced(#"{"$uuid":"\#(uuid.uppercased())"}"#, .uuid)?.outcome == .text(uuid))
        for (json, type) in [
            (bytes, AttributeType.json), (#"{"$oid":"Zm9v"}"#, .binary),
            (#"{"$date":5}"#, .integer64), (#"{"$uuid":"\#(uuid)"}"#, .binary),
        ] {
            #expect(try coerced(json, type) == nil, "\(json) \(type)")
        }
    }

    /// A date or bytes are what they are, whatever form other values have.
    @Test func formatsAreThoseOfOtherValues() throws {
        var date = AttributeDescription(name: "a", type: .date, isOptional: true)
        (date.formats, date.storage) = (["dd/MM/yyyy"], .unix)
        #expect(try coerced(#"{"$date":1577836800000}"#, date)?.outcome == .integer(1_577_836_800))
        var bytes = AttributeDescription(name: "a", type: .binary, isOptional: true)
        bytes.formats = ["text"]
        #expect(try coerced(#"{"$binary":"AAEC","$type":"00"}"#, bytes)?.outcome == .blob([0, 1, 2]))
        // Such a model asks for the objects themselves.
        date.formats = ["mongo"]
        #expect(try coerced(#"{"$date":1577836800000}"#, date) == nil)
    }

    @Test func isCounted() throws {
        #expect(try coerced(#"{"$oid":"a"}"#, .string)?.notes == .unwrapped)
        #expect(try coerced(#"{"$date":5}"#, .date)?.notes == .unwrapped)
        #expect(try coerced(#"{"$numberLong":"5"}"#, .string)?.notes == [.unwrapped, .kindChanged])
        let attribute = AttributeDescription(name: "a", type: .string)
        let object = JSONValue.object([.init(key: "$oid", value: .string("x"))])
        #expect(try attribute.coerce(object) == CoercionResult(value: .text("x"), ledger: [.unwrapped]))
        let none = JSONValue.object([.init(key: "$undefined", value: .boolean(true))])
        #expect(throws: CoercionError.self) { try attribute.coerce(none) }
    }

    /// Random values, written as the specification says, are themselves again.
    @Test(arguments: 0..<20)
    func randomValuesAreThemselves(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<100 {
            let integer = Int64.random(in: .min ... .max, using: &random) >> Int64.random(in: 0...63, using: &random)
            #expect(try coerced(#"{"$numberLong":"\#(integer)"}"#, .integer64)?.outcome == .integer(integer))
            let small = Int32(truncatingIfNeeded: integer)
            #expect(try coerced(#"{"$numberInt": "\#(small)"}"#, .integer32)?.outcome == .integer(Int64(small)))
            let real = Double(bitPattern: UInt64.random(in: 0...(.max), using: &random))
            if real.isFinite, real != 0 {
                #expect(try coerced(#"{"$numberDouble":"\#(real)"}"#, .double)?.outcome == .real(real))
            }
            let bytes = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let base64 = Data(bytes).base64EncodedString()
            for json in [
                #"{"$binary":{"base64":"\#(base64)","subType":"00"}}"#, #"{"$binary":"\#(base64)","$type":"00"}"#,
            ] {
                #expect(try coerced(json, .binary)?.outcome == .blob(bytes))
            }
            let seconds = Int64.random(in: -2_000_000_000...4_000_000_000, using: &random)
            let milliseconds = Int64.random(in: 0...999, using: &random)
            let day = Date(timeIntervalSince1970: Double(seconds)).formatted(Date.ISO8601FormatStyle()).dropLast()
            let text = "\(day).\("\(1000 + milliseconds)".dropFirst())Z"
            let number = seconds * 1_000 + milliseconds
            for json in [
                #"{"$date":"\#(text)"}"#, #"{"$date":\#(number)}"#, #"{"$date":{"$numberLong":"\#(number)"}}"#,
            ] {
                #expect(try coerced(json, .date)?.outcome == .text(text), "\(json)")
            }
        }
    }
}
