/// The importer's own tables in a store: all of them, a line for each column.
///
/// Their names begin with `_import_`. All are strict (<https://www.sqlite.org/stricttables.html>). A job is one import, patch,
/// undo, merge or mirror; `job` is its number, and `position` an entity's or a source's index in it, from 0. Positions in
/// sources are in decompressed bytes, and ordinals are records' numbers in their job, from 1. Times are ISO 8601 in UTC.
enum BookkeepingSchema {
    /// The format that this program writes, and the only one that it reads.
    static let format: Int64 = 1

    /// The statements that make the tables, without the comments.
    static let statements = (jobs + progress + rejects + identifiers + indexes + relationships + changes + mirrors)
        .split(separator: "\n")
        .map { $0.prefix(upTo: $0.firstRange(of: "--")?.lowerBound ?? $0.endIndex) }
        .map { $0.prefix(upTo: $0.lastIndex { $0 != " " }.map($0.index(after:)) ?? $0.startIndex) }
        .joined(separator: "\n")

    /// What SQLite keeps of each table (`sqlite_master`), by its name.
    static let texts = BookkeepingTable.texts(in: statements)

    // MARK: Jobs

    private static let jobs = """
        -- What holds for the whole store.
        CREATE TABLE IF NOT EXISTS _import_meta (
            key TEXT PRIMARY KEY,           -- 'format'; the merge log's stamp; the highest row ids given in tables
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- The models that jobs were done with, each once.
        CREATE TABLE IF NOT EXISTS _import_model (
            id INTEGER PRIMARY KEY,
            model TEXT NOT NULL             -- a model file
        ) STRICT;
        CREATE TABLE IF NOT EXISTS _import_job (
            id INTEGER PRIMARY KEY,
            token TEXT NOT NULL,            -- 32 hexadecimal digits, also in the manifest of its chunks
            state TEXT NOT NULL,            -- as in reports
            message TEXT,                   -- why it stopped
            options TEXT NOT NULL,          -- JSON: what its result depends on
            model INTEGER REFERENCES _import_model (id),    -- NULL until it is inferred
            is_model_final INTEGER NOT NULL DEFAULT 1,      -- 0 while it is inferred from what was read so far
            chunk_directory TEXT NOT NULL,
            started TEXT NOT NULL,
            finished TEXT
        ) STRICT;
        CREATE TABLE IF NOT EXISTS _import_source (
            job INTEGER NOT NULL,
            position INTEGER NOT NULL,
            description TEXT NOT NULL,      -- JSON: path, size, times, fingerprint
            shape TEXT NOT NULL,            -- JSON: layout and record paths
            entities TEXT NOT NULL,         -- JSON: the entity of each record path
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        -- The entities of a job, and how many records of each it has read and what became of them.
        CREATE TABLE IF NOT EXISTS _import_entity (
            job INTEGER NOT NULL,
            position INTEGER NOT NULL,
            entity TEXT NOT NULL,
            table_name TEXT NOT NULL,       -- '' where it shares the table of another
            rows_before INTEGER NOT NULL,
            last_rowid_before INTEGER NOT NULL,
            made_table INTEGER NOT NULL,    -- 1 where the job has made it
            records_read INTEGER NOT NULL DEFAULT 0,
            inserted INTEGER NOT NULL DEFAULT 0,
            updated INTEGER NOT NULL DEFAULT 0,
            unchanged INTEGER NOT NULL DEFAULT 0,
            ignored INTEGER NOT NULL DEFAULT 0,
            rejected INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        -- Files that were made beside the store, noted before they are made: no others are removed.
        CREATE TABLE IF NOT EXISTS _import_file (
            token TEXT NOT NULL,            -- of the job
            path TEXT NOT NULL,
            kind TEXT NOT NULL,
            state TEXT NOT NULL,
            is_made INTEGER NOT NULL,
            device INTEGER,
            inode INTEGER,
            PRIMARY KEY (token, path)
        ) STRICT, WITHOUT ROWID;
        -- The models that the store had before migrations.
        CREATE TABLE IF NOT EXISTS _import_migration (
            id INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,           -- the last one before it
            model_before INTEGER NOT NULL,
            model INTEGER NOT NULL,
            migrated TEXT NOT NULL,         -- when
            steps TEXT NOT NULL             -- JSON: what was changed
        ) STRICT;

        """

