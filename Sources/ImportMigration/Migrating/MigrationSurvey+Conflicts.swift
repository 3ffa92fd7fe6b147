import GRDB
import ImportSQLite

/// Conflicts that merges have left in the store.
extension MigrationSurvey {
    /// A loss where some are open: they are about objects as the model before has them.
    mutating func addOpenConflicts() throws {
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
                advice: "List them (importer conflicts STORE), and resolve them first (importer resolve STORE)."
            )
        )
    }
}
