import GRDB
import ImportModel
import ImportSQLite

/// What the store keeps that is about its model before.
extension MigrationPlanner {
    /// Says that jobs cannot be undone afterwards, where that was asked for.
    mutating func addKeptUndo() throws {
        guard !steps.isEmpty, try database.hasTable("_import_change") else { return }
        let jobs = try database.count("_import_change", where: "has_log")
        guard jobs > 0 else { return }
        add(
            .undoGone,
            "undo",
            nil,
            "of \(jobs == 1 ? "1 job" : "\(jobs) jobs") is no longer possible: what was kept for it goes"
        )
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
            "of merges go, as they are about the model before",
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
