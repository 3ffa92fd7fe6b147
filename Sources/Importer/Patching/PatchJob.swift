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
    /// - Throws: `ImportError`; with `.changesConflict` where it stops, and can be resumed.
    func begin(_ planned: StoredJob, _ header: ChangeSetHeader) throws -> ImportReport {
        try open { session in
            var job = planned
            try session.record { database in
                try StoreSchema.prepareBookkeeping(database, store: session.store)
                if session.keepsWAL { try WALMode.keep(database) }
                try job.insert(database)
                let schema = try schema(header, job, session, database)
                try PatchCounts.begin(job, schema.entities.map { ($0.name, $0.table) }, database)
                try TableWitness.forget(schema.entities.map(\.table), database)
            }
            return (job, header)
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
        return try open { session in
            var job = interrupted
            try session.bringUp()
            try verify(job, session)
            let check = PatchCheck(store: context.store, options: change.options, interruption: context.interruption)
            let findings = try check.run(path, compares: false)
            change.endOffset = findings.endOffset
            job.change = change
            try session.write { try job.saveOptions($0) }
            return (job, findings.header)
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

    private func open(_ prepare: (StoreSession) throws -> (StoredJob, ChangeSetHeader)) throws -> ImportReport {
        guard let session = try destination.open() as? StoreSession else {
            throw ImportError(.fault, at: context.store, "the store is not open")
        }
        let begun: (job: StoredJob, header: ChangeSetHeader)
        do {
            begun = try prepare(session)
        } catch {
            destination.abandon()
            throw error
        }
        var job = begun.job
        do {
            let run = try PatchRun(session, job, begun.header, context)
            do {
                context.progress.update {
                    $0.phase = .importing
                    $0.totalBytes = job.sources[0].description.plainSize
                }
                job = try session.start(job, seconds: run.seconds)
                try run.apply()
                try finish(job, begun.header, run, session)
            } catch {
                let failure = Self.explain(error, destination)
                let state: ImportReport.State = failure.isInterruption ? .interrupted : .failed
                try? session.stop(job, state, failure.message, seconds: run.seconds)
                throw error
            }
            return try destination.close(after: job)
        } catch {
            destination.fail(job)
            guard let stop = error as? PatchRun.Stop else { throw Self.explain(error, destination) }
            throw stop
        }
    }

    private func finish(_ job: StoredJob, _ header: ChangeSetHeader, _ run: PatchRun, _ session: StoreSession) throws {
        let last = try session.finish(job, message: nil, seconds: run.seconds, keepsChunks: false)
        try session.write { database in
            // What is known of a table is known by row ids.
            let tables = try schema(header, job, session, database).entities.map(\.table).filter {
                try WatchedTable($0, database).hasRowID
            }
            try TableWitness.record(tables, database)
        }
        context.merges.enqueue(last)
        try? session.removeLeftFiles()
        context.progress.update { $0.phase = .finished }
    }

    private static func explain(_ error: any Error, _ destination: SQLiteDestination) -> ImportError {
        if let stop = error as? PatchRun.Stop { return .conflicts(Int64(stop.conflicts.count), at: nil, isBegun: true) }
        return destination.explain(error)
    }
}

extension ImportError {
    /// A store is not what changes lead from.
    ///
    /// - Parameter isBegun: whether there is a job that can be resumed.
    static func conflicts(_ count: Int64, at store: String?, isBegun: Bool) -> ImportError {
        let what = count == 1 ? "in one place" : "in \(count) places"
        return ImportError(
            .changesConflict,
            at: store,
            "the store is not what the change set leads from, \(what)",
            advice: isBegun
                ? "What was committed before stays. Correct the store and resume (\(call: .resuming())), or say what is to be done (\(.conflicts))."
                : "Nothing was written. Say what is to be done (\(.conflicts)): keep, take or reject."
        )
    }
}
