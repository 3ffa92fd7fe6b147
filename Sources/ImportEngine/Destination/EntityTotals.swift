/// The counts of a job for one entity up to some commit, over all of its runs.
///
/// `recordsRead` is always the sum of `inserted`, `updated`, `unchanged`, `ignored` and `rejected`.
public struct EntityTotals: Sendable, Hashable {
    /// The entity's name.
    public let entity: String
    /// The entity's table.
    public let table: String
    /// The number of records read.
    public package(set) var recordsRead: Int64 = 0
    /// The number of inserted objects.
    public package(set) var inserted: Int64 = 0
    /// The number of records that changed an object.
    public package(set) var updated: Int64 = 0
    /// The number of records whose object had all their values already.
    public package(set) var unchanged: Int64 = 0
    /// The number of records left out, as their object existed already or their reject was already repaired.
    public package(set) var ignored: Int64 = 0
    /// The number of rejected records.
    public package(set) var rejected: Int64 = 0
    /// The counts of objects nested in records of any entity, which are not included in the others.
    public package(set) var nested = NestedCounts()
    /// The number of rows in the entity's table, including those from before the job.
    ///
    /// It is computed, not counted: it is right as long as only imports insert and delete rows.
    public package(set) var rows: Int64 = 0

    package init(entity: String, table: String) {
        self.entity = entity
        self.table = table
    }

    /// Takes in what a commit changed.
    package mutating func add(_ changes: EntityChanges, recordsRead: Int64) {
        // A damaged store may have any counts.
        self.recordsRead = self.recordsRead.addingClamped(recordsRead)
        // A row that is gone was counted as inserted when it came.
        let records = changes.records
        inserted = inserted.addingClamped(records.inserted.subtractingClamped(records.deleted))
        updated = updated.addingClamped(records.updated)
        unchanged = unchanged.addingClamped(changes.unchanged)
        ignored = ignored.addingClamped(changes.ignored)
        rejected = rejected.addingClamped(changes.rejected)
        nested.add(changes.nested)
        rows = rows.addingClamped(changes.inserted.subtractingClamped(changes.deleted))
    }
}
