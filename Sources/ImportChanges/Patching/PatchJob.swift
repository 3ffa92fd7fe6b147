import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Begins, resumes and ends the job that a patch is.
struct PatchJob {
    let context: RunContext
    /// Locked.
    let destination: SQLiteDestination
    var delegate: (any PatchDelegate)?

    /// Begins a patch.
    ///
    /// - Parameter beginning: is called in the transaction that begins it.
    /// - Returns: its report, when it is finished.
    /// - Throws: `ImportError`; with `ConflictStop` where it stops, and can be resumed.
    func begin(
        _ planned: StoredJob,
        _ header: ChangeSetHeader,
        _ beginning: PatchPipeline.Beginning?
    ) throws -> ImportReport {
        try ChangeJob(context: context, destination: destination).run { session in
            var job = planned
            try session.record { database in
                try BookkeepingSchema.prepareBookkeeping(database, store: session.store, all: true)
                if session.keepsWAL { try WALMode.keep(database) }
                try job.insert(database)
                try begin(job, header, schema(header, job, session, database), database)
                try beginning?(database, job.id)
            }
            return try PatchRun(session, job, header, context, delegate)
        }
    }

    /// Begins one whose changes are the records of a repair file.
    func retry(_ planned: StoredJob, _ plan: any RetryPlan) throws -> ImportReport {
        try ChangeJob(context: context, destination: destination).run { session in
            var job = planned
            let header = try session.record { database in
                try BookkeepingSchema.prepareBookkeeping(database, store: session.store, all: true)
                if session.keepsWAL { try WALMode.keep(database) }
                let header = try Self.header(of: plan.jobs[0], database)
                try job.insert(database)
                let schema = try schema(header, job, session, database)
                try check(job, schema)
                try begin(job, header, schema, database)
                try plan.insert(job, entities: schema.entities.map(\.name), database)
                return header
            }
            return try PatchRun(session, job, header, context, delegate)
        }
    }

    /// All lines must be changes before any is applied.
    private func check(_ job: StoredJob, _ schema: PatchSchema) throws {
        guard let path = job.sources[0].description.path else { return }
        var records = try ChangeRecords(
            path,
            ChangeLineReader(schema.described),
            after: Marker(),
            upTo: job.change?.endOffset ?? 0,
            isRepairFile: true
        )
        while let record = try records.next() {
            try context.interruption.check()
            try schema.check(record.change)
        }
    }

    /// What the lines of a job's rejects belong to.
    private static func header(of job: Int64, _ database: Database) throws -> ChangeSetHeader {
        let row = try BookkeepingRow.first(database, "header", from: "_import_change", of: job)
        guard let row, let header = try? ChangeSetHeader(row.bytes("header")) else {
            throw ImportError(.fault, "job \(job) has no change set")
        }
        return header
    }

    private func begin(
        _ job: StoredJob,
        _ header: ChangeSetHeader,
        _ schema: PatchSchema,
        _ database: Database
    ) throws {
        try PatchCounts.begin(job, schema.entities.map { ($0.name, $0.table) }, header: header, database)
        if job.change?.options.keepsUndo ?? false {
            try UndoLog.begin(job.id, TrackedTable.all(database), database)
        }
        try TableFingerprint.forget(schema.entities.map(\.table), database)
    }

    /// Resumes one.
    ///
    /// - Parameter options: other policies for conflicts, where other ones are given now.
    func resume(_ interrupted: StoredJob, _ options: PatchOptions? = nil) throws -> ImportReport {
        guard var change = interrupted.change, let path = interrupted.sources.first?.description.path else {
            throw ImportError(.fault, at: context.store, "a patch without a change set")
        }
        guard (change.hasDelegate ?? false) == (delegate != nil) else {
            throw ImportError(
                .optionsDiffer,
                at: context.store,
                "the interrupted patch was begun with\(delegate == nil ? "" : "out") a delegate",
                advice: "Resume it as it was begun: a program's delegate is not kept in the store."
            )
        }
        if let options { change.options.conflicts = options.conflicts }
        return try ChangeJob(context: context, destination: destination).run { session in
            var job = interrupted
            try session.bringUp()
            try verify(job, session)
            let header: ChangeSetHeader
            if job.retry != nil {
                header = try session.write { try Self.header(of: job.id, $0) }
                change.endOffset =
                    try context.opener.describe(path, interruption: context.interruption).first?.size ?? 0
            } else {
                let check = PatchDryRun(
                    store: context.store,
                    options: change.options,
                    interruption: context.interruption,
                    delegate: delegate
                )
                let findings = try check.run(path, named: path, compares: false)
                (header, change.endOffset) = (findings.header, findings.endOffset)
            }
            job.change = change
            try session.write { try job.saveOptions($0) }
            return try PatchRun(session, job, header, context, delegate)
        }
    }

    private func schema(
        _ header: ChangeSetHeader,
        _ job: StoredJob,
        _ session: StoreSession,
        _ database: Database
    ) throws -> PatchSchema {
        try PatchSchema(
            header,
            ComparedSchema(session.store, database, identifiers: job.change?.options.identifiers ?? [:]),
            database
        )
    }

    /// The change set must be what it was, as far as it is applied.
    private func verify(_ job: StoredJob, _ session: StoreSession) throws {
        let before = job.sources[0].description
        guard let path = before.path,
            let now = try context.opener.describe(path, interruption: context.interruption).first
        else { return }
        guard !SourceCheck.isUntouched(now, since: before) else { return }
        let check = SourceCheck(opener: context.opener, interruption: context.interruption)
        let ranges = try session.committed(of: job, source: 0).ranges
        guard !ranges.isEmpty else { return }
        let stream = try context.opener.open(now, interruption: context.interruption)
        try check.verify(stream, now.name, ranges, upTo: ranges.last?.endByte ?? 0)
    }
}
