import Foundation
import ImportModel

/// Reads a chunk file and decodes it, batch by batch. Made and used by one worker; it keeps its memory from chunk to
/// chunk.
final class ChunkDecoder {
    /// Per source of the job, the decoder of each of its record paths.
    private let decoders: [[RecordDecoder]]
    private let entities: Int
    private let reader: RecordReader
    /// For keyed records, which stand in an object of their line's own.
    private let keyedReader: RecordReader
    private let maxDepth: Int

    /// The chunk being decoded, and its bytes.
    private(set) var chunk: SealedChunk?
    private(set) var bytes: [UInt8] = []
    private var count = 0
    private var line = 0
    private var offset = 0
    /// Where the record before the next line ends in the source.
    private var sourceOffset: Int64 = 0
    private var paths: RunCursor
    private var gaps: RunCursor
    private var nextPassedOver = 0
    private var needsUTF8Check = false
    private var hasOtherSpace = false
    private var hasher = XXH3Hasher()

    /// - Parameters:
    ///   - plans: per source of the job, the plan of each of its record paths.
    ///   - entities: how many entities the job has.
    ///   - maxDepth: how deeply a record may be nested.
    init(plans: [[EntityPlan]], entities: Int, maxDepth: Int) {
        self.entities = entities
        self.maxDepth = maxDepth
        var shared: [Int32: RecordDecoder] = [:]
        for plan in plans.joined() where shared[plan.index] == nil { shared[plan.index] = RecordDecoder(plan: plan) }
        decoders = plans.map { $0.compactMap { shared[$0.index] } }
        reader = RecordReader(maxDepth: maxDepth)
        keyedReader = RecordReader(maxDepth: maxDepth + 1)
        paths = RunCursor([])
        gaps = RunCursor([])
    }

    /// Takes the next chunk.
    ///
    /// - Parameter skipped: what of it is committed already.
    /// - Throws: `ImportError` when the file is not what was sealed, or its beginning not what was committed.
    func open(_ chunk: SealedChunk, skipping skipped: CommittedPrefix) throws {
        self.chunk = chunk
        try chunk.read(into: &bytes)
        count = bytes.count
        line = 0
        offset = 0
        sourceOffset = chunk.entry.firstByte
        paths = RunCursor(chunk.entry.paths)
        gaps = RunCursor(chunk.entry.gaps)
        nextPassedOver = 0
        hasher = XXH3Hasher()
        bytes.withUnsafeBufferPointer { buffer in
            let all = ByteView(UnsafeBufferPointer(rebasing: buffer[..<count]))
            needsUTF8Check = UTF8Validation.firstInvalid(in: all) != nil
            hasOtherSpace = chunk.layout == .lines && (all.contains(0x0B) || all.contains(0x0C))
        }
        try skip(skipped)
    }

    private func skip(_ skipped: CommittedPrefix) throws {
        guard skipped.records > 0 else { return }
        bytes.withUnsafeBufferPointer { buffer in
            let all = ByteView(UnsafeBufferPointer(rebasing: buffer[..<count]))
            while line < skipped.records, offset < count {
                let (length, _, path) = nextLine(in: all)
                sourceOffset += Int64(sourceLength(of: length, path))
                line += 1
            }
        }
        hash(upTo: offset, from: 0)
        guard line == skipped.records, hasher.hexDigest == skipped.hash else {
            throw ImportError(
                .badInput, "the source has changed before the place where the import stopped",
                advice: "Give the source as it was, or begin anew with --restart.")
        }
    }

    /// Moves past the next line: its length without the LF, the source position of its first byte, its path.
    @inline(__always)
    private func nextLine(in all: ByteView) -> (length: Int, position: Int64, path: Int) {
        let rest = count - offset
        let start = all.base + offset
        let end = memchr(start, 0x0A, rest).map { UnsafePointer($0.assumingMemoryBound(to: UInt8.self)) - start }
        let length = end ?? rest
        sourceOffset += gaps.next()
        offset += length + 1
        return (length, sourceOffset, Int(paths.next()))
    }

    /// How much of the source a line stands for: a keyed record's line has braces of its own around key and record.
    @inline(__always)
    private func sourceLength(of length: Int, _ path: Int) -> Int {
        guard let chunk, length > 0, chunk.isKeyed[path] else { return length }
        return length - 2
    }

    /// Decodes the next records.
    ///
    /// - Parameter maxRecords: how many at most, from 1.
    /// - Returns: false when the chunk has none left.
    func decode(upTo maxRecords: Int, into batch: inout RowBatch) -> Bool {
        guard let chunk, line < chunk.entry.records || (chunk.entry.records == 0 && line == 0) else { return false }
        batch.reset(entities: entities)
        let first = offset
        let last = min(line + maxRecords, chunk.entry.records)
        var path = 0
        bytes.withUnsafeBufferPointer { buffer in
            let all = ByteView(UnsafeBufferPointer(rebasing: buffer[..<count]))
            while line < last {
                let lineOffset = offset
                let (length, position, linePath) = nextLine(in: all)
                path = linePath
                let decoder = decoders[chunk.entry.source][path]
                batch.recordsRead[Int(decoder.plan.index)] += 1
                if length == 0 {
                    passedOver(decoder.plan, chunk: chunk, into: &batch)
                } else {
                    let isKeyed = chunk.isKeyed[path]
                    decode(
                        all[lineOffset..<lineOffset + length + 1], lineOffset: lineOffset,
                        position: isKeyed ? position - 1 : position, isKeyed: isKeyed, decoder, chunk, into: &batch)
                }
                sourceOffset += Int64(sourceLength(of: length, path))
                line += 1
            }
        }
        // A chunk without records still ends its source.
        if chunk.entry.records == 0 { line = 1 }
        hash(upTo: offset, from: first)
        finish(&batch, path: path, chunk: chunk)
        return true
    }

