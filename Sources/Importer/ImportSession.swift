import Foundation
import GRDB
import ImportModel

/// One run of one job, from where it stands to its end.
///
/// The importer's lock is held meanwhile.
final class ImportSession {
    private let store: String
    private let options: RunOptions
    private let opener: SourceOpener
    private let progress: ImportProgress
    /// This run's own: it also ends the reading of a source when a worker has failed.
    private let interruption: Interruption
    private let merges: MergeCenter
    /// Held open from the first to the last moment: the last connection to close would take the WAL away from under the
    /// workers.
    private let database: DatabaseQueue
    private let directory: ChunkDirectory
    private let started = ContinuousClock.now
    private let secondsBefore: Double
    private var job: StoredJob
    private var open: [Int: SourceStream] = [:]

    init(
        store: String,
        decision: JobOpening.Decision,
        run: RunOptions,
        opener: SourceOpener,
        progress: ImportProgress,
        interruption: Interruption,
        merges: MergeCenter
    ) throws {
        self.store = store
        options = run
        self.opener = opener
        self.progress = progress
        self.interruption = interruption
        self.merges = merges
        database = try StoreConnection.writer(store, durability: run.durability)
        switch decision {
        case .begin(let planned, let open, let replaced):
            self.open = open
            secondsBefore = 0
            let isMade = !FileManager.default.fileExists(atPath: planned.chunkDirectory)
            directory = try ChunkDirectory(path: planned.chunkDirectory, creates: true)
            if !planned.options.takesChunks { try Self.clear(directory, isOwn: run.chunkDirectory == nil, database) }
            do {
                job = try database.write { [store] database in
                    var job = planned
                    try StoreSchema.prepareBookkeeping(database, store: store)
                    try replaced?.remove(database)
                    try job.insert(database)
                    if let model = job.model { try job.adopt(model, database, store: store) }
                    return job
                }
            } catch {
                if isMade { try? directory.removeAll() }
                throw error
            }
        case .resume(let interrupted), .nothing(let interrupted):
            var job = interrupted
            if let path = run.chunkDirectory.map(JobOpening.absolute), path != job.chunkDirectory {
                directory = try ChunkDirectory(path: path, creates: true)
                try Self.check(directory, for: job)
                try Self.leave(job)
                job.chunkDirectory = path
            } else {
                directory = try ChunkDirectory(path: job.chunkDirectory, creates: !job.options.takesChunks)
                if !job.options.takesChunks { try Self.check(directory, for: job) }
            }
            secondsBefore = try database.read { try Marker($0, job: job.id)?.seconds } ?? 0
            self.job = job
        }
    }

    /// Removes the chunks of a job that is to keep them elsewhere from now on.
    private static func leave(_ job: StoredJob) throws {
        guard !job.options.takesChunks, job.sources.allSatisfy(\.description.isRepeatable) else {
            throw ImportError(
                .usage,
                "the chunks in \(job.chunkDirectory) cannot be cut again elsewhere",
                advice: "Leave --chunks out."
            )
        }
        guard let directory = try? ChunkDirectory(path: job.chunkDirectory, creates: false),
            try ChunkManifest.read(in: directory)?.header.job == job.token
        else { return }
        try directory.removeAll()
    }

    /// Another job's chunks are not to be written over.
    private static func check(_ directory: ChunkDirectory, for job: StoredJob) throws {
        guard let content = try ChunkManifest.read(in: directory), content.header.job != job.token else { return }
        throw ImportError(
            .cannotCreate,
            "\(directory.path): holds the chunks of another import or split",
            advice: "Give another directory with --chunks."
        )
    }

    /// Empties a chunk directory for a new job; chunks that `split` made are not the job's to remove.
    ///
    /// - Parameter isOwn: whether the directory is the store's own by its name; any import's leftovers go from there.
    private static func clear(_ directory: ChunkDirectory, isOwn: Bool, _ database: DatabaseQueue) throws {
        guard let content = try ChunkManifest.read(in: directory) else { return }
        let jobs = try database.read(StoredJob.all)
        guard let token = content.header.job, isOwn || jobs.contains(where: { $0.token == token }) else {
            throw ImportError(
                .cannotCreate,
                "\(directory.path): holds the chunks of another import or split",
                advice: "Give another directory with --chunks, or import a split's chunks themselves."
            )
        }
        try directory.removeFiles()
    }

