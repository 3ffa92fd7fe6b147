import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine

/// Which type a path's values get.
struct InferringTypesTests {
    private func type(_ values: String...) -> String {
        infer(values.map { #"{"a":\#($0)}"# }).joined(separator: ", ")
    }

    @Test func integersOf64BitsAreInteger64() {
        #expect(type("1", "-9223372036854775808", "9223372036854775807", "-0") == "a: integer64")
    }

    @Test func largerIntegersAreDecimal() {
        #expect(type("1", "9223372036854775808") == "a: decimal")
        #expect(type("-9223372036854775809") == "a: decimal")
        #expect(type("1234567890123456789012345678901234567890", "1.5") == "a: decimal")
    }

    @Test func fractionsAndExponentsAreDouble() {
        #expect(type("1.5") == "a: double")
        #expect(type("1e3") == "a: double")
        #expect(type("-0.0") == "a: double")
        #expect(type("0.10000000000000001", "0.3000000000000000444") == "a: double")
    }

    @Test func numbersOfWhichADoubleLosesDigitsAreDecimal() {
        #expect(type("0.1234567890123456789012345678901234567890") == "a: decimal")
        #expect(type("1e-999") == "a: decimal")
        #expect(type("1.5", "1234567890123456.7800", "2") == "a: decimal")
        #expect(type("1234567890123456.7800", "null") == "a: decimal?")
        #expect(type("12345678901234567.8", #""x""#) == "a: string")
    }

    @Test func integersMixedWithFractionsAreDoubleIfDoublesEqualThem() {
        #expect(type("1.5", "9007199254740992") == "a: double")
        #expect(type("1.5", "9007199254740994") == "a: double")
        #expect(type("9007199254740993", "1.5") == "a: decimal")
        #expect(type("9007199254740993") == "a: integer64")
        #expect(type("9223372036854775807", "1.5") == "a: decimal")
    }

    @Test func numbersBeyondDoublesAreDecimalAndBeyondDecimalsJSON() {
        #expect(type("1e400", "1") == "a: decimal")
        #expect(type("1e308") == "a: double")
        #expect(type("1e99999999999999999999") == "a: json")
        #expect(type("1e-99999999999999999999") == "a: json")
        #expect(type("1e-99999999999999999999", "1e400") == "a: json")
    }

    @Test func stringsAreStringUnlessAllAreInstantsOrUUIDs() {
        #expect(type(#""x""#) == "a: string")
        #expect(type(#""2015-01-01T15:00:00Z""#, #""2015-01-01T15:00:00.123Z""#) == "a: date")
        #expect(type(#""2015-01-01T15:00:00Z""#, #""2015-01-01T15:00:00+01:00""#) == "a: string")
        #expect(type(#""2015-01-01T15:00:00+00:00""#, #""2015-01-01 15:00:00.5 UTC""#) == "a: date")
        #expect(type(#""2015-01-01T15:00:00+00:00[Europe/London]""#) == "a: string")
        #expect(type(#""2015-01-01T15:00:00.123456789Z""#) == "a: date")
        #expect(type(#""2015-01-01T15:00:00.1234567891Z""#) == "a: string")
        #expect(type(#""2015-02-30T15:00:00Z""#) == "a: string")
        #expect(type(#""2015-01-01T15:00:00Z""#, #""""#) == "a: string")
        #expect(type(#""2015-01-01T15:00:00Z""#, "null") == "a: date?")
        #expect(type(#""123e4567-e89b-12d3-a456-426614174000""#) == "a: uuid")
        #expect(type(#""123E4567-e89b-12d3-a456-426614174000""#) == "a: string")
        #expect(type(#""123e4567-e89b-12d3-a456-426614174000""#, #""2015-01-01T15:00:00Z""#) == "a: string")
    }

    @Test func numbersMixedWithStringsAreString() {
        #expect(type("1", #""x""#) == "a: string")
        #expect(type(#""2015-01-01T15:00:00Z""#, "1.5") == "a: string")
    }

    @Test func anyOtherMixtureIsJSON() {
        #expect(type("true", "false") == "a: boolean")
        #expect(type("true", "1") == "a: json")
        #expect(type(#""true""#, "true") == "a: json")
        #expect(type("[1]", "1") == "a: json")
        #expect(type("[1]", "[]") == "a: json")
        #expect(type(#"{"b":1}"#, "1") == "a: json")
        #expect(type(#"{"b":1}"#, "[1]") == "a: json")
        #expect(type(#"{"b":1}"#, "null") == "a_b: integer64? from a/b")
    }

    @Test func onlyNullsAreAnOptionalString() {
        #expect(type("null") == "a: string?")
    }

    @Test func textThatIsNotWellFormedIsJSON() {
        #expect(type(#""\ud83d\ude00""#) == "a: string")
        #expect(type(#""\ud83d""#, #""x""#) == "a: json")
        #expect(type(#""\ude00\ud83d""#) == "a: json")
        #expect(type(#""\ud83d""#, "1") == "a: json")
        #expect(type(#""\\ud83d""#) == "a: string")
    }

    @Test func missingOrNullMakesOptional() {
        #expect(infer([#"{"a":1,"b":2}"#, #"{"a":1}"#]) == ["a: integer64", "b: integer64?"])
        #expect(infer([#"{"b":1}"#, #"{"a":1,"b":2}"#]) == ["b: integer64", "a: integer64?"])
        #expect(infer([#"{"a":{"b":1},"c":1}"#, #"{"c":1}"#]) == ["a_b: integer64? from a/b", "c: integer64"])
    }

    @Test func ofEqualKeysOnlyTheLastCounts() {
        #expect(infer([#"{"a":"x","a":1}"#, #"{"a":[],"\u0061":2}"#]) == ["a: integer64"])
        #expect(infer([#"{"a":1,"a":null}"#]) == ["a: string?"])
        #expect(infer([#"{"a":{"b":1},"a":{"c":1}}"#]) == ["a_c: integer64 from a/c"])
    }

    @Test func recordsThatAreNoObjectsGoIntoValue() {
        #expect(infer(["1", "2"]) == ["value: integer64 from "])
        #expect(infer(["1", "null", "1.5"]) == ["value: double? from "])
        #expect(infer([#""x""#]) == ["value: string from "])
        #expect(infer(["[[1]]", "[]"]) == ["value: json from "])
        #expect(infer([#"{"a":1}"#, "1"]) == ["value: json from "])
        #expect(infer([#"{"a":1}"#, "null"]) == ["value: json? from "])
        #expect(infer(["{}", "{}"]) == ["value: json from "])
        #expect(infer([]) == ["value: json? from "])
        #expect(infer([#"{"\ud800":1}"#, #"{"a":1}"#]) == ["value: json from "])
    }

    @Test func textsThatTheStoreCannotHaveAreJSON() {
        let records = [
            #"{"a":"x\u0000","b":"\\u0000","c":1,"d":"\ud800\u0000"}"#,
            #"{"a":"y","b":"z","c":"\u0000","d":"e"}"#,
        ]
        #expect(infer(records) == ["a: string", "b: string", "c: string", "d: json"])
        var random = SeededGenerator(seed: 3)
        for statistics in [gather(records), merged(records, limits: InferenceLimits(), &random)] {
            var inference = EntityInference(statistics: statistics, name: "e", rules: NestingRules(textsHaveNUL: false))
            let entity = EntityDescription(name: "e", attributes: inference.attributes())
            #expect(entity.summary == ["a: json", "b: string", "c: json", "d: json"])
            #expect(inference.notices.filter { $0.finding == .textWithNUL }.map(\.path.description) == ["a", "c"])
        }
        var keyed = EntityInference(
            statistics: gather(["1"], keys: [#"\u0000"#]),
            name: "e",
            rules: NestingRules(textsHaveNUL: false)
        )
        #expect(keyed.attributes().map(\.type) == [.json, .integer64])
    }

    @Test func emptyRecordsAmongOthersAreRows() {
        #expect(infer(["{}", #"{"a":1}"#]) == ["a: integer64?"])
        #expect(infer([#"{"a":null}"#, #"{"a":1}"#]) == ["a: integer64?"])
    }

    @Test func keysOfKeyedRecordsComeFirstAndAreStrings() {
        #expect(
            infer([#"{"key":1}"#, #"{"key":2}"#], keys: ["17", "18"])
                == ["key: string from $key", "key_2: integer64 from key"]
        )
        #expect(infer(["1"], keys: [#"\ud800"#]) == ["key: json from $key", "value: integer64 from "])
        #expect(infer(["1"], keys: ["2015-01-01T15:00:00Z"])[0] == "key: string from $key")
    }
}
