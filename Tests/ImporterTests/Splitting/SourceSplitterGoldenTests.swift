import Testing

@testable import ImportEngine
@testable import Importer

struct SourceSplitterGoldenTests {
    @Test func cutsAnArray() throws {
        let result = try SplitCase(paths: ["$[*]"]).split("[{\"a\":1},\n {\"b\": [2,\r\n3]}, 4 ,\"x\", null]\n")
        #expect(result.texts == ["{\"a\":1}", "{\"b\": [2,  3]}", "4", "\"x\"", "null"])
        #expect(result.end == .finished)
    }

    @Test func cutsLines() throws {
        let result = try SplitCase(layout: .lines).split("{\"a\":1}\r\n\n  {\"b\":2}  \n{broken\n[1]")
        #expect(result.texts == ["{\"a\":1}", "{\"b\":2}", "{broken", "[1]"])
        #expect(result.end == .finished)
    }

    @Test func keepsTheKeysOfAKeyedCollection() throws {
        let result = try SplitCase(paths: ["$.users.*"]).split("{\"v\":1,\"users\":{\"a\" : {\"x\":1}, \"b\":2}}")
        #expect(result.texts == ["{\"a\" : {\"x\":1}}", "{\"b\":2}"])
        #expect(result.outside == ["$.v": 1])
        #expect(result.end == .finished)
    }

    /// Keys that were in the record before are passed in one step; a line break after one is a space all the same.
    @Test(arguments: ["\"a\"\n:1", "\"a\":\n1", "\"a\"\r\n:\t1", "\"a\": \r1", "\"a\" : 1"])
    func writesLineBreaksBehindKnownKeysAsSpaces(member: String) throws {
        let record = "{\(member), \"another key, so that there are enough bytes behind the first\": 2}"
        // yajl sees the first ones.
        let source = "[" + Array(repeating: record, count: 100).joined(separator: ",") + "]"
        let result = try SplitCase(paths: ["$[*]"]).split(source)
        let breaks: Set<Unicode.Scalar> = ["\r", "\n"]
        let line = String(String.UnicodeScalarView(record.unicodeScalars.map { breaks.contains($0) ? " " : $0 }))
        #expect(result.texts == Array(repeating: line, count: 100))
        #expect(result.end == .finished)
    }
}
