import ImportModel
import Testing

@testable import ImportEngine
@testable import Importer

/// Which objects become columns, and what these are called.
struct InferringObjectsTests {
    @Test func objectsBecomeColumns() {
        #expect(
            infer([#"{"a":{"b":{"c":1},"d":"x"},"e":true}"#])
                == ["a_b_c: integer64 from a/b/c", "a_d: string from a/d", "e: boolean"]
        )
    }

    @Test func objectsThatColumnsCouldNotTellFromMissingOnesAreJSON() {
        #expect(infer([#"{"a":{"b":1}}"#, #"{"a":{}}"#]) == ["a: json"])
        #expect(infer([#"{"a":{"b":1}}"#, #"{"a":{"b":null}}"#]) == ["a: json"])
        #expect(infer([#"{"a":{"b":1}}"#, #"{"a":{"b":1,"b":null}}"#]) == ["a: json"])
        #expect(
            infer([#"{"a":{"b":{"c":1}}}"#, #"{"a":{"b":{"c":null}}}"#]) == ["a_b: json from a/b"]
        )
        #expect(infer([#"{"a":{"b":1,"c":null}}"#]) == ["a_b: integer64 from a/b", "a_c: string? from a/c"])
    }

    @Test func objectsWithKeysThatAreNotWellFormedAreJSON() {
        #expect(infer([#"{"a":{"\udc00":1,"b":1},"c":1}"#]) == ["a: json", "c: integer64"])
        #expect(infer([#"{"a":{"\ud83d\ude00":1}}"#]) == ["a_😀: integer64 from a/😀"])
    }

    @Test func objectsWithIDsForKeysAreJSON() {
        #expect(infer([#"{"a":{"1":1}}"#, #"{"a":{"2":1}}"#]) == ["a: json"])
        #expect(infer([#"{"a":{"1":1}}"#]) == ["a_1: integer64 from a/1"])
        #expect(infer([#"{"a":{"1":1,"x":1}}"#]) == ["a_1: integer64 from a/1", "a_x: integer64 from a/x"])
        #expect(infer([#"{"a":{"-1.5":1,"2":1}}"#]) == ["a: json"])
        #expect(infer([#"{"a":{"2015-01-01":1,"2015-01-02T10:00":1}}"#]) == ["a: json"])
        #expect(
            infer([
                #"{"a":{"123e4567-e89b-12d3-a456-426614174000":1,"123E4567-E89B-12D3-A456-426614174001":1}}"#
            ]) == ["a: json"]
        )
        #expect(infer([#"{"1":1,"2":1}"#]) == ["1: integer64", "2: integer64"])
    }

    @Test func objectsWithLanguagesForKeysAreJSON() {
        #expect(infer([#"{"a":{"de":"x","en":"x","pt-BR":"x","zh_Hant":"x"}}"#]) == ["a: json"])
        #expect(infer([#"{"a":{"de":"x","en":"x","fr":"x"}}"#]).count == 3)
        #expect(infer([#"{"a":{"de":"x","en":"x","fr":"x","xx":"x"}}"#]).count == 4)
    }

    @Test func objectsWithManyKeysOfWhichEachHasFewAreJSON() {
        let sparse = (0..<31).map { #"{"a":{"k\#($0)":1}}"# }
        #expect(infer(sparse) == ["a: json"])
        #expect(infer(Array(sparse.dropLast())).count == 30)
        let dense = "{" + (0..<500).map { #""k\#($0)":1"# }.joined(separator: ",") + "}"
        #expect(infer([#"{"a":\#(dense)}"#]).count == 500)
        #expect(infer([dense]).count == 500)
    }

    @Test func tooManyKeysMakeJSONAndAlsoTheRecord() {
        func object(_ count: Int) -> String {
            "{" + (0..<count).map { #""k\#($0)":1"# }.joined(separator: ",") + "}"
        }
        #expect(infer([#"{"a":\#(object(1000))}"#]).count == 1000)
        #expect(infer([#"{"a":\#(object(1001)),"b":1}"#]) == ["a: json", "b: integer64"])
        #expect(infer([object(1900)]).count == 1900)
        #expect(infer([object(1901)]) == ["value: json from "])
    }

    @Test func theWidestObjectsAreJSONWhileThereAreTooManyColumns() {
        let limits = InferenceLimits(columns: 5)
        let record = #"{"a":{"x":1,"y":1},"b":{"x":1,"y":1,"z":1},"c":1}"#
        #expect(infer([record], limits: InferenceLimits(columns: 6)).count == 6)
        #expect(
            infer([record], limits: limits)
                == ["a_x: integer64 from a/x", "a_y: integer64 from a/y", "b: json", "c: integer64"]
        )
        let even = #"{"b":{"x":1,"y":1},"a":{"x":1,"y":1},"c":1,"d":1}"#
        #expect(
            infer([even], limits: limits)
                == ["b_x: integer64 from b/x", "b_y: integer64 from b/y", "a: json", "c: integer64", "d: integer64"]
        )
        #expect(infer([#"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}"#], limits: limits).count == 6)
    }

    @Test func aFullObjectLeavesTheOthersAlone() {
        let inner = (0..<1001).map { #""k\#($0)":{"x":1,"y":2}"# }.joined(separator: ",")
        let record = #"{"a":{"b":{"c":{\#(inner)},"d":1},"e":1},"f":{"g":1}}"#
        #expect(
            infer([record]) == [
                "a_b_c: json from a/b/c", "a_b_d: integer64 from a/b/d", "a_e: integer64 from a/e",
                "f_g: integer64 from f/g",
            ]
        )
    }

    /// Wherever it is, alone and beside others, a map is the JSON column, and what is around it stays.
    @Test(arguments: 1...8, ["1", #"{"x":1,"y":2}"#])
    func mapsAreJSONWhereTheyAre(depth: Int, value: String) {
        let map = "{" + (0..<1_500).map { #""host\#($0)":\#(value)"# }.joined(separator: ",") + "}"
        for count in [1, 2, 4] {
            let maps = (0..<count).map { #""m\#($0)":"# }
            func record(_ map: String) -> String {
                let innermost = #"{"id":1,"meta":{"p":1},"# + maps.map { $0 + map }.joined(separator: ",") + "}"
                return (1..<depth).reduce(innermost) { inner, _ in #"{"id":1,"side":{"z":1},"o":\#(inner)}"# }
            }
            let path = Array(repeating: "o", count: depth - 1)
            func column(_ keys: String, _ type: String, _ level: Int) -> String {
                let name = (path.prefix(level) + [keys.replacing("/", with: "_")]).joined(separator: "_")
                let from = (path.prefix(level) + [keys]).joined(separator: "/")
                return "\(name): \(type)" + (name == from ? "" : " from \(from)")
            }
            var expected = (0..<depth - 1).flatMap {
                [column("id", "integer64", $0), column("side/z", "integer64", $0)]
            }
            expected += [column("id", "integer64", depth - 1), column("meta/p", "integer64", depth - 1)]
            expected += (0..<count).map { column("m\($0)", "json", depth - 1) }
            let small = record(#"{"host0":\#(value)}"#)
            #expect(infer([record(map), small]) == expected)
            #expect(infer([small, small, record(map)]) == expected)
        }
    }

    @Test func keysOfManyBytesAreBounded() {
        let long = String(repeating: "k", count: 10_000)
        #expect(infer([#"{"\#(long)":1}"#]) == ["\(long): integer64"])
        let huge = String(repeating: "k", count: 7_000_000)
        #expect(infer([#"{"\#(huge)":1}"#]) == ["value: json from "])
        #expect(infer([#"{"a":{"\#(huge)":1},"b":1}"#]) == ["a: json", "b: integer64"])
    }

    @Test func depthIsBounded() {
        let record = String(repeating: #"{"a":"#, count: 1000) + "1" + String(repeating: "}", count: 1000)
        let limits = InferenceLimits(depth: 3)
        #expect(infer([record], limits: limits) == ["a_a_a: json from a/a/a"])
        #expect(infer([record]).count == 1)
    }

    @Test func columnsStandInTheOrderInWhichKeysFirstAppear() {
        let records = [
            #"{"b":1,"o":null}"#, #"{"a":1,"b":1,"o":{"y":1}}"#, #"{"o":{"x":1,"y":2},"z":1}"#,
        ]
        #expect(
            infer(records) == [
                "b: integer64?", "o_y: integer64? from o/y", "o_x: integer64? from o/x", "a: integer64?",
                "z: integer64?",
            ]
        )
    }

    @Test func namesThatSQLiteTakesForTheSameAreToldApart() {
        #expect(
            infer([#"{"Key":1,"key":1,"KEY":1,"key_2":1}"#])
                == [
                    "Key: integer64", "key_3: integer64 from key", "KEY_4: integer64 from KEY", "key_2: integer64",
                ]
        )
        #expect(
            infer([#"{"a_b":1,"a":{"b":1}}"#]) == ["a_b: integer64", "a_b_2: integer64 from a/b"]
        )
        #expect(
            infer([#"{"rowid":1,"OID":1,"_rowid_":1,"ä":1,"Ä":1}"#])
                == [
                    "rowid_2: integer64 from rowid", "OID_2: integer64 from OID",
                    "_rowid__2: integer64 from _rowid_", "ä: integer64", "Ä: integer64",
                ]
        )
        #expect(infer([#"{"rowid":1,"rowid_2":2}"#]) == ["rowid_3: integer64 from rowid", "rowid_2: integer64"])
        #expect(
            infer([#"{"":1,"empty":1,"a":{"":1},"x\u0000y":1}"#])
                == [
                    "empty_2: integer64 from ", "empty: integer64", "a_empty: integer64 from a/",
                    "x_y: integer64 from x\0y",
                ]
        )
    }

    @Test func whatIsNoticedIsTold() {
        #expect(
            notices((1...100).map { #"{"id":\#($0),"x":1,"t":"2015-01-31T10:00:\#($0 % 60 + 10)Z"}"# }) == [
                "e: id: could be the identifier: it is in every record and never repeats"
            ]
        )
        #expect(notices((1...99).map { #"{"id":\#($0),"x":1}"# }) == [], "any value may differ in so few")
        #expect(notices([#"{"id":1}"#, #"{}"#, #"{"id":2}"#]) == [])
        #expect(notices([#"{"d":"2015-01-31"}"#]) == ["e: d: all strings are days (2015-01-31), and stay text"])
        #expect(
            notices([#"{"d":"\/Date(1)\/"}"#]) == [
                "e: d: all strings are .NET dates (/Date(1420124400000)/), and stay text"
            ]
        )
        #expect(notices([#"{"d":"2015-01-31"}"#, #"{"d":"?"}"#, #"{"d":"?"}"#]) == [])
        #expect(
            notices([#"{"d":1}"#, #"{"d":"?"}"#, #"{"d":1}"#]) == ["e: d: kinds vary: 2 × number, 1 × string"]
        )
        #expect(
            notices([#"{"d":{"1":1,"2":1}}"#])
                == ["e: d: objects kept as JSON: their keys are numbers, UUIDs or days"]
        )
    }
}
