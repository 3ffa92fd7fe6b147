import ImportModel
import ImportSources

/// Hands a run's workers the chunks that are there, and those that it cuts from where the job stands.
package struct ChunkFeed {
    private let run: JobRun
    package private(set) var point: ResumePoint
    private var open: [Int: SourceStream]

    private var job: StoredJob { run.job }
    private var directory: ChunkDirectory { run.directory }

    /// Finds out where the job goes on, and shows it.
    ///
    /// - Throws: `ImportError` when the chunks or the sources are not what they were.
    package init(_ run: JobRun) throws {
        self.run = run
        open = run.open
        point = try Self.resumePoint(of: run)
        try showWhereItStands()
        if run.fault == nil {
            try advanceStandardInput()
        } else {
            // What follows the fault cannot be cut.
            point.split.source = run.job.sources.count
        }
    }

    /// - Parameters:
    ///   - keepsAll: whether no chunk goes before all are cut, so that the disk may fill up.
    ///   - put: called with the chunks of each file, and with what of the first one is committed already; may wait or throw.
    /// - Returns: what was wrong with the source at which the split had to stop, or nil.
    package func feed(
        keepsAll: Bool,
        _ put: @escaping ([SealedChunk], CommittedPrefix) throws -> Void
    ) throws -> ImportError? {
        defer { directory.endWriting() }
        // What is left half written goes before anybody else touches a chunk.
        let stage = point.split.source < job.sources.count ? try splitStage() : nil
        for (index, chunks) in point.chunks.map(sealed).byFile().enumerated() {
            try put(chunks, index == 0 ? point.committed : .none)
        }
        guard let stage else { return nil }
        var isFirst = point.chunks.isEmpty
        // Chunks that are committed in no order are done, and removed, one by one; so is what a retry's records are asked for.
        let sharesFiles = run.destination is any OrderedDestination && job.retry == nil
        return try stage.run(from: point.split, sharesFiles: sharesFiles, open: open) { [directory, point] chunks in
            if keepsAll, let size = chunks.last?.entry.fileSize { try directory.checkRoom(forChunkOf: size) }
            try put(chunks, isFirst ? point.committed : .none)
            isFirst = false
        }
    }

    private func sealed(_ entry: ChunkEntry) -> SealedChunk {
        SealedChunk(
            entry,
            in: directory,
            shape: job.sources[entry.source].shape,
            maxRecordBytes: run.limits.maxRecordBytes
        )
    }

    private func splitStage() throws -> SourceCutter {
        SourceCutter(
            sources: job.sources,
            limits: run.limits,
            chunkSize: run.context.options.chunkSize,
            skipsBadSources: job.options.onBadSource == .skip,
            directory: directory,
            manifest: try JobChunks.manifest(of: run, at: point),
            opener: run.context.opener,
            interruption: run.context.interruption,
            progress: run.context.progress
        )
    }

    // MARK: Where the job stands

    private static func resumePoint(of run: JobRun) throws -> ResumePoint {
        let (job, directory, marker) = (run.job, run.directory, try run.marker())
        if job.takesChunks {
            guard let content = try ChunkManifest.read(in: directory),
                content.header.shapes == job.sources.map(\.shape)
            else {
                throw ImportError(
                    .chunksNotFound,
                    at: directory.path,
                    "has no manifest of this import's chunks any more"
                )
            }
            let ranges = try job.sources.indices.flatMap { try run.journal.committed(of: job, source: $0).ranges }
            return try ResumePoint(marker: marker, of: content, committed: ranges, in: directory)
        }
        if let cut = run.cutChunks { return ResumePoint(marker: marker, of: cut, sources: job.sources.count) }
        return try ResumePoint(
            marker: marker,
            outsideNames: try run.forgetsModel ? [] : run.journal.outsideNames(of: job),
            shapes: job.sources.map(\.shape),
            ends: job.sources.map(\.description.end),
            directory: directory,
            token: job.token,
            interruption: run.context.interruption
        )
    }

    private func showWhereItStands() throws {
        let marker = try run.marker()
        // Where a limit ends the sources is not known.
        let total = job.options.limit == nil ? job.sources.map(\.description).plainSize : nil
        let rejects = try run.journal.recordCounts(of: job).rejected
        // The first of the chunks that wait may be committed in part.
        let before = point.committed.records > 0 ? marker.byteOffset - marker.chunkStart.byteOffset : 0
        let cut = point.chunks.reduce(marker.bytes - before) { $0 + $1.endByte - $1.firstByte }
        run.context.progress.update {
            $0.totalBytes = total
            $0.splitBytes = cut
            $0.splitRecords = point.split.firstOrdinal - 1
            $0.importedBytes = marker.bytes
            $0.importedRecords = marker.recordOrdinal
            $0.resumedBytes = marker.bytes
            $0.resumedRecords = marker.recordOrdinal
            $0.rejects = rejects
        }
    }

    /// A stream that cannot be opened at an offset is read up to there, and checked on the way; to its end, where it was given
    /// again though all of it is in chunks: it may be another one.
    private mutating func advanceStandardInput() throws {
        let isWhole = point.isSplit && run.isGiven && run.cutChunks == nil && run.limits.limit == nil
        let given = isWhole ? job.sources.firstIndex { !$0.description.isRepeatable } : nil
        let index = given ?? point.split.source
        guard index < job.sources.count, open[index] == nil else { return }
        let source = job.sources[index]
        guard !source.description.isRepeatable, isWhole || point.split.position.byteOffset > 0 else { return }
        var ranges = try run.journal.committed(of: job, source: index).ranges
        let end = ranges.last?.endByte ?? 0
        ranges += point.chunks.filter { $0.source == index && $0.firstByte >= end }.map(\.sourceRange)
        let context = run.context
        let stream = try context.opener.open(source.description, interruption: context.interruption)
        do {
            let check = SourceCheck(opener: context.opener, interruption: context.interruption)
            let end = isWhole ? ranges.last?.endByte ?? 0 : point.split.position.byteOffset
            try check.verify(stream, source.description.name, ranges, upTo: end)
            if isWhole { try check.verifyEnd(of: stream, source.description.name) }
        } catch let error as ImportError where error.reason == .sourceChanged {
            throw error.advising("Nothing was changed. \(ImportError.waysPast(streamInto: context.store))")
        }
        if !isWhole { open[index] = stream }
    }
}
