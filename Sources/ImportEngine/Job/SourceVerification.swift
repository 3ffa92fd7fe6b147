import Foundation
import ImportModel
import ImportSources

/// Makes sure that the sources of a job are what they were, as far as they are imported.
package struct SourceVerification {
    private var run: JobRun
    private let check: SourceCheck
    private var hasChanged = false
    /// True if the model was inferred from other records than there are.
    private var isModelStale: Bool

    package init(_ run: JobRun) {
        self.run = run
        check = SourceCheck(opener: run.context.opener, interruption: run.context.interruption)
        isModelStale = !run.job.isModelFinal && run.job.sources.contains { !$0.description.isRepeatable }
    }

    /// - Returns: the run, whose job describes the sources as they are now.
    /// - Throws: `ImportError` with `.badInput` when a source has changed before the marker.
    package consuming func verify() throws -> JobRun {
        // What this run has just planned needs no second look.
        let isNew = run.previous == nil && run.job.retry == nil
        if !run.job.takesChunks, !isNew { try verifySources() }
        run.job = try run.journal.start(run.job, seconds: run.seconds)
        return run
    }

    private mutating func verifySources() throws {
        let marker = try run.marker()
        var now: [SourceDescription] = []
        for (index, source) in run.job.sources.enumerated() {
            guard source.description.isGone != true else {
                // What is committed and what is in chunks of it is all that there will be.
                now.append(source.description)
                continue
            }
            now.append(try describe(source.description))
            if try index < marker.source && hasGrown(now[index], index) {
                // What it has grown by is another job's.
                now[index] = source.description
            } else {
                try verify(now[index], index, marker)
            }
        }
        let retry = try run.job.retry != nil && hasChanged ? readAgain(now[0]) : nil
        // A model is inferred from all records, so it is not known yet when there are others than before.
        guard !isModelStale || run.job.options.model != nil || run.job.model == nil else {
            // The store gets these with the new model: until then each run finds that they have changed.
            for index in now.indices { run.job.sources[index].description = now[index] }
            run.forgetsModel = true
            return
        }
        let (job, reset) = try run.journal.refresh(run.job, now, retry: retry)
        run.job = job
        if let reset { run.context.merges.enqueue(reset) }
    }

    /// True if a source of which all is imported has grown since.
    private func hasGrown(_ now: SourceDescription, _ index: Int) throws -> Bool {
        guard run.job.retry == nil, now.path != nil,
            !SourceCheck.isUntouched(now, since: run.job.sources[index].description)
        else { return false }
        let comparison = try check.compare(now, with: run.job, source: index, run.journal)
        if case .longer = comparison { return true }
        return false
    }

    /// What a source is now.
    private func describe(_ source: SourceDescription) throws -> SourceDescription {
        // The chunks may be all that is needed; whether the source is missed is found out when it is opened.
        guard let path = source.path, FileManager.default.fileExists(atPath: path) else { return source }
        return try run.context.opener.describe(again: source, interruption: run.context.interruption)
    }

    private mutating func verify(_ now: SourceDescription, _ index: Int, _ marker: Marker) throws {
        let before = run.job.sources[index].description
        guard !SourceCheck.isUntouched(now, since: before) else { return }
        if SourceCheck.isAlike(now, before), try isAsItWasCut(now, index, marker) { return }
        hasChanged = true
        // Chunks that were cut from a source that has changed since are not to be imported.
        if index >= marker.source {
            try JobChunks.drop(of: run.job, in: run.directory)
            isModelStale = true
        }
        guard index <= marker.source, marker.bytes > 0 else { return }
        let committed = try run.journal.committed(of: run.job, source: index)
        let ranges = committed.ranges
        let stream = try open(now)
        do {
            try check.verify(stream, now.name, ranges, upTo: ranges.last?.endByte ?? 0)
            if index < marker.source, !committed.hasReachedLimit { try check.verifyEnd(of: stream, now.name) }
        } catch let error as ImportError where run.job.retry != nil && error.code == .badInput {
            throw error.advising(
                "Give the file as it was up to there, or retry the lines that are left under another name."
            )
        }
        // Where records are imported again, no worker compares those of the chunk that is imported in part.
        if isModelStale, index == marker.source, marker.chunkRecords > 0 { try verifyPart(now, index, marker) }
    }

    /// Opens a source where the job's part of it begins, before which it has to be as it was.
    private func open(_ source: SourceDescription) throws -> SourceStream {
        let stream = try run.context.opener.open(source, interruption: run.context.interruption)
        guard let earlier = source.earlier else { return stream }
        let end = earlier.end.byteOffset
        try check.verify(stream, source.name, [HashedRange(firstByte: 0, endByte: end, hash: earlier.hash)], upTo: end)
        return stream
    }

    /// Makes sure that a source still has the records of the chunk that is imported in part.
    private func verifyPart(_ now: SourceDescription, _ index: Int, _ marker: Marker) throws {
        let (directory, shape) = (run.directory, run.job.sources[index].shape)
        let start = SplitStart(
            source: index,
            position: marker.chunkStart,
            firstOrdinal: marker.recordOrdinal - Int64(marker.chunkRecords) + 1,
            minimumEnd: marker.byteOffset
        )
        let number = min(marker.chunksDone, 1 << 32) + 1
        defer { try? directory.remove(ChunkDirectory.fileName(number)) }
        if let made = try run.cutAgain(number, of: now, from: start), made.records >= marker.chunkRecords {
            let reader = ChunkReader(run.job.options)
            let limit = run.limits.maxRecordBytes
            try reader.open([SealedChunk(made, in: directory, shape: shape, maxRecordBytes: limit)])
            reader.skip(marker.chunkRecords)
            let part = reader.bytes[..<reader.offset].withUnsafeBytes { XXH3Hasher.digest(of: $0) }
            if reader.line == marker.chunkRecords, part == marker.chunkHash { return }
        }
        throw ImportError.sourceChanged(now.name)
    }

    /// True if all that was cut of a source is still in it, as the hashes in the store and in the manifest say.
    ///
    /// Where the job depends on more than that, on a model of all records or on a plan of all lines, it is the whole source.
    private func isAsItWasCut(_ now: SourceDescription, _ index: Int, _ marker: Marker) throws -> Bool {
        let committed = try run.journal.committed(of: run.job, source: index)
        var ranges = committed.ranges
        var end = ranges.last?.endByte
        var isWhole = index < marker.source
        let manifest = try ChunkManifest.readWhatIsSound(in: run.directory)
        for entry in manifest?.entries ?? []
        where manifest?.header.job == run.job.token && entry.source == index
            && end.map({ entry.firstByte >= $0 }) ?? true
        {
            guard entry.firstByte == end ?? entry.firstByte else { return false }
            ranges.append(entry.sourceRange)
            end = entry.endByte
            isWhole = isWhole || entry.isLast
        }
        let needsAll = run.job.retry != nil || (run.job.options.model == nil && run.job.model != nil)
        guard isWhole || !needsAll else { return false }
        let stream = try open(now)
        do {
            try check.verify(stream, now.name, ranges, upTo: end ?? 0)
            if isWhole, !committed.hasReachedLimit { try check.verifyEnd(of: stream, now.name) }
            return true
        } catch let error as ImportError where error.code == .badInput {
            return false
        }
    }

    /// Reads the repair file of a retry once more: after the marker it may hold other lines than before.
    private func readAgain(_ description: SourceDescription) throws -> any RetryPlan {
        let context = run.context
        let plan = try JobResolver.plan(description, [run.job], context.opener, context.interruption, run.journal)
        for entity in try plan.entities() where run.job.model?.entities.contains(where: { $0.name == entity }) != true {
            throw ImportError.unknownRetriedEntity(entity)
        }
        return plan
    }
}
