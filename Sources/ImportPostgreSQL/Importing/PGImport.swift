import Foundation
import ImportModel
import Importer

/// Cuts what is left of a job's sources, registers the chunks, and works on them beside all others who do.
struct PGImport {
    /// Up to this much is cut that no worker has taken, or twice the chunks at work where that is more: the folder does not fill up
    /// where workers are slow, and chunks are written over files of others that are done while the system still has these in memory.
    private static let mostWaiting = (bytes: Int64(64 << 20), chunks: Int64(64))

    private let run: JobRun
    private let session: PGLockingSession
    private let context: RunContext
    private let chunks: ChunkTable

    init(_ run: JobRun, _ session: PGLockingSession) {
        self.run = run
        self.session = session
        context = run.context
        chunks = ChunkTable(job: run.job.id)
    }

    /// - Returns: the run, all of whose records are in the store.
    /// - Throws: `ImportError`; what was committed before stays.
    func importRecords() throws -> JobRun {
        guard let model = run.job.model else { throw ImportError(.fault, at: context.store, "the job has no model") }
        context.progress.update { $0.phase = .importing }
        let feed = try ChunkFeed(run)
        // From now on there are more.
        session.keptChunk = nil
        let done = try session.read { [chunks] in try chunks.done($0) }
        session.upcoming.removeAll()
        context.progress.update {
            $0.importedBytes = done.bytes
            $0.importedRecords = done.records
            $0.resumedBytes = done.bytes
            $0.resumedRecords = done.records
            $0.rejects = done.rejects
        }
        if done.all > 0 { try restoreChunks(staged: model.isStagedOnServer) }
        let signal = ChunkSignal(waiting: Int(done.all - done.chunks))
        let task = try task(session.read { try PGTables.withDefaults(model, $0) }, signal)
        let fault = try WorkerPool.run(
            context.options.workers,
            on: ChunkQueue(capacity: 1),
            interruption: context.interruption,
            stop: { _ in signal.end() },
            work: {
                guard signal.join() else { return }
                try task.links.use { try ChunkWorker(task, $0).work() }
            },
            // Where a source has a fault, what is before it is all that is done now.
            feed: { [self] in try cut(feed, signal) }
        )
        // Workers have written, perhaps elsewhere, too.
        session.forget()
        try task.removal?.finish()
        if let fault = fault ?? run.fault { throw fault }
        try context.interruption.check()
        try run.checkCompleteness()
        if model.isStagedOnServer { try settle(task) }
        var run = run
        run.open = [:]
        return run
    }

    /// Makes objects of what is staged, by as many workers.
    private func settle(_ task: ChunkWorker.Task) throws {
        context.progress.update { $0.phase = .finishing }
        let upserts = try PGUpsertWorker(task)
        let relations = RelationshipSettlement(task, try task.serverModel(), session)
        try relations?.begin()
        // Who would have no bucket needs no connection.
        let workers = try min(context.options.workers, max(1, upserts.removeEmptyBuckets(session)))
        let pool = WorkerPool(workers: workers) { [interruption = context.interruption] _ in
            interruption.request(.interrupt)
        }
        try pool.start(
            Array(repeating: { try task.links.use { try PGUpsertWorker(task).work($0) } }, count: workers)
        )
        try pool.wait()
        session.forget()
        try upserts.finish(session)
        try relations?.finish()
        let rejects = try session.read { try chunks.done($0).rejects }
        context.progress.update { $0.rejects = rejects }
    }

    private func task(_ model: ModelDescription, _ signal: ChunkSignal) -> ChunkWorker.Task {
        let keepsChunks =
            context.options.keepsChunks || run.job.takesChunks || !run.job.isModelFinal
            || session.store.durability == .off || model.isStagedOnServer
        return ChunkWorker.Task(
            store: session.store,
            links: IdlePool { [store = session.store, interruption = context.interruption] in
                PGWorkerConnection(store, interruption)
            },
            job: run.job,
            model: model,
            transformers: context.transformers,
            directory: run.directory,
            removal: keepsChunks ? nil : ChunkCleanup(run.directory),
            interruption: context.interruption,
            signal: signal
        ) { [progress = context.progress] records, bytes, rejects in
            progress.update {
                $0.importedRecords += records
                $0.importedBytes += bytes
                $0.rejects += rejects
            }
        }
    }

