import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Each call is one transaction.
extension StoreSession: Journal {
    // MARK: Jobs

    package func bringUp() throws { try write { try BookkeepingSchema.prepareBookkeeping($0, store: store) } }

    package func begin(_ planned: StoredJob, _ beginning: JobStart) throws -> JobModelResult {
        try record { database in
            var job = planned
            var (merges, messages): ([MergeNotification], [MessageText]) = ([], [])
            try BookkeepingSchema.prepareBookkeeping(
                database,
                store: store,
                all: job.retry != nil || job.keepsUndo || job.options.mirror != nil
            )
            if keepsWAL { try WALMode.keep(database) }
            try MirrorDeletion.checkReplaced(by: job, database, store: store)
            try beginning.replacedChunks?.save(database)
            if let reset = try beginning.replaced?.remove(database) { merges.append(reset) }
            try job.insert(database)
            try StoredJob.save(job.updates, database)
            if let model = job.model {
                let adopted = try job.adopt(model, beginning.transformers, database, store: store)
                merges += adopted.merges
                messages = adopted.messages
                try checkMirror(job, database)
            }
            try beginning.indexes.save(for: job, database)
            try beginning.retry?.insert(job, database)
            if !job.takesChunks {
                try RecordedFile(chunksOf: job, isMade: beginning.makesChunkDirectory).save(database)
            }
            return JobModelResult(job: job, merges: merges, messages: messages)
        }
    }

    package func update(_ sources: [SourceUpdate]) throws { try write { try StoredJob.save(sources, $0) } }

    package func join(_ job: StoredJob, to first: Int64) throws -> Bool { try write { try job.join(to: first, $0) } }

    package func resume(_ job: StoredJob, building indexes: StoreIndexes) throws -> StoreIndexes {
        try write { database in
            let before = try StoreIndexes(of: job, database)
            try RecordedFile(repairFileOf: job)?.saveUnlessKnown(database)
            try job.prepareAgain(database, store: store)
            try indexes.save(for: job, database)
            try job.saveOptions(database)
            try StoredJob.save(job.updates, database)
            try TableFingerprint.forget(job.tables, database)
            return before
        }
    }

    package func adopt(
        by job: StoredJob,
        _ transformers: TransformerRegistry,
        isFinal: Bool,
        _ infer: ([String: ExistingEntity], _ isTaken: @escaping (String) throws -> Bool) throws -> ModelDescription
    ) throws -> JobModelResult {
        try write { database in
            var job = job
            var reset: MergeNotification?
            if job.model != nil {
                reset = try job.forgetModel(database)
                try job.refresh(job.sources.map(\.description), database)
            }
            let model = try infer(StoredEntities.continued(job, database)) { name in
                guard try StoreSchema.isTaken(name, database) else { return false }
                return try !database.hasTable(name) || !StoreSchema.isStillEmpty(name, database)
            }
            let adopted = try job.adopt(model, transformers, isFinal: isFinal, database, store: store)
            try checkMirror(job, database)
            return JobModelResult(
                job: job,
                merges: [reset].compactMap(\.self) + adopted.merges,
                messages: adopted.messages
            )
        }
    }

    package func refresh(
        _ job: StoredJob,
        _ sources: [SourceDescription],
        retry: (any RetryPlan)?
    ) throws -> (job: StoredJob, merge: MergeNotification?) {
        try write { database in
            var job = job
            let hasChanged = zip(job.sources, sources).contains { $0.description != $1 }
            try job.refresh(sources, database)
            var merge: MergeNotification?
            if hasChanged, let model = job.model, try JobRollback.hasRefused(job.id, database) {
                // Which records are rejects is known of those that were there.
                try ImportUndoLog.restart(job.id, database)
                merge = try JobRollback(job: job.id).takeBack(ModelLayout(importing: model), {}, database)
                try database.delete(job: job.id, from: ["_import_unmet"])
            }
            if let retry {
                let marker = try Marker(database, job: job.id) ?? Marker()
                try retry.insert(job, after: marker.recordOrdinal, database)
            }
            return (job, merge)
        }
    }

    package func remove(_ job: StoredJob) throws -> MergeNotification? { try write { try job.remove($0) } }

    // MARK: Their states

    package func start(_ job: StoredJob, seconds: Double) throws -> StoredJob {
        var job = job
        try write { database in
            if job.options.trustsTriggers { try UntrustedStoreGuard.trust(database) }
            try job.setState(.running, seconds: seconds, database)
        }
        return job
    }

    package func stop(_ job: StoredJob, _ state: ImportReport.State, _ message: String, seconds: Double) throws {
        var job = job
        try write {
            try job.setState(state, message: message, seconds: seconds, $0)
            try job.removeUnusedAdditions($0)
        }
    }

