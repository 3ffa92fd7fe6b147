import ImportModel
import Importer
import Testing

/// The keys of a record are one text, which is read again as the same keys.
struct RecordKeysTests {
    @Test(arguments: [
        ["a"], [""], ["["], ["[]"], [#"["a"]"#], [#"["a","b"]"#], [#"["a",1]"#], [#"["["a","b"]"]"#], ["a", "b"],
        ["", ""], [#"["a","b"]"#, "\"\n"], ["a", "b", "c"],
    ])
    func areReadAgain(keys: [String]) throws {
        var keys = keys
        for _ in 0..<3 {
            let text = try #require(RecordKeys.text(of: keys))
            #expect(RecordKeys.keys(in: text) == keys)
            let json = try JSONValue(parsing: Array(RecordKeys.json(of: text).utf8))
            #expect(json == (keys.count == 1 ? .string(keys[0]) : .array(keys.map { .string($0) })))
            // The text of any keys may be a key itself.
            keys = [text]
        }
        #expect(RecordKeys.text(of: []) == nil)
    }

    @Test(arguments: [
        (#"{"a":{"b" : [1] }}"#, 2, #"["a","b"]"#, "[1]"), (#"{"a}\"":{"x":{}}}"#, 1, #"a}""#, #"{"x":{}}"#),
        (#"{"a":{"b":{}}}"#, 2, #"["a","b"]"#, "{}"), (#"{"a":{"b":oops}}"#, 2, #"["a","b"]"#, "oops"),
        ("12", 0, nil, "12"), ("", 2, #"["",""]"#, ""), (#"{"a"#, 2, #"["a",""]"#, ""),
    ])
    func areFoundInALine(line: String, count: Int, key: String?, value: String) {
        Array((line + "\n").utf8).withUnsafeBufferPointer { bytes in
            let line = ByteView(bytes)
            let found = KeyedRecordLine.split(line, keys: count)
            #expect(found.key == key)
            #expect(String(decoding: line[found.value].buffer, as: UTF8.self) == value)
            guard value.hasPrefix("[") else { return }
            #expect(RecordKeys.text(of: KeyedRecordLine.keys(in: line[0..<found.value.lowerBound])) == key)
        }
    }
}