    // MARK: Progress

    private static let progress = """
        -- How far a job has come: it goes on there.
        CREATE TABLE IF NOT EXISTS _import_marker (
            job INTEGER PRIMARY KEY,
            source INTEGER NOT NULL,
            byte_offset INTEGER NOT NULL,
            record_ordinal INTEGER NOT NULL,
            record_path TEXT NOT NULL,
            chunk_start TEXT NOT NULL,      -- JSON: where the chunk begins
            chunk_records INTEGER NOT NULL, -- those of it that are in
            chunk_hash TEXT NOT NULL,       -- of the source's bytes up to the marker
            bytes INTEGER NOT NULL,
            chunks_done INTEGER NOT NULL,
            commits INTEGER NOT NULL,
            seconds REAL NOT NULL
        ) STRICT;
        -- What each chunk has of each entity.
        CREATE TABLE IF NOT EXISTS _import_chunk (
            job INTEGER NOT NULL,
            source INTEGER NOT NULL,
            first_byte INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            end_byte INTEGER NOT NULL,
            source_hash TEXT NOT NULL,      -- of these bytes of the source
            first_ordinal INTEGER NOT NULL,
            records INTEGER NOT NULL,
            inserted INTEGER NOT NULL,
            first_rowid INTEGER,            -- row ids that its records were given
            last_rowid INTEGER,
            is_complete INTEGER NOT NULL,
            PRIMARY KEY (job, source, first_byte, entity)
        ) STRICT, WITHOUT ROWID;
        -- What was changed or left out on the way in.
        CREATE TABLE IF NOT EXISTS _import_ledger (
            job INTEGER NOT NULL,
            entity TEXT NOT NULL,           -- '' for what is outside of records
            attribute TEXT NOT NULL,        -- or a path
            kind TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (job, entity, attribute, kind)
        ) STRICT, WITHOUT ROWID;
        -- The newest merge notifications, for readers in other processes.
        CREATE TABLE IF NOT EXISTS _import_merge (
            sequence INTEGER PRIMARY KEY,
            stamp INTEGER NOT NULL,         -- of the log: another one after a reset
            job INTEGER NOT NULL,
            commits INTEGER NOT NULL,
            is_finished INTEGER NOT NULL,
            needs_refresh INTEGER NOT NULL,
            source INTEGER NOT NULL,        -- the marker of the commit
            byte_offset INTEGER NOT NULL,
            record_ordinal INTEGER NOT NULL,
            record_path BLOB NOT NULL,
            bytes INTEGER NOT NULL,
            chunks_done INTEGER NOT NULL,
            seconds REAL NOT NULL,
            changes BLOB NOT NULL,          -- packed: what was inserted, updated and deleted of each entity
            totals BLOB NOT NULL
        ) STRICT;
        -- Which rows imports have inserted: those a mirror may delete.
        CREATE TABLE IF NOT EXISTS _import_inserted (
            number INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            last_rowid INTEGER NOT NULL,
            ranges BLOB                     -- packed row ids; NULL where a job has ended with this row id as the table's last
        ) STRICT;
        -- What was known of a table when its last job ended, to tell what others have changed since.
        CREATE TABLE IF NOT EXISTS _import_table (
            table_name TEXT NOT NULL COLLATE NOCASE PRIMARY KEY,
            last_rowid INTEGER NOT NULL,
            columns TEXT NOT NULL           -- JSON: those that digests are of
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_sample (
            table_name TEXT NOT NULL COLLATE NOCASE,
            row INTEGER NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (table_name, row)
        ) STRICT, WITHOUT ROWID;

        """

