import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Reads jobs, reports and rejects of a store without importing.
public struct StoreInspection: Sendable {
    package let store: String
    /// What is open already, and what ends reading; nil where it opens the store for each question.
    private let connection: (opened: ReadOnlyStore, interruption: Interruption)?

    /// Prepares to inspect a store; nothing is opened before the first call.
    public init(store: any FileLocation) {
        self.store = store.filePath
        connection = nil
    }

    /// Asks by a connection that is open already, and stays open.
    package init(_ opened: ReadOnlyStore, _ interruption: Interruption) {
        store = opened.name
        connection = (opened, interruption)
    }

    /// The report of the job that `resume` would resume: the last unfinished one, or else the last one.
    ///
    /// - Throws: `ImportError`: `.noInput` when the file does not exist or has no import.
    public func status() throws -> ImportReport {
        try read { database in
            try report(of: resumable(database), database)
        }
    }

    /// The job that `resume` would resume: the last unfinished one, or else the last one.
    package func resumable(_ database: Database) throws -> StoredJob {
        guard let job = try StoredJob.unfinished(database).last ?? StoredJob.last(database) else { throw noImport }
        return job
    }

    /// The reports of all jobs that are not finished, in the order in which they were started.
    ///
    /// - Throws: `ImportError` as `status` does.
    public func unfinished() throws -> [ImportReport] {
        try read { database in
            try StoredJob.unfinished(database).map { try report(of: $0, database) }
        }
    }

    /// The report of a job.
    ///
    /// - Parameter job: the job's number in the store, from 1.
    /// - Throws: `ImportError` as `status` does; `.noInput` when there is no such job.
    public func status(of job: Int64) throws -> ImportReport {
        try read { database in
            guard let found = try StoredJob.find(job, database) else {
                guard let last = try StoredJob.last(database)?.id else { throw noImport }
                let count = try database.count("_import_job", where: "1")
                throw ImportError(
                    .jobNotFound,
                    at: store,
                    "has no job \(job)",
                    advice:
                        "It has \(count == 1 ? "the job \(last)" : "\(count.grouped) jobs"); \(call: .status) lists them."
                )
            }
            return try report(of: found, database)
        }
    }

    /// Calls `body` with each open reject, job by job in source order.
    ///
    /// A running import or retry is not blocked, and its commits are visible.
    ///
    /// - Parameters:
    ///   - selection: the rejects to read; by default all open ones.
    ///   - body: called outside of any transaction.
    /// - Throws: `ImportError` as `status` does, and what `body` throws; `.io` after all other rejects, when some cannot be read.
    public func forEachReject(
        _ selection: RejectSelection = RejectSelection(),
        _ body: (Reject) throws -> Void
    ) throws {
        if let damage = try scanRejects(selection, body) { throw damage }
    }

    /// - Returns: the error, if some rejects cannot be read; `body` is called with the others.
    package func scanRejects(_ selection: RejectSelection, _ body: (Reject) throws -> Void) throws -> ImportError? {
        let opened = try ReadOnlyStore(store)
        defer { opened.close() }
        guard let scan = try opened.read({ try RejectScan(selection, $0) }) else { throw noImport }
        return try scan.run(opened, body)
    }

    /// A rejected record.
    public struct Reject: Sendable, Hashable, Codable {
        /// The reject's number in the store.
        public let number: Int64
        /// The job's number in the store.
        public let job: Int64
        /// The record's ordinal in its job, from 1.
        public let ordinal: Int64
        /// The entity's name.
        public let entity: String
        /// The source's name.
        public let source: String
        /// The offset of the record in the source, in decompressed bytes from 0.
        public let byteOffset: Int64
        /// The record's length in the source, in bytes.
        public let length: Int64
        /// The errors of the record.
        public let errors: [ImportModel.RecordError]
        /// The original bytes, or only the first ones if the record was passed over.
        public let record: [UInt8]
        /// The state of the reject.
        public let state: RejectState
        /// The record's key, if it is from a keyed collection (`$.users.*`); for several keys (`$.files.*.functions.*`) a JSON array, the
        /// outermost first.
        public let key: String?

        // More than seven parameters, as it is a plain value: one for each property.
        package init(
            number: Int64,
            job: Int64,
            ordinal: Int64,
            entity: String,
            source: String,
            byteOffset: Int64,
            length: Int64,
            errors: [ImportModel.RecordError],
            record: [UInt8],
            state: RejectState,
            key: String?
        ) {
            self.number = number
            self.job = job
            self.ordinal = ordinal
            self.entity = entity
            self.source = source
            self.byteOffset = byteOffset
            self.length = length
            self.errors = errors
            self.record = record
            self.state = state
            self.key = key
        }

        /// True if only the first bytes of the record are stored.
        public var isPartial: Bool { Int64(record.count) < length }
    }

    /// True if an import that the store calls running really is.
    package var isLocked: Bool { StoreLock.isHeld(store: store) }

    package var noImport: ImportError {
        ImportError(
            .storeEmpty,
            at: store,
            "holds no import",
            advice: "Check the path. A stripped store has none; what its tables hold can be fetched and compared."
        )
    }

