import Foundation
import TestSupport
import Testing

/// A database of a server that a test imports into; what it holds is asked of the server, and not of the program under test.
struct PGDatabase {
    let server: PostgreSQLServer
    /// What the program is given; another than the server's own where a proxy stands between.
    let url: String
    private let direct: String
    private let session: PostgreSQLSession

    /// An empty database.
    init(on server: PostgreSQLServer? = nil, through proxy: PostgreSQLProxy? = nil) throws {
        self.server = try server ?? .shared()
        direct = try self.server.makeDatabase()
        url = proxy?.url(of: direct) ?? direct
        session = self.server.session(with: direct)
    }

    /// Runs the command to its end.
    @discardableResult
    func importer(
        _ arguments: [String],
        input: String = "/dev/null",
        environment: [String: String] = [:]
    ) throws -> ChildProcess.Result {
        try start(arguments, input: input, environment: environment).wait()
    }

    /// Starts the command.
    func start(
        _ arguments: [String],
        input: String = "/dev/null",
        environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let environment = server.environment.merging(environment) { $1 }
        return try ChildProcess([Project.importer] + arguments, input: input, environment: environment)
    }

    /// What imports the sources of `files`, or some of them.
    func command(_ files: ImportFiles, _ sources: [String]? = nil, _ options: [String] = []) -> [String] {
        let chunks = ["--chunks", files.directory.path("server.chunks")]
        return ["import"] + (sources ?? files.sources) + ["--into", url] + files.jobOptions + chunks + options
    }

    /// Imports to the end and gives back the report.
    @discardableResult
    func imported(_ files: ImportFiles, _ sources: [String]? = nil, _ options: [String] = []) throws -> ComparableReport
    {
        let report = files.directory.path("server.json")
        let result = try importer(command(files, sources, options + ["--report", report, "--quiet"]))
        guard result.ending == .exit(0) else { throw NeverCame("\(result.ending): \(result.errorText)") }
        return try ComparableReport(Data(contentsOf: URL(filePath: report)))
    }

    /// What a query says, fields separated by `|` and rows by line feeds; null is nothing.
    func query(_ text: String) throws -> String {
        try session.query(text).map { $0.map { $0 ?? "" }.joined(separator: "|") }.joined(separator: "\n")
    }

    /// Runs SQL as somebody else would.
    func execute(_ text: String) throws { try session.query(text) }

    /// How many chunks are in this state; none where no import has begun.
    func chunks(_ state: String) throws -> Int {
        guard let count = try? query("SELECT count(*) FROM _import_chunk WHERE state = '\(state)'") else { return 0 }
        return Int(count) ?? 0
    }

    /// Waits until the server has noticed that a program's connections are gone, and ends the leases that it had.
    func forgetDeadProcesses() throws {
        let others = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        try wait(for: "the end of the connections") { try query(others) == "0" ? true : nil }
        try execute("UPDATE _import_chunk SET lease_until = '-infinity' WHERE state = 'sealed'")
        let hasBuckets = try query("SELECT to_regclass('_import_settle') IS NOT NULL") == "t"
        if hasBuckets { try execute("UPDATE _import_settle SET lease_until = '-infinity'") }
    }

    /// Has another session keep everybody from writing to a table, or from reading it, too, until that or the server ends.
    func holdBack(_ table: String, readers: Bool = false) throws -> PostgreSQLSession {
        let holder = server.session(with: direct)
        try holder.query("BEGIN")
        try holder.query("LOCK TABLE \(table) IN \(readers ? "ACCESS " : "")EXCLUSIVE MODE")
        return holder
    }

    /// How many sessions wait for what `holdBack` holds.
    func heldBack(_ table: String) throws -> Int {
        let database = "(SELECT oid FROM pg_database WHERE datname = current_database())"
        let locks = "pg_locks WHERE database = \(database) AND relation = '\(table)'::regclass"
        return Int(try query("SELECT count(*) FROM \(locks) AND NOT granted")) ?? 0
    }

