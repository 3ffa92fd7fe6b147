import Foundation
import GRDB
import ImportModel

/// What was found at the record paths of a job whose sources are read to their ends.
extension ImportSession {
    /// The record paths that match nothing in any source that has them, not even an empty collection.
    func unfoundPaths() throws -> [String] {
        let rows = try database.read { [job] in
            try Row.fetchAll(
                $0,
                sql: """
                    SELECT attribute, sum(count) AS sources FROM _import_ledger
                    WHERE job = ? AND kind = ? GROUP BY attribute ORDER BY attribute
                    """,
                arguments: [job.id, LedgerKind.notFound.rawValue]
            )
        }
        return rows.compactMap { row in
            let path: String = row["attribute"]
            return row["sources"] as Int == job.sources.count { $0.shape.paths.contains(path) } ? path : nil
        }
    }

    static func message(of unfound: [String]) -> String? {
        guard !unfound.isEmpty else { return nil }
        return "nothing was found at the record path\(unfound.count > 1 ? "s" : "") \(unfound.joined(separator: ", "))"
    }

    /// A record path without records may not be what was meant.
    ///
    /// - Parameter unfound: those that the job's message names.
    func warnOfEmptyPaths(but unfound: [String]) throws {
        guard job.options.limit != 0 else { return }
        let few = job.options.skip == 0 ? "no records" : "no more records than --skip leaves out"
        let read = try database.read { [job] in
            try Set(
                String.fetchAll(
                    $0,
                    sql: "SELECT entity FROM _import_entity WHERE job = ? AND records_read > 0",
                    arguments: [job.id]
                )
            )
        }
        for source in job.sources {
            for (path, entity) in zip(source.shape.paths, source.entities)
            where !read.contains(entity) && !unfound.contains(path) {
                progress.update {
                    $0.messages.append("\(source.description.displayName): \(few) were found at \(path)")
                }
            }
        }
    }
}