    // MARK: Rejects

    private static let rejects = """
        CREATE TABLE IF NOT EXISTS _import_reject (
            id INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            entity TEXT NOT NULL,
            source INTEGER NOT NULL,
            byte_offset INTEGER NOT NULL,
            length INTEGER NOT NULL,
            errors TEXT NOT NULL,           -- JSON
            record BLOB NOT NULL,           -- its bytes in the source
            record_key TEXT,                -- JSON: the keys on the way to it
            state TEXT NOT NULL DEFAULT 'open'
        ) STRICT;
        CREATE INDEX IF NOT EXISTS _import_reject_order ON _import_reject (job, ordinal);
        -- The errors of a job in groups.
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
        -- The lines of a retry, and what became of each.
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

        """

    // MARK: Identifiers

    private static let identifiers = """
        -- While a job runs: the entities whose identifiers are settled at its end.
        CREATE TABLE IF NOT EXISTS _import_deferred_identifier (
            job INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            PRIMARY KEY (job, entity)
        ) STRICT, WITHOUT ROWID;
        -- Until then: which keys the records had that rows were made of.
        CREATE TABLE IF NOT EXISTS _import_presence (
            job INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            first_rowid INTEGER NOT NULL,
            runs BLOB NOT NULL,             -- packed
            PRIMARY KEY (job, entity, first_rowid)
        ) STRICT, WITHOUT ROWID;
        -- Until then: where they are in their source, to read those again that become rejects.
        CREATE TABLE IF NOT EXISTS _import_place (
            job INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            first_rowid INTEGER NOT NULL,
            source INTEGER NOT NULL,
            places BLOB NOT NULL,           -- packed
            PRIMARY KEY (job, entity, first_rowid)
        ) STRICT, WITHOUT ROWID;
        -- Until then: records that are complete only together with another of the same identifier.
        CREATE TABLE IF NOT EXISTS _import_incomplete (
            job INTEGER NOT NULL,
            entity INTEGER NOT NULL,
            ordinal INTEGER NOT NULL,
            last_rowid INTEGER NOT NULL,    -- the row before it
            source INTEGER NOT NULL,
            byte_offset INTEGER NOT NULL,
            length INTEGER NOT NULL,
            record_key TEXT,
            content BLOB NOT NULL,          -- packed cells
            record BLOB NOT NULL,
            PRIMARY KEY (job, entity, ordinal)
        ) STRICT, WITHOUT ROWID;

        """

    // MARK: Indexes

    private static let indexes = """
        -- Those that a job was asked for.
        CREATE TABLE IF NOT EXISTS _import_index (
            job INTEGER NOT NULL,
            position INTEGER NOT NULL,
            attributes TEXT NOT NULL,       -- JSON
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        -- While a job runs: those that it has dropped to make them again at its end, a row for each column.
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
        -- Columns, indexes and join tables that jobs have added.
        CREATE TABLE IF NOT EXISTS _import_addition (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            kind TEXT NOT NULL,             -- 'column', 'index', 'table'
            name TEXT NOT NULL,
            PRIMARY KEY (job, table_name, kind, name)
        ) STRICT, WITHOUT ROWID;

        """

    // MARK: Relationships

