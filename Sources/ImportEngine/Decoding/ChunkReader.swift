import Foundation
import ImportModel
import ImportSources

/// Reads a chunk file line by line and says of each line what it is.
///
/// Made and used by one worker; it keeps its memory from chunk to chunk.
package final class ChunkReader {
    /// One line of the chunk: one record of the source.
    package struct Line {
        /// The line's bytes with the LF that ends it.
        package let bytes: ByteView
        /// Where they begin in the chunk's bytes.
        package let offset: Int
        /// The source position of the line's first byte.
        ///
        /// Of a line that begins with keys of its own it is as far before the record as they are long.
        package let byteOffset: Int64
        /// The record's number in the job.
        package let ordinal: Int64
        /// Its record path, as an index of its source's paths.
        package let path: Int
        /// How many keys lead to the record's value.
        package let keys: Int
        /// How many of the line's bytes precede the source's own.
        package let prefix: Int
        package let content: Content
    }

    /// What a line is.
    package enum Content {
        /// A record, on the tape of `ChunkReader.record(of:)`.
        case record
        /// Not one; why, and where in the line.
        case broken(CoercionError.Code, at: Int)
        /// A record that the splitter passed over; its index in the chunk's list of them.
        case skipped(Int)
    }

    // Nobody comes back here while it is used; checking that for each record would cost more.
    @exclusivity(unchecked) private var readers: RecordReaders

    /// The chunks whose bytes these are, one after the other in a file.
    private var chunks: [SealedChunk] = []
    private var place = 0
    package private(set) var bytes: [UInt8] = []
    /// The bytes of the chunk being read.
    package private(set) var range = 0..<0
    /// How many of its lines have been read, and where the next one begins in the bytes.
    package private(set) var line = 0
    package private(set) var offset = 0
    /// Where the last record read ends in the source.
    private(set) var sourceOffset: Int64 = 0
    private var positions: ChunkSourceMap?
    private var nextSkipped = 0
    private var needsUTF8Check = false

    package init(_ options: JobOptions) {
        readers = RecordReaders(options)
    }

    /// The chunk being read.
    package var chunk: SealedChunk? { place < chunks.count ? chunks[place] : nil }

    /// True if chunks follow it.
    package var hasNext: Bool { place + 1 < chunks.count }

    /// Takes chunks that follow one another in a file, and begins with the first one.
    ///
    /// - Throws: `ImportError` when the file is not what was sealed.
    package func open(_ chunks: [SealedChunk]) throws {
        try chunks.read(into: &bytes)
        self.chunks = chunks
        place = 0
        begin()
    }

    /// Goes on with the chunk that follows.
    package func takeNext() {
        place += 1
        begin()
    }

    private func begin() {
        guard let chunk else { return }
        line = 0
        range = chunk.range(after: chunks[0])
        offset = range.lowerBound
        sourceOffset = chunk.entry.firstByte
        positions = ChunkSourceMap(chunk.entry, keys: chunk.keys)
        _ = readers.make(keys: chunk.keys.map(\.count).max() ?? 0)
        nextSkipped = 0
        needsUTF8Check = bytes.withUnsafeBufferPointer { UTF8Validation.firstInvalid(in: ByteView($0)[range]) != nil }
    }

    /// Passes lines over without parsing them.
    package func skip(_ lines: Int) {
        guard var positions else { return }
        bytes.withUnsafeBufferPointer { buffer in
            let all = ByteView(UnsafeBufferPointer(rebasing: buffer[..<range.upperBound]))
            for _ in 0..<lines where offset < all.count { _ = nextLine(in: all, &positions) }
        }
        self.positions = positions
    }

    /// Reads the next lines, at most `count`, and hands each to `body`, which says whether to continue.
    package func read(_ count: Int, _ body: (Line) -> Bool) {
        guard let chunk, var positions else { return }
        let last = line + min(count, chunk.entry.records - line)
        bytes.withUnsafeBufferPointer { buffer in
            let all = ByteView(UnsafeBufferPointer(rebasing: buffer[..<range.upperBound]))
            while line < last {
                let ordinal = chunk.entry.firstOrdinal + Int64(line)
                let next = nextLine(in: all, &positions)
                let keys = chunk.keys[next.place.path].count
                let bytes = all[next.range]
                let goesOn = body(
                    Line(
                        bytes: bytes,
                        offset: next.range.lowerBound,
                        byteOffset: next.place.firstByte - Int64(next.place.prefix),
                        ordinal: ordinal,
                        path: next.place.path,
                        keys: keys,
                        prefix: next.place.prefix,
                        content: content(of: bytes, keys: keys, line: line - 1, chunk)
                    )
                )
                if !goesOn { break }
            }
        }
        self.positions = positions
    }

    /// What has parsed the line that was read last, which is a record.
    @inline(__always)
    package func record(of line: Line) -> RecordReader { readers[line.keys] }

    private struct NextLine {
        let range: Range<Int>
        let place: ChunkSourceMap.Location
    }

    /// Moves past the next line.
    @inline(__always)
    private func nextLine(in all: ByteView, _ positions: inout ChunkSourceMap) -> NextLine {
        let first = offset
        let start = all.base + first
        let lineFeed = memchr(start, 0x0A, all.count - first)
        let length = lineFeed.map { UnsafeRawPointer($0) - UnsafeRawPointer(start) } ?? all.count - first
        let place = positions.next(all[first..<first + length])
        sourceOffset = place.firstByte + place.length
        offset = min(first + length + 1, all.count)
        line += 1
        return NextLine(range: first..<offset, place: place)
    }

    @inline(__always)
    private func content(of bytes: ByteView, keys: Int, line: Int, _ chunk: SealedChunk) -> Content {
        if bytes.count <= 1 { return skipped(line, chunk) }
        if needsUTF8Check, let place = UTF8Validation.firstInvalid(in: bytes) {
            return .broken(.invalidUTF8, at: place)
        }
        let reader = readers[keys]
        switch reader.read(line: bytes) {
        // A chunk directory may come from anywhere: what the keys lead to must be there.
        case .record where keys > 0 && !reader.tape.isMember(levels: keys): return .broken(.malformed, at: 0)
        case .record: return .record
        case .tooDeep: return .broken(.recordTooDeep, at: 0)
        case .malformed(let place): return .broken(.malformed, at: place)
        }
    }

    private func skipped(_ line: Int, _ chunk: SealedChunk) -> Content {
        let rejects = chunk.entry.rejects
        while nextSkipped < rejects.count, rejects[nextSkipped].line < line { nextSkipped += 1 }
        guard nextSkipped < rejects.count, rejects[nextSkipped].line == line else {
            return .broken(.malformed, at: 0)
        }
        return .skipped(nextSkipped)
    }
}
