import ImportModel

/// Cuts one source into chunks.
///
/// Made, used and dropped by one thread. Nothing of the source is held but the block at hand and the chunk that is being filled.
final class SourceSplitter {
    /// Bytes read at a time.
    static let defaultBlockSize = 256 << 10

    /// Records of each record path since the split began or was resumed, in the order of the paths.
    var recordsPerPath: [Int64] { builder.recordsPerPath }

    private let stream: any ByteStream
    private let shape: SourceShape
    private let limits: SplitLimits
    private let matcher: RecordMatcher
    private let start: SplitPosition
    private let builder: ChunkBuilder
    private let longToken: Int
    private var block: [UInt8]
    private var context = FaultContext()

    /// Prepares the split of a source.
    ///
    /// - Parameters:
    ///   - stream: the source's bytes from `baseOffset` on.
    ///   - baseOffset: the offset of the stream's first byte in the source: `start.byteOffset`, or 3 for a source that
    ///     begins with a byte order mark.
    ///   - source: the source's index in the job, from 0.
    ///   - shape: how its records are laid out.
    ///   - paths: the record paths of `shape`, at most 64; a source of lines has the path `$` alone.
    ///   - limits: which records are passed over or left out.
    ///   - writer: what writes the chunks.
    ///   - start: `.start`, or the `end` of the last sealed chunk of this source.
    ///   - firstOrdinal: the number of the next record in the job, from 1.
    ///   - knownOutsideNames: `OutsideCounts.names(in:)` the chunks that this source already has.
    ///   - blockSize: how many bytes are read at a time, from 1.
    ///   - longToken: how many bytes of a token yajl sees at least, if it spans blocks.
    ///   - minimumEnd: no chunk but the last ends before this offset in the source.
    ///   - onSealed: called with each chunk when it is safe; it may wait, and it may throw to end the split.
    /// - Throws: `ImportError` with `.usage` for more than 64 paths.
    init(
        stream: any ByteStream,
        baseOffset: Int64,
        source: Int,
        shape: SourceShape,
        paths: [RecordPath],
        limits: SplitLimits,
        writer: ChunkWriter,
        start: SplitPosition = .start,
        firstOrdinal: Int64,
        knownOutsideNames: Set<String> = [],
        blockSize: Int = SourceSplitter.defaultBlockSize,
        longToken: Int = DocumentSplitter.defaultLongToken,
        minimumEnd: Int64? = nil,
        onSealed: @escaping (ChunkEntry) throws -> Void
    ) throws {
        self.stream = stream
        self.shape = shape
        self.limits = limits
        self.start = start
        self.longToken = longToken
        matcher = try RecordMatcher(paths)
        block = [UInt8](repeating: 0, count: max(1, blockSize))
        builder = ChunkBuilder(
            writer: writer,
            settings: ChunkBuilder.Settings(
                source: source,
                limits: limits,
                pathCount: max(1, paths.count),
                isUnparsed: shape.layout == .lines,
                minimumEnd: minimumEnd ?? 0
            ),
            base: baseOffset,
            start: start,
            firstOrdinal: firstOrdinal,
            knownOutsideNames: knownOutsideNames,
            onSealed: onSealed
        )
    }

    /// Reads the source to its end, after the last record that is wanted, or to the first fault.
    ///
    /// - Returns: how it ended. After a fault, everything sound before it is in sealed chunks.
    /// - Throws: `ImportError` when the source or a chunk cannot be read or written, and what `onSealed` threw. When the
    ///   source is damaged, everything sound before the damage is in sealed chunks.
    func run() throws -> SplitEnd {
        if builder.hasReachedLimit {
            try builder.finish()
            return .finished
        }
        if shape.layout == .lines {
            let splitter = LineSplitter(builder: builder, matcher: matcher, maxRecordBytes: limits.maxRecordBytes)
            if let end = try forEachBlock({ try splitter.split($0, $1) }) { return end }
            return try end { try splitter.finish(isResumed: isResumed) }
        }
        let splitter = try DocumentSplitter(
            builder: builder,
            matcher: matcher,
            isDocument: shape.layout == .document,
            maxDepth: limits.maxDepth,
            enclosing: start.enclosing,
            isResumed: isResumed,
            longToken: longToken
        )
        if let end = try forEachBlock({ try splitter.split($0, $1) }) { return end }
        return try end { try splitter.finish() }
    }

    private var isResumed: Bool { start.byteOffset > 0 }

    /// Reads the source to its end.
    ///
    /// - Returns: how the split ended if it ended before that.
    private func forEachBlock(_ body: (UnsafeMutablePointer<UInt8>, Int) throws -> Void) throws -> SplitEnd? {
        while true {
            let count: Int
            do {
                count = min(try stream.read(into: &block), block.count)
            } catch let error as ImportError where error.code == .badInput {
                try builder.finishAtFault()
                throw error
            } catch is SampleEnd {
                try builder.finishAtSampleEnd()
                return .finished
            }
            let end = try block.withUnsafeMutableBufferPointer { buffer -> SplitEnd? in
                guard count > 0, let base = buffer.baseAddress else { return nil }
                builder.enterBlock(base, count)
                do {
                    try body(base, count)
                } catch let fault as ScanFault {
                    return .fault(try seal(at: fault, UnsafeBufferPointer(start: base, count: count)))
                } catch is ChunkBuilder.LimitReached {
                    try builder.finish()
                    return .finished
                }
                context.leave(base, count)
                builder.leaveBlock()
                return nil
            }
            if let end { return end }
            if count == 0 { return nil }
        }
    }

    /// Seals the last chunk if `finish` finds the source whole.
    private func end(_ finish: () throws -> Void) throws -> SplitEnd {
        do {
            try finish()
        } catch let fault as ScanFault {
            return .fault(try seal(at: fault, UnsafeBufferPointer(start: nil, count: 0)))
        } catch is ChunkBuilder.LimitReached {
            // Nothing is wanted any more where there is nothing any more.
        }
        try builder.finish()
        return .finished
    }

    /// Seals what is sound and says where the fault is.
    private func seal(at fault: ScanFault, _ block: UnsafeBufferPointer<UInt8>) throws -> SplitFault {
        let (line, column) = builder.lineAndColumn(at: fault.byteOffset)
        let excerpt = context.excerpt(around: fault.byteOffset, in: block, base: builder.blockBase)
        try builder.finishAtFault()
        return SplitFault(
            kind: fault.kind,
            byteOffset: fault.byteOffset,
            line: line,
            column: column,
            excerpt: excerpt,
            message: fault.message
        )
    }
}
