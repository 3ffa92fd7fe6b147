/// What happened to objects of an entity that were nested in records, and to the references to them.
///
/// `nested` is the sum of `inserted`, `updated`, `unchanged`, `ignored` and `linked`.
public struct NestedCounts: Sendable, Hashable {
    /// Nested objects, and references to objects, in records that were accepted.
    public package(set) var nested: Int64 = 0
    /// Nested objects that are new.
    public package(set) var inserted: Int64 = 0
    /// Nested objects that changed a stored one.
    public package(set) var updated: Int64 = 0
    /// Nested objects that were stored with all their values already.
    public package(set) var unchanged: Int64 = 0
    /// Nested objects left out, as their relationship says.
    public package(set) var ignored: Int64 = 0
    /// References without more than an identifier.
    public package(set) var linked: Int64 = 0
    /// Objects that were made for references to them.
    public package(set) var stubs: Int64 = 0
    /// Objects that are gone: surplus ones of a list without identifiers, orphans, and what a delete rule takes with them.
    public package(set) var deleted: Int64 = 0

    /// Objects that were changed by what others say of them, which no count of records has.
    package var touched: Int64 = 0

    /// Whether it says nothing.
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
