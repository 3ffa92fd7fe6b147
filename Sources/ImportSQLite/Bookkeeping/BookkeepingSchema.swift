import GRDB
import ImportEngine
import ImportSources

/// The importer's own tables in a store: all of them, a line for each column.
///
/// Their names begin with `_import_`. All are strict (<https://www.sqlite.org/stricttables.html>). A job is one import, patch,
/// undo, merge or mirror; `job` is its number, and `position` an entity's or a source's index in it, from 0. Positions in
/// sources are in decompressed bytes, and ordinals are records' numbers in their job, from 1. Times are ISO 8601 in UTC.
///
/// A store with an import has those of `lasting`. Each other one is made in the transaction that first needs it (`make`), and goes
/// with the end of a job, or of what is left of it, when it is empty (`dropEmpty`).
package enum BookkeepingSchema {
    /// The format that this program writes, and the only one that it reads.
    package static let format: Int64 = 1

    /// The statements of each table, without the comments, by its name: the indexes of one come after it.
    private static let statements: [String: String] = {
        let text = Array((jobs + progress + rejects + identifiers + indexes + relationships + changes + mirrors).utf8)
        let (dash, blank) = (UInt8(ascii: "-"), UInt8(ascii: " "))
        var statements: [String: String] = [:]
        var table = ""
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let comment = line.indices.dropLast().first { line[$0] == dash && line[$0 + 1] == dash } ?? line.endIndex
            guard let last = line[..<comment].lastIndex(where: { $0 != blank }) else { continue }
            let code = line[...last]
            if code.starts(with: creation.utf8) {
                table = String(decoding: code.dropFirst(creation.utf8.count).prefix { $0 != blank }, as: UTF8.self)
            }
            statements[table, default: ""] += String(decoding: code, as: UTF8.self) + "\n"
        }
        return statements
    }()

    private static let creation = "CREATE TABLE IF NOT EXISTS "

    /// What SQLite keeps of each table (`sqlite_master`), by its name.
    package static let texts = statements.mapValues { statement in
        let table = statement.utf8.dropFirst(creation.utf8.count).prefix { $0 != UInt8(ascii: ";") }
        return "CREATE TABLE " + String(Substring(table))
    }

    /// The tables that a store with an import has.
    package static let lasting = ["meta", "document", "job", "source", "entity", "chunk", "merge", "addition"]
        .map { "_import_\($0)" }

    /// What takes a job back is read together.
    package static let undo = ["_import_undo", "_import_undo_range", "_import_undo_table"]

    // MARK: Making and dropping

    /// Makes tables that are not there.
    package static func make(_ tables: [String], _ database: Database) throws {
        for table in tables where try !database.hasTable(table) {
            guard let sql = statements[table] else { throw ImportError(.fault, "there is no table \(table)") }
            try database.execute(sql: sql)
        }
    }

    /// Makes all tables, for a job that is more than an import.
    static func makeAll(_ database: Database) throws { try make(texts.keys.sorted(), database) }

    /// Drops the tables that hold nothing, of those that are made when they are needed, where no job is unfinished.
    package static func dropEmpty(_ database: Database) throws {
        guard try StoredJob.areAllFinished(database) else { return }
        let others = texts.keys.filter { !lasting.contains($0) && !undo.contains($0) }.sorted()
        for tables in [undo] + others.map({ [$0] }) {
            let there = try tables.filter { try database.hasTable($0) }
            if try there.contains(where: { try BookkeepingSchema.hasRows($0, database) }) { continue }
            for table in there { try database.execute(sql: "DROP TABLE main.\(table)") }
        }
    }

    // MARK: Jobs

    private static let jobs = """
        -- What holds for the whole store.
        CREATE TABLE IF NOT EXISTS _import_meta (
            key TEXT PRIMARY KEY,           -- 'format'; the merge log's stamp; the highest row ids given in tables
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        -- What jobs have in common, each text once.
        CREATE TABLE IF NOT EXISTS _import_document (
            id INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,             -- 'model': a model file; 'options'; 'layout': a source's shape and entities
            content TEXT NOT NULL           -- JSON
        ) STRICT;
        CREATE TABLE IF NOT EXISTS _import_job (
            id INTEGER PRIMARY KEY,
            token TEXT NOT NULL,            -- 32 hexadecimal digits, also in the manifest of its chunks
            state TEXT NOT NULL,            -- as in reports
            message TEXT,                   -- why it stopped
            options INTEGER NOT NULL REFERENCES _import_document (id),      -- what its result depends on, but for a model
            given_model INTEGER REFERENCES _import_document (id),   -- NULL where it is inferred
            is_given INTEGER NOT NULL,      -- 1 where a person has given it, and not the job that is retried
            model INTEGER REFERENCES _import_document (id), -- NULL until it is inferred
            is_model_final INTEGER NOT NULL DEFAULT 1,      -- 0 while it is inferred from what was read so far
            chunk_directory TEXT NOT NULL,
            started TEXT NOT NULL,
            finished TEXT,
            is_appending INTEGER NOT NULL DEFAULT 0,        -- 1 while it appends to tables that were empty
            -- The marker: how far it has come, and where it goes on.
            source INTEGER NOT NULL DEFAULT 0,
            byte_offset INTEGER NOT NULL DEFAULT 0,
            record_ordinal INTEGER NOT NULL DEFAULT 0,
            record_path TEXT NOT NULL DEFAULT '',
            chunk_start TEXT NOT NULL DEFAULT '',           -- JSON: where the chunk begins
            chunk_records INTEGER NOT NULL DEFAULT 0,       -- those of it that are in
            chunk_hash TEXT NOT NULL DEFAULT '',            -- of the source's bytes up to the marker
            bytes INTEGER NOT NULL DEFAULT 0,
            chunks_done INTEGER NOT NULL DEFAULT 0,
            commits INTEGER NOT NULL DEFAULT 0,
            seconds REAL NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX IF NOT EXISTS _import_job_state ON _import_job (state, model, is_given);
        -- The sources of a job.
        CREATE TABLE IF NOT EXISTS _import_source (
            job INTEGER NOT NULL,
            position INTEGER NOT NULL,
            key TEXT NOT NULL,              -- its path and member, or the hash of what a stream begins with
            layout INTEGER NOT NULL REFERENCES _import_document (id),
            description TEXT NOT NULL,      -- JSON
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS _import_source_key ON _import_source (key);
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
            deletions INTEGER NOT NULL DEFAULT 0,           -- changes that have deleted an object
            nested INTEGER NOT NULL DEFAULT 0,              -- nested objects, and what became of them; links
            nested_inserted INTEGER NOT NULL DEFAULT 0,
            nested_updated INTEGER NOT NULL DEFAULT 0,
            nested_unchanged INTEGER NOT NULL DEFAULT 0,
            nested_ignored INTEGER NOT NULL DEFAULT 0,
            linked INTEGER NOT NULL DEFAULT 0,
            stubs INTEGER NOT NULL DEFAULT 0,
            deleted INTEGER NOT NULL DEFAULT 0,
            fingerprint TEXT,                   -- JSON: what was known of the table when the job ended
            PRIMARY KEY (job, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS _import_entity_table ON _import_entity (table_name COLLATE NOCASE);
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
        -- What was changed or left out on the way in, and the groups of errors.
        CREATE TABLE IF NOT EXISTS _import_ledger (
            id INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,
            entity TEXT NOT NULL,           -- '' for what is outside of records
            attribute TEXT NOT NULL,        -- or a path
            kind TEXT NOT NULL,             -- or an error's code
            count INTEGER NOT NULL,
            is_error INTEGER NOT NULL DEFAULT 0,
            expected TEXT NOT NULL DEFAULT '',      -- of an error, as what follows
            found TEXT NOT NULL DEFAULT '',
            first_source INTEGER,
            first_byte_offset INTEGER,
            first_ordinal INTEGER,
            UNIQUE (job, is_error, entity, attribute, kind, expected, found)
        ) STRICT;
        -- What is outside of the records of each source.
        CREATE TABLE IF NOT EXISTS _import_outside (
            job INTEGER NOT NULL,
            source INTEGER NOT NULL,
            byte_offset INTEGER NOT NULL,
            path TEXT NOT NULL,
            value TEXT NOT NULL,            -- JSON
            PRIMARY KEY (job, source, byte_offset)
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
        -- What jobs have added to tables.
        CREATE TABLE IF NOT EXISTS _import_addition (
            number INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            kind TEXT NOT NULL,             -- 'column', 'index', 'key', 'table'; 'rows', and 'end' where a job left fewer
            name TEXT,                      -- of a column, index or table
            last_rowid INTEGER,             -- of the rows; of an end, the table's
            ranges BLOB                     -- of the rows: packed row ids
        ) STRICT;

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

        """

    // MARK: Relationships

    private static let relationships = """
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
            undoes INTEGER,                 -- the job that an undo takes back
            conflicts INTEGER NOT NULL DEFAULT 0,
            has_log INTEGER NOT NULL,       -- 1 where what it takes to undo it is kept
            is_ended INTEGER NOT NULL DEFAULT 0,
            header BLOB                     -- of its change set
        ) STRICT;
        CREATE INDEX IF NOT EXISTS _import_change_undoes ON _import_change (undoes);
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
