extension Migrator.Step {
    /// Brings any older store to format 4, the first that is frozen; a store that is made begins here, too.
    ///
    /// Stores of formats before it differ from one another: what they lack is made, and filled from what they have.
    static let format4 = Migrator.Step(to: 4, texts: BookkeepingTable.texts(in: tablesOfFormat4)) { database in
        let lacksErrors = try !database.tableExists(ErrorGroupTable.name)
        try database.execute(sql: tablesOfFormat4)
        if lacksErrors { try ErrorGroupTable.fill(database) }
        try DroppedIndexes.bringUp(database)
    }

    /// Adds what imports of entities that relate to one another keep.
    static let format5 = Migrator.Step(to: 5, texts: BookkeepingTable.texts(in: tablesOfFormat4 + tablesOfFormat5)) {
        try $0.execute(sql: tablesOfFormat5)
    }

    /// The bookkeeping tables that format 5 adds.
    static let tablesOfFormat5 = """
        CREATE TABLE IF NOT EXISTS _import_nested (
            job INTEGER NOT NULL,
            position INTEGER NOT NULL,
            nested INTEGER NOT NULL DEFAULT 0,
            inserted INTEGER NOT NULL DEFAULT 0,
            updated INTEGER NOT NULL DEFAULT 0,
            unchanged INTEGER NOT NULL DEFAULT 0,
            ignored INTEGER NOT NULL DEFAULT 0,
            linked INTEGER NOT NULL DEFAULT 0,
            stubs INTEGER NOT NULL DEFAULT 0,
            deleted INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_link (
            relationship TEXT NOT NULL,
            target BLOB NOT NULL,
            source BLOB NOT NULL,
            position INTEGER,
            job INTEGER NOT NULL,
            PRIMARY KEY (relationship, target, source)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS _import_link_source ON _import_link (relationship, source);
        CREATE TABLE IF NOT EXISTS _import_orphan (
            job INTEGER NOT NULL,
            relationship TEXT NOT NULL,
            target BLOB NOT NULL,
            PRIMARY KEY (job, relationship, target)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_appending (job INTEGER PRIMARY KEY) STRICT;
        CREATE TABLE IF NOT EXISTS _import_unresolved (
            job INTEGER NOT NULL,
            relationship TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (job, relationship)
        ) STRICT, WITHOUT ROWID;
        """

