import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// How a job goes from the store again.
extension StoredJob {
    /// Takes the job out of the store again: the rows that it inserted go, merges that it made stay.
    ///
    /// - Returns: that all is to be looked at again, to be told when it is committed; nil where it had no model yet.
    /// - Throws: `ImportError` when the rows that it inserted cannot be told from others.
    package func remove(_ database: Database) throws -> MergeNotification? {
        let merge = try clear(database)
        try database.delete(job: id, from: ["_import_index", "_import_source"])
        try database.execute(sql: "DELETE FROM _import_job WHERE id = ?", arguments: [id])
        return merge
    }

    /// Puts the job back to where it had no model yet.
    ///
    /// - Returns: that all is to be looked at again, to be told when it is committed; nil where it had no model yet.
    /// - Throws: `ImportError` when the rows that it inserted cannot be told from others.
    mutating func forgetModel(_ database: Database) throws -> MergeNotification? {
        let merge = try clear(database)
        try database.execute(
            sql: "UPDATE _import_job SET model = NULL, is_model_final = 1 WHERE id = ?",
            arguments: [id]
        )
        try Marker().save(database, job: id)
        model = nil
        isModelFinal = true
        return merge
    }

    private func clear(_ database: Database) throws -> MergeNotification? {
        let later = try String.fetchOne(
            database,
            sql: """
                SELECT table_name FROM _import_entity WHERE job > :job AND table_name COLLATE NOCASE IN
                    (SELECT table_name FROM _import_entity WHERE job = :job AND table_name <> '')
                """,
            arguments: ["job": id]
        )
        if let later { throw overtaken(in: later) }
        let tables = try BookkeepingRow.all(database, from: "_import_entity", of: id)
        for row in tables {
            let table = try row.text("table_name")
            // Nothing but the model's own tables may go.
            if table.isEmpty { continue }
            guard model?.tables.contains(table) ?? false else {
                throw row.damage("table_name")
            }
            try TableFingerprint.forget([table], database)
            if try row.flag("made_table") {
                try database.execute(sql: "DROP TABLE IF EXISTS \(table.quotedIdentifier)")
            } else if try row.number("inserted") > 0 {
                try deleteRows(of: table, before: row, database)
            }
        }
        try DeferredIndexes.restore(job: id, database)
        try StoreSchema.makePrimaryKeys(of: self, database)
        try SchemaAdditions.remove(job: id, database)
        try RetryOutcome.unsettle(id, database)
        try database.delete(
            job: id,
            from: [
                "entity", "chunk", "reject", "ledger", "outside", "retry", "deferred_identifier", "presence", "place",
                "incomplete", "link", "orphan", "unresolved", "reversal", "before", "reference", "unmet", "change",
                "waiting_change", "found_conflict", "undo_table", "undo", "undo_range", "addition", "seen", "mirror",
            ].map { "_import_\($0)" }
        )
        return tables.isEmpty ? nil : try MergeLog.appendReset(of: id, database)
    }

    private func deleteRows(of table: String, before row: BookkeepingRow, _ database: Database) throws {
        if try row.number("rows_before") == 0 {
            return try database.execute(sql: "DELETE FROM \(table.quotedIdentifier)")
        }
        guard let entity = model?.entities.first(where: { $0.table == table }),
            StoreSchema.rowIDAttribute(of: entity) == nil
        else {
            throw ImportError(
                .rowsIndistinct,
                "\(table): rows of this import cannot be told from earlier ones",
                advice: "Finish the import with \(call: .resuming())."
            )
        }
        // Without an integer primary key new rows follow the ones before (https://www.sqlite.org/autoinc.html).
        try database.execute(
            sql: "DELETE FROM \(table.quotedIdentifier) WHERE rowid > ?",
            arguments: [try row.rowID("last_rowid_before")]
        )
    }
}
