import Foundation
import ImportModel
import Importer
import Testing

@testable import ImportSources

struct SourceSplitterLimitTests {
    static let layouts: [SourceShape.Layout] = [.stream, .lines]

    /// Three records, the middle one of `length` bytes.
    private func source(_ layout: SourceShape.Layout, _ length: Int) -> (text: String, middle: String) {
        let middle = "\"" + String(repeating: "m", count: length - 2) + "\""
        return layout == .lines ? ("{}\n\(middle)  \n[]\n", middle) : ("[{},\(middle) \n ,[]]", middle)
    }

    @Test(arguments: layouts)
    func passesOverWhatIsTooLarge(_ layout: SourceShape.Layout) throws {
        for length in [20, 21, 5_000] {
            let (text, middle) = source(layout, length)
            for block in [1, 2, 7, 19, 23, 100_000] {
                for longToken in [4, 1 << 16] {
                    let split = SplitCase(
                        layout: layout,
                        paths: [layout == .lines ? "$" : "$[*]"],
                        limits: SplitLimits(maxRecordBytes: 20),
                        blockSize: block,
                        longToken: longToken
                    )
                    let result = try split.split(text)
                    #expect(result.end == .finished)
                    guard length > 20 else {
                        #expect(result.texts == ["{}", middle, "[]"], "block \(block)")
                        #expect(result.entries[0].rejects.isEmpty)
                        continue
                    }
                    #expect(result.texts == ["{}", "", "[]"], "block \(block)")
                    let reject = try #require(result.entries[0].rejects.first)
                    #expect(reject.line == 1)
                    #expect(
                        reject.firstByte
                            == Int64(text.utf8.count - text.split(separator: "\"", maxSplits: 1)[1].utf8.count - 1)
                    )
                    #expect(reject.length == Int64(length))
                    #expect(reject.code == "recordTooLarge")
                    #expect(Data(base64Encoded: reject.head) == Data(middle.utf8.prefix(4096)))
                    let starts = result.starts
                    #expect(starts[2] == Int64(text.utf8.count - (layout == .lines ? 3 : 3)))
                }
            }
        }
    }

    @Test func passesOverWhatIsTooDeep() throws {
        let deep = String(repeating: "[", count: 40) + String(repeating: "]", count: 40)
        let text = "{\"a\":[[[1]]],\"b\":[[[\n[]]]],\"c\":\(deep),\"d\":0}"
        for block in [1, 2, 7, 1000] {
            let split = SplitCase(paths: ["$.*"], limits: SplitLimits(maxDepth: 3), blockSize: block)
            let result = try split.split(text)
            #expect(result.end == .finished)
            #expect(result.texts == ["{\"a\":[[[1]]]}", "", "", "{\"d\":0}"])
            let rejects = try #require(result.entries.first).rejects
            #expect(rejects.map(\.code) == ["recordTooDeep", "recordTooDeep"])
            #expect(rejects.map(\.length) == [13, Int64(4 + 80)])
            // The source's own bytes, line breaks too.
            #expect(Data(base64Encoded: rejects[0].head) == Data("\"b\":[[[\n[]]]]".utf8))
        }
    }

    @Test func keepsNoMoreThanTheHeadsOfManyRejects() throws {
        let text =
            "[" + Array(repeating: "\"" + String(repeating: "x", count: 100) + "\"", count: 200).joined(separator: ",")
            + "]"
        let result = try SplitCase(
            paths: ["$[*]"],
            limits: SplitLimits(maxRecordBytes: 10),
            chunkSize: 1000
        ).split(text)
        #expect(result.texts.count == 200)
        #expect(result.entries.allSatisfy { $0.rejects.count <= 6 })
    }

    @Test func countsAThousandNamesAndTheRestTogether() throws {
        let members = (1...1_500).map { "\"n\($0)\":0" }.joined(separator: ",")
        let text = "[{\(members),\"items\":[1]},{\(members),\"items\":[2]}]"
        let split = SplitCase(paths: ["$[*].items[*]"], chunkSize: 1)
        let result = try split.split(text)
        #expect(result.texts == ["1", "2"])
        #expect(result.outside.count == 1_001)
        #expect(result.outside["$[*].n1000"] == 2)
        #expect(result.outside["…"] == 1_000)
        let rest = try split.split(
            Array(text.utf8),
            start: result.entries[0].end,
            firstOrdinal: 2,
            known: UnmatchedValueCounts.names(in: result.entries[...0])
        )
        #expect(rest.outside == result.entries[1].outside)
    }

    @Test func namesOutsideValuesWithinBounds() throws {
        let key = String(repeating: "k", count: 10_000)
        let result = try SplitCase(paths: ["$.items[*]"]).split(
            "{\"\(key)\":1,\"a b\":2,\"it's\":3,\"é\":4,\"\":5,\"1\":6}"
        )
        #expect(result.outside.keys.allSatisfy { $0.count < 120 })
        #expect(result.outside["$['a b']"] == 1)
        #expect(result.outside["$['it\\'s']"] == 1)
        #expect(result.outside["$.é"] == 1)
        #expect(result.outside["$['']"] == 1)
        #expect(result.outside["$['1']"] == 1)
        #expect(result.recordsPerPath == [0])
    }

    @Test func matchesEscapedKeysButNotBrokenOnes() throws {
        let text = #"{"\u0061":[1],"\ud83d\ude00":[2],"\ud800x":[3],"?x":[4]}"#
        for block in [1, 3, 1000] {
            let result = try SplitCase(paths: ["$.a[*]", "$.😀[*]", "$.?x[*]"], blockSize: block).split(text)
            #expect(result.texts == ["1", "2", "4"], "block \(block)")
            #expect(result.pathIndexes == [0, 1, 2])
        }
    }

    @Test func doesNotTakeALongKeyForAnother() throws {
        let text = "{\"ab" + String(repeating: "x", count: 300) + "c\":[1],\"abc\":[2]}"
        for block in [1, 2, 3, 50] {
            let result = try SplitCase(paths: ["$.abc[*]"], blockSize: block, longToken: 1).split(text)
            #expect(result.texts == ["2"])
        }
    }

    @Test func goesOnUnderKeysThatNeedEscapes() throws {
        let matcher = try RecordMatcher([RecordPath(steps: [.key("a\"\\\n"), .anyMember, .key("k"), .anyMember])])
        #expect(matcher.otherKeys == ["k", "k", "kk", "k", "k"])
        let text = #"{"a\"\\\n":{"x":{"k":{"p":1,"q":2}},"y":{"k":{"r":3}}}}"#
        let shape = SourceShape(layout: .stream, paths: ["$"])
        var entries: [ChunkEntry] = []
        func run(_ start: SplitPosition) throws -> SplitOutcome {
            let temporary = ChunkDirectoryCheck()
            let directory = try ChunkDirectory(path: temporary.path, creates: true)
            let header = ChunkManifest.Header(sources: [], shapes: [shape], limits: SplitLimits())
            let writer = ChunkWriter(
                directory: directory,
                manifest: try ChunkManifest(creatingIn: directory, header: header, synced: true),
                chunkSize: 1,
                synced: true
            )
            return try SourceSplitter(
                stream: MemoryStream(Array(text.utf8), from: Int(start.byteOffset)),
                at: start.byteOffset,
                settings: SourceSplitter.Settings(
                    layout: .stream,
                    paths: [RecordPath(steps: [.key("a\"\\\n"), .anyMember, .key("k"), .anyMember])]
                ),
                writer: writer,
                start: SplitStart(position: start)
            ) { entries.append($0) }.run()
        }
        #expect(try run(.start) == .finished)
        #expect(entries.map(\.records) == [1, 1, 1])
        #expect(entries[0].end.enclosing == #"{"a\"\\\u000a":{"x":{"k":{"k":0"#)
        let checksums = entries.map(\.checksum)
        for index in 0..<2 {
            let start = entries[index].end
            entries.removeLast(entries.count - index - 1)
            #expect(try run(start) == .finished)
            #expect(entries.map(\.checksum) == checksums)
        }
    }

    @Test func countsFromBehindAByteOrderMark() throws {
        let split = SplitCase(paths: ["$[*]"], chunkSize: 1, baseOffset: 3)
        let result = try split.split("[1,2]")
        #expect(result.entries.map(\.firstByte) == [3, 5])
        #expect(result.entries.map(\.endByte) == [5, 8])
        let rest = try split.split(Array("[1,2]".utf8), start: result.entries[0].end, firstOrdinal: 2)
        #expect(rest.lines == Array(result.lines[1...]))
        #expect(rest.entries[0].endByte == 8)
        #expect(try split.split("[1,x]").fault?.column == 4)
    }

    @Test func sealsNoChunkBeforeTheLeastEnd() throws {
        let split = SplitCase(paths: ["$[*]"], chunkSize: 1, minimumEnd: 6)
        #expect(try split.split("[1,2,3,4,5]").entries.map(\.records) == [3, 1, 1])
    }

    @Test func sealsAnEmptySourceOfNoRecords() throws {
        let result = try SplitCase(paths: ["$[*]"]).split(" [] ")
        #expect(result.entries.map(\.records) == [0])
        #expect(result.entries[0].isLast)
        #expect(result.entries[0].endByte == 4)
    }

    @Test func refusesMoreThan64Paths() throws {
        let paths = (0..<65).map { RecordPath(steps: [.key("k\($0)")]) }
        #expect(throws: ImportError.self) { try RecordMatcher(paths) }
        #expect(try RecordMatcher(Array(paths.dropLast())).all == UInt64.max)
    }
}