    /// Runs the job to its end.
    ///
    /// - Throws: `ImportError`; the store then says that the job is interrupted or failed, as far as it still can.
    func run() throws {
        do {
            try checkSources()
            try setState(.running)
            if job.model == nil { try inferModel() }
            try importRecords()
            try finish()
        } catch {
            let failure = (error as? DatabaseError).map { ImportError(store: store, $0) } ?? error
            note(failure)
            throw failure
        }
    }

    /// The job's number in the store.
    var jobID: Int64 { job.id }

    /// Closes the session's connection; the WAL goes with it if nobody else has the store open.
    func close() throws {
        try database.close()
    }

    private func setState(_ state: ImportReport.State, message: String? = nil) throws {
        let seconds = secondsBefore + (ContinuousClock.now - started).inSeconds
        job = try database.write { [job] database in
            var job = job
            try job.setState(state, message: message, seconds: seconds, database)
            return job
        }
    }

    private func note(_ error: any Error) {
        let failure = error as? ImportError
        let isInterruption = failure.map { [.interrupted, .terminated, .hangup].contains($0.code) } ?? false
        // What failed may be the store itself: then a later run still finds `running` without a lock, which says as much.
        try? setState(isInterruption ? .interrupted : .failed, message: failure?.message ?? "\(error)")
    }

    private func finish() throws {
        progress.update { $0.phase = .finishing }
        try warnOfEmptyPaths()
        try setState(.finished)
        let marker = try database.read { [job] in try Marker($0, job: job.id) } ?? Marker()
        merges.enqueue(
            MergeNotification(job: job.id, commit: marker.commits, changes: [], marker: marker, isFinished: true)
        )
        // All is in the store: that the chunks cannot be removed is no failure of the import.
        if !options.keepsChunks, !job.options.takesChunks { try? directory.removeAll() }
        progress.update { $0.phase = .finished }
    }

    /// A record path that matches nothing is most likely not what was meant.
    private func warnOfEmptyPaths() throws {
        let read = try database.read { [job] in
            try Set(
                String.fetchAll(
                    $0,
                    sql: "SELECT entity FROM _import_entity WHERE job = ? AND records_read > 0",
                    arguments: [job.id]
                )
            )
        }
        for source in job.sources {
            for (path, entity) in zip(source.shape.paths, source.entities) where !read.contains(entity) {
                progress.update {
                    $0.messages.append("\(source.description.displayName): no records were found at \(path)")
                }
            }
        }
    }

    // MARK: Where to go on

    private func marker() throws -> Marker {
        try database.read { [job] in try Marker($0, job: job.id) } ?? Marker()
    }

