import ImportModel
import Importer
import Testing

@testable import ImportSources

/// `--skip` and `--limit` take of each record path the records that a slice of all of its records has.
struct SourceSplitterWindowTests {
    /// What of a whole split is wanted: each line with its path and its place in the source.
    private struct Taken: Equatable {
        var texts: [String] = []
        var paths: [Int] = []
        var starts: [Int64] = []

        init(_ result: SplitResult) {
            texts = result.texts
            paths = result.pathIndexes
            starts = result.starts
        }

        /// Takes `limit` records of each path after the first `skip`.
        func sliced(skip: Int, limit: Int?) -> Taken {
            var counts: [Int: Int] = [:]
            var slice = self
            slice.texts = []
            slice.paths = []
            slice.starts = []
            for index in texts.indices {
                let number = counts[paths[index], default: 0]
                counts[paths[index]] = number + 1
                guard number >= skip, number - skip < limit ?? .max else { continue }
                slice.texts.append(texts[index])
                slice.paths.append(paths[index])
                slice.starts.append(starts[index])
            }
            return slice
        }
    }

    @Test(arguments: Sample.all)
    func takesASliceOfEachPathWhereverItIsCut(_ sample: Sample) throws {
        let bytes = sample.bytes
        let all = Taken(try SplitCase(layout: sample.layout, paths: sample.paths).split(bytes))
        for (skip, limit) in [(0, 1), (1, nil), (1, 1), (2, 2), (0, 3), (3, 100), (99, nil), (0, 0), (2, 0)] {
            let expected = all.sliced(skip: skip, limit: limit)
            let limits = SplitLimits(skip: Int64(skip), limit: limit.map(Int64.init))
            for (block, chunk) in [(1, 1), (2, 7), (5, 20), (1 << 18, 1), (1 << 18, 1 << 20)] {
                let split = SplitCase(
                    layout: sample.layout,
                    paths: sample.paths,
                    limits: limits,
                    blockSize: block,
                    chunkSize: chunk
                )
                let result = try split.split(bytes)
                #expect(result.end == .finished)
                #expect(Taken(result) == expected, "skip \(skip), limit \(limit ?? -1), \(block), \(chunk)")
                // Every place where a chunk ends is one to continue from, and leaves the rest.
                for (index, entry) in result.entries.enumerated() where !entry.isLast {
                    let rest = try split.split(bytes, start: entry.end)
                    #expect(rest.end == .finished)
                    #expect(
                        rest.texts == result.lines[(index + 1)...].joined().map { String(decoding: $0, as: UTF8.self) }
                    )
                }
            }
        }
    }

    @Test(arguments: [
        ("[1,2,3 oops", SourceShape.Layout.stream, "$[*]"), ("1 2 3 4x \u{0C}", .stream, "$"),
        ("{}\n[1]\n2\n{\"broken", .lines, "$"),
    ])
    func looksAtNothingBehindTheLastRecordThatIsWanted(_ text: String, _ layout: SourceShape.Layout, _ path: String)
        throws
    {
        for block in [1, 3, 1 << 18] {
            var split = SplitCase(
                layout: layout,
                paths: [path],
                limits: SplitLimits(skip: 1, limit: 1),
                blockSize: block
            )
            let result = try split.split(text)
            #expect(result.end == .finished)
            #expect(result.texts.count == 1)
            #expect(result.entries.last?.isLast == true)
            split.limits.limit = 100
            #expect(try split.split(text).fault != nil)
        }
    }

    @Test func countsRecordsThatArePassedOverLikeOthers() throws {
        let limits = SplitLimits(maxRecordBytes: 5, maxDepth: 2, skip: 1, limit: 3)
        let result = try SplitCase(paths: ["$[*]"], limits: limits).split("[1,\"too large\",[[[1]]],2,3]")
        #expect(result.texts == ["", "", "2"])
        #expect(result.entries.flatMap(\.rejects).map(\.code) == ["recordTooLarge", "recordTooDeep"])
        let skipped = SplitLimits(maxRecordBytes: 5, skip: 2)
        #expect(try SplitCase(paths: ["$[*]"], limits: skipped).split("[1,\"too large\",2]").texts == ["2"])
    }

    @Test func manifestsWithoutThemAreRead() throws {
        let limits = try BookkeepingJSON.decode(SplitLimits.self, "{\"maxDepth\":3,\"maxRecordBytes\":4}")
        #expect(limits == SplitLimits(maxRecordBytes: 4, maxDepth: 3))
        let place = "{\"byteOffset\":7,\"enclosing\":\"[0\",\"lineBreaks\":0,\"lineStart\":0}"
        #expect(try BookkeepingJSON.decode(SplitPosition.self, place) == SplitPosition(byteOffset: 7, enclosing: "[0"))
        // Without them nothing is written that an older program would not know.
        #expect(try BookkeepingJSON.encode(limits) == "{\"maxDepth\":3,\"maxRecordBytes\":4}")
        #expect(try BookkeepingJSON.encode(SplitPosition(byteOffset: 7, enclosing: "[0")) == place)
    }
}
