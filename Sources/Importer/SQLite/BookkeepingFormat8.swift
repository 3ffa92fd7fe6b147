extension Migrator.Step {
    /// Adds what patches keep: their conflicts, those that merges leave, what they have deleted, changes that wait, and how jobs are to be undone.
    ///
    /// A table is whole where it was empty when its job began: all of its rows are the job's as long as that is not finished,
    /// and those of its ranges of row ids then.
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
            conflicts INTEGER NOT NULL DEFAULT 0,
            has_log INTEGER NOT NULL,
            is_ended INTEGER NOT NULL DEFAULT 0,
            header BLOB
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
        CREATE TABLE IF NOT EXISTS _import_conflict (
            number INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,
            resolved INTEGER,
            line BLOB NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS _import_undo_table (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            columns TEXT NOT NULL,
            is_whole INTEGER NOT NULL,
            PRIMARY KEY (job, table_name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_undo (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            key BLOB NOT NULL,
            before BLOB,
            after BLOB,
            PRIMARY KEY (job, table_name, key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_undo_range (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            first_rowid INTEGER NOT NULL,
            last_rowid INTEGER NOT NULL,
            first_key BLOB NOT NULL,
            last_key BLOB NOT NULL,
            PRIMARY KEY (job, table_name, first_rowid)
        ) STRICT, WITHOUT ROWID;
        """
}