    /// The bookkeeping tables of format 4.
    static let tablesOfFormat4 = """
        CREATE TABLE IF NOT EXISTS _import_meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_model (id INTEGER PRIMARY KEY, model TEXT NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS _import_job (
            id INTEGER PRIMARY KEY,
            token TEXT NOT NULL,
            state TEXT NOT NULL,
            message TEXT,
            options TEXT NOT NULL,
            model INTEGER REFERENCES _import_model (id),
            is_model_final INTEGER NOT NULL DEFAULT 1,
            chunk_directory TEXT NOT NULL,
            started TEXT NOT NULL,
            finished TEXT
        ) STRICT;
        CREATE TABLE IF NOT EXISTS _import_source (
            job INTEGER NOT NULL,
            position INTEGER NOT NULL,
            description TEXT NOT NULL,
            shape TEXT NOT NULL,
            entities TEXT NOT NULL,
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_entity (
            job INTEGER NOT NULL,
            position INTEGER NOT NULL,
            entity TEXT NOT NULL,
            table_name TEXT NOT NULL,
            rows_before INTEGER NOT NULL,
            last_rowid_before INTEGER NOT NULL,
            made_table INTEGER NOT NULL,
            records_read INTEGER NOT NULL DEFAULT 0,
            inserted INTEGER NOT NULL DEFAULT 0,
            updated INTEGER NOT NULL DEFAULT 0,
            unchanged INTEGER NOT NULL DEFAULT 0,
            ignored INTEGER NOT NULL DEFAULT 0,
            rejected INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_chunk (
            job INTEGER NOT NULL,
            source INTEGER NOT NULL,
            first_byte INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            end_byte INTEGER NOT NULL,
            source_hash TEXT NOT NULL,
            first_ordinal INTEGER NOT NULL,
            records INTEGER NOT NULL,
            inserted INTEGER NOT NULL,
            first_rowid INTEGER,
            last_rowid INTEGER,
            is_complete INTEGER NOT NULL,
            PRIMARY KEY (job, source, first_byte, entity)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_marker (
            job INTEGER PRIMARY KEY,
            source INTEGER NOT NULL,
            byte_offset INTEGER NOT NULL,
            record_ordinal INTEGER NOT NULL,
            record_path TEXT NOT NULL,
            chunk_start TEXT NOT NULL,
            chunk_records INTEGER NOT NULL,
            chunk_hash TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            chunks_done INTEGER NOT NULL,
            commits INTEGER NOT NULL,
            seconds REAL NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS _import_reject (
            id INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            entity TEXT NOT NULL,
            source INTEGER NOT NULL,
            byte_offset INTEGER NOT NULL,
            length INTEGER NOT NULL,
            errors TEXT NOT NULL,
            record BLOB NOT NULL,
            state TEXT NOT NULL DEFAULT 'open'
        ) STRICT;
        CREATE INDEX IF NOT EXISTS _import_reject_order ON _import_reject (job, ordinal);
        CREATE TABLE IF NOT EXISTS _import_ledger (
            job INTEGER NOT NULL,
            entity TEXT NOT NULL,
            attribute TEXT NOT NULL,
            kind TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (job, entity, attribute, kind)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_deferred_identifier (
            job INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            PRIMARY KEY (job, entity)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_presence (
            job INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            first_rowid INTEGER NOT NULL,
            runs BLOB NOT NULL,
            PRIMARY KEY (job, entity, first_rowid)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_place (
            job INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            first_rowid INTEGER NOT NULL,
            source INTEGER NOT NULL,
            places BLOB NOT NULL,
            PRIMARY KEY (job, entity, first_rowid)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_error (
            id INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,
            entity TEXT NOT NULL,
            key_path TEXT NOT NULL,
            code TEXT NOT NULL,
            expected TEXT NOT NULL,
            found TEXT NOT NULL,
            count INTEGER NOT NULL,
            first_source INTEGER NOT NULL,
            first_byte_offset INTEGER NOT NULL,
            first_ordinal INTEGER NOT NULL,
            UNIQUE (job, entity, key_path, code, expected, found)
        ) STRICT;
        CREATE TABLE IF NOT EXISTS _import_waiting_index (
            job INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            number INTEGER NOT NULL,
            position INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            name TEXT NOT NULL,
            is_unique INTEGER NOT NULL,
            is_identifier INTEGER NOT NULL,
            column_name TEXT NOT NULL,
            collation TEXT NOT NULL,
            is_descending INTEGER NOT NULL,
            PRIMARY KEY (job, entity, number, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_index (
            job INTEGER NOT NULL,
            position INTEGER NOT NULL,
            attributes TEXT NOT NULL,
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_table (
            table_name TEXT NOT NULL COLLATE NOCASE PRIMARY KEY,
            last_rowid INTEGER NOT NULL,
            columns TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_sample (
            table_name TEXT NOT NULL COLLATE NOCASE,
            row INTEGER NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (table_name, row)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_file (
            token TEXT NOT NULL,
            path TEXT NOT NULL,
            kind TEXT NOT NULL,
            state TEXT NOT NULL,
            is_made INTEGER NOT NULL,
            device INTEGER,
            inode INTEGER,
            PRIMARY KEY (token, path)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_addition (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            PRIMARY KEY (job, table_name, kind, name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_reject_key (reject INTEGER PRIMARY KEY, record_key TEXT NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS _import_retry (
            job INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            reject INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            is_text INTEGER NOT NULL,
            record_key TEXT,
            outcome TEXT,
            PRIMARY KEY (job, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_merge (
            sequence INTEGER PRIMARY KEY,
            stamp INTEGER NOT NULL,
            job INTEGER NOT NULL,
            commits INTEGER NOT NULL,
            is_finished INTEGER NOT NULL,
            needs_refresh INTEGER NOT NULL,
            source INTEGER NOT NULL,
            byte_offset INTEGER NOT NULL,
            record_ordinal INTEGER NOT NULL,
            record_path BLOB NOT NULL,
            bytes INTEGER NOT NULL,
            chunks_done INTEGER NOT NULL,
            seconds REAL NOT NULL,
            changes BLOB NOT NULL,
            totals BLOB NOT NULL
        ) STRICT;

        """
}
