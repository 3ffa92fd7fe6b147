import Foundation
import ImportModel
import Importer
import TestSupport

@testable import ImportSources

/// A source in memory that gives at most this many bytes at a time.
final class MemoryStream: ByteStream {
    private let bytes: [UInt8]
    private var index: Int

    init(_ bytes: [UInt8], from index: Int = 0) {
        self.bytes = bytes
        self.index = index
    }

    func read(into block: inout [UInt8]) throws -> Int {
        let count = min(block.count, bytes.count - index)
        block.replaceSubrange(0..<count, with: bytes[index..<index + count])
        index += count
        return count
    }
}

/// A directory that is removed with this object.
final class ChunkDirectoryCheck {
    let path: String

    init() {
        // In memory where that is possible: thousands of small files are made.
        let memory = "/dev/shm/"
        let parent = FileManager.default.isWritableFile(atPath: memory) ? memory : NSTemporaryDirectory()
        path = parent + "splitting-" + UUID().uuidString
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

extension SplitLimits {
    /// Only JSON is JSON.
    static var strict: SplitLimits { SplitLimits(reading: .strict) }
}

/// How a test cuts a source.
struct SplitCase {
    var layout = SourceShape.Layout.stream
    var paths: [String] = ["$"]
    var limits = SplitLimits()
    var blockSize = SourceSplitter.defaultBlockSize
    var chunkSize = 1 << 20
    var portion = ChunkWriter.defaultPortion
    var longToken = DocumentSplitter.defaultLongToken
    var baseOffset: Int64 = 0
    var minimumEnd: Int64?

    /// Cuts `bytes`, which begin at `baseOffset`, from `start` on.
    func split(
        _ bytes: [UInt8],
        start: SplitPosition = .start,
        firstOrdinal: Int64 = 1,
        known: Set<String> = []
    ) throws -> SplitResult {
        let temporary = ChunkDirectoryCheck()
        let directory = try ChunkDirectory(path: temporary.path, creates: true)
        let shape = SourceShape(layout: layout, paths: paths)
        let header = ChunkManifest.Header(sources: [], shapes: [shape], limits: limits)
        let manifest = try ChunkManifest(creatingIn: directory, header: header, synced: false)
        let writer = ChunkWriter(
            directory: directory,
            manifest: manifest,
            chunkSize: chunkSize,
            synced: false,
            portion: portion
        )
        var entries: [ChunkEntry] = []
        let base = max(start.byteOffset, baseOffset)
        let splitter = try SourceSplitter(
            stream: MemoryStream(bytes, from: Int(base - baseOffset)),
            at: base,
            settings: SourceSplitter.Settings(
                layout: layout,
                paths: paths.map(Self.path),
                limits: limits,
                blockSize: blockSize,
                longToken: longToken
            ),
            writer: writer,
            start: SplitStart(
                position: start,
                firstOrdinal: firstOrdinal,
                minimumEnd: minimumEnd,
                outsideNames: Array(known)
            )
        ) { entries.append($0) }
        let end = try splitter.run()
        var lines: [[[UInt8]]] = []
        for entry in entries {
            var file: [UInt8] = []
            guard try directory.isIntact(entry), try directory.read([entry], into: &file) else {
                throw ImportError(.fault, "chunk \(entry.number) is not as its entry says")
            }
            lines.append(
                entry.records == 0
                    ? [] : file.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast().map(Array.init)
            )
        }
        let read = try ChunkManifest.read(in: directory)
        guard read?.entries == entries, read?.header == header else {
            throw ImportError(.fault, "the manifest does not say what was sealed")
        }
        return SplitResult(
            entries: entries,
            lines: lines,
            end: end,
            recordsPerPath: splitter.recordsPerPath,
            keys: paths.map { LineKeys(Self.path($0).description) }
        )
    }

    func split(_ text: String) throws -> SplitResult { try split(Array(text.utf8)) }

    /// Reads the simple paths that tests use.
    static func path(_ text: String) -> RecordPath {
        var steps: [RecordPath.Step] = []
        var rest = text.dropFirst()
        while !rest.isEmpty {
            if rest.hasPrefix("[*]") {
                steps.append(.anyElement)
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix(".*") {
                steps.append(.anyMember)
                rest = rest.dropFirst(2)
            } else {
                let key = rest.dropFirst().prefix { $0 != "." && $0 != "[" }
                steps.append(.key(String(key)))
                rest = rest.dropFirst(1 + key.count)
            }
        }
        return RecordPath(steps: steps)
    }
}

/// The result of a split.
struct SplitResult {
    var entries: [ChunkEntry]
    /// Of each chunk, without their line breaks.
    var lines: [[[UInt8]]]
    var end: SplitOutcome
    var recordsPerPath: [Int64]

    /// All lines as text.
    var texts: [String] { lines.joined().map { String(decoding: $0, as: UTF8.self) } }

    /// The record path of each line.
    var pathIndexes: [Int] {
        entries.flatMap { $0.paths.flatMap { Array(repeating: Int($0.value), count: $0.count) } }
    }

    /// Where each line's record begins in the source.
    var starts: [Int64] {
        var starts: [Int64] = []
        for (entry, lines) in zip(entries, self.lines) {
            var positions = ChunkSourceMap(entry, keys: keys)
            for line in lines {
                starts.append(line.withUnsafeBufferPointer { positions.next(ByteView($0)).firstByte })
            }
        }
        return starts
    }

    /// Those of each record path.
    var keys: [LineKeys]

    /// All counts of outside values.
    var outside: [String: Int64] {
        entries.reduce(into: [:]) { $0.merge($1.outside) { $0 + $1 } }
    }

    var fault: SplitError? {
        if case .fault(let fault) = end { return fault }
        return nil
    }
}

extension UnmatchedValueCounts {
    /// The names that the entries of one source have counts under, as `knownNames` for its next chunks.
    static func names(in entries: some Sequence<ChunkEntry>) -> Set<String> {
        Set(entries.flatMap(\.outside.keys)).subtracting([restName])
    }
}
