import Foundation
import GRDB
import ImportModel

/// Where a run of a job continues, and whether it may.
extension ImportSession {
    func marker() throws -> Marker {
        try database.read { [job] in try Marker($0, job: job.id) } ?? Marker()
    }

    /// Makes sure that the sources before the marker are what they were.
    func checkSources() throws {
        guard !job.options.takesChunks else { return }
        let marker = try marker()
        let check = SourceCheck(opener: opener, interruption: interruption)
        var now: [SourceDescription] = []
        var hasChanged = false
        var isModelStale = !job.isModelFinal && job.sources.contains { !$0.description.isRepeatable }
        for (index, source) in job.sources.enumerated() {
            guard let path = source.description.path else {
                now.append(source.description)
                continue
            }
            // The chunks may be all that is needed; whether the source is missed is found out when it is opened.
            guard FileManager.default.fileExists(atPath: path) else {
                now.append(source.description)
                continue
            }
            let description = try opener.describe(again: source.description, interruption: interruption)
            now.append(description)
            guard !SourceCheck.isUntouched(description, since: source.description) else { continue }
            if SourceCheck.isAlike(description, source.description), try isAsItWasCut(description, index, marker) {
                continue
            }
            hasChanged = true
            // Chunks that were cut from a source that has changed since are not to be imported.
            if index >= marker.source {
                try dropChunks()
                isModelStale = true
            }
            guard index <= marker.source, marker.bytes > 0 else { continue }
            let ranges = try database.read { [job] in
                try SourceCheck.committedRanges($0, job: job.id, source: index)
            }
            let stream = try opener.open(description, interruption: interruption)
            do {
                try check.verify(stream, description.name, ranges, upTo: ranges.last?.endByte ?? 0)
                let hasReachedLimit = try database.read { [job] in try job.hasReachedLimit(ofSource: index, $0) }
                if index < marker.source, !hasReachedLimit {
                    try check.verifyEnd(of: stream, description.name)
                }
            } catch let error as ImportError where job.options.retry != nil && error.code == .badInput {
                throw ImportError(
                    .badInput,
                    error.message,
                    advice: "Give the file as it was up to there, or retry the lines that are left under another name."
                )
            }
        }
        let retry = try job.options.retry != nil && hasChanged ? readAgain(now[0]) : nil
        let reset: MergeNotification?
        (job, reset) = try database.write { [job, isModelStale] database in
            var job = job
            try job.refresh(now, database)
            try retry?.insert(job, after: marker.recordOrdinal, database)
            // A model is inferred from all records, so it is not known yet when there are others than before.
            let reset = isModelStale && job.options.model == nil ? try job.forgetModel(database) : nil
            return (job, reset)
        }
        if let reset { try merges.enqueue(reset) }
    }

    /// Whether all that was cut of a source is still in it, as the hashes in the store and in the manifest say.
    ///
    /// Where the job depends on more than that, on a model of all records or on a plan of all lines, it is the whole source.
    private func isAsItWasCut(_ description: SourceDescription, _ index: Int, _ marker: Marker) throws -> Bool {
        var ranges = try database.read { [job] in
            try SourceCheck.committedRanges($0, job: job.id, source: index)
        }
        var end = ranges.last?.endByte
        var isWhole = index < marker.source
        let manifest = try ChunkManifest.readWhatIsSound(in: directory)
        for entry in manifest?.entries ?? []
        where manifest?.header.job == job.token && entry.source == index && end.map({ entry.firstByte >= $0 }) ?? true {
            guard entry.firstByte == end ?? entry.firstByte else { return false }
            ranges.append(.init(firstByte: entry.firstByte, endByte: entry.endByte, hash: entry.sourceHash))
            end = entry.endByte
            isWhole = isWhole || entry.isLast
        }
        let needsAll = job.options.retry != nil || (job.options.model == nil && job.model != nil)
        guard isWhole || !needsAll else { return false }
        let stream = try opener.open(description, interruption: interruption)
        do {
            let check = SourceCheck(opener: opener, interruption: interruption)
            try check.verify(stream, description.name, ranges, upTo: end ?? 0)
            let hasReachedLimit = try database.read { [job] in try job.hasReachedLimit(ofSource: index, $0) }
            if isWhole, !hasReachedLimit { try check.verifyEnd(of: stream, description.name) }
            return true
        } catch let error as ImportError where error.code == .badInput {
            return false
        }
    }

