import Foundation
import ImportModel
import TestSupport
import Testing

@testable import ImportSources

/// Values outside of the records are kept as they are, however the source is cut.
struct OutsideValueTests {
    private static let document = #"""
        {"name" : "X\u00e9 漢", "v":[1, 2.50, {"a" : null, "a": "x , y"}], "groups":[
            {"title":"one","items":[{"n":1},{"n":2}, 3],"empty":{}}, {"items":[{"n":3}],"title":12345678901234567890.10}
        ], "tail" : true}
        """#

    private func values(_ result: SplitResult) -> [OutsideValue] { result.entries.flatMap { $0.outsideValues ?? [] } }

    @Test(arguments: [1, 2, 3, 7, 16, 64, 4096])
    func areTheSameHoweverTheSourceIsCut(blockSize: Int) throws {
        for chunkSize in [1, 16, 4096] {
            var split = SplitCase(paths: ["$.groups[*].items[*]"], blockSize: blockSize, longToken: 64)
            split.chunkSize = chunkSize
            let result = try split.split(Self.document)
            let found = values(result)
            let object = OutsideValue.object(found).serialized()
            #expect(
                object
                    == #"{"name":"Xé 漢","v":[1,2.50,{"a":null,"a":"x , y"}],"groups[*].title":["one",12345678901234567890.10],"#
                    + #""groups[*].empty":[{}],"tail":true}"#
            )
            #expect(result.outside.values.reduce(0, +) == Int64(found.count))
            #expect(result.texts == [#"{"n":1}"#, #"{"n":2}"#, "3", #"{"n":3}"#])
            let source = Array(Self.document.utf8)
            #expect(found.allSatisfy { [0x22, 0x31].contains(source[Int($0.byteOffset)]) })
        }
    }

    /// What is nearly JSON is kept as JSON.
    @Test(arguments: [1, 5, 4096])
    func areJSON(blockSize: Int) throws {
        let split = SplitCase(paths: ["$.items[*]"], blockSize: blockSize, longToken: 64)
        let result = try split.split(
            #"{"a":NaN,"items":[{"n":1}],"b" /* : */ : [1,/*x*/ -Infinity,],"c":"NaN, // no"}"#
        )
        #expect(OutsideValue.object(values(result)).serialized() == #"{"a":null,"b":[1,null],"c":"NaN, // no"}"#)
    }

    @Test func aSourceKeepsAMebibyteOfThem() throws {
        let long = String(repeating: "x", count: 400_000)
        let document = #"{"a":"\#(long)","b":"\#(long)","items":[{}],"c":"\#(long)","d":1,"e":"\#(long)"}"#
        for chunkSize in [1, 1 << 22] {
            var split = SplitCase(paths: ["$.items[*]"], blockSize: 65_536, longToken: 64)
            split.chunkSize = chunkSize
            let result = try split.split(document)
            #expect(values(result).map(\.path) == ["$.a", "$.b", "$.d"])
            #expect(result.outside.count == 5)
        }
    }

    @Test func whatIsNoTextOrTooDeepIsNotKept() throws {
        let deep = String(repeating: "[", count: 600) + String(repeating: "]", count: 600)
        let document = Array(#"{"a":""#.utf8) + [0xFF] + Array(#"","items":[{}],"b":\#(deep),"c":"\ud800","d":0}"#.utf8)
        let result = try SplitCase(paths: ["$.items[*]"], blockSize: 64, longToken: 64).split(document)
        #expect(values(result).map(\.path) == ["$.d"])
    }
}
