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
    /// - Throws: `ImportError`, or what `onSealed` throws. Files that were ended before stay.
    package func run(
        from start: SplitStart,
        sharesFiles: Bool = true,
        open: [Int: SourceStream] = [:],
        onSealed: @escaping ([SealedChunk]) throws -> Void
    ) throws -> ImportError? {
        let files = writer(isShared: sharesFiles, onSealed)
        var start = start
        var fault: ImportError?
        for index in sources.indices where index >= start.source && fault == nil {
            if index > start.source {
                start.source = index
                start.position = .start
                start.minimumEnd = nil
            }
            var writer = files
            if !sources[index].description.isRepeatable {
                try files.endFile()
                writer = self.writer(isSynced: true, onSealed)
            }
            fault = try split(index, &start, open[index], writer)
        }
        try files.endFile()
        return fault
    }

    /// - Parameter isSynced: whether chunks must be on the disk, as their source cannot be read again.
    private func writer(
        isShared: Bool = false,
        isSynced: Bool = false,
        _ onSealed: @escaping ([SealedChunk]) throws -> Void
    ) -> ChunkWriter {
        ChunkWriter(
            directory: directory,
            manifest: manifest,
            chunkSize: chunkSize,
            synced: isSynced,
            isShared: isShared
        ) { [sources, directory, limits] entries in
            try onSealed(
                entries.map {
                    let shape = sources[$0.source].shape
                    return SealedChunk($0, in: directory, shape: shape, maxRecordBytes: limits.maxRecordBytes)
                }
            )
        }
    }

    private func split(
        _ index: Int,
        _ start: inout SplitStart,
        _ open: SourceStream?,
        _ writer: ChunkWriter
    ) throws -> ImportError? {
        let source = sources[index]
        if start.position == .start, let earlier = source.description.earlier { start.position = earlier.end }
        let isGone = source.description.isGone == true
        if isGone, start.minimumEnd != nil { throw ImportError.sourceChanged(source.description.name) }
        let stream = try open ?? (isGone ? nothing(of: source) : openSource(source, at: start.position.byteOffset))
        var ordinal = start.firstOrdinal
        var names = Set(start.outsideNames)
        var settings = try SourceSplitter.Settings(
            of: source.shape,
            source.description.name,
            limits,
            mayBeEmpty: sources.count > 1,
            skipsFaults: skipsBadSources
        )
        // A block is filled with zeros first.
        if let size = stream.totalBytes { settings.blockSize = min(settings.blockSize, Int(size) + 1) }
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
