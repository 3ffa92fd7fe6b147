import GRDB
import ImportEngine
import ImportModel
import ImportSources

extension StoreSession {
    /// Makes sure that a job that mirrors its sources can, now that it has its model and its tables.
    ///
    /// - Throws: `ImportError` with `.usage`.
    func checkMirror(_ job: StoredJob, _ database: Database) throws {
        guard let options = job.options.mirror, let model = job.model else { return }
        try MirrorDeletion(job, model, options, database, selecting: rowSelection).checkScope()
    }

    package func mirror(
        _ job: StoredJob,
        _ options: MirrorOptions,
        _ transformers: TransformerRegistry,
        _ interruption: Interruption
    ) throws -> MergeNotification? {
        guard let model = job.model else { return nil }
        // What is deleted is written from the beginning of the WAL, in place of what is in the store by then; unless somebody reads
        // it, who goes on.
        _ = try? database.inDatabase { try $0.checkpoint(.passive) }
        return try writeIndexes(interruption) { database in
            guard try !Self.isMirrored(job.id, database) else { return nil }
            try BookkeepingSchema.makeAll(database)
            let cacheSize = try StoreConnection.makeRoomForLookups(database, MirrorDeletion.cacheSize)
            defer { try? database.execute(sql: "PRAGMA cache_size = \(cacheSize)") }
            if job.state == .finished { try checkThatNobodyHasWritten(since: job, database) }
            let log = try UndoLog(job: job.id, tellsRows: false, database)
            defer { try? log.end(database) }
            let rows = rowSelection
            let merge = try MirrorDeletion(job, model, options, database, selecting: rows, check: interruption.check)
                .run(transformers, log)
            if job.state == .finished {
                try TableFingerprint.record(job.tables, database)
                try InsertedRowRanges.noteEnds(of: job.tables, job: job.id, database)
            }
            try BookkeepingSchema.dropEmpty(database)
            return merge
        }
    }

    package func replace(_ job: StoredJob, _ interruption: Interruption) throws -> MergeNotification? {
        guard let model = job.model else { return nil }
        return try writeIndexes(interruption) { database in
            var job = job
            job.sources = try StoredJob.sources(of: job.id, database)
            guard job.replacesSources else { return nil }
            let log = try UndoLog(job: job.id, tellsRows: false, database)
            defer { try? log.end(database) }
            let options = MirrorOptions()
            let merge = try MirrorDeletion(job, model, options, database, selecting: nil, check: interruption.check)
                .replace(log)
            // Done again, it would find rows that others have been given since.
            var descriptions = job.sources.map(\.description)
            for index in descriptions.indices { descriptions[index].replaces = nil }
            try job.refresh(descriptions, database)
            return merge
        }
    }

    /// True if a job has deleted what it was to delete.
    private static func isMirrored(_ job: Int64, _ database: Database) throws -> Bool {
        try database.count("_import_mirror", where: "job = \(job) AND is_done") > 0
    }

    /// What a job has seen says nothing any more once another job has written to its tables, or their rows have other row ids.
    private func checkThatNobodyHasWritten(since job: StoredJob, _ database: Database) throws {
        func superseded(_ why: MessageText) -> ImportError {
            ImportError(
                .mirrorSuperseded,
                at: store,
                why,
                advice: "Import the source once more with \(.mirror)."
            )
        }
        guard try !MigrationHistory.exists(since: job.id, database) else {
            throw superseded("the store was migrated to another model since job \(job.id) ended")
        }
        let tables = Set(job.tables.map(ExistingEntity.folded))
        let (columns, rest) = ("job, table_name", "WHERE job > ? ORDER BY job")
        let later = try BookkeepingRow.all(database, columns, from: "_import_entity", rest, [job.id])
        for row in later where try tables.contains(ExistingEntity.folded(row.text("table_name"))) {
            throw superseded(
                "job \(try row.number("job")) has imported into the entities of job \(job.id) since, and may use what would be deleted"
            )
        }
        for table in job.tables {
            guard let fingerprint = try TableFingerprint(of: table, database) else { continue }
            let (compared, changed) = try fingerprint.compare(table, database)
            let known = Int64(fingerprint.samples.count)
            // Somebody may have changed some; where most are gone or others, it is the row ids that have changed.
            guard 2 * (known - compared + changed) > known else { continue }
            throw superseded("the rows of \(table.printable) are not what they were when job \(job.id) ended")
        }
    }
}
