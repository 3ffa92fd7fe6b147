import GRDB
import ImportEngine
import ImportModel
import ImportSQLite

/// What the store keeps that is about its model before.
extension MigrationPlanner {
    /// Says which jobs can no longer be undone afterwards.
    mutating func addUndoableJobs() throws {
        guard !steps.isEmpty else { return }
        let kept =
            try database.hasTable("_import_change")
            ? Set(Int64.fetchAll(database, sql: "SELECT job FROM _import_change WHERE has_log")) : []
        let undone = try StoredJob.undone(database)
        var undoable = kept.subtracting(undone)
        // Of imports that can be undone without a log, the last ones are those that somebody may think of.
        for job in try StoredJob.newest(20, database) where !undone.contains(job.id) {
            if try ImportUndoLog.insertedRows(job, database)?.isEmpty == false { undoable.insert(job.id) }
        }
        guard let first = undoable.first else { return }
        let text = undoable.count == 1 ? "job \(first)" : "\(undoable.count.grouped) jobs"
        add(.undoGone, "undo", nil, "of \(text) is no longer possible afterwards")
    }

    /// A loss where some are open: they are about objects as the model before has them.
    mutating func addOpenConflicts(of store: String) throws {
        guard !steps.isEmpty else { return }
        let open = try ConflictTable(database).count(database)
        guard open > 0 else { return }
        add(
            .conflictsGone,
            "conflicts",
            nil,
            "of merges are dropped, as they are for the old model",
            ModelMigration.Obstacle(
                reason: "these are open",
                count: open,
                isLoss: true,
                advice: "List them (importer conflicts \(store.shellQuoted)), and resolve them first "
                    + "(importer resolve \(store.shellQuoted))."
            )
        )
    }
}