    private static let relationships = """
        -- Nested objects of an entity's table, and what became of them; its links.
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
        -- Links to objects that have not come yet.
        CREATE TABLE IF NOT EXISTS _import_link (
            relationship TEXT NOT NULL,
            target BLOB NOT NULL,           -- packed: what the object is found by
            source BLOB NOT NULL,           -- packed: who refers to it
            position INTEGER,               -- in an ordered list
            job INTEGER NOT NULL,
            PRIMARY KEY (relationship, target, source)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS _import_link_source ON _import_link (relationship, source);
        -- How many links of a job lead nowhere.
        CREATE TABLE IF NOT EXISTS _import_unresolved (
            job INTEGER NOT NULL,
            relationship TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (job, relationship)
        ) STRICT, WITHOUT ROWID;
        -- Objects that no record has had, made because something refers to them.
        CREATE TABLE IF NOT EXISTS _import_stub (
            table_name TEXT NOT NULL,
            key BLOB NOT NULL,
            PRIMARY KEY (table_name, key)
        ) STRICT, WITHOUT ROWID;
        -- While a job runs: children that no list has any more, deleted at its end.
        CREATE TABLE IF NOT EXISTS _import_orphan (
            job INTEGER NOT NULL,
            relationship TEXT NOT NULL,
            target BLOB NOT NULL,
            PRIMARY KEY (job, relationship, target)
        ) STRICT, WITHOUT ROWID;
        -- While a job runs: it appends to tables that were empty.
        CREATE TABLE IF NOT EXISTS _import_appending (job INTEGER PRIMARY KEY) STRICT;
        -- While a job runs that rejects records whose references lead nowhere: what takes it back.
        CREATE TABLE IF NOT EXISTS _import_reversal (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            is_whole INTEGER NOT NULL,      -- 1 where the table was empty before
            PRIMARY KEY (job, table_name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_before (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            key BLOB NOT NULL,
            cells BLOB,                     -- packed: the row as it was; NULL where there was none
            PRIMARY KEY (job, table_name, key)
        ) STRICT, WITHOUT ROWID;
        -- Such references, and in the end those that lead nowhere.
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

        """

    // MARK: Changes

    private static let changes = """
        -- Jobs that are patches, undos or merges, or that can be undone.
        CREATE TABLE IF NOT EXISTS _import_change (
            job INTEGER PRIMARY KEY,
            conflicts INTEGER NOT NULL DEFAULT 0,
            has_log INTEGER NOT NULL,       -- 1 where what it takes to undo it is kept
            is_ended INTEGER NOT NULL DEFAULT 0,
            header BLOB                     -- of its change set
        ) STRICT;
        CREATE TABLE IF NOT EXISTS _import_deletion (
            job INTEGER NOT NULL,
            position INTEGER NOT NULL,
            records INTEGER NOT NULL,
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        -- While a patch runs: changes that wait for others, and conflicts that were found.
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
            content TEXT NOT NULL,          -- JSON
            PRIMARY KEY (job, number)
        ) STRICT, WITHOUT ROWID;
        -- Those that a merge leaves to be resolved.
        CREATE TABLE IF NOT EXISTS _import_conflict (
            number INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,
            resolved INTEGER,               -- the job that has
            line BLOB NOT NULL              -- as a change set has it
        ) STRICT;
        -- What takes a job back: its tables, rows as they were, and ranges of rows that it has inserted.
        CREATE TABLE IF NOT EXISTS _import_undo_table (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            columns TEXT NOT NULL,          -- JSON
            is_whole INTEGER NOT NULL,      -- 1 while all rows are the job's: the table was empty
            PRIMARY KEY (job, table_name)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_undo (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            number INTEGER NOT NULL,        -- of the key: rows of neighbouring row ids are on the same pages
            key BLOB NOT NULL,
            before BLOB,                    -- packed cells; NULL for no row
            after BLOB,
            PRIMARY KEY (job, table_name, number, key)
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

    // MARK: Mirrors

    private static let mirrors = """
        -- The rows that a job has seen, in pages of row ids.
        CREATE TABLE IF NOT EXISTS _import_seen (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            page INTEGER NOT NULL,
            content BLOB NOT NULL,          -- packed
            PRIMARY KEY (job, table_name, page)
        ) STRICT, WITHOUT ROWID;
        -- What a mirror has deleted, or has not and why.
        CREATE TABLE IF NOT EXISTS _import_mirror (
            job INTEGER PRIMARY KEY,
            is_done INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            withheld INTEGER NOT NULL,
            reason TEXT,
            objects TEXT NOT NULL           -- JSON: how many of each entity
        ) STRICT;
        """
}
