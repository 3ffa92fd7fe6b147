/// What a job has done to the objects of one entity up to some commit, in all of its runs.
///
/// `recordsRead` is always the sum of `inserted`, `updated`, `unchanged`, `ignored` and `rejected`.
public struct EntityTotals: Sendable, Hashable {
    /// The entity's name.
    public let entity: String
    /// The entity's table.
    public let table: String
    /// Records that were read.
    public package(set) var recordsRead: Int64 = 0
    /// Objects that are new.
    public package(set) var inserted: Int64 = 0
    /// Records that changed an object.
    public package(set) var updated: Int64 = 0
    /// Records whose object had all their values already.
    public package(set) var unchanged: Int64 = 0
    /// Records left out: their object existed already, or what they would repair is repaired.
    public package(set) var ignored: Int64 = 0
    /// Records that were not accepted.
    public package(set) var rejected: Int64 = 0
    /// Objects that were nested in records of any entity, beside those.
    public package(set) var nested = NestedCounts()
    /// Rows in the entity's table, those from before the job too.
    ///
    /// They are not counted but known, as long as nobody but imports inserts or deletes any.
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
