import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine
@testable import ImportSources

/// A sound source of every shape.
struct Sample: Sendable, CustomTestStringConvertible {
    let layout: SourceShape.Layout
    let paths: [String]
    let text: String

    var testDescription: String { "\(layout) \(paths.joined(separator: " "))" }
    var bytes: [UInt8] { Array(text.utf8) }

    static let values = #"{"a":"x\"\\","b":[1,{"c":[]},-2.5e+3],"ü":null}"#
    static let all: [Sample] = [
        Sample(layout: .stream, paths: ["$"], text: " \n\(values)\n "),
        Sample(layout: .stream, paths: ["$"], text: "12"),
        Sample(layout: .stream, paths: ["$"], text: " true"),
        Sample(layout: .stream, paths: ["$[*]"], text: "[]"),
        Sample(
            layout: .stream,
            paths: ["$[*]"],
            text: "[ \(values) ,\r\n 12,\"s\\u00e9\" ,null,true,[false],{} ,-1e5]\n"
        ),
        Sample(
            layout: .stream,
            paths: ["$.*"],
            text: "{\"k1\" : \(values),\n\"k\\\"2\":\n3 , \"\":\"t\",\"k4\":[1\n,2]}"
        ),
        Sample(
            layout: .stream,
            paths: ["$.users[*]", "$.orders[*]"],
            text:
                "{\"v\":1,\"users\":[\(values),{\"n\":2}],\"x\":{\"users\":[9]},\"orders\":[1,2,\n{\"o\":3}],\"users\":[7]}"
        ),
        Sample(
            layout: .stream,
            paths: ["$.a.*", "$.b.c[*]", "$.meta"],
            text:
                "{\"meta\":{\"m\":1},\"a\":{\"x\":1,\"y\":[2]},\"b\":{\"d\":4,\"c\":[5,6]},\"a\":[1],\"b\":7,\"e\":[]}"
        ),
        Sample(
            layout: .stream,
            paths: ["$.*.items[*]"],
            text: "{\"p\":{\"items\":[1,2],\"n\":0},\"q\":{\"items\":{\"no\":1}},\"r\":5,\"items\":{\"items\":[[3]]}}"
        ),
        Sample(layout: .stream, paths: ["$[*][*]", "$[*].k.*"], text: "[[1,2],{\"k\":{\"z\":3},\"l\":4},5,[[6]]]"),
        // Keys on the way to records.
        Sample(
            layout: .stream,
            paths: ["$.*[*]"],
            text:
                "{\"k1\" : [\(values),\(values) ,1],\n\"k\\\"\\ud800\":\n[3 , \"t\"], \"\":{\"n\":1},\"k4\":[],\"\\u006b\":[[1\n,2],{}]}"
        ),
        Sample(
            layout: .stream,
            paths: ["$.files.*.functions.*"],
            text:
                "{\"meta\":1,\"files\" :{\"m.py\":{\"functions\":{\"f\":\(values),\"\" : 2}},\"n.py\":{\"x\":1,\"functions\":{\"f\" :\n{}}}, \"o\":[]}}"
        ),
        Sample(
            layout: .stream,
            paths: ["$.a.b[*]", "$.*.*", "$.*.c.*[*]", "$.d[*].*.e"],
            text:
                "{\"a\":{\"b\":[1,2],\"k\":3,\"b\":4},\"z\\n\":{\"b\":[5],\"c\":{\"x\":[6]}},\"d\":[{\"q\":{\"e\":7}},{\"r\":{\"e\":{}}}]}"
        ),
        Sample(
            layout: .stream,
            paths: ["$.*.c.*[*]", "$[*].*.*"],
            text:
                "{\"a\":{\"c\":{\"x\":[1,{}],\"y\":[\(values)]}},\"b\":{\"c\":{\"x\":[2]}}} [{\"a\":{\"b\":3,\"c\":4},\"d\":{\"b\":[5]}}] {\"a\":{\"c\":{\"x\":[6]}}}"
        ),
        Sample(layout: .stream, paths: ["$"], text: "\(values)\(values) 1 2\n\"a\"\"b\"[1][2]{}true null\n-3.25 "),
        Sample(layout: .stream, paths: ["$"], text: "1\n2\n3"),
        Sample(layout: .stream, paths: ["$[*]"], text: "[1,2][] {\"o\":1}\n[3]\"s\" 4 [5 , 6]"),
        // Rows of plain records, with others among them.
        Sample(
            layout: .stream,
            paths: ["$[*]"],
            text:
                "[\(Array(repeating: values, count: 9).joined(separator: ",\n")), {\"a\":\n1},\t[],7,{}, {\"b\" :\r[ 2\n]}]"
        ),
        // As deep as plain ones may be, and deeper.
        Sample(
            layout: .stream,
            paths: ["$[*]"],
            text:
                "[\((62...66).map { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }.joined(separator: ","))]"
        ),
        Sample(
            layout: .stream,
            paths: ["$.*"],
            text: "{\((1...9).map { "\"k\($0)\": \(values)" }.joined(separator: " , ")),\"\\u006b\":\n{\n},\"z\":0}"
        ),
        Sample(layout: .stream, paths: ["$"], text: "\(String(repeating: values + "\n", count: 9))1\n[2\n]{}[]\"s\"{}"),
        Sample(
            layout: .stream,
            paths: ["$[*]"],
            text: String(repeating: "[\(values), \(values),\(values)]\n", count: 3)
        ),
        Sample(layout: .lines, paths: ["$"], text: "\n  {\"a\":1}\t\r\n\r\n[1, 2]\n \"x\"\n3\n\n"),
        Sample(layout: .lines, paths: ["$"], text: "\(values)\n\(values)"),
    ]
}

