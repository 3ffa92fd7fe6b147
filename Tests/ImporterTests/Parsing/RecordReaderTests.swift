import ImportModel
import Importer
import Testing

struct RecordReaderTests {
    private func read(_ line: String, maxDepth: Int = 8) -> RecordReader.Outcome {
        let reader = RecordReader(maxDepth: maxDepth)
        return Array((line + "\n").utf8).withUnsafeBufferPointer { reader.read(line: ByteView($0)) }
    }

    /// The places are those of Python's `json.JSONDecodeError.pos`, in bytes.
    @Test(arguments: [
        (#"{"a":1} {"b":2}"#, 8),
        (#"1 "two" 3"#, 2),
        ("[1 2]", 3),
        (#"["a" "a long text that may not stand there"]"#, 5),
        (#"{"a" 1}"#, 5),
        (#"{"a": 1 "b": 2}"#, 8),
        (#"{"a": "é", "b": ]}"#, 17),
        (#"{"a": {"b": [1, 2}}"#, 17),
        ("[1,,2]", 3),
    ])
    func saysWhereALineIsNoJSON(line: String, place: Int) {
        #expect(read(line) == .malformed(at: place))
    }

    @Test func saysWhichByteOfATokenIsWrong() {
        #expect(read(#"{"a": [1, {"b": tru}]}"#) == .malformed(at: 19))
        #expect(read("nul") == .malformed(at: 3))
        #expect(read(#"["a\x"]"#) == .malformed(at: 4))
    }

    @Test func saysWhereALineBreaksOff() {
        #expect(read(#"{"a": [1"#) == .malformed(at: 8))
        #expect(read(#"{"a": 1} {"b": 2"#) == .malformed(at: 9))
        #expect(read("  ") == .malformed(at: 0))
    }

    @Test func takesOnlyTheWhiteSpaceOfJSON() {
        #expect(read("{\"a\":\t1, \"b\":\r2}") == .record)
        #expect(read("{\"a\":\u{0B}1}") == .malformed(at: 5))
        #expect(read("{\"a\": 1\u{0C}}") == .malformed(at: 7))
        #expect(read("[1 2,\u{0C}3]") == .malformed(at: 3))
        #expect(read("[[[1,\u{0B}2]]]", maxDepth: 2) == .malformed(at: 5))
        #expect(read("[[[1]]]", maxDepth: 2) == .tooDeep)
    }
}
