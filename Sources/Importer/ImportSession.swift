import Foundation
import GRDB
import ImportModel
import Synchronization

/// One run of one job, from where it is to its end.
///
/// The importer's lock is held meanwhile.
final class ImportSession {
    let store: String
    let options: RunOptions
    let opener: SourceOpener
    private let transformers: TransformerRegistry
    let progress: ImportProgress
    /// This run's own: it also ends the reading of a source when a worker has failed.
    let interruption: Interruption
    let merges: MergeCenter
    /// Held open from the first to the last moment: the last connection to close would take the WAL away from under the
    /// workers.
    let database: DatabaseQueue
    /// The store's file, which is written as long as it is in its place.
    let file: StoreFile
    private let keepsWAL: Bool
    private let continued: [String: ContinuedEntity]?
    let directory: ChunkDirectory
    let started = ContinuousClock.now
    private let secondsBefore: Double
    /// As an earlier run left the job; nil where this run begins it.
    private let before: (state: ImportReport.State, message: String?, indexes: StoreIndexes)?
    /// Whether its connection is gone, which must not be used any more then.
    private var isClosed = false
    var job: StoredJob
    var open: [Int: SourceStream] = [:]

    /// - Parameters:
    ///   - file: the store's file; nil where it cannot be made, which opening it explains.
    ///   - keepsWAL: whether the store is to be in WAL mode afterwards, too.
    ///   - continued: where inference begins, by entity; nil for what the store itself has.
    init(
        store: String,
        file: StoreFile?,
        keepsWAL: Bool,
        continuing continued: [String: ContinuedEntity]? = nil,
        decision: JobOpening.Decision,
        run: RunOptions,
        opener: SourceOpener,
        transformers: TransformerRegistry,
        progress: ImportProgress,
        interruption: Interruption,
        merges: MergeCenter
    ) throws {
        self.store = store
        options = run
        self.opener = opener
        self.transformers = transformers
        self.progress = progress
        self.interruption = interruption
        self.merges = merges
        // A worker has a connection and a chunk open; the rest is for the splitter, the checkpoints and sorting an index.
        try ImportError.checkDescriptors(24 + 4 * run.workers, "to import with --workers \(run.workers)")
        let database = try StoreConnection.writer(store, durability: run.durability, of: file)
        guard let file = file ?? StoreFile(store) else { throw StoreFile.isGone(store) }
        self.database = database
        self.file = file
        self.keepsWAL = keepsWAL
        self.continued = continued
        var isOpen = false
        // A session that cannot begin leaves the store as it was.
        defer { if !isOpen { try? StoreConnection.closeLast(database, of: file, leavesWAL: !keepsWAL) } }
        switch decision {
        case .begin(let planned, let open, let replaced, let retry):
            self.open = open
            secondsBefore = 0
            // Nor is a job that --restart begins again removed for an option that does not fit.
            before = replaced.map { _ in (.interrupted, nil, StoreIndexes(wanted: [])) }
            let place = ChunkPlace(path: planned.chunkDirectory, sources: planned.sources.map(\.description))
            var left = try database.read { try RecordedFile.left($0) }
            var replacedChunks: RecordedFile?
            if let replaced { replacedChunks = try Self.recordedChunks(of: replaced, database, store: store) }
            if let replacedChunks { left.append(replacedChunks) }
            if !planned.options.takesChunks { try place.check(besides: left) }
            let changed: [MergeNotification]
            let messages: [String]
            (job, changed, messages) = try RecordedFile.record(database) {
                [store, transformers, replacedChunks] database in
                var job = planned
                var messages: [String] = []
                try StoreSchema.prepareBookkeeping(database, store: store)
                if keepsWAL { try WALMode.keep(database) }
                try replacedChunks?.save(database)
                var changed = try replaced?.remove(database).map { [$0] } ?? []
                try job.insert(database)
                if let model = job.model {
                    let adopted = try job.adopt(model, transformers, database, store: store)
                    changed += adopted.merges
                    messages = adopted.messages
                }
                try StoreIndexes(wanted: run.indexes).save(for: job, database)
                try retry?.insert(job, database)
                if !job.options.takesChunks { try RecordedFile(chunksOf: job, isMade: place.isNew).save(database) }
                return (job, changed, messages)
            }
            progress.update { $0.messages += messages }
            for merge in changed { try merges.enqueue(merge) }
            do {
                try RecordedFile.removeLeft(database, store: store)
                directory = try Self.openDirectory(of: &job, run, database, store: store)
            } catch {
                _ = try? database.write { [job] in try job.remove($0) }
                try? RecordedFile.removeLeft(database, store: store)
                throw error
            }
        case .resume(let interrupted), .nothing(let interrupted):
            var job = interrupted
            // The store may be of an older format.
            try database.write { [store] database in try StoreSchema.prepareBookkeeping(database, store: store) }
            directory = try Self.openDirectory(of: &job, run, database, store: store)
            let indexes = try database.write { [store, job] database in
                let indexes = try StoreIndexes(of: job, database)
                try RecordedFile(repairFileOf: job)?.saveUnlessKnown(database)
                try job.prepareAgain(database, store: store)
                try StoreIndexes(wanted: run.indexes).save(for: job, database)
                try job.saveOptions(database)
                try TableWitness.forget(job.tables, database)
                return indexes
            }
            before = (interrupted.state, interrupted.message, indexes)
            try RecordedFile.removeLeft(database, store: store)
            secondsBefore = try database.read { try Marker($0, job: job.id)?.seconds } ?? 0
            self.job = job
        }
        isOpen = true
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
        } catch let refusal as Refusal {
            throw refusal.error
        } catch {
            let failure = (error as? DatabaseError).map { ImportError(store: store, $0) } ?? error
            note(failure)
            throw failure
        }
    }

    /// The job's number in the store.
    var jobID: Int64 { job.id }

    /// Whether the store has any job; a job that turns out to be impossible is taken out again.
    ///
    /// It is to be asked before the session is closed.
    var holdsJobs: Bool { isClosed ? true : (try? database.read { try !StoredJob.all($0).isEmpty }) ?? true }

    /// Closes the session's connection; the WAL goes with it if nobody else has the store open, and a finished store leaves
    /// WAL mode.
    ///
    /// - Throws: `ImportError` with `.io` when the store's file is no longer in its place.
    func close() throws {
        guard !isClosed else { return }
        isClosed = true
        let isOpen = try? database.read { [job] in
            try Bool.fetchOne(
                $0,
                sql: "SELECT EXISTS (SELECT 1 FROM _import_job WHERE id = ? AND state <> ?)",
                arguments: [job.id, ImportReport.State.finished.rawValue]
            )
        }
        let isDone = isOpen == false
        try StoreConnection.closeLast(database, of: file, leavesWAL: isDone && !keepsWAL)
    }

    /// - Parameter body: what else is done in the same transaction.
    private func setState<Result>(
        _ state: ImportReport.State,
        message: String? = nil,
        _ body: (Database) throws -> Result = { _ in }
    ) throws -> Result {
        let seconds = secondsBefore + (ContinuousClock.now - started).inSeconds
        let result: Result
        (job, result) = try database.write { [job] database in
            var job = job
            try job.setState(state, message: message, seconds: seconds, database)
            return (job, try body(database))
        }
        return result
    }

    private func note(_ error: any Error) {
        let failure = error as? ImportError
        let isInterruption = failure.map { [.interrupted, .terminated, .hangup].contains($0.code) } ?? false
        // What failed may be the store itself: then a later run still finds `running` without a lock, which says as much.
        try? setState(isInterruption ? .interrupted : .failed, message: failure?.message ?? "\(error)") { [job] in
            try job.removeUnusedAdditions($0)
        }
    }

    private func finish() throws {
        progress.update { $0.phase = .finishing }
        let unfound = try unfoundPaths()
        try warnOfEmptyPaths(but: unfound)
        try interruptibly { try settleStore() }
        do {
            try judgeRejects()
        } catch {
            if !options.keepsChunks { removeChunks() }
            throw error
        }
        let last = try setState(.finished, message: Self.message(of: unfound)) { [job, options] database in
            try job.removeUnusedAdditions(database)
            try TableWitness.record(job.tables, database)
            if options.keepsChunks { try RecordedFile.keepChunks(of: job, database) }
            return try MergeLog.append([], of: job.id, isFinished: true, database)
        }
        try merges.enqueue(last)
        removeLeft()
        progress.update { $0.phase = .finished }
    }

    /// Makes one object of the rows that have the same identifier, or rejects of the later ones, and builds the indexes, in
    /// one transaction.
    private func settleStore() throws {
        let (isPending, indexes) = try database.read { [job] database in
            (try DeferredIdentifier.isPending(job: job.id, database), try StoreIndexes(of: job, database))
        }
        guard isPending || !indexes.wanted.isEmpty else { return }
        let sources = SourceRecords(of: job, opener: opener, interruption: interruption)
        let merge = try StoreConnection.writeIndexes(database, durability: options.durability) { database in
            let changes = try DeferredIdentifier.settle(job, database, sources: sources) { try interruption.check() }
            if let model = job.model {
                // What took nothing leaves no index.
                let taken = try job.takenTables(database)
                let entities = model.entities.filter { taken.contains($0.table) }
                try indexes.build(for: ModelDescription(entities: entities), database)
            }
            try interruption.check()
            return changes.allSatisfy(\.isEmpty) ? nil : try MergeLog.append(changes, of: job.id, database)
        }
        guard let merge else { return }
        try merges.enqueue(merge)
        progress.update { $0.rejects += merge.changes.reduce(0) { $0 + $1.rejected } }
    }

    /// Does something in the store that takes a while, and that an interruption ends at once, as if it had not begun.
    private func interruptibly(_ body: () throws -> Void) throws {
        try interruption.check()
        let isRunning = SharedFlag()
        interruption.onRequest { [database] in
            isRunning.ifSet { database.interrupt() }
        }
        do {
            defer { isRunning.clear() }
            try body()
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_INTERRUPT {
            throw interruption.error
        }
    }

    /// All is in the store: that something cannot be removed is no failure of the import, and the next run tries again.
    private func removeLeft() {
        try? RecordedFile.removeLeft(database, store: store)
    }

    /// As `removeLeft`, while the job is not finished.
    private func removeChunks() {
        try? Self.recordedChunks(of: job, database, store: store)?.remove(store: store)
    }

    /// Everything is imported by now; a resume comes here again.
    private func judgeRejects() throws {
        guard let limit = job.options.maxErrors else { return }
        let row = try database.read { [job] in
            try Row.fetchOne(
                $0,
                sql: """
                    SELECT coalesce(sum(records_read), 0) AS read, coalesce(sum(rejected), 0) AS rejected
                    FROM _import_entity WHERE job = ?
                    """,
                arguments: [job.id]
            )
        }
        guard let row else { return }
        try RejectLimit.judge(rejected: row["rejected"], of: row["read"], by: limit)
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
            overrides: InferenceOverrides(identifier: job.options.identifier, types: job.options.types),
            queue: queue,
            removesChunks: false,
            progress: progress,
            interruption: interruption
        )
        let fault = try WorkerPool.run(
            options.workers,
            on: queue,
            interruption: interruption,
            stop: { queue.fail($0) },
            work: { try stage.work() },
            feed: { try self.feed(queue, point) }
        )
        let inferred: (model: ModelDescription, notices: [String])
        do {
            let own = try continued ?? database.read { [job] in try StoredEntities.continued(job, $0) }
            inferred = try stage.model(continuing: own)
        } catch {
            // What is missing may follow the fault.
            if let fault { throw fault }
            abandon()
            throw error
        }
        progress.update { progress in
            let sources = job.sources.map { $0.description.path ?? $0.description.name }
            progress.messages += InferenceNotice.shortened(inferred.notices, sources: sources)
        }
        do {
            if fault == nil { try checkIndexes(inferred.model) }
            let adopted: (merges: [MergeNotification], messages: [String])
            (job, adopted) = try database.write { [job, store, transformers] database in
                var job = job
                let isFinal = fault == nil
                let adopted = try job.adopt(inferred.model, transformers, isFinal: isFinal, database, store: store)
                return (job, adopted)
            }
            progress.update { $0.messages += adopted.messages }
            for merge in adopted.merges { try merges.enqueue(merge) }
        } catch let error as UnfitIndex {
            throw try refuse(error.error)
        } catch let error as ImportError where fault == nil && [.badInput, .usage].contains(error.code) {
            // The store does not take such a model: a job that can never continue would only be in the way.
            abandon()
            throw error
        }
        deferredFault = fault
        wasJustSplit = true
    }

    /// The inferred model has no such attributes.
    private struct UnfitIndex: Error {
        let error: ImportError
    }

    /// Makes sure that the model has what this run is to build indexes on, and says which of an earlier run's it has not.
    private func checkIndexes(_ model: ModelDescription) throws {
        do {
            try StoreIndexes(wanted: options.indexes).check(model)
        } catch let error as ImportError {
            throw UnfitIndex(error: error)
        }
        guard options.indexes.isEmpty else { return }
        for names in try database.read({ [job] in try StoreIndexes(of: job, $0) }).missing(in: model) {
            let text = "--index \(names.joined(separator: ",")): no entity has all these attributes: it is not built"
            progress.update { $0.messages.append(text) }
        }
    }

    /// Leaves a job that was there before as it was, and takes one that this run has begun out of the store again.
    ///
    /// - Returns: what this run ends with.
    private func refuse(_ error: ImportError) throws -> any Error {
        guard let before else {
            abandon()
            return error
        }
        try setState(before.state == .running ? .interrupted : before.state, message: before.message) { [job] in
            try before.indexes.replace(for: job, $0)
        }
        return Refusal(error: error)
    }

    /// What ends a run and changes nothing in what the store says of the job.
    private struct Refusal: Error {
        let error: ImportError
    }

    /// Takes the job out of the store again, as it cannot be done as it is asked for: the next one may ask otherwise.
    private func abandon() {
        do {
            if let reset = try database.write({ [job] in try job.remove($0) }) { try merges.enqueue(reset) }
        } catch {
            return
        }
        removeLeft()
    }

    /// Whether this very run has cut the chunks that wait, so that they need no second look.
    var wasJustSplit = false

    /// What was wrong with a source in the first of two phases: what precedes it is imported first.
    private var deferredFault: ImportError?

    /// Cuts, decodes and commits what is left.
    private func importRecords() throws {
        guard let model = job.model else { return }
        progress.update { $0.phase = .importing }
        var point = try resumePoint()
        try showWhereItStands(point)
        if deferredFault == nil { try advanceStandardInput(to: point) }
        let queue = ChunkQueue(capacity: options.workers + 2)
        let (state, unread) = try database.read { [job, started] database in
            let unread = try model.entities.map { try job.unread(besides: $0, database) }
            return (try JobProgress(database, job: job.id, started: started), unread)
        }
        let checkpointer = try Checkpointer(store: store, file: file, durability: options.durability)
        defer { try? checkpointer.close() }
        let stage = ImportStage(
            store: store,
            file: file,
            job: job,
            model: model,
            unread: unread,
            transformers: transformers,
            run: options,
            queue: queue,
            state: state,
            checkpointer: checkpointer,
            keepsChunks: options.keepsChunks || job.options.takesChunks || !job.isModelFinal,
            progress: progress,
            interruption: interruption,
            merges: merges
        )
        if deferredFault != nil { point.split.source = job.sources.count }
        let fault = try WorkerPool.run(
            options.workers,
            on: queue,
            interruption: interruption,
            stop: { stage.fail($0) },
            work: { try stage.work() },
            feed: { try self.feed(queue, point) }
        )
        if let fault = fault ?? deferredFault { throw fault }
        try interruption.check()
        try checkCompleteness()
    }

    /// Hands the workers the chunks that are there and those that the split makes.
    private func feed(_ queue: ChunkQueue, _ point: ResumePoint) throws -> ImportError? {
        defer { directory.endWriting() }
        // What is left half written goes before anybody else touches a chunk.
        let stage = point.split.source < job.sources.count ? try splitStage(point) : nil
        for (index, entry) in point.chunks.enumerated() {
            try queue.put(sealed(entry), committed: index == 0 ? point.committed : .none)
        }
        guard let stage else { return nil }
        defer { open = [:] }
        var isFirst = point.chunks.isEmpty
        let keepsAll = job.model == nil
        return try stage.run(from: point.split, open: open) { [directory] chunk in
            if keepsAll { try directory.checkRoom(forChunkOf: chunk.entry.bytes) }
            try queue.put(chunk, committed: isFirst ? point.committed : .none)
            isFirst = false
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

/// A flag that one thread clears while another may be acting on it.
private final class SharedFlag: Sendable {
    private let isSet = Mutex(true)

    func clear() { isSet.withLock { $0 = false } }

    /// Acts if it is still set; it stays so meanwhile.
    func ifSet(_ action: () -> Void) {
        isSet.withLock { if $0 { action() } }
    }
}
