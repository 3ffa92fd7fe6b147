/// Tracks of a source up to both byte offsets where a chunk may end: in the block that is being cut, and after the last
/// record of the blocks before it, of whose bytes nothing is there any more.
struct ChunkBoundaries {
    /// Up to here: the block's beginning, or an offset in it where a chunk was sealed.
    private let prefix: SourcePrefix
    /// Up to the last record of the blocks before this one.
    private let prefixAtRecord: SourcePrefix
    /// The hash from there to the block's beginning.
    private let hashSinceRecord = XXH3Hasher()

    /// - Parameters:
    ///   - base: the offset of the first block in the source.
    ///   - start: where the split begins or continues.
    init(from base: Int64, _ start: SplitPosition) {
        // A byte order mark is no part of the first line.
        let lineStart = start.byteOffset == 0 ? base : start.lineStart
        prefix = SourcePrefix(byteOffset: base, lineBreaks: start.lineBreaks, lineStart: lineStart)
        prefixAtRecord = SourcePrefix(byteOffset: base, lineBreaks: start.lineBreaks, lineStart: lineStart)
    }

    /// Goes on to the end of a block.
    ///
    /// - Parameter recordEnd: just past the last record, in this block or before it.
    func leave(_ block: SourceBlock, recordEnd: Int64) {
        if prefixAtRecord.byteOffset != recordEnd {
            // A record ended in this block.
            prefix.advance(to: recordEnd, in: block)
            prefixAtRecord.copy(from: prefix)
            hashSinceRecord.reset()
        }
        let rest = max(prefixAtRecord.byteOffset, block.base)
        hashSinceRecord.update(
            UnsafeRawBufferPointer(start: block.bytes(from: rest), count: Int(block.end - rest))
        )
        prefix.advance(to: block.end, in: block)
    }

    /// Goes back to the last record of the blocks before this one.
    func rewind() {
        prefix.copy(from: prefixAtRecord)
        hashSinceRecord.reset()
    }

    /// Ends the chunk where the source ends, with this block.
    ///
    /// - Returns: the position there, and the hash of the chunk's source bytes.
    func endWithSource(_ block: SourceBlock) -> (position: SplitPosition, hash: String) {
        prefix.advance(to: block.end, in: block)
        return (prefix.position, prefix.digest)
    }

    /// Ends the chunk after its last record; the next chunk's hash begins there.
    ///
    /// - Parameters:
    ///   - recordEnd: just past the last record.
    ///   - block: the block that is being cut.
    /// - Returns: the position there, and the hash of the chunk's source bytes.
    func end(at recordEnd: Int64, in block: SourceBlock) -> (position: SplitPosition, hash: String) {
        guard recordEnd >= prefix.byteOffset else {
            defer {
                prefix.copyHash(from: hashSinceRecord)
                prefixAtRecord.resetHash()
            }
            return (prefixAtRecord.position, prefixAtRecord.digest)
        }
        prefix.advance(to: recordEnd, in: block)
        let hash = prefix.digest
        prefix.resetHash()
        prefixAtRecord.copy(from: prefix)
        hashSinceRecord.reset()
        return (prefix.position, hash)
    }

    /// The line of an offset, from 1, and its column, from 1 in bytes.
    ///
    /// - Parameters:
    ///   - offset: in the block, or in a token that the block continues with.
    ///   - block: the block that is being cut.
    /// - Returns: both.
    func lineAndColumn(at offset: Int64, in block: SourceBlock) -> (line: Int64, column: Int64) {
        var line = prefix.lineBreaks + 1
        var start = prefix.lineStart
        if offset > prefix.byteOffset {
            let bytes = block.bytes(from: prefix.byteOffset)
            for index in 0..<Int(offset - prefix.byteOffset) where bytes[index] == 0x0A {
                line += 1
                start = prefix.byteOffset + Int64(index) + 1
            }
        }
        return (line, offset - start + 1)
    }
}

extension SourcePrefix {
    /// The position that it is at, as far as it knows it.
    fileprivate var position: SplitPosition {
        SplitPosition(byteOffset: byteOffset, lineBreaks: lineBreaks, lineStart: lineStart)
    }

    fileprivate func advance(to end: Int64, in block: SourceBlock) {
        guard end > byteOffset else { return }
        advance(block.bytes(from: byteOffset), Int(end - byteOffset))
    }
}