    /// Reads the repair file of a retry again: after the marker it may hold other lines than before.
    private func readAgain(_ description: SourceDescription) throws -> RetryPlan {
        let plan = try JobOpening.plan(description, [job], opener, interruption, database)
        for entity in try plan.entities() where job.model?.entities.contains(where: { $0.name == entity }) != true {
            throw RetryPlan.unknownEntity(entity)
        }
        return plan
    }

    func resumePoint() throws -> ResumePoint {
        let marker = try marker()
        if job.options.takesChunks {
            guard let content = try ChunkManifest.read(in: directory),
                content.header.shapes == job.sources.map(\.shape)
            else {
                throw ImportError(.noInput, "\(directory.path): has no manifest of this import's chunks any more")
            }
            let ranges = try database.read { [job] database in
                try job.sources.indices.flatMap {
                    try SourceCheck.committedRanges(database, job: job.id, source: $0)
                }
            }
            return try ResumePoint(marker: marker, of: content, committed: ranges, in: directory)
        }
        let names = try database.read { [job] in
            try String.fetchAll(
                $0,
                sql: "SELECT attribute FROM _import_ledger WHERE job = ? AND kind = ?",
                arguments: [job.id, LedgerKind.outside.rawValue]
            )
        }
        return try ResumePoint(
            marker: marker,
            outsideNames: names,
            shapes: job.sources.map(\.shape),
            directory: directory,
            token: job.token,
            verifies: !wasJustSplit,
            interruption: interruption
        )
    }

    var limits: SplitLimits {
        SplitLimits(job.options)
    }

    func sealed(_ entry: ChunkEntry) -> SealedChunk {
        SealedChunk(
            entry,
            in: directory,
            shape: job.sources[entry.source].shape,
            maxRecordBytes: limits.maxRecordBytes
        )
    }

    /// A stream that cannot be opened at a place of its own is read up to there, and checked on the way.
    func advanceStandardInput(to point: ResumePoint) throws {
        guard !point.isSplit, open[point.split.source] == nil else { return }
        let source = job.sources[point.split.source]
        guard !source.description.isRepeatable, point.split.position.byteOffset > 0 else { return }
        var ranges = try database.read { [job] in
            try SourceCheck.committedRanges($0, job: job.id, source: point.split.source)
        }
        let end = ranges.last?.endByte ?? 0
        ranges += point.chunks.filter { $0.source == point.split.source && $0.firstByte >= end }.map {
            SourceCheck.Range(firstByte: $0.firstByte, endByte: $0.endByte, hash: $0.sourceHash)
        }
        let stream = try opener.open(source.description, interruption: interruption)
        try SourceCheck(opener: opener, interruption: interruption).verify(
            stream,
            source.description.displayName,
            ranges,
            upTo: point.split.position.byteOffset
        )
        open[point.split.source] = stream
    }

    func splitStage(_ point: ResumePoint) throws -> SplitStage {
        SplitStage(
            sources: job.sources,
            limits: limits,
            chunkSize: options.chunkSize,
            directory: directory,
            manifest: try manifest(point),
            opener: opener,
            interruption: interruption,
            progress: progress
        )
    }

    func showWhereItStands(_ point: ResumePoint) throws {
        let marker = try marker()
        let total = job.sources.map(\.description).plainSize
        let rejects = try database.read { [job, started] in try JobProgress($0, job: job.id, started: started).rejects }
        // The first of the chunks that wait may be committed in part.
        let before = point.committed.records > 0 ? marker.byteOffset - marker.chunkStart.byteOffset : 0
        let cut = point.chunks.reduce(marker.bytes - before) { $0 + $1.endByte - $1.firstByte }
        progress.update {
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
}
