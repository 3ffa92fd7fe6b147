extension Migrator.Step {
    /// Adds what patches keep: how they are to be undone, what they have deleted, their conflicts, and changes that wait.
    static let format8 = Migrator.Step(
        to: 8,
        texts: BookkeepingTable.texts(
            in: tablesOfFormat4 + tablesOfFormat5 + tablesOfFormat6 + tablesOfFormat7 + tablesOfFormat8
        )
    ) { try $0.execute(sql: tablesOfFormat8) }

    /// The bookkeeping tables that format 8 adds.
    static let tablesOfFormat8 = """
        CREATE TABLE IF NOT EXISTS _import_change (
            job INTEGER PRIMARY KEY,
            undoes INTEGER,
            conflicts INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE IF NOT EXISTS _import_deletion (
            job INTEGER NOT NULL,
            position INTEGER NOT NULL,
            records INTEGER NOT NULL,
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_waiting_change (
            job INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            position INTEGER NOT NULL,
            byte_offset INTEGER NOT NULL,
            lines BLOB NOT NULL,
            PRIMARY KEY (job, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_found_conflict (
            job INTEGER NOT NULL,
            number INTEGER NOT NULL,
            content TEXT NOT NULL,
            PRIMARY KEY (job, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_undo (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            key BLOB NOT NULL,
            before BLOB,
            after BLOB,
            PRIMARY KEY (job, table_name, key)
        ) STRICT, WITHOUT ROWID;
        """
}