    package func putBack(
        _ job: StoredJob,
        _ state: ImportReport.State,
        _ message: String?,
        seconds: Double,
        _ indexes: StoreIndexes
    ) throws {
        var job = job
        try write {
            try job.setState(state, message: message, seconds: seconds, $0)
            try indexes.overwrite(for: job, $0)
        }
    }

    package func finish(
        _ job: StoredJob,
        message: String?,
        seconds: Double,
        keepsChunks: Bool
    ) throws -> MergeNotification {
        try finish(job, message: message, seconds: seconds, keepsChunks: keepsChunks) { _ in job.tables }
    }

    /// Ends a job, in one transaction.
    ///
    /// - Parameter tables: gives those that it may have changed.
    package func finish(
        _ job: StoredJob,
        message: String? = nil,
        seconds: Double,
        keepsChunks: Bool = false,
        tables: (Database) throws -> [String]
    ) throws -> MergeNotification {
        var job = job
        return try write { database in
            try job.setState(.finished, message: message, seconds: seconds, database)
            try job.removeUnusedAdditions(database)
            try StoreSchema.makePrimaryKeys(of: job, database)
            // It has the counts of all entities.
            let merge = try MergeLog.append([], of: job.id, isFinished: true, database)
            try job.removeUnusedCounts(database)
            let changed = try tables(database)
            try TableFingerprint.record(changed, database)
            if let undone = job.change?.undoes { try InsertedRowRanges.forgetEnds(of: undone, database) }
            try InsertedRowRanges.noteEnds(of: changed, job: job.id, database)
            for table in try database.hasTable("_import_seen") ? job.tables : [] {
                // A job that comes after one says what is to go.
                try database.execute(
                    sql: "DELETE FROM _import_seen WHERE job < ? AND table_name = ? COLLATE NOCASE",
                    arguments: [job.id, table]
                )
            }
            try ImportUndoLog.finish(job, database)
            if keepsChunks { try RecordedFile.keepChunks(of: job, database) }
            try BookkeepingSchema.dropEmpty(database)
            return merge
        }
    }

    package func takeBackUnresolved(_ job: StoredJob, _ interruption: Interruption) throws -> MergeNotification? {
        guard let model = job.model, model.rejectsUnresolved else { return nil }
        return try writeIndexes(interruption) { database in
            let references = DanglingReferences(job: job.id)
            let layout = try ModelLayout(importing: model)
            let statements = try LinkStatementCache(database)
            guard try references.find(layout, statements, check: interruption.check) else { return nil }
            try ImportUndoLog.restart(job.id, database)
            return try JobRollback(job: job.id).takeBack(layout, interruption.check, database)
        }
    }

    package func settle(
        _ job: StoredJob,
        _ opener: SourceOpener,
        _ interruption: Interruption
    ) throws -> MergeNotification? {
        let indexes = try indexes(of: job)
        let isPending = try readIfThere { try DeferredUniqueIndex.isPending(job: job.id, $0) } ?? false
        let isFlat = job.model?.isFlat ?? true
        let asksForIndexes = job.model?.entities.contains { !$0.indexes.isEmpty } ?? false
        guard isPending || !indexes.wanted.isEmpty || !isFlat || asksForIndexes else { return nil }
        let sources = SourceRecordReader(of: job, opener: opener, interruption: interruption)
        return try writeIndexes(interruption) { database in
            let log = try ImportUndoLog.log(of: job, database)
            defer { try? log?.end(database) }
            var changes = try DeferredUniqueIndex.settle(job, database, sources: sources) { try interruption.check() }
            if !isFlat, var model = job.model {
                if job.options.mirror != nil { model = try model.withWholeLists }
                let wasAppending = try AppendMode.exists(job.id, database)
                if wasAppending { try AppendMode.end(job.id, ModelLayout(importing: model), database) }
                try interruption.check()
                let check = interruption.check
                var settlement = try GraphSettlement(job, model, wasAppending: wasAppending, database, check: check)
                changes += try settlement.settle(database)
                try JobRollback(job: job.id).forget(database)
            }
            if let model = job.model {
                // What accepted nothing leaves no index behind.
                let filled = try job.takenTables(database)
                let entities = model.entities.filter { filled.contains($0.table) }
                try indexes.build(for: ModelDescription(entities: entities), database)
                try StoreIndexes.build(wantedBy: model, in: filled, database)
            }
            try interruption.check()
            try log?.complete()
            return changes.allSatisfy(\.isEmpty) ? nil : try MergeLog.append(changes, of: job.id, database)
        }
    }

    // MARK: Files

    package func record(_ files: [RecordedFile], chunksOf job: StoredJob?) throws {
        try record { database in
            for file in files { try file.save(database) }
            try job?.saveChunkDirectory(database)
        }
    }

    package func removeLeftFiles() throws {
        try ImportError.explaining(store) { try RecordedFile.removeLeft(database, store: store) }
    }
}