    /// Shuts a gate before chunks, until the session that holds it or the server ends.
    ///
    /// A program that waits there is at a known point, whatever the load: it has not been stopped at some call, perhaps with locks
    /// that others need.
    ///
    /// - Parameter condition: which changes of rows of `_import_chunk` wait for it, in a trigger's words; the table may come later.
    func shutGate(where condition: String) throws -> PostgreSQLSession {
        try execute(
            """
            CREATE OR REPLACE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF (\(condition)) THEN LOCK TABLE gate IN SHARE MODE; END IF;
                RETURN NEW;
            END $$;
            CREATE OR REPLACE FUNCTION guard() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
                IF to_regclass('_import_chunk') IS NOT NULL AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'pass') THEN
                    CREATE TRIGGER pass BEFORE INSERT OR UPDATE ON _import_chunk FOR EACH ROW EXECUTE FUNCTION pass();
                END IF;
            END $$;
            DROP EVENT TRIGGER IF EXISTS guard;
            CREATE EVENT TRIGGER guard ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION guard();
            DROP TABLE IF EXISTS gate;
            CREATE TABLE gate ()
            """
        )
        return try holdBack("gate")
    }

    /// Starts an import and waits until `done` chunks are done, and it waits in the transaction of the next one and, while it cuts
    /// its sources, in that of later ones: at least nine are registered and not done.
    ///
    /// - Parameter command: with one worker; its sources have at least 24 more chunks.
    /// - Returns: it, and who keeps it from going on.
    func halted(_ command: [String], done: Int) throws -> (program: ChildProcess, holder: PostgreSQLSession) {
        // At most eight are registered in one transaction.
        let isFarAhead = "TG_OP = 'INSERT' AND NEW.number > \(done + 16)"
        let holder = try shutGate(where: "\(isFarAhead) OR \(Self.isDone(after: done))")
        let program = try start(command)
        try waitAtGate(program, 2)
        return (program, holder)
    }

    /// What `shutGate` is told so that the chunk after this many waits.
    static func isDone(after done: Int) -> String {
        "NEW.state = 'done' AND \(done) <= (SELECT count(*) FROM _import_chunk WHERE state = 'done')"
    }

    /// Waits until N sessions wait at the gate, `program` among them.
    func waitAtGate(_ program: ChildProcess, _ sessions: Int) throws {
        try wait(for: "the gate", instead: { program.account }) {
            guard program.isRunning else { throw NeverCame("the program has ended: \(program.account)") }
            return try heldBack("gate") == sessions ? true : nil
        }
    }

    /// Kills a program at the gate, and waits for what its connections still do.
    func kill(_ halted: (program: ChildProcess, holder: PostgreSQLSession)) throws {
        halted.program.signal(SIGKILL)
        #expect(halted.program.wait().ending == .signal(SIGKILL))
        halted.holder.end()
        try forgetDeadProcesses()
    }

    /// Starts the command, and kills it when it is about to write to a table; it may be done before that.
    func kill(_ command: [String], at table: String) throws {
        let blocker = try holdBack(table)
        let child = try start(command)
        try wait(for: "a commit", instead: { child.account }) {
            try !child.isRunning || heldBack(table) > 0 ? true : nil
        }
        child.signal(SIGKILL)
        child.wait()
        blocker.end()
        try forgetDeadProcesses()
    }

    /// `importer verify` agrees.
    func isVerified() throws -> Bool {
        let result = try importer(["verify", url])
        if result.ending != .exit(0) { Issue.record("\(result.outputText)\(result.errorText)") }
        return result.ending == .exit(0)
    }
}

extension PGDatabase {
    /// The rows of a table in an order of their own, each column spelled in a way that tells all values apart.
    func rows(of table: String) throws -> [[String?]] {
        let columns = try columns(of: table)
        let spelled = columns.map { name, type in
            let column = "\"\(name)\""
            switch type {
            case "real", "double precision": return "encode(float8send(\(column)::float8), 'hex')"
            case "numeric": return "trim_scale(\(column))::text"
            case "boolean": return "\(column)::int::text"
            case "bytea": return "encode(\(column), 'hex')"
            case "timestamp with time zone":
                return "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
            case "timestamp without time zone": return "to_char(\(column), 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
            default:
                let text = "\(column)::text"
                return "CASE WHEN octet_length(\(text)) > 200 THEN md5(\(text)) ELSE \(text) END"
            }
        }
        let values = spelled.joined(separator: ", ")
        return try Self.sorted(query("SELECT coalesce(json_agg(json_build_array(\(values))), '[]') FROM \"\(table)\""))
    }

