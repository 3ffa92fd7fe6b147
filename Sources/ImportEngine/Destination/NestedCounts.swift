/// Counts of objects of an entity that were nested in records, and of references to them.
///
/// `nested` is the sum of `inserted`, `updated`, `unchanged`, `ignored` and `linked`.
public struct NestedCounts: Sendable, Hashable {
    /// The number of nested objects and references in accepted records.
    public package(set) var nested: Int64 = 0
    /// The number of new nested objects.
    public package(set) var inserted: Int64 = 0
    /// The number of nested objects that changed a stored one.
    public package(set) var updated: Int64 = 0
    /// The number of nested objects that were stored with all their values already.
    public package(set) var unchanged: Int64 = 0
    /// The number of nested objects left out, by the `onConflict` of their relationship.
    public package(set) var ignored: Int64 = 0
    /// The number of references by an identifier alone.
    public package(set) var linked: Int64 = 0
    /// The number of objects that were inserted for references to them.
    public package(set) var stubs: Int64 = 0
    /// The number of deleted objects: surplus ones of a list without identifiers, orphans, and those that a delete rule deletes with them.
    public package(set) var deleted: Int64 = 0

    /// Objects that were changed by what others say of them, which no count of records has.
    package var touched: Int64 = 0

    /// True if all counts are 0.
    public var isEmpty: Bool { self == NestedCounts() }

    /// Starts with nothing.
    package init() {}

    /// Takes in what happened next.
    package mutating func add(_ next: NestedCounts) {
        nested = nested.addingClamped(next.nested)
        inserted = inserted.addingClamped(next.inserted)
        updated = updated.addingClamped(next.updated)
        unchanged = unchanged.addingClamped(next.unchanged)
        ignored = ignored.addingClamped(next.ignored)
        linked = linked.addingClamped(next.linked)
        stubs = stubs.addingClamped(next.stubs)
        deleted = deleted.addingClamped(next.deleted)
        touched = touched.addingClamped(next.touched)
    }
}
