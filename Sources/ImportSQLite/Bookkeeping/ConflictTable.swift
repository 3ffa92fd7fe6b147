import Foundation
import GRDB
import ImportEngine
import ImportModel

/// The conflicts that a store keeps until they are resolved.
///
/// One is open as long as the job that left it is not undone, and no other job has resolved it that is not undone itself.
package struct ConflictTable: Sendable {
    /// Which of the jobs are undone.
    private let undone: Set<Int64>
    private let isThere: Bool
    /// By entity, the attributes that identify its objects, as the jobs that left conflicts were told.
    package let identifiers: [String: [String]]

    package init(_ database: Database) throws {
        isThere = try database.hasTable("_import_conflict")
        guard isThere else {
            (undone, identifiers) = ([], [:])
            return
        }
        undone = try StoredJob.undone(database)
        var identifiers: [String: [String]] = [:]
        for job in try Int64.fetchAll(database, sql: "SELECT DISTINCT job FROM _import_conflict ORDER BY job") {
            identifiers.merge(try StoredJob.find(job, database)?.change?.options.identifiers ?? [:]) { $1 }
        }
        self.identifiers = identifiers
    }

    /// An open conflict as it is kept.
    package struct StoredConflict {
        package let number: Int64
        package let line: Data
    }

    /// The first open conflicts after a number.
    package func open(after number: Int64, limit: Int, _ database: Database) throws -> [StoredConflict] {
        guard isThere else { return [] }
        var conflicts: [StoredConflict] = []
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT number, job, resolved, line FROM _import_conflict WHERE number > ? ORDER BY number",
            arguments: [number]
        )
        while conflicts.count < limit, let row = try rows.next() {
            guard isOpen(row) else { continue }
            conflicts.append(StoredConflict(number: row["number"], line: row["line"]))
        }
        return conflicts
    }

    /// A conflict, and whether it is open; nil where there is none of this number, the job that left it is undone, or another
    /// merge has found it again.
    package func conflict(_ number: Int64, _ database: Database) throws -> (StoredConflict, isOpen: Bool)? {
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
        return (StoredConflict(number: row["number"], line: row["line"]), isOpen(row))
    }

    /// How many are open.
    package func count(_ database: Database) throws -> Int64 {
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
}