    /// The rows that the same table has in a SQLite store, spelled in the same way.
    func rows(of table: String, in store: String) throws -> [[String?]] {
        let columns = try columns(of: table).map { "\($0)=\($1)" }
        return try Self.sorted(ImportFiles.expected(by: "server_rows.py", [store, table] + columns))
    }

    /// How the rows of a table differ from those of the same table in a SQLite store.
    func difference(of table: String, from store: String) throws -> [String] {
        try Self.difference(rows(of: table), rows(of: table, in: store))
    }

    /// The rejects with their records' bytes, and the ledger, as they are in SQLite, too.
    func bookkeeping() throws -> String { try Self.bookkeeping(query) }

    /// The same of a SQLite store.
    static func bookkeeping(of store: String) throws -> String {
        try bookkeeping { try StoreContent.query(store, $0) }
    }

    /// The rows that only one of two lists has, a few of them, for the message.
    static func difference(_ rows: [[String?]], _ expected: [[String?]]) -> [String] {
        let changes = rows.difference(from: expected)
        return changes.prefix(6).map { change in
            switch change {
            case .insert(_, let row, _): return "not expected: \(text(row))"
            case .remove(_, let row, _): return "missing: \(text(row))"
            }
        }
    }

    private static func text(_ row: [String?]) -> String { row.map { $0 ?? "NULL" }.joined(separator: "|") }

    /// A JSON array of arrays of texts, as an array in an order of its own.
    static func sorted(_ json: String) throws -> [[String?]] {
        let rows = try JSONDecoder().decode([[String?]].self, from: Data(json.utf8))
        // Each is spelled once, and not whenever it is compared.
        return rows.map { (row: $0, text: "\($0)") }.sorted { $0.text < $1.text }.map(\.row)
    }

    private static func bookkeeping(_ query: (String) throws -> String) throws -> String {
        let isServer = (try? query("SELECT 1::integer")) != nil
        let bytes = isServer ? "upper(encode(record, 'hex'))" : "hex(record)"
        let rejects = "SELECT job, ordinal, entity, source, byte_offset, length, state, \(bytes) FROM _import_reject"
        let ledger = """
            SELECT job, entity, attribute, kind, sum(count) FROM _import_ledger WHERE NOT is_error GROUP BY 1, 2, 3, 4
            """
        return try [rejects, ledger].map { text in
            try query(text).split(separator: "\n").sorted().joined(separator: "\n")
        }.joined(separator: "\n--\n")
    }

    private func columns(of table: String) throws -> [(String, String)] {
        let text = """
            SELECT column_name, data_type FROM information_schema.columns
            WHERE table_schema = current_schema() AND table_name = '\(table)' ORDER BY ordinal_position
            """
        return try session.query(text).map { ($0[0] ?? "", $0[1] ?? "") }
    }
}

/// What a report says that does not depend on where, when and in how many pieces it was done.
struct ComparableReport: Equatable, CustomStringConvertible {
    let description: String
    let counts: Report

    init(_ data: Data) throws {
        counts = try Report(data)
        var object = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
        for key in ["seconds", "chunks", "chunks_done", "jobs", "job_count", "unfinished"] { object[key] = nil }
        let sorted = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys])
        description = String(decoding: sorted, as: UTF8.self)
    }
}

extension ImportFiles {
    /// Imports into a new SQLite store and gives back its path and the report.
    func storeOfTheSame(
        _ sources: [String]? = nil,
        _ options: [String] = []
    ) throws -> (path: String, report: ComparableReport) {
        let (path, report) = (directory.path("same.sqlite"), directory.path("same.json"))
        let result = try run(command(sources, into: path, options + ["--report", report]))
        guard result.ending == .exit(0) else { throw NeverCame("\(result.ending): \(result.errorText)") }
        return (path, try ComparableReport(Data(contentsOf: URL(filePath: report))))
    }
}
