import GRDB
import ImportEngine
import ImportSources

extension StoredJob {
    /// True if a source that is done was not read to its end, as no more records of it were wanted.
    ///
    /// - Parameter index: the source's index in the job.
    package func hasReachedLimit(ofSource index: Int, _ database: Database) throws -> Bool {
        guard options.limit != nil else { return false }
        let records = try Int64.fetchOne(
            database,
            sql: "SELECT sum(records) FROM _import_chunk WHERE job = ? AND source = ?",
            arguments: [id, index]
        )
        return SplitLimits(options).isReached(records: records ?? 0, paths: sources[index].shape.paths.count)
    }
}
