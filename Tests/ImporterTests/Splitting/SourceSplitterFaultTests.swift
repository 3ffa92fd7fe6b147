import Foundation
import Importer
import TestSupport
import Testing

@testable import ImportEngine
@testable import ImportSources

struct SourceSplitterFaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let layout: SourceShape.Layout
        let path: String
        let text: String
        let records: [String]
        let kind: SplitError.Kind
        let byteOffset: Int64
        let line: Int64
        let column: Int64

        init(
            _ layout: SourceShape.Layout,
            _ path: String,
            _ text: String,
            _ records: [String],
            _ kind: SplitError.Kind,
            at byteOffset: Int64,
            line: Int64 = 1,
            column: Int64? = nil
        ) {
            self.layout = layout
            self.path = path
            self.text = text
            self.records = records
            self.kind = kind
            self.byteOffset = byteOffset
            self.line = line
            self.column = column ?? byteOffset + 1
        }

        var testDescription: String { ErrorExcerpt.printable(text.utf8) }
    }

    static let faults = [
        Fault(.stream, "$[*]", "[1,{\"a\":2},,3]", ["1", "{\"a\":2}"], .syntax, at: 11),
        Fault(.stream, "$[*]", "[1,\n 2,]", ["1", "2"], .syntax, at: 7, line: 2, column: 4),
        Fault(.stream, "$[*]", "[1:2]", ["1"], .syntax, at: 2),
        Fault(.stream, "$[*]", "[[1],{\"a\" 1}]", ["[1]"], .syntax, at: 10),
        Fault(.stream, "$[*]", "[[1],{\"a\":1 \"b\":2}]", ["[1]"], .syntax, at: 12),
        Fault(.stream, "$[*]", "[[1],{1:2}]", ["[1]"], .syntax, at: 6),
        Fault(.stream, "$[*]", "[[1],\"a\u{1}b\"]", ["[1]"], .syntax, at: 7),
        Fault(.stream, "$[*]", "[[1],\"a\\xb\"]", ["[1]"], .syntax, at: 8),
        Fault(.stream, "$[*]", "[[1],\"a\\u12g4\"]", ["[1]"], .syntax, at: 11),
        Fault(.stream, "$[*]", "[[1],trux]", ["[1]"], .syntax, at: 8),
        Fault(.stream, "$[*]", "[[1],-x]", ["[1]"], .syntax, at: 6),
        Fault(.stream, "$[*]", "[[1],1.x]", ["[1]"], .syntax, at: 7),
        Fault(.stream, "$[*]", "[[1],NaN]", ["[1]"], .syntax, at: 5),
        Fault(.stream, "$[*]", "[[1],01]", ["[1]", "0"], .syntax, at: 6),
        Fault(.stream, "$[*]", "[1]\n x", ["1"], .syntax, at: 5, line: 2, column: 2),
        Fault(.stream, "$[*]", "[1]]", ["1"], .syntax, at: 3),
        Fault(.stream, "$[*]", "[1,\u{0C}2]", ["1"], .syntax, at: 3),
        Fault(.stream, "$[*]", "[\"a\u{0B}\"]", [], .syntax, at: 3),
        Fault(.stream, "$.a[*]", "{\"a\":[1,2}", ["1", "2"], .syntax, at: 9),
        Fault(.stream, "$.*", "{\"a\":1,\"b\":2,\"c\"}", ["{\"a\":1}", "{\"b\":2}"], .syntax, at: 16),
        Fault(.stream, "$[*]", "// c\n[1]", [], .syntax, at: 0),
        Fault(.stream, "$", "1 01", ["1"], .syntax, at: 3),
        Fault(.stream, "$", "1-2", [], .syntax, at: 1),
        Fault(.stream, "$", "[1]true null1", ["[1]", "true"], .syntax, at: 12),
        Fault(.stream, "$", "1true", [], .syntax, at: 1),
        Fault(.stream, "$", "2@", [], .syntax, at: 1),
        Fault(.stream, "$", "2]", [], .syntax, at: 1),
        Fault(.stream, "$", "2 true\u{0C}", ["2"], .syntax, at: 6),
        Fault(.stream, "$", "", [], .empty, at: 0),
        Fault(.stream, "$", " \n", [], .empty, at: 2, line: 2, column: 1),
        Fault(.stream, "$", "", [], .empty, at: 0),
        Fault(.lines, "$", " \n\n", [], .empty, at: 3, line: 3, column: 1),
        Fault(.lines, "$", "{}\n{\"a\":[1,", ["{}"], .truncated, at: 11, line: 2, column: 9),
        Fault(.lines, "$", "{}\ntru", ["{}"], .truncated, at: 6, line: 2, column: 4),
        Fault(.stream, "$[*]", "[1,{\"a\"", ["1"], .truncated, at: 7),
    ]

    @Test(arguments: faults)
    func saysWhereAndKeepsWhatIsSound(_ fault: Fault) throws {
        for block in Array(1...13) + [1000] {
            for chunk in [1, 1000] {
                let split = SplitCase(
                    layout: fault.layout,
                    paths: [fault.path],
                    limits: .strict,
                    blockSize: block,
                    chunkSize: chunk
                )
                let result = try split.split(fault.text)
                #expect(result.texts == fault.records, "block \(block)")
                let found = try #require(result.fault, "block \(block)")
                #expect(found.kind == fault.kind)
                #expect(found.byteOffset == fault.byteOffset, "block \(block): \(found.message)")
                #expect(found.line == fault.line)
                #expect(found.column == fault.column)
                #expect(result.entries.allSatisfy { !$0.isLast })
            }
        }
    }

    /// A fault is the same when the split continues after the last sound record.
    @Test(arguments: faults)
    func meetsTheSameFaultAgain(_ fault: Fault) throws {
        let split = SplitCase(layout: fault.layout, paths: [fault.path], limits: .strict, blockSize: 5, chunkSize: 4)
        let first = try split.split(fault.text)
        guard let place = first.entries.last?.end else { return }
        let again = try split.split(Array(fault.text.utf8), start: place, firstOrdinal: 2)
        #expect(again.texts.isEmpty)
        #expect(again.fault?.byteOffset == first.fault?.byteOffset)
        #expect(again.fault?.kind == first.fault?.kind)
        #expect(again.fault?.line == first.fault?.line)
        #expect(again.fault?.column == first.fault?.column)
    }

    @Test func showsTheTextAroundTheFault() throws {
        let text = "[\n" + String(repeating: "1,\n", count: 40) + "\u{1b}[31m, 2]"
        for block in [1, 7, 1000] {
            let fault = try SplitCase(paths: ["$[*]"], blockSize: block).split(text).fault
            #expect(fault?.byteOffset == 122)
            #expect(fault?.line == 42)
            #expect(fault?.excerpt.contains(",\\n1,\\n\\u{1b}") == true)
            #expect(fault?.excerpt.unicodeScalars.allSatisfy { $0.value >= 0x20 } == true)
        }
    }

    @Test func takesATruncatedSourceOnWhenItIsWhole() throws {
        let text = "{\"users\":[{\"id\":1},\n{\"id\":2},{\"id\":3}],\"n\":1}"
        let split = SplitCase(paths: ["$.users[*]"], chunkSize: 1)
        let first = try split.split(Array(text.utf8.prefix(25)))
        #expect(first.texts == ["{\"id\":1}"])
        #expect(first.fault?.kind == .truncated)
        let place = try #require(first.entries.last?.end)
        let rest = try split.split(Array(text.utf8), start: place, firstOrdinal: 2)
        #expect(rest.texts == ["{\"id\":2}", "{\"id\":3}"])
        #expect(rest.end == .finished)
    }

    @Test func refusesAMillionOpenContainers() throws {
        let text = String(repeating: "[", count: 1_000_001)
        for paths in [["$"], ["$.a"], ["$[*]"]] {
            let result = try SplitCase(layout: .stream, paths: paths).split(text)
            #expect(result.fault?.kind == .nesting)
            #expect(result.texts.isEmpty)
        }
    }

    // MARK: Real files

    static let suite = SharedData.isPresent ? SharedData.path("JSONTestSuite/test_parsing") : nil

    @Test(.enabled(if: suite != nil, "needs the shared test data"))
    func agreesWithTheJSONTestSuite() throws {
        let directory = try #require(Self.suite)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(".json") }
        #expect(names.count == 318)
        let streams = ["n_structure_double_array.json", "n_structure_object_with_trailing_garbage.json"]
        for name in names {
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: directory + "/" + name)))
            let first = try SplitCase(layout: .stream, paths: ["$"], limits: .strict).split(bytes)
            // A long file of one piece and a short one of many.
            for block in bytes.count > 5000 ? [64] : [1, 2, 3, 7] {
                let result = try SplitCase(layout: .stream, paths: ["$"], limits: .strict, blockSize: block).split(
                    bytes
                )
                #expect(result.fault?.byteOffset == first.fault?.byteOffset, "\(name), block \(block)")
                #expect(result.fault?.message == first.fault?.message, "\(name)")
                #expect(result.texts == first.texts, "\(name)")
            }
            if name.hasPrefix("y_") {
                #expect(first.end == .finished, "\(name)")
                #expect(first.texts.count == 1, "\(name)")
            }
            // Invalid UTF-8 in a string is for the workers to find.
            let isForWorkers = name.contains("invalid_utf8") || name.contains("invalid-utf-8")
            if name.hasPrefix("n_"), !isForWorkers {
                #expect((first.fault == nil) == streams.contains(name), "\(name)")
            }
            if streams.contains(name) { #expect(first.texts.count == 2) }
        }
    }
}