struct SourceSplitterPropertyTests {
    static let blockSizes = Array(1...31) + [64, 1000, 1 << 18]
    static let chunkSizes = [1, 2, 7, 20, 64, 1 << 20]

    private func split(_ sample: Sample, _ block: Int, _ chunk: Int, longToken: Int = 1 << 16) -> SplitCase {
        SplitCase(
            layout: sample.layout,
            paths: sample.paths,
            blockSize: block,
            chunkSize: chunk,
            portion: block % 3 == 0 ? 5 : ChunkWriter.defaultPortion,
            longToken: longToken
        )
    }

    @Test(arguments: Sample.all)
    func findsWhatASlowWalkFinds(_ sample: Sample) throws {
        let model = SlowWalker(sample.bytes, sample.paths.map(SplitCase.path))
        for (index, block) in Self.blockSizes.enumerated() {
            // A third of the chunk sizes each, so that every one meets small blocks and large ones.
            for chunk in stride(from: index % 3, to: Self.chunkSizes.count, by: 3).map({ Self.chunkSizes[$0] }) {
                let result = try split(sample, block, chunk).split(sample.bytes)
                #expect(result.end == .finished)
                #expect(result.texts == model.lines, "block \(block), chunk \(chunk)")
                #expect(result.pathIndexes == model.records.map(\.path))
                #expect(result.outside == model.outside, "block \(block), chunk \(chunk)")
                check(result, sample, model)
            }
        }
    }

    /// Chunks follow each other without a gap, and every position leads back to its bytes.
    private func check(_ result: SplitResult, _ sample: Sample, _ model: SlowWalker) {
        var end: Int64 = 0
        var ordinal: Int64 = 1
        var records = model.records[...]
        for (entry, lines) in zip(result.entries, result.lines) {
            #expect(entry.firstByte == end)
            #expect(entry.firstOrdinal == ordinal)
            #expect(entry.records == lines.count)
            end = entry.endByte
            ordinal += Int64(entry.records)
            let range = sample.bytes[Int(entry.firstByte)..<Int(end)]
            #expect(entry.sourceHash == range.withUnsafeBytes { XXH3Hasher.digest(of: $0) })
            let before = sample.bytes[..<Int(end)]
            #expect(entry.end.lineBreaks == Int64(before.filter { $0 == 10 }.count))
            #expect(entry.end.lineStart == Int64((before.lastIndex(of: 10) ?? -1) + 1))
            var positions = ChunkSourceMap(entry, keys: result.keys)
            for line in lines {
                let place = line.withUnsafeBufferPointer { positions.next(ByteView($0)) }
                let record = records.popFirst()
                #expect(record?.range == Int(place.firstByte)..<Int(place.firstByte + place.length))
                #expect(record?.head.utf8.count == place.prefix)
            }
        }
        #expect(end == Int64(sample.bytes.count))
        #expect(result.entries.dropLast().allSatisfy { !$0.isLast && $0.records > 0 })
        #expect(result.entries.last?.isLast == true)
        #expect(result.recordsPerPath.reduce(0, +) == Int64(model.records.count))
    }

    @Test(arguments: Sample.all)
    func goesOnFromEveryChunk(_ sample: Sample) throws {
        for (block, chunk) in [(1, 20), (3, 64), (8, 1), (1 << 18, 20)] {
            let whole = try split(sample, block, chunk).split(sample.bytes)
            for (index, entry) in whole.entries.dropLast().enumerated() {
                let before = whole.entries[...index]
                let rest = try split(sample, block, chunk).split(
                    sample.bytes,
                    start: entry.end,
                    firstOrdinal: entry.firstOrdinal + Int64(entry.records),
                    known: UnmatchedValueCounts.names(in: before)
                )
                #expect(rest.lines == Array(whole.lines[(index + 1)...]))
                #expect(rest.entries.map(\.withoutNumber) == whole.entries[(index + 1)...].map(\.withoutNumber))
                #expect(rest.end == whole.end)
            }
        }
    }

