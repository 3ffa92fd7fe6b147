extension Migrator.Step {
    /// Adds the history of the store's models.
    static let format7 = Migrator.Step(
        to: 7,
        texts: BookkeepingTable.texts(in: tablesOfFormat4 + tablesOfFormat5 + tablesOfFormat6 + tablesOfFormat7)
    ) { try $0.execute(sql: tablesOfFormat7) }

    /// The bookkeeping table that format 7 adds: which model a store had, up to which job, and how it became another.
    static let tablesOfFormat7 = """
        CREATE TABLE IF NOT EXISTS _import_migration (
            id INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,
            model_before INTEGER NOT NULL,
            model INTEGER NOT NULL,
            migrated TEXT NOT NULL,
            steps TEXT NOT NULL
        ) STRICT;
        """
}
