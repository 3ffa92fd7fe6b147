import Foundation
import Importer

/// How a connection is made, and a session that statements can rely on.
struct PGConnectionSetup {
    let address: PostgreSQLAddress
    let application: String
    let interruption: Interruption

    /// What is known of a session that is ready.
    struct Session {
        let schema: String
        let isThere: Bool
    }

    /// The oldest server that is accepted, as libpq numbers them.
    private static let oldest = 120_000

    // MARK: Connecting

    /// Makes a connection, with nothing set or checked.
    ///
    /// - Throws: `PGError`; the interruption's `ImportError`.
    func connect(password: String?) throws -> LibPQConnection {
        let file = PasswordFile(address.settings["passfile"])
        // What is before the address is only in place of what it does not have: a host that is gone without a word is
        // found out in a minute.
        var settings: [(name: String, value: String)] = [
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "60000"),
            ("dbname", address.uri), ("fallback_application_name", application), ("client_encoding", "UTF8"),
        ]
        if let password { settings.append(("password", password)) }
        // libpq would say on standard error that it ignores such a file, once for each connection.
        if file.isUnusable { settings.append(("passfile", file.path + "/none")) }
        do {
            return try LibPQConnection(settings, timeout: timeout, interruption: interruption)
        } catch var failure as PGError {
            if failure.needsPassword, file.isUnusable {
                failure.message += "; \(file.path) is ignored, as others may read it (chmod 600)"
            }
            throw failure
        }
    }

    /// How long one host may take: as the address or the environment says, or half a minute; 0 is for ever.
    private var timeout: Duration {
        let text = address.settings["connect_timeout"] ?? ProcessInfo.processInfo.environment["PGCONNECT_TIMEOUT"]
        guard let seconds = text.flatMap({ Int64($0) }), seconds >= 0 else { return .seconds(30) }
        return .seconds(seconds == 0 ? 1 << 32 : min(max(seconds, 2), 1 << 32))
    }

    // MARK: The session

    /// Sets what statements rely on, and checks what the server is.
    ///
    /// - Throws: `PGError`; `ImportError` where the server is of no use.
    func prepare(_ link: LibPQConnection, writes: Bool, waitsForDisk: Bool) throws -> Session {
        guard link.serverVersion >= Self.oldest else {
            throw unusable(
                "the server is PostgreSQL \(link.serverVersion / 10_000)",
                "Use one of version \(Self.oldest / 10_000) or later."
            )
        }
        // No setting of a pooler's session is changed until it is known that it stays with its client.
        let sql = Self.session(waitsForDisk: waitsForDisk)
        let schema = address.schema.map { PGValue.text($0) } ?? .null
        var found = try run(link, sql, [schema, .integer(link.backendPID)])
        if found == nil {
            try refuseTransactionPooling(link)
            found = try run(link, sql, [schema, .null])
        }
        guard let row = found else { throw unusable("the server does not say what it is", "Use PostgreSQL.") }
        if writes, try row.text(1) == "on" {
            let why = try row.bool(2) ? "it is a replica" : "the session is read-only"
            throw PGError(sqlState: "25006", message: why).importError(at: address.label, showsValues: false)
        }
        let encoding = try row.text(3)
        guard encoding == "UTF8" else {
            throw unusable(
                "the database's encoding is \(encoding), which does not have every character",
                "Use a database whose encoding is UTF8."
            )
        }
        guard let schema = try row.optionalText(0) else {
            throw unusable("no schema of the search path exists", "Name one; it is created if it does not exist.")
        }
        // What is not to be used is passed over in the search path: our tables would be temporary ones.
        let isThere = try row.optionalText(4) != nil
        if isThere, try !row.bool(4) {
            throw PGError(sqlState: "42501", message: "permission denied for schema \(schema)")
        }
        return Session(schema: schema, isThere: isThere)
    }

    /// Sets what statements rely on, and tells what the server is, and whether the schema, which is `$1` or that of the search path,
    /// is there and may be used; where a session of the server is another process than `$2`, nothing is set, and there is no row.
    ///
    /// What is not known to a server (or to one that only speaks like PostgreSQL) is left out. Texts are read and written in one
    /// form, as `pg_dump` has it, and no timeout ends what takes long
    /// (<https://www.postgresql.org/docs/current/runtime-config-client.html>). The search path has only what is there, and what is
    /// temporary after it: nobody can put a table before ours.
    private static func session(waitsForDisk: Bool) -> String {
        """
        WITH session AS MATERIALIZED (
            SELECT coalesce($1, current_schema())::text AS schema WHERE $2::bigint IS NULL OR pg_backend_pid() = $2
        )
        SELECT schema, current_setting('transaction_read_only'), pg_is_in_recovery(),
            current_setting('server_encoding'),
            (SELECT has_schema_privilege(oid, 'USAGE') FROM pg_catalog.pg_namespace WHERE nspname = schema),
            set_config('search_path', '"' || replace(schema, '"', '""') || '", pg_temp', false),
            (SELECT count(set_config(wanted.name, wanted.setting, false)) FROM (VALUES
                ('standard_conforming_strings', 'on'), ('DateStyle', 'ISO, YMD'), ('IntervalStyle', 'postgres'),
                ('TimeZone', 'UTC'), ('extra_float_digits', '1'), ('bytea_output', 'hex'),
                ('client_min_messages', 'warning'), ('default_transaction_isolation', 'read committed'),
                ('statement_timeout', '0'), ('lock_timeout', '0'), ('transaction_timeout', '0'),
                ('idle_in_transaction_session_timeout', '0'), ('idle_session_timeout', '0')
                \(waitsForDisk ? "" : ", ('synchronous_commit', 'off')")
            ) AS wanted (name, setting) WHERE current_setting(wanted.name, true) IS NOT NULL)
        FROM session
        """
    }

    @discardableResult
    private func run(_ link: LibPQConnection, _ sql: String, _ parameters: [PGValue] = []) throws -> PGRow? {
        var row: PGRow?
        try link.run(sql, parameters, .atOnce) { rows in
            row = rows.first
            return true
        }
        return row
    }

    private func unusable(_ what: MessageText, _ advice: MessageText) -> ImportError {
        ImportError(.storeUnusable, at: address.label, what, advice: advice)
    }

    // MARK: Poolers

    /// Refuses a pooler that gives a session of the server to others between transactions: settings and locks of a
    /// session would be theirs.
    ///
    /// Between client and server there is a pooler, as the process is another one than was announced. Another
    /// connection that sees what this one has set shows that it gives sessions away.
    ///
    /// - Throws: `ImportError` where that can be told.
    private func refuseTransactionPooling(_ link: LibPQConnection) throws {
        let mark = UUID().uuidString
        let name = "importer.session"
        try run(link, "SELECT set_config('\(name)', $1, false)", [.text(mark)])
        // Where there cannot be another one, nothing is known.
        guard let other = try? connect(password: nil) else { return }
        defer { other.close() }
        let seen = try? run(other, "SELECT current_setting('\(name)', true)")
        guard try seen?.optionalText(0) == mark else { return }
        throw unusable(
            "a pooler reassigns the server's sessions between transactions",
            "Connect to the server itself, or to a pooler whose pool_mode is session."
        )
    }
}