    /// Cuts chunks again that are not done, or that settling may need, and whose files are gone or altered: chunks after them are
    /// done.
    private func restoreChunks(staged: Bool) throws {
        let (restorer, directory) = (ChunkRestorer(run), run.directory)
        var before: ChunkEntry?
        while true {
            let page = try session.read { [before, label = session.label] in
                try chunks.states(after: before?.number ?? 0, $0, label: label)
            }
            for (entry, isDone) in page {
                try context.interruption.check()
                let isWhole = try isDone && !staged || directory.isIntact(entry)
                if !isWhole, restorer.canRestore(entry) {
                    let name = ChunkDirectory.fileName(entry.number)
                    context.announce(["\(directory.path)/\(name) is gone or altered: it is cut again"])
                    try restorer.restore(entry, after: before)
                }
                before = entry
            }
            if page.isEmpty { return }
        }
    }

    /// Cuts what is left, and registers it meanwhile.
    private func cut(_ feed: ChunkFeed, _ signal: ChunkSignal) throws -> ImportError? {
        let registrar = ChunkRegistrar()
        var unflushed = UnflushedChunks()
        try registrar.start { [self] in try register($0, &unflushed, signal) }
        let fault: ImportError?
        do {
            fault = try feed.feed(keepsAll: false) { chunks, _ in
                for chunk in chunks { try registrar.put(chunk.entry) }
            }
            try registrar.finish()
        } catch {
            try? registrar.finish()
            throw error
        }
        if unflushed.connection != session.connections || !unflushed.isAll {
            try session.write { [unflushed] connection in
                if unflushed.connection != session.connections {
                    for entry in unflushed.entries { try chunks.register(entry, connection) }
                }
                chunks.noteSplit(connection)
            }
        }
        signal.offer(0, isAll: true)
        return fault
    }

    /// Puts chunks before the workers; they are on the disk by then.
    private func register(_ entries: [ChunkEntry], _ unflushed: inout UnflushedChunks, _ signal: ChunkSignal) throws {
        for entry in entries where entry.records > 0 { try run.directory.sync(chunk: entry.fileNumber) }
        unflushed.entries += entries
        unflushed.isAll = entries.last.map { $0.isLast && $0.source == run.job.sources.count - 1 } ?? false
        // After the last one nobody looks whether the server has forgotten any.
        let isDurable = unflushed.isAll || unflushed.entries.count >= UnflushedChunks.most
        try session.write(isDurable: isDurable) { [unflushed] connection in
            // There is no row without those before it.
            let isAnother = unflushed.connection != session.connections
            for entry in isAnother ? unflushed.entries : entries { try chunks.register(entry, connection) }
            if unflushed.isAll { chunks.noteSplit(connection) }
        }
        unflushed.connection = session.connections
        if isDurable { unflushed.entries.removeAll() }
        signal.offer(entries.count, isAll: unflushed.isAll)
        // So many are not waiting before that.
        unflushed.bytes += entries.reduce(0) { $0 + $1.endByte - $1.firstByte }
        unflushed.chunks += Int64(entries.count)
        guard unflushed.bytes >= Self.mostWaiting.bytes || unflushed.chunks >= Self.mostWaiting.chunks else { return }
        while true {
            let seen = signal.count
            guard try session.read({ try isCutEnough($0) }) else { return }
            try context.interruption.check()
            // Other processes' commits ring no bell here.
            signal.wait(after: seen, seconds: 0.05)
        }
    }

    /// Chunks whose rows may not be on the server's disk yet: a server that ends at once may lose them, and with it goes the
    /// connection.
    private struct UnflushedChunks {
        /// So many are registered before a transaction waits for the disk.
        static let most = 64

        var entries: [ChunkEntry] = []
        /// True if the last one that is registered is the last of all.
        var isAll = false
        /// All that this run has registered.
        var (bytes, chunks): (Int64, Int64) = (0, 0)
        /// Which of the session's connections they were registered on.
        var connection = 0
    }

    /// True if workers have enough to take.
    private func isCutEnough(_ connection: PGConnection) throws -> Bool {
        let found = try connection.execute(
            """
            SELECT count(*) FILTER (WHERE NOT is_taken), coalesce(sum(bytes) FILTER (WHERE NOT is_taken), 0)::bigint,
                count(*) FILTER (WHERE is_taken)
            FROM (
                SELECT end_byte - first_byte AS bytes, lease_until >= clock_timestamp() AS is_taken
                FROM _import_chunk WHERE job = $1 AND state = 'sealed'
            ) AS chunks
            """,
            [.integer(run.job.id)]
        ).first
        guard let found else { return false }
        let (chunks, bytes, taken) = (try found.integer(0), try found.integer(1), try found.integer(2))
        return chunks >= 2 * taken && (bytes >= Self.mostWaiting.bytes || chunks >= Self.mostWaiting.chunks)
    }
}
