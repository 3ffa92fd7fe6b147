import Importer
import TestSupport
import Testing

@testable import ImportEngine
@testable import ImportModel
@testable import ImportSources

/// Documents that are nearly JSON are cut as JSON is, wherever their blocks and chunks end.
struct LenientSplitTests {
    static let documents: [(text: String, path: String, records: [String])] = [
        (
            "// c\n[{\"a\":NaN},\n/* x */{\"b\":[1,],},\n{\"c\":1}, ]", "$[*]",
            ["{\"a\":NaN}", "{\"b\":[1,],}", "{\"c\":1}"]
        ),
        (
            "[{\"a\":1 // one, }\r\n,\"b\":2}, {\"c\": //\n 3}]", "$[*]",
            ["{\"a\":1 /*       */,\"b\":2}", "{\"c\":     3}"]
        ),
        (
            "x = {\"meta\": NaN, \"l\": [{\"a\":1},{\"a\":2,},], \"n\": [Infinity,]};", "$.l[*]",
            ["{\"a\":1}", "{\"a\":2,}"]
        ),
        (
            "{\"k\": {\"a\":1,},\n\"l\": {\"a\":-Infinity}, }", "$.*",
            ["{\"k\": {\"a\":1,}}", "{\"l\": {\"a\":-Infinity}}"]
        ),
        ("\u{1E}{\"a\":1}\n\u{1E}{\"a\":\n2,}\n", "$", ["{\"a\":1}", "{\"a\": 2,}"]),
        ("{\"a\":1}\n// c\n{\"a\":NaN} /* d */\n", "$", ["{\"a\":1}", "{\"a\":NaN}"]),
        ("cb([{\"a\":\"//\"},{\"a\":\"é\",}])", "$[*]", ["{\"a\":\"//\"}", "{\"a\":\"é\",}"]),
    ]

    @Test(arguments: documents.indices, [1, 2, 3, 5, 8, 13, 100])
    func cutsWhatIsNearlyJSON(document: Int, block: Int) throws {
        let (text, path, records) = Self.documents[document]
        for chunk in [1, 20, 1000] {
            let split = SplitCase(paths: [path], blockSize: block, chunkSize: chunk)
            let result = try split.split(text)
            #expect(result.end == .finished, "chunk \(chunk): \(String(describing: result.fault))")
            #expect(result.texts == records, "chunk \(chunk)")
            #expect(result.entries.last?.endByte == Int64(text.utf8.count))
            // What was cut before is what a split that goes on there begins after, as if nothing had been.
            for (index, entry) in result.entries.dropLast().enumerated() {
                let rest = try split.split(
                    Array(text.utf8),
                    start: entry.end,
                    firstOrdinal: entry.firstOrdinal + Int64(entry.records)
                )
                #expect(rest.end == .finished)
                #expect(rest.entries.map(\.sourceHash) == result.entries[(index + 1)...].map(\.sourceHash))
                #expect(rest.entries.map(\.end) == result.entries[(index + 1)...].map(\.end))
                #expect(rest.entries.map(\.checksum) == result.entries[(index + 1)...].map(\.checksum))
            }
        }
    }

    @Test func refusesThemWhereOnlyJSONIsAsked() throws {
        for (text, path, _) in Self.documents {
            #expect(try SplitCase(paths: [path], limits: .strict).split(text).fault?.kind == .syntax)
        }
    }

    /// A fault after what was taken is where it is, and what precedes it is cut.
    @Test(arguments: [1, 4, 1000])
    func saysWhereTheFaultIs(block: Int) throws {
        let text = "[{\"a\":NaN},\n{\"a\":1,},\n{\"a\":oops}]"
        let result = try SplitCase(paths: ["$[*]"], blockSize: block).split(text)
        #expect(result.texts == ["{\"a\":NaN}", "{\"a\":1,}"])
        #expect(result.fault?.line == 3 && result.fault?.column == 6 && result.fault?.byteOffset == 27)
        #expect(result.fault?.excerpt.contains("{\"a\":1,},") == true)
    }

    @Test func countsWhatIsOutsideOnce() throws {
        let text = "{\"x\": 1, \"y\": [2,], \"l\": [{\"a\":1,}], \"z\": 3}"
        let result = try SplitCase(paths: ["$.l[*]"], blockSize: 3).split(text)
        #expect(
            result.entries.reduce(into: [:]) { $0.merge($1.outside) { $0 + $1 } } == ["$.x": 1, "$.y": 1, "$.z": 1]
        )
    }

    /// A line is read by itself, and says what it had.
    @Test func readsLinesThatAreNearlyJSON() {
        let reader = RecordReader(maxDepth: 10, taking: .record)
        let lines: [(String, Bool)] = [
            ("{\"a\":NaN}", true), ("{\"a\":1}", false), ("\u{1E}{\"a\":[1,]} // c", true), ("{\"a\":1}", false),
        ]
        for (text, isLenient) in lines {
            Array((text + "\n").utf8).withUnsafeBufferPointer { #expect(reader.read(line: ByteView($0)) == .record) }
            #expect(reader.isLenient == isLenient)
        }
        for text in ["{\"a\":nano}", "{\"a\":1};", "x = {}", "{\"a\":1} {\"a\":NaN}", "{\"a\":\u{0C}NaN}"] {
            let outcome = Array((text + "\n").utf8).withUnsafeBufferPointer { reader.read(line: ByteView($0)) }
            #expect(outcome != .record, "\(text)")
        }
        Array("[NaN,1,{\"b\":-Infinity}]\n".utf8).withUnsafeBufferPointer { _ = reader.read(line: ByteView($0)) }
        #expect(
            reader.tape.tokens[..<reader.tape.count].map(\.kind) == [.array, .null, .number, .object, .string, .null]
        )
        let strict = RecordReader(maxDepth: 10)
        Array("[NaN]\n".utf8).withUnsafeBufferPointer { #expect(strict.read(line: ByteView($0)) != .record) }
    }
}
