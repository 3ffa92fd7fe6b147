import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportSources

/// Records are gathered from where they were found to be in the source, whatever finds them.
struct ChunkBuilderTests {
    /// Something that begins in a source as a record does.
    private struct Found {
        enum Kind { case record, tooDeep, noRecord }

        let range: Range<Int>
        var path = 0
        var kind = Kind.record
    }

    private static let paths = ["$.a[*]", "$.b.*", "$.*[*]", "$.*.*"]
    private static let heads = ["", "{", #"{"k\"":"#, #"{"k":{"#]
    private static let tails = ["", "}", "}", "}}"]

    /// Gathers what was found.
    private static func gather(
        _ found: [Found],
        in bytes: [UInt8],
        blockSize: Int = 1 << 20,
        chunkSize: Int = 1 << 20,
        portion: Int = 1 << 20,
        limits: SplitLimits = SplitLimits()
    ) throws -> SplitResult {
        let place = ChunkDirectoryCheck()
        defer { withExtendedLifetime(place) {} }
        let directory = try ChunkDirectory(path: place.path, creates: true)
        var entries: [ChunkEntry] = []
        let builder = try builder(in: directory, chunkSize, portion: portion, limits) { entries.append($0) }
        do {
            try tell(builder, of: found, in: bytes, blockSize)
        } catch is ChunkBuilder.LimitReached {
            // The source ends here.
        }
        try builder.finish()
        let lines = try entries.map { entry -> [[UInt8]] in
            var file: [UInt8] = []
            guard entry.records > 0 else { return [] }
            guard try directory.read([entry], into: &file) else { throw StoreContent.Failure("\(entry) is not whole") }
            return file.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map(Array.init)
        }
        return SplitResult(
            entries: entries,
            lines: lines,
            end: .finished,
            recordsPerPath: builder.recordsPerPath,
            keys: paths.map { LineKeys($0) }
        )
    }

    private static func builder(
        in directory: ChunkDirectory,
        _ chunkSize: Int,
        portion: Int = 1 << 20,
        _ limits: SplitLimits = SplitLimits(),
        onSealed: @escaping (ChunkEntry) throws -> Void
    ) throws -> ChunkBuilder {
        let shape = SourceShape(layout: .stream, paths: paths)
        let header = ChunkManifest.Header(sources: [], shapes: [shape], limits: limits)
        let manifest = try ChunkManifest(creatingIn: directory, header: header, synced: false)
        return ChunkBuilder(
            writer: ChunkWriter(
                directory: directory,
                manifest: manifest,
                chunkSize: chunkSize,
                synced: false,
                portion: portion
            ),
            settings: ChunkBuilder.Settings(limits: limits, pathCount: paths.count, isUnparsed: false),
            base: 0,
            start: SplitStart(),
            onSealed: onSealed
        )
    }

    /// Hands the builder the source block by block, and says in each what begins and ends there.
    private static func tell(
        _ builder: ChunkBuilder,
        of found: [Found],
        in bytes: [UInt8],
        _ blockSize: Int
    ) throws {
        let beginning = Dictionary(uniqueKeysWithValues: found.map { ($0.range.lowerBound, $0) })
        let ending = Dictionary(uniqueKeysWithValues: found.map { ($0.range.upperBound, $0) })
        for base in stride(from: 0, to: bytes.count, by: blockSize) {
            // Memory of its own: a builder that looked at an earlier block would be found out.
            let block = Array(bytes[base..<min(base + blockSize, bytes.count)])
            try block.withUnsafeBufferPointer { buffer in
                builder.enterBlock(try #require(buffer.baseAddress), buffer.count)
                for offset in base...base + block.count {
                    if offset > base, let found = ending[offset] {
                        switch found.kind {
                        case .noRecord: builder.discardRecord()
                        case .tooDeep:
                            builder.passOverTooDeepRecord()
                            fallthrough
                        case .record:
                            try builder.endRecord(at: Int64(offset), path: found.path, boundary: Int64(offset))
                        }
                    }
                    if offset < base + block.count, let found = beginning[offset] {
                        let head = Array(heads[found.path].utf8)
                        builder.put(in: RecordLine(head: head, keys: tails[found.path].utf8.count))
                        builder.beginRecord(at: Int64(offset))
                    }
                }
                builder.leaveBlock()
            }
        }
    }

    /// Any bytes, and records anywhere in them.
    private static func source(seed: UInt64, count: Int = 60) -> (bytes: [UInt8], found: [Found]) {
        var random = SeededGenerator(seed: seed)
        var bytes: [UInt8] = []
        func add(_ count: Int) { bytes += (0..<count).map { _ in Array("abc{}[]\",:".utf8)[random.next(10)] } }
        let found = (0..<count).map { _ in
            add(random.next(6))
            let start = bytes.count
            add(1 + random.next(random.next(10) == 0 ? 40 : 9))
            let kind: Found.Kind = [.record, .record, .record, .noRecord, .tooDeep][random.next(5)]
            return Found(range: start..<bytes.count, path: random.next(paths.count), kind: kind)
        }
        add(random.next(6))
        return (bytes, found)
    }

    @Test(arguments: [1, 2, 7, 100, 1 << 20], [1, 30, 200, 1 << 20])
    func chunksHaveEachRecordOnceAndKnowWhereItWas(blockSize: Int, chunkSize: Int) throws {
        let limits = SplitLimits(maxRecordBytes: 20)
        for seed in 1...5 as ClosedRange<UInt64> {
            let (bytes, found) = Self.source(seed: seed)
            let records = found.filter { $0.kind != .noRecord }
            let result = try Self.gather(
                found,
                in: bytes,
                blockSize: blockSize,
                chunkSize: chunkSize,
                portion: [1, 25, 1 << 20][Int(seed % 3)],
                limits: limits
            )
            let entries = result.entries
            // What is in the lines.
            let expected = records.map { record -> String in
                guard record.kind == .record, record.range.count <= 20 else { return "" }
                let text = String(decoding: bytes[record.range], as: UTF8.self)
                return Self.heads[record.path] + text + Self.tails[record.path]
            }
            #expect(result.texts == expected)
            #expect(result.starts == records.map { Int64($0.range.lowerBound) })
            #expect(result.pathIndexes == records.map(\.path))
            #expect(
                result.recordsPerPath == Self.paths.indices.map { path in Int64(records.count { $0.path == path }) }
            )
            // Which are passed over.
            let passedOver = entries.flatMap { entry in
                entry.rejects.map {
                    "\(entry.firstOrdinal + Int64($0.line)) \($0.firstByte) \($0.length) \($0.code) \($0.head) \($0.keys ?? "")"
                }
            }
            let expectedPassedOver = zip(1..., records).filter { $1.kind == .tooDeep || $1.range.count > 20 }.map {
                let code = $1.kind == .tooDeep ? "recordTooDeep" : "recordTooLarge"
                let head = Data(bytes[$1.range]).base64EncodedString()
                let keys = Self.heads[$1.path]
                return "\($0) \($1.range.lowerBound) \($1.range.count) \(code) \(head) \(keys.count > 1 ? keys : "")"
            }
            #expect(passedOver == expectedPassedOver)
            // The chunks follow one another from the source's first byte to its last.
            #expect(entries.map(\.number) == Array(1...entries.count))
            #expect(entries.map(\.firstByte) == [0] + entries.dropLast().map(\.endByte))
            #expect(entries.last?.endByte == Int64(bytes.count))
            #expect(entries.map(\.isLast) == entries.indices.map { $0 == entries.count - 1 })
            var ordinal: Int64 = 1
            for (entry, lines) in zip(entries, result.lines) {
                #expect(entry.firstOrdinal == ordinal && entry.records == lines.count && entry.records > 0)
                ordinal += Int64(entry.records)
                let source = bytes[Int(entry.firstByte)..<Int(entry.endByte)]
                #expect(entry.sourceHash == source.withUnsafeBytes { XXH3Hasher.digest(of: $0) })
            }
            if chunkSize == 1 { #expect(entries.allSatisfy { $0.records == 1 }) }
            if chunkSize == 1 << 20 { #expect(entries.count == 1) }
        }
    }

    /// Of each path the records after the first `skip`, and `limit` of them; the source is read no further than needed.
    @Test(arguments: [(0, 1), (2, nil), (3, 4), (0, 0), (100, 1)] as [(Int64, Int64?)], [1, 5, 1 << 20])
    func leavesOutWhatIsNotWanted(window: (skip: Int64, limit: Int64?), blockSize: Int) throws {
        let (bytes, all) = Self.source(seed: 9)
        let found = all.filter { $0.kind == .record }
        let limits = SplitLimits(skip: window.skip, limit: window.limit)
        var before = Array(repeating: Int64(0), count: Self.paths.count)
        let wanted = found.filter { record in
            defer { before[record.path] += 1 }
            return before[record.path] >= window.skip && before[record.path] - window.skip < window.limit ?? .max
        }
        let result = try Self.gather(found, in: bytes, blockSize: blockSize, chunkSize: 40, limits: limits)
        #expect(result.starts == wanted.map { Int64($0.range.lowerBound) })
        #expect(result.pathIndexes == wanted.map(\.path))
        #expect(result.entries.last?.isLast == true)
        let isOver = Self.paths.indices.allSatisfy { before[$0] - window.skip >= window.limit ?? .max }
        if isOver, window.limit != 0 {
            #expect(result.entries.last?.endByte == wanted.last.map { Int64($0.range.upperBound) })
        }
    }

    /// A line of a chunk is one record: the line breaks between its tokens are spaces there.
    @Test(arguments: [1, 3, 100]) func aRecordIsOneLine(blockSize: Int) throws {
        let bytes = Array("[{\r\n\"a\":\n1},\n2]".utf8)
        let result = try Self.gather([Found(range: 1..<11), Found(range: 13..<14)], in: bytes, blockSize: blockSize)
        #expect(result.texts == [#"{  "a": 1}"#, "2"])
    }

    /// Of a record that is passed over no more is kept than its first bytes, however long it is.
    @Test func keepsTheFirstBytesOfWhatIsPassedOver() throws {
        let bytes = (0..<100_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        for kind in [Found.Kind.record, .tooDeep] {
            let result = try Self.gather(
                [Found(range: 5..<90_000, kind: kind)],
                in: bytes,
                blockSize: 1_000,
                limits: SplitLimits(maxRecordBytes: 50_000)
            )
            let reject = try #require(result.entries.first?.rejects.first)
            #expect(reject.length == 89_995)
            #expect(Data(base64Encoded: reject.head) == Data(bytes[5..<5 + ChunkBuilder.headLength]))
            #expect(result.lines == [[[]]])
        }
    }

    /// What there is of a chunk does not wait in memory until it is full, and nothing is left of one that never is.
    @Test func writesAChunkWhileItIsFilled() throws {
        let place = ChunkDirectoryCheck()
        defer { withExtendedLifetime(place) {} }
        let directory = try ChunkDirectory(path: place.path, creates: true)
        let partial = place.path + "/" + ChunkDirectory.temporaryName(ChunkDirectory.fileName(1))
        let bytes = Array("10,20,30,40,50".utf8)
        let found = (0..<5).map { Found(range: 3 * $0..<3 * $0 + 2) }
        do {
            let builder = try Self.builder(in: directory, 1 << 20, portion: 6) { _ in }
            try Self.tell(builder, of: found, in: bytes, 4)
            #expect(try String(contentsOfFile: partial, encoding: .utf8) == "10\n20\n30\n40\n")
        }
        #expect(try directory.chunkNames() == [ChunkManifest.fileName])
    }

    private struct Stop: Error {}

    /// What is called with a chunk may end it all, and is not called again.
    @Test func endsWhereItsChunkIsNotWanted() throws {
        let place = ChunkDirectoryCheck()
        defer { withExtendedLifetime(place) {} }
        var sealed: [Int] = []
        let builder = try Self.builder(in: try ChunkDirectory(path: place.path, creates: true), 1) { entry in
            sealed.append(entry.number)
            if entry.number == 2 { throw Stop() }
        }
        let found = (0..<5).map { Found(range: 2 * $0..<2 * $0 + 1) }
        #expect(throws: Stop.self) { try Self.tell(builder, of: found, in: Array("1,2,3,4,5".utf8), 100) }
        #expect(sealed == [1, 2])
    }
}
