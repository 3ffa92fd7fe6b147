import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite

extension ConflictTable {
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
    package static func add(_ path: String, job: Int64, _ database: Database) throws {
        let lines = try ChangeSetLines(path, maxLineBytes: 256 << 20)
        while let line = try lines.next() {
            try database.cachedStatement(sql: "INSERT INTO _import_conflict (job, line) VALUES (?, ?)")
                .execute(arguments: [job, Data(line)])
        }
        let undone = try StoredJob.undone(database).map(String.init).joined(separator: ", ")
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
    package static func resolve(_ path: String, job: Int64, _ database: Database) throws {
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
