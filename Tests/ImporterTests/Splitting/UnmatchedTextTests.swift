import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportSources

/// Values and keys outside of the records are looked at for bytes that are not UTF-8, however they are cut.
struct UnmatchedTextTests {
    private func outside(_ source: [UInt8], _ path: String, blockSize: Int) throws -> [String: Int64] {
        var split = SplitCase(paths: [path], blockSize: blockSize, longToken: 64)
        split.chunkSize = 64
        return try split.split(source).outside
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 31, 64, 4096])
    func countsThemByTheirPlace(blockSize: Int) throws {
        let bad: [[UInt8]] = [
            [0xFF], [0xC3], [0x80], [0xE2, 0x82], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF0, 0x9F],
        ]
        let good = ["é", "漢", "😀", "\u{10FFFF}", "\u{D7FF}", "\\ud800", "\\u00e9"]
        for text in bad {
            for padding in [0, 1, 2, 3, 200] {
                let spaces = Array(repeating: UInt8(ascii: "x"), count: padding)
                func document(_ value: [UInt8]) -> [UInt8] {
                    let quoted = Array("\"".utf8) + spaces + value + Array("\"".utf8)
                    var document = Array("{\"a\":".utf8) + quoted + Array(",\"b\":[1,{\"c\":".utf8) + quoted
                    document += Array("}],\"items\":[{\"n\":1},{\"n\":2}],".utf8) + quoted
                    return document + Array(":{\"x\":1},\"d\":\"é\"}".utf8)
                }
                let key = UnmatchedValueCounts.step(
                    key: String(decoding: spaces + text, as: UTF8.self)
                )
                let counts = try outside(document(text), "$.items[*]", blockSize: blockSize)
                let invalid = counts.filter { $0.key.hasPrefix("invalidUTF8 ") }
                #expect(invalid.count == 3, "\(text) \(padding): \(counts)")
                #expect(invalid["invalidUTF8 $.a"] == 1 && invalid["invalidUTF8 $.b"] == 1)
                if padding < 64 { #expect(invalid["invalidUTF8 $\(key)"] == 1, "\(counts)") }
                #expect(counts["$.d"] == 1 && counts["$.a"] == 1 && counts["$.b"] == 1)
            }
        }
        for text in good {
            let value = Array("\"\(text)\"".utf8)
            var document = Array("{\"a\":".utf8) + value + Array(",".utf8) + value
            document += Array(":1,\"items\":[{}],\"b\":[".utf8) + value + Array("]}".utf8)
            let counts = try outside(document, "$.items[*]", blockSize: blockSize)
            #expect(!counts.keys.contains { $0.hasPrefix("invalidUTF8") }, "\(text): \(counts)")
        }
    }

    @Test(arguments: [1, 3, 7, 4096])
    func countsKeysThatLeadToRecords(blockSize: Int) throws {
        let document = Array("{\"a".utf8) + [0xFF] + Array("\":[{\"n\":1}],\"b\":[{\"n\":2}],\"\\ud800\":[{}]}".utf8)
        let counts = try outside(document, "$.*[*]", blockSize: blockSize)
        #expect(counts == ["invalidUTF8 $.a\u{FFFD}": 1])
    }

    @Test func saysWhichCollectionHasNoName() throws {
        let document = Array("{\"n\":1,\"it".utf8) + [0xFF] + Array("ms\":[{\"n\":1}]}".utf8)
        guard case .unnameable(let candidate) = ShapeDetector(document, isWhole: true).detection else {
            Issue.record("found a shape")
            return
        }
        #expect(candidate.invalidKeyOffset == 10)
        #expect(candidate.path.description.contains("\u{FFFD}"))
        let job = try LibraryImport("", named: "bad.json")
        try Data(document).write(to: URL(filePath: job.source))
        let error = #expect(throws: ImportError.self) { _ = try job.pipeline().run() }
        #expect(error?.code == .badInput)
        #expect(error?.message.contains("a key that is not UTF-8, at byte 10") == true, "\(String(describing: error))")
    }

    /// The ledger has them in any case, in the row of the values outside.
    @Test func isInTheLedger() throws {
        let job = try LibraryImport("", named: "bad.json")
        try Data(Array("{\"meta\":\"".utf8) + [0xFF] + Array("\",\"items\":[{\"n\":1}]}".utf8)).write(
            to: URL(filePath: job.source)
        )
        let report = try job.pipeline(JobOptions(entity: "item", records: [recordPath("$.items[*]")])).run().report
        #expect(report.inserted == 1)
        let counts = report.ledger.values.reduce(into: [:]) { $0.merge($1) { one, _ in one } }
        #expect(counts["$.meta"] == ["outside": 1])
        #expect(counts["invalidUTF8 $.meta"] == ["outside": 1])
    }
}
