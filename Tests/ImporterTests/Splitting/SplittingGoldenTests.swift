import Testing

@testable import Importer

struct SplittingGoldenTests {
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
}
