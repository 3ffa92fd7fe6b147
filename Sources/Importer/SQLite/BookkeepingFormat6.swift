extension Migrator.Step {
    /// Adds where incomplete records wait for the identifiers to be settled, what takes an import back, and which rows are nothing
    /// but what others refer to.
    static let format6 = Migrator.Step(
        to: 6,
        texts: BookkeepingTable.texts(in: tablesOfFormat4 + tablesOfFormat5 + tablesOfFormat6)
    ) { try $0.execute(sql: tablesOfFormat6) }

    /// The bookkeeping tables that format 6 adds.
    static let tablesOfFormat6 = """
        CREATE TABLE IF NOT EXISTS _import_incomplete (
            job INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            last_rowid INTEGER NOT NULL,
            source INTEGER NOT NULL,
            byte_offset INTEGER NOT NULL,
            length INTEGER NOT NULL,
            record_key TEXT,
            content BLOB NOT NULL,
            record BLOB NOT NULL,
            PRIMARY KEY (job, entity, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_reversal (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            is_whole INTEGER NOT NULL,
            PRIMARY KEY (job, table_name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_before (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            key BLOB NOT NULL,
            cells BLOB,
            PRIMARY KEY (job, table_name, key)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_reference (
            job INTEGER NOT NULL,
            relationship TEXT NOT NULL,
            table_name TEXT NOT NULL,
            holder BLOB NOT NULL,
            target BLOB NOT NULL,
            ordinal INTEGER NOT NULL,
            PRIMARY KEY (job, relationship, table_name, holder, target)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_unmet (
            job INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            relationship TEXT NOT NULL,
            target BLOB NOT NULL,
            PRIMARY KEY (job, ordinal, relationship, target)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_stub (
            table_name TEXT NOT NULL,
            key BLOB NOT NULL,
            PRIMARY KEY (table_name, key)
        ) STRICT, WITHOUT ROWID;
        """
}