    package func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        if let (opened, interruption) = connection { return try opened.readBookkeeping(interruption, body) }
        let opened = try ReadOnlyStore(store)
        defer { opened.close() }
        return try opened.read(body)
    }

    // MARK: Reports

    package func report(of job: StoredJob, _ database: Database) throws -> ImportReport {
        let marker = try Marker(database, job: job.id) ?? Marker()
        var entities: [String: ImportReport.Counts] = [:]
        let hasNested = job.model?.isFlat == false || job.change != nil
        // Those that nothing came to have no row.
        for entity in job.model?.entities ?? [] {
            var counts = ImportReport.Counts()
            if hasNested { counts.add(NestedCounts()) } else if job.options.mirror != nil { counts.deleted = 0 }
            entities[entity.name] = counts
        }
        for row in try BookkeepingRow.all(database, from: "_import_entity", of: job.id, "ORDER BY position") {
            var counts = try ImportReport.Counts(row)
            let nested = try NestedCounts(row)
            if hasNested {
                counts.add(nested)
            } else if job.options.mirror != nil {
                counts.deleted = nested.deleted
            }
            entities[try row.text("entity")] = counts
        }
        var report = ImportReport(
            of: job,
            state(of: job),
            repaired: try repaired(by: job, database),
            entities: entities,
            chunks: max(marker.chunksDone, sealedChunks(job)),
            chunksDone: marker.chunksDone,
            bytes: marker.bytes,
            seconds: marker.seconds,
            ledger: try ledger(of: job, database),
            unresolved: try unresolved(of: job, database),
            errors: try ErrorGroupTable.groups(
                database,
                job: job.id,
                sources: job.sources.map(\.description.displayName)
            )
        )
        report.undoneBy = try undo(of: job, database)
        try addChanges(of: job, to: &report, database)
        try addMirror(of: job, to: &report, database)
        return report
    }

    /// What a job has changed or left out on the way in: how often, by entity, attribute and kind.
    package func ledger(of job: StoredJob, _ database: Database) throws -> [String: [String: [String: Int64]]] {
        var ledger: [String: [String: [String: Int64]]] = [:]
        for row in try BookkeepingRow.ledger(of: job.id, database) {
            let (entity, attribute) = (try row.text("entity"), try row.text("attribute"))
            ledger[entity, default: [:]][attribute, default: [:]][try row.text("kind")] = try row.number("count")
        }
        return ledger
    }

    /// How many changes of a job have deleted an object; nil where it imports records.
    package func deleted(by job: StoredJob, _ database: Database) throws -> Int64? {
        guard job.change != nil else { return nil }
        return try BookkeepingRow.all(database, "deletions", from: "_import_entity", of: job.id)
            .reduce(Int64(0)) { $0.addingClamped(try $1.number("deletions")) }
    }

    /// Adds what a patch counts beyond an import.
    private func addChanges(of job: StoredJob, to report: inout ImportReport, _ database: Database) throws {
        guard let deleted = try deleted(by: job, database) else { return }
        report.undoes = job.change?.undoes
        report.deleted = deleted
        let row = try BookkeepingRow.first(database, "conflicts", from: "_import_change", of: job.id)
        report.conflicts = try row?.number("conflicts") ?? 0
        report.conflictList = try BookkeepingRow.fetchAll(
            database,
            from: "_import_found_conflict",
            sql: "SELECT content FROM _import_found_conflict WHERE job = ? ORDER BY number LIMIT ?",
            arguments: [job.id, PatchConflict.mostListed]
        ).map { try $0.json("content") }
    }

    /// Adds what a mirror counts beyond an import.
    private func addMirror(of job: StoredJob, to report: inout ImportReport, _ database: Database) throws {
        guard job.options.mirror != nil else { return }
        (report.deleted, report.withheld, report.deletedList) = (0, 0, [])
        let row = try BookkeepingRow.first(database, from: "_import_mirror", of: job.id)
        guard let row else { return }
        report.deleted = try row.number("deleted")
        report.withheld = try row.number("withheld")
        report.deletedList = try row.json("objects")
        if try row.optionalText("reason") != nil { report.withheldReason = try row.choice("reason") }
    }

    /// The job's rejects that were repaired since; of a retry, those that it has repaired.
    package func repaired(by job: StoredJob, _ database: Database) throws -> Int64 {
        let (table, condition) =
            job.retry == nil ? ("_import_reject", "state = 'repaired'") : ("_import_retry", "outcome = 'taken'")
        return try database.count(table, where: "job = \(job.id) AND \(condition)")
    }

    /// Chunks that the job's directory knows of; 0 when it is gone.
    private func sealedChunks(_ job: StoredJob) -> Int {
        guard job.change == nil, let directory = try? ChunkDirectory(path: job.chunkDirectory, creates: false),
            let content = try? ChunkManifest.readWhatIsSound(in: directory),
            content.header.job == (job.takesChunks ? nil : job.token)
        else { return 0 }
        return content.entries.last?.number ?? 0
    }
}

extension ImportReport.Counts {
    /// Those of a row of `_import_entity`.
    package init(_ row: BookkeepingRow) throws {
        self.init()
        recordsRead = try row.number("records_read")
        inserted = try row.number("inserted")
        updated = try row.number("updated")
        unchanged = try row.number("unchanged")
        ignored = try row.number("ignored")
        rejected = try row.number("rejected")
    }
}
