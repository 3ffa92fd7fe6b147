import Foundation
import GRDB
import ImportModel

/// The conflicts that a store keeps until they are resolved.
///
/// One is open as long as the job that left it is not undone, and no other job has resolved it that is not undone itself.
struct ConflictTable: Sendable {
    /// Which of the jobs are undone.
    private let undone: Set<Int64>
    private let isThere: Bool
    /// By entity, the attributes that identify its objects, as the jobs that left conflicts were told.
    let identifiers: [String: [String]]

    init(_ database: Database) throws {
        isThere = try database.hasTable("_import_conflict")
        guard isThere else {
            (undone, identifiers) = ([], [:])
            return
        }
        let jobs = try StoredJob.all(database)
        undone = Set(jobs.map(\.id).filter { StoredJob.isUndone($0, jobs) })
        let leaving = Set(try Int64.fetchAll(database, sql: "SELECT DISTINCT job FROM _import_conflict"))
        var identifiers: [String: [String]] = [:]
        for job in jobs where leaving.contains(job.id) {
            identifiers.merge(job.change?.options.identifiers ?? [:]) { $1 }
        }
        self.identifiers = identifiers
    }

    /// An open conflict as it is kept.
    struct Kept {
        let number: Int64
        let line: Data
    }

    /// The first open conflicts after a number.
    func open(after number: Int64, limit: Int, _ database: Database) throws -> [Kept] {
        guard isThere else { return [] }
        var kept: [Kept] = []
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT number, job, resolved, line FROM _import_conflict WHERE number > ? ORDER BY number",
            arguments: [number]
        )
        while kept.count < limit, let row = try rows.next() {
            guard isOpen(row) else { continue }
            kept.append(Kept(number: row["number"], line: row["line"]))
        }
        return kept
    }

    /// A conflict, and whether it is open; nil where there is none of this number, the job that left it is undone, or another
    /// merge has found it again.
    func conflict(_ number: Int64, _ database: Database) throws -> (Kept, isOpen: Bool)? {
        guard isThere,
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT number, job, resolved, line, EXISTS (
                        SELECT 1 FROM _import_conflict AS later WHERE later.job = earlier.resolved
                    ) AS isFoundAgain FROM _import_conflict AS earlier WHERE number = ?
                    """,
                arguments: [number]
            ), isOpen(row) || !row["isFoundAgain"], !undone.contains(row["job"])
        else { return nil }
        return (Kept(number: row["number"], line: row["line"]), isOpen(row))
    }

    /// How many are open.
    func count(_ database: Database) throws -> Int64 {
        guard isThere else { return 0 }
        var count: Int64 = 0
        let rows = try Row.fetchCursor(database, sql: "SELECT job, resolved FROM _import_conflict")
        while let row = try rows.next() { if isOpen(row) { count += 1 } }
        return count
    }

    private func isOpen(_ row: Row) -> Bool {
        if undone.contains(row["job"]) { return false }
        guard let resolved = row["resolved"] as Int64? else { return true }
        return undone.contains(resolved)
    }

    // MARK: Writing

    /// What tells a conflict from another: its kind, its object, and which attributes it is about.
    private static let key = """
        CASE WHEN json_valid(CAST(line AS TEXT)) THEN json_array(
            CAST(line AS TEXT) ->> 'kind', CAST(line AS TEXT) ->> 'entityName', CAST(line AS TEXT) -> 'identifier', (
                SELECT json_group_array(name) FROM (
                    SELECT DISTINCT key AS name FROM json_each(CAST(line AS TEXT), '$.ours')
                    UNION SELECT key FROM json_each(CAST(line AS TEXT), '$.theirs') ORDER BY 1
                )
            )
        ) END
        """

    /// Keeps the conflicts in the lines of a file, as those that a job has left; they replace the same ones that are open.
    static func add(_ path: String, job: Int64, _ database: Database) throws {
        let lines = try ChangeSetLines(path, maxLineBytes: 256 << 20)
        while let line = try lines.next() {
            try database.cachedStatement(sql: "INSERT INTO _import_conflict (job, line) VALUES (?, ?)")
                .execute(arguments: [job, Data(line)])
        }
        let jobs = try StoredJob.all(database)
        let undone = jobs.map(\.id).filter { StoredJob.isUndone($0, jobs) }.map(String.init).joined(separator: ", ")
        // As if this job had resolved them: where it is undone, they are open again.
        try database.execute(
            sql: """
                UPDATE _import_conflict SET resolved = :job
                WHERE job <> :job AND job NOT IN (\(undone)) AND (resolved IS NULL OR resolved IN (\(undone)))
                    AND \(key) IN (SELECT \(key) FROM _import_conflict WHERE job = :job)
                """,
            arguments: ["job": job]
        )
    }

    /// Notes that a job resolves the conflicts in the lines of a change set.
    static func resolve(_ path: String, job: Int64, _ database: Database) throws {
        let lines = try ChangeSetLines(path, maxLineBytes: 256 << 20)
        while let line = try lines.next() {
            let number = line.withUnsafeBufferPointer { bytes -> Int64? in
                guard ChangeLineReader.isConflict(ByteView(bytes)) else { return nil }
                return Int64(String(decoding: bytes.dropFirst(12).prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
            }
            guard let number else { continue }
            try database.cachedStatement(sql: "UPDATE _import_conflict SET resolved = ? WHERE number = ?")
                .execute(arguments: [job, number])
        }
    }
}
