import Foundation
import GRDB
import ImportModel

/// Begins, resumes and ends the job that a patch is.
struct PatchJob {
    let context: RunContext
    /// Locked.
    let destination: SQLiteDestination

    /// Begins a patch.
    ///
    /// - Returns: its report, when it is finished.
    /// - Throws: `ImportError`; with `ChangeStop` where it stops, and can be resumed.
    func begin(_ planned: StoredJob, _ header: ChangeSetHeader) throws -> ImportReport {
        try ChangeJob(context: context, destination: destination).run { session in
            var job = planned
            try session.record { database in
                try StoreSchema.prepareBookkeeping(database, store: session.store)
                if session.keepsWAL { try WALMode.keep(database) }
                try job.insert(database)
                let schema = try schema(header, job, session, database)
                try PatchCounts.begin(job, schema.entities.map { ($0.name, $0.table) }, header: header, database)
                if job.change?.options.keepsUndo ?? false {
                    try UndoLog.begin(job.id, WatchedTable.all(database), database)
                }
                try TableWitness.forget(schema.entities.map(\.table), database)
            }
            return try PatchRun(session, job, header, context)
        }
    }

    /// Resumes one.
    ///
    /// - Parameter options: other policies for conflicts, where they are given anew.
    func resume(_ interrupted: StoredJob, _ options: PatchOptions? = nil) throws -> ImportReport {
        guard var change = interrupted.change, let path = interrupted.sources.first?.description.path else {
            throw ImportError(.fault, at: context.store, "a patch without a change set")
        }
        if let options { change.options.conflicts = options.conflicts }
        return try ChangeJob(context: context, destination: destination).run { session in
            var job = interrupted
            try session.bringUp()
            try verify(job, session)
            let check = PatchCheck(store: context.store, options: change.options, interruption: context.interruption)
            let findings = try check.run(path, compares: false)
            change.endOffset = findings.endOffset
            job.change = change
            try session.write { try job.saveOptions($0) }
            return try PatchRun(session, job, findings.header, context)
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
            SideSchema(session.store, database, identifiers: job.change?.options.identifiers ?? [:]),
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
