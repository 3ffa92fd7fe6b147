import ImportModel
import ImportSources

/// Cuts a job's sources into chunks, on the thread that calls it.
package struct SourceCutter {
    package let sources: [StoredJob.Source]
    package let limits: SplitLimits
    package let chunkSize: Int
    /// True if a source in which something is wrong ends there, and the next one follows.
    package let skipsBadSources: Bool
    package let directory: ChunkDirectory
    package let manifest: ChunkManifest
    package let opener: SourceOpener
    package let interruption: Interruption
    package let progress: ImportProgress

    package init(
        sources: [StoredJob.Source],
        limits: SplitLimits,
        chunkSize: Int,
        skipsBadSources: Bool,
        directory: ChunkDirectory,
        manifest: ChunkManifest,
        opener: SourceOpener,
        interruption: Interruption,
        progress: ImportProgress
    ) {
        self.sources = sources
        self.limits = limits
        self.chunkSize = chunkSize
        self.skipsBadSources = skipsBadSources
        self.directory = directory
        self.manifest = manifest
        self.opener = opener
        self.interruption = interruption
        self.progress = progress
    }

    /// Cuts everything from `start` on.
    ///
    /// - Parameters:
    ///   - sharesFiles: whether chunks of small sources that follow one another share a file.
    ///   - open: sources that are open already and are at the place where the split begins, by their index in the job.
    ///   - onSealed: called with the chunks of each file; may wait or throw.
    /// - Returns: what was wrong with the source at which the split had to stop, or nil.
    /// - Throws: `ImportError`, or what `onSealed` throws. What was sealed before stays.
    package func run(
        from start: SplitStart,
        sharesFiles: Bool = true,
        open: [Int: SourceStream] = [:],
        onSealed: @escaping ([SealedChunk]) throws -> Void
    ) throws -> ImportError? {
        let files = ChunkFiles(self, isShared: sharesFiles, onSealed: onSealed)
        let fault = try cut(from: start, into: files, open)
        try files.end()
        return fault
    }

    private func cut(
        from start: SplitStart,
        into files: ChunkFiles,
        _ open: [Int: SourceStream]
    ) throws -> ImportError? {
        var start = start
        for index in sources.indices where index >= start.source {
            if index > start.source {
                start.source = index
                start.position = .start
                start.minimumEnd = nil
            }
            if let fault = try split(index, &start, open[index], files) { return fault }
        }
        return nil
    }

    private func split(
        _ index: Int,
        _ start: inout SplitStart,
        _ open: SourceStream?,
        _ files: ChunkFiles
    ) throws -> ImportError? {
        let source = sources[index]
        if start.position == .start, let earlier = source.description.earlier { start.position = earlier.end }
        let isGone = source.description.isGone == true
        if isGone, start.minimumEnd != nil { throw ImportError.sourceChanged(source.description.name) }
        let stream = try open ?? (isGone ? nothing(of: source) : openSource(source, at: start.position.byteOffset))
        var ordinal = start.firstOrdinal
        var names = Set(start.outsideNames)
        let writer = try files.writer(of: source.description)
        var settings = try SourceSplitter.Settings(
            of: source.shape,
            source.description.name,
            limits,
            mayBeEmpty: sources.count > 1,
            skipsFaults: skipsBadSources
        )
        if isGone {
            let name = source.description.name.shownPath
            settings.fault = "\(name): was truncated, replaced or removed before all of it was imported"
        }
        let splitter = try SourceSplitter(
            stream: stream,
            at: isGone ? start.position.byteOffset : stream.offset,
            settings: settings,
            writer: writer,
            start: start
        ) { [progress, interruption] entry in
            try interruption.check()
            names.formUnion(entry.outside.keys)
            ordinal = entry.firstOrdinal + Int64(entry.records)
            progress.update {
                $0.splitBytes += entry.endByte - entry.firstByte
                $0.splitRecords = entry.firstOrdinal + Int64(entry.records) - 1
            }
            try files.chunkEnded(entry)
        }
        defer {
            start.firstOrdinal = ordinal
            start.outsideNames = Array(names)
        }
        let end: SplitOutcome
        do {
            end = try splitter.run()
        } catch let error as ImportError where error.code == .badInput {
            // Damaged compression, say: what was before it is in chunks, as with a fault in the JSON.
            return error
        }
        guard case .fault(let fault) = end else { return nil }
        return fault.error(in: source.description.name, hasRecords: ordinal > 1)
    }

    private func openSource(_ source: StoredJob.Source, at offset: Int64) throws -> SourceStream {
        do {
            return try opener.open(source.description, at: offset, interruption: interruption)
        } catch let error as ImportError where error.code == .badInput && source.shape.fault != nil {
            return try nothing(of: source)
        }
    }

    private func nothing(of source: StoredJob.Source) throws -> SourceStream {
        try SourceStream.empty(named: source.description.name, interruption)
    }
}

/// The chunk file that is being written: chunks of small sources share it, until it is as large as a chunk is to be.
private final class ChunkFiles {
    /// How many chunks share a file at most: few enough for workers to have something to do soon.
    private static let mostShared = 1_000

    private let cutter: SourceCutter
    private let isShared: Bool
    private let onSealed: ([SealedChunk]) throws -> Void
    private var writer: ChunkWriter?
    private var count = 0

    init(_ cutter: SourceCutter, isShared: Bool, onSealed: @escaping ([SealedChunk]) throws -> Void) {
        self.cutter = cutter
        self.isShared = isShared
        self.onSealed = onSealed
    }

    /// What writes the chunks of a source; a file of its own begins where the source cannot be read again.
    func writer(of source: SourceDescription) throws -> ChunkWriter {
        if let writer, source.isRepeatable { return writer }
        try end()
        let writer = ChunkWriter(
            directory: cutter.directory,
            manifest: cutter.manifest,
            chunkSize: cutter.chunkSize,
            synced: !source.isRepeatable,
            isShared: true
        )
        self.writer = writer
        return writer
    }

    /// Ends the file behind a chunk, unless others are to share it.
    func chunkEnded(_ chunk: ChunkEntry) throws {
        count += 1
        let mayShare = isShared && chunk.isLast && cutter.sources[chunk.source].description.isRepeatable
        guard let writer, mayShare, count < Self.mostShared, writer.earlierCount < cutter.chunkSize else {
            return try end()
        }
    }

    /// Ends the file, and hands its chunks on.
    func end() throws {
        count = 0
        guard let chunks = try writer?.endFile(), !chunks.isEmpty else { return }
        try onSealed(
            chunks.map {
                SealedChunk(
                    $0,
                    in: cutter.directory,
                    shape: cutter.sources[$0.source].shape,
                    maxRecordBytes: cutter.limits.maxRecordBytes
                )
            }
        )
    }
}

extension SplitError {
    /// What the fault means to a person.
    ///
    /// - Parameter hasRecords: true if there are records before it.
    fileprivate func error(in source: String, hasRecords: Bool) -> ImportError {
        let around = excerpt.isEmpty ? "" : ", near: \(excerpt)"
        let verdict = kind == .syntax ? ": is not JSON: " : ": "
        return ImportError(
            .notJSON,
            at: source,
            position: ImportError.Position(line: line, column: column, byteOffset: byteOffset),
            "line \(line.grouped), column \(column.grouped) (byte \(byteOffset.grouped))\(verdict)\(message)\(around)",
            advice:
                "\(hasRecords ? "The records before it are imported. " : "")Correct or complete the source, then \(.sameAgain)."
        )
    }
}
