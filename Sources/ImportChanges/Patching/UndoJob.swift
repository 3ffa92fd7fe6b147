import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Begins and resumes the job that an undo is.
struct UndoJob {
    let context: RunContext
    /// Locked.
    let destination: SQLiteDestination

    /// Begins an undo.
    ///
    /// - Returns: its report, when it is finished.
    /// - Throws: `ImportError`; `ConflictStop` where it stops, and can be resumed.
    func begin(undoing undone: Int64, _ options: PatchOptions) throws -> ImportReport {
        try ChangeJob(context: context, destination: destination).run { session in
            var job = planned(undone, options)
            try session.record { database in
                try BookkeepingSchema.prepareBookkeeping(database, store: session.store, all: true)
                if session.keepsWAL { try WALMode.keep(database) }
                try end(undone, database)
                try job.insert(database)
                let schema = try UndoRun.schema(undoing: undone, store: session.store, database)
                let names = schema.tables.map { (name: $0.entity, table: $0.name) }
                try PatchCounts.begin(job, names, header: header(schema), database)
                try UndoLog.begin(job.id, schema.tables.map { try TrackedTable($0.name, database) }, database)
                try TableFingerprint.forget(names.map(\.table), database)
            }
            return try UndoRun(session, job, context)
        }
    }

    /// Ends the job that is undone, where it was interrupted.
    private func end(_ undone: Int64, _ database: Database) throws {
        guard var open = try StoredJob.find(undone, database), open.state != .finished else { return }
        let interruption = context.interruption
        let sources = SourceRecordReader(of: open, opener: context.opener, interruption: interruption)
        try open.end(sources, database) { try interruption.check() }
    }

    /// Resumes one.
    ///
    /// - Parameter options: other policies for conflicts, where other ones are given now.
    func resume(_ interrupted: StoredJob, _ options: PatchOptions? = nil) throws -> ImportReport {
        var job = interrupted
        if let options { job.change?.options.conflicts = options.conflicts }
        return try ChangeJob(context: context, destination: destination).run { session in
            try session.bringUp()
            try session.write { try job.saveOptions($0) }
            return try UndoRun(session, job, context)
        }
    }

    private func planned(_ undone: Int64, _ options: PatchOptions) -> StoredJob {
        let source = SourceDescription(name: "job \(undone)", path: nil, member: nil, size: nil, modified: nil)
        return StoredJob(.init(kind: .undo, options: options, undoes: undone), of: source, store: context.store)
    }

    /// What the lines of rejects belong to.
    private func header(_ schema: UndoSchema) -> ChangeSetHeader {
        let name = URL(filePath: context.store).lastPathComponent
        return ChangeSetHeader(
            old: .init(name: name),
            new: .init(name: name),
            entities: schema.tables.map { table in
                let identifier = table.identifier.map { table.names[$0] }
                return ChangedEntity(
                    table.entity,
                    identifier: identifier.isEmpty ? table.tracked.key : identifier,
                    attributes: table.names.map { ChangedEntity.Attribute($0) }
                )
            }
        )
    }
}
