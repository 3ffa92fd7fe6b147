import GRDB
import ImportEngine
import ImportModel

/// How a job ends that is undone before it is finished.
extension StoredJob {
    /// Ends the job with what is in the store of it: what waits in it will not be done.
    ///
    /// - Parameters:
    ///   - sources: where records that turn out to be rejects are read again.
    ///   - check: called between the steps; may throw.
    package mutating func end(_ sources: SourceRecordReader, _ database: Database, check: () throws -> Void) throws {
        if change == nil {
            try endImport(sources, database, check)
        } else {
            try database.execute(
                sql: """
                    UPDATE _import_entity SET (records_read, ignored) = (
                        SELECT records_read + count(*), ignored + count(*) FROM _import_waiting_change AS waiting
                        WHERE waiting.job = _import_entity.job AND waiting.position = _import_entity.position
                    ) WHERE job = :job;
                    DELETE FROM _import_waiting_change WHERE job = :job;
                    """,
                arguments: ["job": id]
            )
        }
        try database.execute(
            sql: """
                INSERT OR IGNORE INTO _import_change (job, has_log) VALUES (:job, 1);
                UPDATE _import_change SET is_ended = 1 WHERE job = :job;
                """,
            arguments: ["job": id]
        )
        isEnded = true
        let seconds = try Marker(database, job: id)?.seconds ?? 0
        try setState(.finished, message: ImportReport.ended, seconds: seconds, database)
    }

    /// Brings the rows and indexes of an import to what they would be if its sources ended here, so that its log is whole.
    private func endImport(_ sources: SourceRecordReader, _ database: Database, _ check: () throws -> Void) throws {
        let changes = try DeferredUniqueIndex.settle(self, database, sources: sources, check: check)
        if let model, try AppendMode.exists(id, database) {
            try AppendMode.end(id, ModelLayout(importing: model), database)
        }
        try check()
        try JobRollback(job: id).forget(database)
        try database.delete(job: id, from: ["_import_orphan", "_import_seen"])
        try removeUnusedAdditions(database)
        try StoreSchema.makePrimaryKeys(of: self, database)
        try ImportUndoLog.finish(self, database)
        if !changes.allSatisfy(\.isEmpty) { _ = try MergeLog.append(changes, of: id, database) }
    }

    package static func isEnded(_ job: Int64, _ database: Database) throws -> Bool {
        try database.count("_import_change", where: "job = \(job) AND is_ended") > 0
    }
}
