import ImportModel

/// Cuts one source into chunks.
///
/// Made, used and dropped by one thread. Nothing of the source is held but the block at hand, and the lines of
/// the chunk being filled that are not written yet.
package final class SourceSplitter {
    /// Bytes read at a time.
    static let defaultBlockSize = 256 << 10

    /// Records of each record path since the split began or was resumed, in the order of the paths.
    var recordsPerPath: [Int64] { builder.recordsPerPath }

    /// How a source is cut.
    package struct Settings {
        package var layout: SourceShape.Layout
        /// At most 64; a source of lines has the path `$` alone.
        package var paths: [RecordPath]
        /// Which records are passed over or left out.
        package var limits = SplitLimits()
        /// True if the source may have no value at all.
        package var mayBeEmpty = false
        /// True if nothing needs to be at the paths.
        package var isEmpty = false
        /// The path of the source that each record gets as its outermost key; nil for none.
        var file: String?
        /// What the source is called where something is wrong in it and it ends there, as any other source ends; nil where the split stops.
        var badName: String?
        /// What is wrong with the source, so that nothing of it is read; nil for nothing.
        package var fault: String?
        /// How many bytes are read at a time, from 1.
        package var blockSize = SourceSplitter.defaultBlockSize
        /// How many bytes of a token yajl sees at least, if it spans blocks.
        var longToken = DocumentSplitter.defaultLongToken
    }

    private let stream: any ByteStream
    private let settings: Settings
    private let matcher: RecordMatcher
    private let start: SplitPosition
    private let builder: ChunkBuilder
    /// The offset of the stream's first byte in the source.
    private let base: Int64
    /// What cuts the documents, from the beginning or from where they are read again.
    private var documents: DocumentSplitter?
    /// Makes JSON of what is nearly JSON, from where that was first met; nil where all is JSON so far.
    private var lenient: LenientScanner?
    /// The bytes after the last record, of the blocks that are gone; nil where they are too many.
    private var unfinished: [UInt8]? = []
    private var block: [UInt8]
    private var context = ErrorExcerpt()
    /// What a block was left with, which comes again before the next one's bytes, and how many bytes are wanted then.
    private var rest: [UInt8] = []
    private var wanted = 0

    /// Prepares the split of a source.
    ///
    /// - Parameters:
    ///   - stream: the source's bytes from `base` on.
    ///   - base: the offset of the stream's first byte in the source: that of `start`, or 3 for a source that begins with a
    ///     byte order mark.
    ///   - settings: how the source is cut.
    ///   - writer: what writes the chunks.
    ///   - start: which source it is, and where its split begins.
    ///   - onSealed: called with each chunk when it is sealed, as `ChunkBuilder` does; it may wait, and it may throw to end the split.
    /// - Throws: `ImportError` with `.usage` for more than 64 paths.
    package init(
        stream: any ByteStream,
        at base: Int64,
        settings: Settings,
        writer: ChunkWriter,
        start: SplitStart,
        onSealed: @escaping (ChunkEntry) throws -> Void
    ) throws {
        self.stream = stream
        self.settings = settings
        self.start = start.position
        self.base = base
        matcher = try RecordMatcher(settings.paths)
        block = [UInt8](repeating: 0, count: max(1, settings.blockSize))
        builder = ChunkBuilder(
            writer: writer,
            settings: ChunkBuilder.Settings(
                limits: settings.limits,
                pathCount: max(1, settings.paths.count),
                isUnparsed: settings.layout == .lines,
                file: settings.file.map { Array(JSONValue.string($0).serialized().utf8) } ?? []
            ),
            base: base,
            start: start,
            onSealed: onSealed
        )
    }

    /// Reads the source to its end, after the last record that is wanted, or to the first fault.
    ///
    /// - Returns: how it ended. After a fault, everything sound before it is in sealed chunks.
    /// - Throws: `ImportError` when the source or a chunk cannot be read or written, and what `onSealed` threw. When the
    ///   source is damaged, everything sound before the damage is in sealed chunks.
    package func run() throws -> SplitOutcome {
        if builder.hasReachedLimit {
            try builder.finish()
            return .finished
        }
        if let fault = settings.fault { return try finish(asBad: fault) }
        let limits = settings.limits
        if settings.layout == .lines {
            let splitter = LineSplitter(builder: builder, matcher: matcher, maxRecordBytes: limits.maxRecordBytes)
            if let end = try forEachBlock({ try splitter.split($0, $1, isLast: $2) }) { return end }
            return try end { try splitter.finish(isResumed: isResumed) }
        }
        try beginDocuments()
        let fault = try forEachBlock { block, count, _ in
            try self.documents?.split(block, count)
            return count
        }
        if let fault { return fault }
        return try end { try documents?.finish() }
    }

    /// Goes on after the last record with what cuts the documents.
    private func beginDocuments() throws {
        documents = try DocumentSplitter(
            builder: builder,
            matcher: matcher,
            maxDepth: settings.limits.maxDepth,
            enclosing: builder.enclosing,
            isResumed: !isAtBeginning,
            longToken: settings.longToken
        )
    }

    /// True if there is no record yet.
    private var isAtBeginning: Bool { !isResumed && builder.recordEnd == base }

    private var isResumed: Bool { start.byteOffset > 0 }

    /// Reads the source to its end.
    ///
    /// - Parameter body: cuts a block, after which no bytes follow if it is the last one, and returns how many bytes of it;
    ///   the others come again, with more behind them.
    /// - Returns: how the split ended if it ended before that.
    private func forEachBlock(_ body: (UnsafeMutablePointer<UInt8>, Int, Bool) throws -> Int) throws -> SplitOutcome? {
        while true {
            let count: Int
            do {
                count = min(try stream.read(into: &block), block.count)
            } catch let error as ImportError where error.code == .badInput {
                if lenient == nil, let end = try takeRest(body) { return end }
                if settings.badName != nil { return try finish(asBad: error.message) }
                try builder.finishAtFault()
                throw error
            } catch is SampleTruncation {
                if lenient == nil, let end = try takeRest(body) { return end }
                try builder.finishAtSampleEnd()
                return .finished
            }
            guard count > 0 else { return try takeRest(body) }
            if rest.isEmpty {
                if let end = try take(&block, count, isLast: false, body) { return end }
                continue
            }
            rest += block[..<count]
            // Twice as much each time, so that looking at it again costs no more than looking at it.
            if rest.count < wanted { continue }
            var bytes = rest
            if let end = try take(&bytes, bytes.count, isLast: false, body) { return end }
        }
    }

    /// Cuts what was left of the blocks before, as nothing follows it.
    private func takeRest(_ body: (UnsafeMutablePointer<UInt8>, Int, Bool) throws -> Int) throws -> SplitOutcome? {
        guard !rest.isEmpty else { return nil }
        var bytes = rest
        return try take(&bytes, bytes.count, isLast: true, body)
    }

    /// Cuts one block, of which `rest` keeps what has to come again.
    private func take(
        _ bytes: inout [UInt8],
        _ count: Int,
        isLast: Bool,
        _ body: (UnsafeMutablePointer<UInt8>, Int, Bool) throws -> Int
    ) throws -> SplitOutcome? {
        try bytes.withUnsafeMutableBufferPointer { buffer -> SplitOutcome? in
            guard count > 0, let base = buffer.baseAddress else { return nil }
            do {
                let used = try cut(base, count, isLast: isLast, body)
                context.leave(base, used)
                rest = Array(buffer[used..<count])
                wanted = 2 * rest.count
            } catch let fault as ScanError {
                let block = UnsafeBufferPointer(start: base, count: count)
                if var bytes = try leniently(fault, block) {
                    return try take(&bytes, bytes.count, isLast: isLast, body)
                }
                return try ended(by: fault, block)
            } catch is ChunkBuilder.LimitReached {
                try builder.finish()
                return .finished
            }
            return nil
        }
    }

    /// Cuts one block, and leaves it.
    ///
    /// - Returns: how many of its bytes were cut.
    private func cut(
        _ bytes: UnsafeMutablePointer<UInt8>,
        _ count: Int,
        isLast: Bool,
        _ body: (UnsafeMutablePointer<UInt8>, Int, Bool) throws -> Int
    ) throws -> Int {
        guard var scanner = lenient else {
            builder.enterBlock(bytes, count)
            let used = try body(bytes, count, isLast)
            keepUnfinished(bytes, used)
            builder.leaveBlock()
            return used
        }
        let source = UnsafeBufferPointer(start: UnsafePointer(bytes), count: count)
        var text = Array(source)
        let used = text.withUnsafeMutableBufferPointer { scanner.scan($0, isLast: isLast) }
        lenient = scanner
        // Records keep what is nearly JSON; only a comment to the end of its line would go on without the line's end.
        var records = Array(source)
        for comment in scanner.lineComments { records.makeBlockComment(comment) }
        try text.withUnsafeMutableBufferPointer { text in
            try records.withUnsafeBufferPointer { records in
                guard used > 0, let text = text.baseAddress, let records = records.baseAddress else { return }
                builder.enterBlock(records, used, source: bytes)
                _ = try body(text, used, isLast)
                builder.leaveBlock()
            }
        }
        return used
    }

    /// Keeps the bytes of a block after the last record, as they may have to be read again.
    private func keepUnfinished(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
        guard settings.layout == .stream, settings.limits.reading == .found else { return }
        let first = Int(builder.recordEnd - builder.blockBase)
        if first >= 0 {
            unfinished = Array(UnsafeBufferPointer(start: bytes + min(first, count), count: max(0, count - first)))
        } else if let kept = unfinished?.count {
            if kept + count > settings.limits.maxRecordBytes {
                unfinished = nil
            } else {
                unfinished?.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
            }
        }
    }

    /// Goes back to the last record, from which on what is nearly JSON is taken for JSON.
    ///
    /// - Returns: the bytes from there to the end of the block; nil if that was so already, or is not to be.
    private func leniently(_ fault: ScanError, _ block: UnsafeBufferPointer<UInt8>) throws -> [UInt8]? {
        guard fault.kind == .syntax, settings.layout == .stream, settings.limits.reading == .found, lenient == nil
        else {
            return nil
        }
        let first = Int(builder.recordEnd - builder.blockBase)
        guard let kept = first < 0 ? unfinished : [] else { return nil }
        if first < 0 {
            context.rewind(kept.count)
        } else if let bytes = block.baseAddress {
            context.leave(bytes, first)
        }
        builder.rewind()
        unfinished = nil
        let isAtBeginning = isAtBeginning
        lenient = LenientScanner(
            isAtBeginning ? .document : .document.subtracting(.beginning),
            isBehindValue: !isAtBeginning,
            depth: JSONParts.depth(atEndOf: builder.enclosing)
        )
        try beginDocuments()
        return kept + block[max(0, first)...]
    }

    /// Seals the last chunk if `finish` finds the source whole.
    private func end(_ finish: () throws -> Void) throws -> SplitOutcome {
        do {
            try finish()
        } catch let fault as ScanError where fault.kind == .empty && settings.mayBeEmpty {
            // It has all values that there are of those at its top, and says nothing of other paths.
            builder.findCollections(matcher.complete[0])
        } catch let fault as ScanError {
            return try ended(by: fault, UnsafeBufferPointer(start: nil, count: 0))
        } catch is ChunkBuilder.LimitReached {
            // Nothing is wanted any more where there is nothing any more.
        }
        if settings.isEmpty { builder.findCollections(matcher.all) }
        try builder.finish()
        return .finished
    }

    /// Seals what is sound, as the last of the source where the split goes on, and says where the fault is.
    private func ended(by fault: ScanError, _ block: UnsafeBufferPointer<UInt8>) throws -> SplitOutcome {
        let error = position(of: fault, block)
        guard let name = settings.badName else {
            try builder.finishAtFault()
            return .fault(error)
        }
        return try finish(asBad: "\(name): line \(error.line), column \(error.column): \(error.message)")
    }

    /// Seals the last chunk, which ends with the last sound record: what follows may be mended.
    private func finish(asBad fault: String) throws -> SplitOutcome {
        builder.findCollections(matcher.all)
        try builder.finish(asBad: fault)
        return .finished
    }

    private func position(of fault: ScanError, _ block: UnsafeBufferPointer<UInt8>) -> SplitError {
        let (line, column) = builder.lineAndColumn(at: fault.byteOffset)
        let excerpt = context.excerpt(around: fault.byteOffset, in: block, base: builder.blockBase)
        return SplitError(
            kind: fault.kind,
            byteOffset: fault.byteOffset,
            line: line,
            column: column,
            excerpt: excerpt,
            message: fault.message
        )
    }
}