    /// The bytes of a long token that yajl is not shown make no difference.
    @Test(arguments: Sample.all, [1, 2, 5, 9, 16])
    func shortensLongTokensWithoutLoss(_ sample: Sample, block: Int) throws {
        let long = #""\u00e9\\\"/\n"# + String(repeating: #"plain\t\ud83d\ude00\\"#, count: 8) + #"""#
        let number = "-1234567890123456789012345678901234567890.123456789012345678901234567890e+0000000000000000000012"
        let text = sample.text.replacing("\"x\\\"\\\\\"", with: long).replacing("-2.5e+3", with: number)
        let bytes = Array(text.utf8)
        let model = SlowWalker(bytes, sample.paths.map(SplitCase.path))
        let result = try split(sample, block, 64, longToken: 1).split(bytes)
        #expect(result.end == .finished)
        #expect(result.texts == model.lines)
        #expect(result.outside == model.outside)
    }

    /// Whatever is wrong with a source: fed byte by byte, in blocks that no record lies in whole, yajl sees all of it, and
    /// in larger ones it does not.
    @Test(arguments: Sample.all.filter { $0.layout != .lines })
    func saysTheSameOfDamagedSourcesAtEveryBlockSize(_ sample: Sample) throws {
        var random = SeededGenerator(seed: 2_011)
        let wrong = Array(#"{}[]:,"\ 019.eE+-tfnu/x"#.utf8) + [0x00, 0x01, 0x0A, 0x0B, 0x0C, 0x0D, 0x7F, 0x80, 0xFF]
        for round in 0..<25 {
            var bytes = sample.bytes
            for _ in 0...Int(random.next() % 2) {
                let place = Int(random.next() % UInt64(bytes.count))
                let byte = wrong[Int(random.next() % UInt64(wrong.count))]
                switch random.next() % 3 {
                case 0: bytes[place] = byte
                case 1: bytes.insert(byte, at: place)
                default: bytes.remove(at: place)
                }
                if bytes.isEmpty { bytes = [0x20] }
            }
            let expected = try split(sample, 1, 20).split(bytes)
            for block in [40, 100, 1 << 18] {
                let result = try split(sample, block, 20).split(bytes)
                let text = "round \(round), block \(block): \(String(decoding: bytes, as: UTF8.self))"
                #expect(result.fault?.withoutExcerpt == expected.fault?.withoutExcerpt, "\(text)")
                #expect(result.entries == expected.entries, "\(text)")
                #expect(result.lines == expected.lines, "\(text)")
            }
        }
    }

    /// Wherever a source breaks off, what was whole before it is kept, and the split goes on when the rest has come.
    @Test(arguments: Sample.all)
    func endsAtEveryTruncation(_ sample: Sample) throws {
        let model = SlowWalker(sample.bytes, sample.paths.map(SplitCase.path))
        let lines = model.lines
        for end in 0..<sample.bytes.count {
            let bytes = Array(sample.bytes[..<end])
            var first: SplitResult?
            // Every third in all block sizes, which are compared, the others in one of them.
            let blocks = [1, 4, 1 << 18]
            for block in end.isMultiple(of: 3) ? blocks : [blocks[end / 3 % 3]] {
                let result = try split(sample, block, 20).split(bytes)
                #expect(result.end == (first ?? result).end)
                #expect(result.texts == (first ?? result).texts)
                first = result
            }
            guard let first else { continue }
            // A number that ends where its enclosing array breaks off may lack digits.
            let whole = model.records.filter {
                $0.range.upperBound < end
                    + (first.fault != nil && UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes.last ?? 0 ? 0 : 1)
            }.count
            let isScalarCut = first.texts.count > whole
            if isScalarCut {
                // A number at the top level that is cut is another number.
                #expect(first.end == .finished)
                continue
            }
            #expect(first.texts == Array(lines[..<whole]), "\(end)")
            if let fault = first.fault {
                #expect(fault.kind == (bytes.allSatisfy(ByteScan.isSpace) ? .empty : .truncated), "\(end)")
                #expect(fault.byteOffset == Int64(end))
            }
            guard first.fault != nil else { continue }
            let place = first.entries.last?.end ?? .start
            let rest = try split(sample, 7, 20).split(
                sample.bytes,
                start: place,
                firstOrdinal: Int64(whole + 1),
                known: UnmatchedValueCounts.names(in: first.entries)
            )
            #expect(rest.end == .finished)
            #expect(first.texts + rest.texts == lines)
            let outside = first.outside.merging(rest.outside) { $0 + $1 }
            #expect(outside == model.outside)
        }
    }
}

extension SplitError {
    /// The same without its surroundings, of which no more is known than has been read.
    fileprivate var withoutExcerpt: SplitError {
        SplitError(kind: kind, byteOffset: byteOffset, line: line, column: column, excerpt: "", message: message)
    }
}

extension ChunkEntry {
    /// The same with the number 0.
    fileprivate var withoutNumber: ChunkEntry {
        ChunkEntry(
            number: 0,
            source: source,
            firstByte: firstByte,
            endByte: endByte,
            sourceHash: sourceHash,
            firstOrdinal: firstOrdinal,
            records: records,
            paths: paths,
            gaps: gaps,
            bytes: bytes,
            checksum: checksum,
            rejects: rejects,
            outside: outside,
            end: end,
            isLast: isLast
        )
    }
}