    /// Makes sure that the sources before the marker are what they were.
    private func checkSources() throws {
        guard !job.options.takesChunks else { return }
        let marker = try marker()
        let check = SourceCheck(opener: opener, interruption: interruption)
        var now: [SourceDescription] = []
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
            try check.verify(stream, description.name, ranges, upTo: ranges.last?.endByte ?? 0)
            if index < marker.source { try check.verifyEnd(of: stream, description.name) }
        }
        let directory = directory.path
        job = try database.write { [job, isModelStale] database in
            var job = job
            try job.refresh(now, chunkDirectory: directory, database)
            // A model is inferred from all records, so it is not known yet when there are others than before.
            if isModelStale, job.options.model == nil { try job.forgetModel(database) }
            return job
        }
    }

    private func dropChunks() throws {
        guard let content = try ChunkManifest.read(in: directory), content.header.job == job.token else { return }
        try directory.remove(ChunkManifest.fileName)
    }

    private func resumePoint() throws -> ResumePoint {
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

    /// The manifest that the split goes on writing.
    private func manifest(_ point: ResumePoint) throws -> ChunkManifest {
        let isSynced = job.sources.contains { !$0.description.isRepeatable }
        if let content = point.manifest {
            return try ChunkManifest(resuming: content, in: directory, synced: isSynced)
        }
        let header = ChunkManifest.Header(
            sources: job.sources.map(\.description),
            shapes: job.sources.map(\.shape),
            limits: limits,
            job: job.token
        )
        return try ChunkManifest(creatingIn: directory, header: header, synced: isSynced)
    }

    private var limits: SplitLimits {
        SplitLimits(maxRecordBytes: job.options.maxRecordBytes, maxDepth: job.options.maxDepth)
    }

    private func sealed(_ entry: ChunkEntry) -> SealedChunk {
        SealedChunk(
            entry,
            in: directory,
            shape: job.sources[entry.source].shape,
            maxRecordBytes: limits.maxRecordBytes
        )
    }

    /// A stream that cannot be opened at a place of its own is read up to there, and checked on the way.
    private func advanceStandardInput(to point: ResumePoint) throws {
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

    private func splitStage(_ point: ResumePoint) throws -> SplitStage {
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

    private func showWhereItStands(_ point: ResumePoint) throws {
        let marker = try marker()
        let total = job.sources.reduce(Int64?(0)) { total, source in
            guard let total, let size = source.description.plainSize else { return nil }
            return total + size
        }
        let rejects = try database.read { [job, started] in try JobProgress($0, job: job.id, started: started).rejects }
        let cut = point.chunks.reduce(marker.bytes) { $0 + $1.endByte - max($1.firstByte, 0) }
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

    // MARK: The two phases

    /// Splits everything, looks at every record, and gives the job the model that fits them all.
    private func inferModel() throws {
        progress.update { $0.phase = .inferring }
        let point = try resumePoint()
        try showWhereItStands(point)
        try advanceStandardInput(to: point)
        let queue = ChunkQueue(capacity: options.workers + 2)
        let stage = InferStage(
            sources: job.sources,
            maxDepth: job.options.maxDepth,
            queue: queue,
            removesChunks: false,
            progress: progress,
            interruption: interruption
        )
        let pool = WorkerPool(workers: options.workers) { [interruption] error in
            queue.fail(error)
            interruption.request(.interrupt)
        }
        for _ in 0..<options.workers { pool.start { try stage.work() } }
        interruption.onRequest { [interruption] in queue.fail(interruption.error) }
        let fault = try feed(queue, pool, point)
        let inferred = stage.model()
        progress.update { progress in
            progress.messages += inferred.notices
        }
        job = try database.write { [job, store] database in
            var job = job
            try job.adopt(inferred.model, isFinal: fault == nil, database, store: store)
            return job
        }
        deferredFault = fault
        wasJustSplit = true
    }

    /// Whether this very run has cut the chunks that wait, so that they need no second look.
    private var wasJustSplit = false

    /// What was wrong with a source in the first of two phases: what stands before it is imported first.
    private var deferredFault: ImportError?

    /// Cuts, decodes and commits what is left.
    private func importRecords() throws {
        guard let model = job.model else { return }
        progress.update { $0.phase = .importing }
        var point = try resumePoint()
        try showWhereItStands(point)
        if deferredFault == nil { try advanceStandardInput(to: point) }
        let queue = ChunkQueue(capacity: options.workers + 2)
        let state = try database.read { [job, started] in try JobProgress($0, job: job.id, started: started) }
        let stage = ImportStage(
            store: store,
            job: job,
            model: model,
            run: options,
            queue: queue,
            state: state,
            keepsChunks: options.keepsChunks || job.options.takesChunks || !job.isModelFinal,
            progress: progress,
            interruption: interruption,
            merges: merges
        )
        let pool = WorkerPool(workers: options.workers) { [interruption] error in
            stage.fail(error)
            interruption.request(.interrupt)
        }
        for _ in 0..<options.workers { pool.start { try stage.work() } }
        interruption.onRequest { [interruption] in stage.fail(interruption.error) }
        if deferredFault != nil { point.split.source = job.sources.count }
        if let fault = try feed(queue, pool, point) ?? deferredFault { throw fault }
        try interruption.check()
        try checkCompleteness()
    }

    /// Hands the workers the chunks that are there and those that the split makes, and waits for them.
    private func feed(_ queue: ChunkQueue, _ pool: WorkerPool, _ point: ResumePoint) throws -> ImportError? {
        do {
            for (index, entry) in point.chunks.enumerated() {
                try queue.put(sealed(entry), committed: index == 0 ? point.committed : .none)
            }
            var fault: ImportError?
            if point.split.source < job.sources.count {
                var isFirst = point.chunks.isEmpty
                fault = try splitStage(point).run(from: point.split, open: open) { chunk in
                    try queue.put(chunk, committed: isFirst ? point.committed : .none)
                    isFirst = false
                }
                open = [:]
            }
            queue.close()
            try pool.wait()
            return fault
        } catch {
            queue.fail(error)
            // A worker's own error comes first: it is why the queue refused.
            try pool.wait()
            throw error
        }
    }

    /// Chunks that were cut by somebody else may be only the beginning.
    private func checkCompleteness() throws {
        let marker = try marker()
        guard marker.source < job.sources.count else { return }
        throw ImportError(
            .badInput,
            "\(directory.path): the split that made these chunks was not finished",
            advice: "Everything in them is imported. Finish the split, then resume."
        )
    }
}