extension SourceSplitter.Settings {
    /// How a source of this shape is cut.
    ///
    /// - Throws: `ImportError` where a path of the shape is none.
    package init(
        of shape: SourceShape,
        _ name: String,
        _ limits: SplitLimits,
        mayBeEmpty: Bool = false,
        skipsFaults: Bool = false
    ) throws {
        let paths = try shape.paths.map { try RecordPath($0) }
        var limits = limits
        if shape.headers != nil, limits.skip < .max { limits.skip += 1 }
        self.init(
            layout: shape.layout,
            paths: paths,
            limits: limits,
            mayBeEmpty: mayBeEmpty,
            isEmpty: shape.isEmpty == true,
            file: shape.fileColumn == nil ? nil : name,
            badName: skipsFaults ? name.shownPath : nil,
            fault: shape.fault
        )
    }
}

extension [UInt8] {
    /// Makes a block comment of a comment that goes to the end of its line.
    ///
    /// - Parameter range: the comment, with the LF at its end.
    fileprivate mutating func makeBlockComment(_ range: Range<Int>) {
        for index in range { self[index] = UInt8(ascii: " ") }
        guard range.count >= 4 else { return }
        self[range.lowerBound] = UInt8(ascii: "/")
        self[range.lowerBound + 1] = UInt8(ascii: "*")
        self[range.upperBound - 2] = UInt8(ascii: "*")
        self[range.upperBound - 1] = UInt8(ascii: "/")
    }
}
