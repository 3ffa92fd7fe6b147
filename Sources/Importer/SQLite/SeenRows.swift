import GRDB

/// The rows that the records of one batch were about, whatever became of them: a mirror leaves them where they are.
struct SeenRows {
    /// By the entity's index in the job.
    private var rowIDs: [Int: [Int64]] = [:]

    mutating func add(_ rowID: Int64, of entity: Int) { rowIDs[entity, default: []].append(rowID) }

    /// Keeps them, in the transaction of the rows.
    ///
    /// - Parameter tables: the table of each entity.
    func save(job: Int64, _ tables: [String], _ database: Database) throws {
        for (entity, rowIDs) in rowIDs.sorted(by: { $0.key < $1.key }) where tables.indices.contains(entity) {
            try RowIDPages(database, in: RowIDPages.seen, job: job, of: tables[entity]).add(rowIDs.sorted())
        }
    }
}
