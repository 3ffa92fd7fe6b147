import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine

/// What is inferred of values of Extended JSON, and of rows.
struct InferringExtendedJSONTests {
    private func type(_ values: String..., strict: Bool = false) -> String {
        var limits = InferenceLimits()
        limits.unwraps = !strict
        return infer(values.map { #"{"a":\#($0)}"# }, limits: limits).joined(separator: ", ")
    }

    @Test func valuesGiveTheirType() {
        #expect(type(#"{"$oid":"5f1d7f0e8f1b2c3d4e5f6a7b"}"#) == "a: string")
        #expect(type(#"{"$numberInt":"5"}"#, #"{"$numberLong":"6"}"#, "7") == "a: integer64")
        #expect(type(#"{"$numberDouble":"5.0"}"#) == "a: double")
        #expect(type(#"{"$numberDouble":"5"}"#, "1") == "a: double")
        #expect(type(#"{"$numberDecimal":"5"}"#, "1") == "a: decimal")
        #expect(type(#"{"$date":"2020-01-01T00:00:00+01:00"}"#, #"{"$date":5}"#) == "a: date")
        #expect(type(#"{"$date":5}"#, #""2020-01-01T00:00:00Z""#) == "a: date")
        #expect(type(#"{"$uuid":"3B241101-E2BB-4255-8CAF-4136C566A962"}"#) == "a: uuid")
        #expect(type(#"{"$binary":"AAEC","$type":"00"}"#, #"{"$binary":{"base64":"","subType":"0"}}"#) == "a: binary")
        #expect(type(#"{"$code":"2020-01-01T00:00:00Z"}"#) == "a: string")
    }

    @Test func nullsMakeAnAttributeOptional() {
        #expect(type(#"{"$undefined":true}"#, "1") == "a: integer64?")
        #expect(type(#"{"$numberDouble":"NaN"}"#, #"{"$numberDouble":"1.5"}"#) == "a: double?")
    }

    @Test func mixedValuesAreWhatHoldsAll() {
        #expect(type(#"{"$date":5}"#, #""soon""#) == "a: string")
        #expect(type(#"{"$oid":"a"}"#, "5") == "a: string")
        #expect(type(#"{"$binary":"AAEC","$type":"00"}"#, #""x""#) == "a: json")
        #expect(type(#"{"$binary":"AAEC","$type":"00"}"#, "5") == "a: json")
        #expect(type(#"{"$oid":"a"}"#, #"{"$oid":5}"#) == "a: json")
        #expect(type(#"{"$oid":"a"}"#, "[]") == "a: json")
        #expect(type(#"{"$numberLong":"5"}"#, "true") == "a: json")
    }

    @Test func objectsOfOtherKeysAreObjects() {
        #expect(type(#"{"$oid":"a","b":1}"#) == "a_$oid: string from a/$oid, a_b: integer64 from a/b")
        #expect(type(#"{"$oid":"a"}"#, strict: true) == "a_$oid: string from a/$oid")
        #expect(infer([#"{"$oid":"a"}"#]) == ["$oid: string"])
    }

    @Test func arraysOfThemAreNotArraysOfObjects() {
        let statistics = gather([#"{"a":[{"$oid":"x"},{"$oid":"y"}]}"#], limits: NestingRules(policy: .tables).limits)
        #expect(statistics.entity(named: "e").entity.summary == ["a: json"])
    }

    @Test func rowsHaveColumns() {
        #expect(infer(["[1,\"a\"]", "[2,\"b\"]"]) == ["column_1: integer64", "column_2: string"])
        #expect(infer(["[1,{\"$oid\":\"a\"}]", "[null]"]) == ["column_1: integer64?", "column_2: string?"])
        #expect(infer(["[[1],2]", "[2,3]"]) == ["value: json from "])
        #expect(infer(["[1,2]", "{\"a\":1}"]) == ["value: json from "])
        #expect(infer(["[1,2]", "5"]) == ["value: json from "])
        #expect(infer(["[]", "[]"]) == ["value: json from "])
        #expect(infer(["[\(repeatElement("1", count: 2_000).joined(separator: ","))]"]) == ["value: json from "])
    }

    /// Which records were seen by whom does not matter.
    @Test(arguments: 0..<10)
    func partsOfRowsMerge(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let values = [
            "1", "null", "\"x\"", "1.5", "{\"$numberLong\":\"7\"}", "{\"$date\":5}",
            "{\"$binary\":\"\",\"$type\":\"0\"}",
        ]
        let records = (0..<20).map { _ in
            let count = Int.random(in: 0...4, using: &random)
            return "[\((0..<count).map { _ in values.randomElement(using: &random) ?? "" }.joined(separator: ","))]"
        }
        let whole = infer(records)
        for _ in 0..<5 {
            let parts = merged(records, limits: InferenceLimits(), &random)
            #expect(parts.entity(named: "e").entity.summary == whole)
        }
    }
}
