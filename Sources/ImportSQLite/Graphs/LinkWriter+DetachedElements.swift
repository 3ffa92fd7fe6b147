import GRDBSQLite
import ImportModel

/// Objects that are identified within the object around them: where a list leaves one out, it is the same object until the job
/// is settled, and keeps the columns by which it is known.
///
/// Until then it is among the orphans of its list, by its row id.
extension LinkWriter {
    /// True if a later list has left a row out.
    package func isLeftOut(_ rowID: Int64, _ form: LinkStatements) throws -> Bool {
        guard form.isParent else { return false }
        return try statements.exists(
            "SELECT 1 FROM _import_orphan WHERE job = ? AND relationship = ? AND target = ?",
            [.number(job), .text(form.name), .bytes(RowKey(rowID: rowID).bytes)]
        )
    }

    /// Takes a row from its list.
    package func leaveOut(_ rowID: Int64, _ form: LinkStatements) throws {
        guard let position = form.position else { return }
        try statements.run("UPDATE \(form.table) SET \(position) = NULL WHERE rowid = ?", [.number(rowID)])
    }

    /// Takes a row back that a list has left out.
    func takeUp(_ key: RowKey, _ form: LinkStatements) throws {
        guard form.isParent else { return }
        try statements.run(form.findRow, [.key(key)]) { try forget(sqlite3_column_int64($0, 0), form) }
    }

    private func forget(_ rowID: Int64, _ form: LinkStatements) throws {
        try statements.run(
            "DELETE FROM _import_orphan WHERE job = ? AND relationship = ? AND target = ?",
            [.number(job), .text(form.name), .bytes(RowKey(rowID: rowID).bytes)]
        )
    }

    /// Forgets that lists have left a row out, as it goes: its row id may be another's then.
    func forgetLeftOut(_ rowID: Int64, _ entity: Int) throws {
        for index in layout.relationships.indices {
            let form = form(of: index)
            if form.isParent, layout.hierarchy.isRelated(form.destination, entity) { try forget(rowID, form) }
        }
    }
}
