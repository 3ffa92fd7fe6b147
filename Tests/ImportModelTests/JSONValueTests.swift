import Foundation
import TestSupport
import Testing

@testable import ImportModel

struct JSONValueTests {
    private func parse(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test func readsEveryKindAndKeepsWhatIsWritten() throws {
        let value = try parse(
            " { \"b\" : [ null , true , false , 1.50e+3 , -0 ] , \"a\" : {} ,\n\t\"b\" : \"x\\u0000\\ud83d\\ude00\\/\" , \"\" : [] } "
        )
        #expect(
            value
                == .object([
                    .init(
                        key: "b",
                        value: .array([.null, .boolean(true), .boolean(false), .number("1.50e+3"), .number("-0")])
                    ),
                    .init(key: "a", value: .object([])), .init(key: "b", value: .string("x\0😀/")),
                    .init(key: "", value: .array([])),
                ])
        )
        #expect(try parse("\u{FEFF}1") == .number("1"))
    }

    @Test func saysWhereTheTextIsWrong() {
        let rows: [(String, Int, Int, Int)] = [
            ("", 0, 1, 1), (" \n ", 3, 2, 2), ("[1,]", 3, 1, 4), ("[1 2]", 3, 1, 4), ("{\"a\":1,}", 7, 1, 8),
            ("{a:1}", 1, 1, 2),
            ("{\"a\" 1}", 5, 1, 6), ("[\n01]", 2, 2, 1), ("tru", 3, 1, 4), ("nul1", 3, 1, 4), ("1 2", 2, 1, 3),
            ("\"a", 2, 1, 3),
            ("\"a\nb\"", 2, 1, 3), ("\"\\x\"", 1, 1, 2), ("\"\\u12\"", 1, 1, 2), ("\"a\\ud800\"", 2, 1, 3),
            ("\"\\ud800\\ud800\"", 1, 1, 2), ("\"\\udc00\"", 1, 1, 2), ("\"\\", 2, 1, 3), ("[1}", 2, 1, 3),
            ("-", 0, 1, 1),
            ("1.", 0, 1, 1), ("NaN", 0, 1, 1), ("\u{c}1", 0, 1, 1), ("[", 1, 1, 2), ("{", 1, 1, 2), ("]", 0, 1, 1),
        ]
        for (text, offset, line, column) in rows {
            do throws(JSONSyntaxError) {
                _ = try JSONValue(parsing: Array(text.utf8))
                Issue.record("\(text) was taken")
            } catch {
                #expect(error.byteOffset == offset && error.line == line && error.column == column, "\(text): \(error)")
            }
        }
    }

    @Test func refusesBytesThatAreNotUTF8() {
        for bytes: [UInt8] in [[0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xFF, 0x22]] {
            #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: bytes) }
        }
    }

    @Test func limitsTheDepth() throws {
        let deepest = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try parse(deepest).serialized() == deepest)
        #expect(throws: JSONSyntaxError.self) { try parse("[" + deepest + "]") }
        #expect(throws: JSONSyntaxError.self) { try parse(String(repeating: "[{\"a\":", count: 100_000)) }
        // Depth is what is open at once, not how many there are.
        #expect(throws: Never.self) { try parse("[" + String(repeating: "[],", count: 2_000) + "{}]") }
    }

    @Test func writesTheSameValueBackInBothLayouts() throws {
        for key in PathTests.anyKeys {
            let value = JSONValue.object([
                .init(
                    key: key,
                    value: .array([.string(key), .number("1.0"), .object([.init(key: key, value: .null)])])
                ),
                .init(key: key, value: .boolean(false)),
            ])
            for layout in [JSONValue.Layout.compact, .indented] {
                let text = value.serialized(layout)
                #expect(try parse(text) == value)
                #expect(try parse(text).serialized(layout).utf8.elementsEqual(text.utf8))
                #expect(!text.unicodeScalars.contains { $0.isInvisible && $0 != "\n" })
            }
        }
    }

    @Test func laysOutShortContainersOnOneLine() throws {
        let value = try parse(#"{"a":{"type":"date","from":["x","y"]},"b":[],"c":[[1],[]],"d":{}}"#)
        #expect(
            value.serialized(.indented) == """
                {
                  "a": { "type": "date", "from": ["x", "y"] },
                  "b": [],
                  "c": [
                    [1],
                    []
                  ],
                  "d": {}
                }
                """
        )
        let long = JSONValue.array(Array(repeating: .string("0123456789"), count: 9))
        #expect(long.serialized(.indented).split(separator: "\n").count == 11)
    }

    static let suite = SharedData.directory.appending(path: "JSONTestSuite/test_parsing")

    @Test(.enabled(if: SharedData.isPresent))
    func agreesWithTheJSONTestSuite() throws {
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: Self.suite.path) where name.hasSuffix(".json") {
            let bytes = [UInt8](try Data(contentsOf: Self.suite.appending(path: name)))
            let isTaken = (try? JSONValue(parsing: bytes)) != nil
            if name.hasPrefix("y_") { #expect(isTaken, "\(name)") }
            if name.hasPrefix("n_") { #expect(!isTaken, "\(name)") }
            count += 1
        }
        #expect(count > 300)
    }
}
