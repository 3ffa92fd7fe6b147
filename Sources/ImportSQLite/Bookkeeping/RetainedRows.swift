import GRDB

/// The rows that the records of one batch were about, whatever became of them: a mirror leaves them where they are.
package struct RetainedRows {
    /// By the entity's index in the job.
    private var rowIDs: [[Int64]] = []

    package mutating func add(_ rowID: Int64, of entity: Int) {
        while rowIDs.count <= entity { rowIDs.append([]) }
        rowIDs[entity].append(rowID)
    }

    /// Keeps them, in the transaction of the rows.
    package func save(job: Int64, _ tables: [String], _ database: Database) throws {
        for (entity, rowIDs) in rowIDs.enumerated() where !rowIDs.isEmpty && tables.indices.contains(entity) {
            try RowIDBitmap(database, in: RowIDBitmap.retained, job: job, of: tables[entity]).add(rowIDs.sorted())
        }
    }
}
