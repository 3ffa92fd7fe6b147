import Importer

/// The importer's own tables in a server's schema.
///
/// They are those of a SQLite store as far as both have the same to keep. Rows that count something are a chunk's, and totals are
/// sums of them: no row is one that all workers update.
enum BookkeepingSchema {
    /// The format that this program writes, and the only one that it reads.
    static let format = "3"

    /// Statements that make what each schema with an import has, where it is not there; the comment has the format.
    private static let lasting = """
        CREATE TABLE IF NOT EXISTS _import_model (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, model text NOT NULL
        );
        CREATE TABLE IF NOT EXISTS _import_job (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, token text NOT NULL UNIQUE, state text NOT NULL, message text,
            options text NOT NULL, sources text NOT NULL DEFAULT '[]', model bigint REFERENCES _import_model,
            is_model_final boolean NOT NULL DEFAULT true,
            chunk_directory text NOT NULL, host text NOT NULL, fingerprint text NOT NULL, indexes text NOT NULL DEFAULT '[]',
            is_split boolean NOT NULL DEFAULT false, owner text NOT NULL DEFAULT '', epoch bigint NOT NULL DEFAULT 0,
            seconds double precision NOT NULL DEFAULT 0, started timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
            finished timestamptz(3)
        );
        COMMENT ON TABLE _import_job IS '\(format)';
        CREATE TABLE IF NOT EXISTS _import_entity (
            job bigint NOT NULL REFERENCES _import_job, position integer NOT NULL, entity text NOT NULL,
            table_name text NOT NULL, made_table boolean NOT NULL, was_empty boolean NOT NULL,
            buckets integer NOT NULL DEFAULT 0, PRIMARY KEY (job, position)
        );
        CREATE TABLE IF NOT EXISTS _import_chunk (
            job bigint NOT NULL REFERENCES _import_job, number bigint NOT NULL, source integer NOT NULL,
            first_byte bigint NOT NULL, end_byte bigint NOT NULL, source_hash text NOT NULL, first_ordinal bigint NOT NULL,
            records bigint NOT NULL, entry text NOT NULL, state text NOT NULL DEFAULT 'sealed', owner text NOT NULL DEFAULT '',
            host text NOT NULL DEFAULT '', lease_until timestamptz NOT NULL DEFAULT '-infinity',
            attempts integer NOT NULL DEFAULT 0, done timestamptz, PRIMARY KEY (job, number)
        );
        CREATE INDEX IF NOT EXISTS _import_chunk_sealed ON _import_chunk (job, number) WHERE state = 'sealed';
        CREATE TABLE IF NOT EXISTS _import_count (
            job bigint NOT NULL REFERENCES _import_job, chunk bigint NOT NULL, position integer NOT NULL,
            records_read bigint NOT NULL DEFAULT 0, inserted bigint NOT NULL DEFAULT 0, updated bigint NOT NULL DEFAULT 0,
            unchanged bigint NOT NULL DEFAULT 0, ignored bigint NOT NULL DEFAULT 0, rejected bigint NOT NULL DEFAULT 0,
            nested bigint NOT NULL DEFAULT 0, nested_inserted bigint NOT NULL DEFAULT 0,
            nested_updated bigint NOT NULL DEFAULT 0, nested_unchanged bigint NOT NULL DEFAULT 0,
            linked bigint NOT NULL DEFAULT 0, stubs bigint NOT NULL DEFAULT 0, deleted bigint NOT NULL DEFAULT 0, PRIMARY KEY (job, chunk, position)
        );
        CREATE TABLE IF NOT EXISTS _import_reject (
            id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, job bigint NOT NULL REFERENCES _import_job,
            chunk bigint NOT NULL, ordinal bigint NOT NULL, entity text NOT NULL, source integer NOT NULL,
            byte_offset bigint NOT NULL, length bigint NOT NULL, errors text NOT NULL, record bytea NOT NULL,
            record_key text, state text NOT NULL DEFAULT 'open', UNIQUE (job, ordinal)
        );
        CREATE TABLE IF NOT EXISTS _import_ledger (
            job bigint NOT NULL REFERENCES _import_job, chunk bigint NOT NULL, entity text NOT NULL, attribute text NOT NULL,
            kind text NOT NULL, count bigint NOT NULL, is_error boolean NOT NULL DEFAULT false, place bigint,
            expected text, found text, first_byte_offset bigint, first_ordinal bigint, first_source integer
        );
        CREATE UNIQUE INDEX IF NOT EXISTS _import_ledger_key ON _import_ledger (job, chunk, entity, attribute, kind)
            WHERE NOT is_error;
        CREATE UNIQUE INDEX IF NOT EXISTS _import_ledger_error ON _import_ledger (job, chunk, place) WHERE is_error;
        CREATE TABLE IF NOT EXISTS _import_file (
            host text NOT NULL, token text NOT NULL, path text NOT NULL, kind text NOT NULL, state text NOT NULL,
            is_made boolean NOT NULL, device bigint, inode bigint, PRIMARY KEY (host, token, path)
        );
        """