    private func hash(upTo end: Int, from first: Int) {
        bytes.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[first..<min(end, count)])) }
    }

    private func finish(_ batch: inout RowBatch, path: Int, chunk: SealedChunk) {
        let isEnd = line >= chunk.entry.records
        if isEnd {
            for (name, count) in chunk.entry.outside.sorted(by: { $0.key < $1.key }) {
                batch.ledger.add(.outside, entity: -1, attribute: name, count: count)
            }
        }
        let records = min(line, chunk.entry.records)
        batch.end = BatchEnd(
            byteOffset: isEnd ? chunk.entry.endByte : sourceOffset,
            ordinal: chunk.entry.firstOrdinal + Int64(records) - 1, path: path, chunkRecords: records,
            chunkBytes: min(offset, count), chunkHash: hasher.hexDigest, isChunkEnd: isEnd)
    }

    // MARK: One record

    private func decode(
        _ line: ByteView, lineOffset: Int, position: Int64, isKeyed: Bool, _ decoder: RecordDecoder,
        _ chunk: SealedChunk, into batch: inout RowBatch
    ) {
        let ordinal = chunk.entry.firstOrdinal + Int64(self.line)
        let text = line[0..<line.count - 1]
        if hasOtherSpace, let space = text.firstIndex(where: { $0 == 0x0B || $0 == 0x0C }) {
            return reject(.malformed, text, space, "a JSON value", position, ordinal, decoder, into: &batch)
        }
        if needsUTF8Check, let invalid = UTF8Validation.firstInvalid(in: text) {
            return reject(.invalidUTF8, text, invalid, "UTF-8", position, ordinal, decoder, into: &batch)
        }
        let reader = isKeyed ? keyedReader : reader
        switch reader.read(line: line) {
        case .record:
            decoder.decode(
                RecordDecoder.Input(
                    line: line, lineOffset: lineOffset, byteOffset: position, ordinal: ordinal, root: isKeyed ? 2 : 0,
                    recordKey: isKeyed ? 1 : -1),
                tape: reader.tape, into: &batch)
        case .tooDeep:
            reject(.recordTooDeep, text, 0, "at most \(maxDepth) levels", position, ordinal, decoder, into: &batch)
        case .malformed(let offset):
            reject(.malformed, text, offset, "a JSON value", position, ordinal, decoder, into: &batch)
        }
    }

    private func reject(
        _ code: CoercionError.Code, _ line: ByteView, _ offset: Int, _ expected: String, _ position: Int64,
        _ ordinal: Int64, _ decoder: RecordDecoder, into batch: inout RowBatch
    ) {
        let found = code == .recordTooDeep ? "more" : "something else"
        let error = RecordError(
            entity: decoder.plan.entity.name, keyPath: "", code: code, expected: expected, found: found,
            byteOffset: position + Int64(offset))
        batch.rejects.append(
            RowBatch.Reject(
                entity: decoder.plan.index, ordinal: ordinal, byteOffset: position, length: Int64(line.count),
                errors: [error], bytes: Array(line.buffer)))
    }

    /// A record that the splitter passed over: its line is empty.
    private func passedOver(_ plan: EntityPlan, chunk: SealedChunk, into batch: inout RowBatch) {
        guard nextPassedOver < chunk.entry.rejects.count else { return }
        while chunk.entry.rejects[nextPassedOver].line < line, nextPassedOver + 1 < chunk.entry.rejects.count {
            nextPassedOver += 1
        }
        let entry = chunk.entry.rejects[nextPassedOver]
        let code = CoercionError.Code(rawValue: entry.code) ?? .recordTooLarge
        let limit = code == .recordTooDeep ? "at most \(maxDepth) levels" : "at most \(chunk.maxRecordBytes) bytes"
        let found = code == .recordTooDeep ? "more" : "\(entry.length) bytes"
        let error = RecordError(
            entity: plan.entity.name, keyPath: "", code: code, expected: limit, found: found,
            byteOffset: entry.firstByte)
        batch.rejects.append(
            RowBatch.Reject(
                entity: plan.index, ordinal: chunk.entry.firstOrdinal + Int64(line), byteOffset: entry.firstByte,
                length: entry.length, errors: [error], bytes: Array(Data(base64Encoded: entry.head) ?? Data())))
    }
}

/// Walks runs of equal values one by one.
private struct RunCursor {
    private let runs: [ChunkEntry.Run]
    private var index = 0
    private var used = 0

    init(_ runs: [ChunkEntry.Run]) {
        self.runs = runs
    }

    @inline(__always)
    mutating func next() -> Int64 {
        while index < runs.count {
            if used < runs[index].count {
                used += 1
                return runs[index].value
            }
            index += 1
            used = 0
        }
        return 0
    }
}

extension ByteView {
    fileprivate func contains(_ byte: UInt8) -> Bool { memchr(base, Int32(byte), count) != nil }

    fileprivate func firstIndex(where predicate: (UInt8) -> Bool) -> Int? { buffer.firstIndex(where: predicate) }
}