    /// Statements that make what settles objects: the first model with an identifier or a relationship needs it.
    private static let settling = """
        CREATE TABLE IF NOT EXISTS _import_settle (
            job bigint NOT NULL REFERENCES _import_job, position integer NOT NULL, bucket integer NOT NULL,
            state text NOT NULL DEFAULT 'open', owner text NOT NULL DEFAULT '',
            lease_until timestamptz NOT NULL DEFAULT '-infinity', attempts bigint NOT NULL DEFAULT 0,
            PRIMARY KEY (job, position, bucket)
        );
        """

    /// The same of what waits for rows: the first model with a relationship needs it.
    static let relating = """
        CREATE TABLE IF NOT EXISTS _import_link (
            relationship text NOT NULL, source json NOT NULL, target json NOT NULL, position bigint NOT NULL
        );
        CREATE TABLE IF NOT EXISTS _import_stub (table_name text NOT NULL, key json NOT NULL);
        CREATE TABLE IF NOT EXISTS _import_unresolved (
            job bigint NOT NULL REFERENCES _import_job, relationship text NOT NULL, count bigint NOT NULL,
            PRIMARY KEY (job, relationship)
        );
        """

    /// The same of the lines of retries.
    static let retrying = """
        CREATE TABLE IF NOT EXISTS _import_retry (
            job bigint NOT NULL REFERENCES _import_job, ordinal bigint NOT NULL, reject bigint NOT NULL,
            entity integer NOT NULL, is_text boolean NOT NULL, record_key bytea, outcome text, PRIMARY KEY (job, ordinal)
        );
        """

    /// Makes the tables, or makes sure that those that are there are of this format.
    ///
    /// - Throws: `ImportError` with `.storeForeign` where they are not.
    static func prepare(_ connection: PGConnection, label: String) throws {
        guard try !isThere(connection, checkedFor: label) else { return }
        _ = try connection.execute(lasting)
    }

    /// Makes what settles objects, where it is not there.
    static func prepareSettling(_ connection: PGConnection) throws {
        guard try !has("_import_settle", connection) else { return }
        _ = try connection.execute(settling)
    }

    /// True if the schema has the tables.
    static func isThere(_ connection: PGConnection) throws -> Bool {
        try has("_import_job", connection)
    }

    /// Two columns of a statement: whether the schema has the tables, and their format.
    ///
    /// A copy of a schema may have lost its comments; the format before this one had a table for it.
    static let found = """
        to_regclass('_import_job') IS NOT NULL, CASE WHEN to_regclass('_import_meta') IS NOT NULL THEN '2'
            ELSE obj_description(to_regclass('_import_job'), 'pg_class') END
        """

    /// True if the tables are there, and of this format.
    ///
    /// - Parameter first: the place of `found` in the row.
    static func isUsable(_ row: PGRow, at first: Int = 0) throws -> Bool {
        try row.bool(first) && row.optionalText(first + 1) ?? format == format
    }

    /// True if the schema has a table.
    static func has(_ table: String, _ connection: PGConnection) throws -> Bool {
        try connection.ask("SELECT to_regclass($1) IS NOT NULL", [.text(table)]).first?.bool(0) ?? false
    }

    /// True if the schema has the tables.
    ///
    /// - Throws: `ImportError` with `.storeForeign` where they are of another format.
    static func isThere(_ connection: PGConnection, checkedFor label: String) throws -> Bool {
        guard let row = try connection.ask("SELECT \(found)").first, try row.bool(0) else { return false }
        guard try !isUsable(row), let found = try row.optionalText(1) else { return true }
        throw ImportError(
            .storeForeign,
            at: label,
            "its _import_ tables have format \(found), and this program knows format \(format)",
            advice: """
                Use the version of the importer that made them, or import into another schema. Where nobody needs what they \
                keep of earlier imports, rejects included, drop all tables there whose names begin with _import_: the objects \
                stay.
                """
        )
    }
}
