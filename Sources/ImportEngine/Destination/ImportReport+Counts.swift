extension ImportReport.Counts {
    package mutating func add(_ other: Self) {
        recordsRead = recordsRead.addingClamped(other.recordsRead)
        inserted = inserted.addingClamped(other.inserted)
        updated = updated.addingClamped(other.updated)
        unchanged = unchanged.addingClamped(other.unchanged)
        ignored = ignored.addingClamped(other.ignored)
        rejected = rejected.addingClamped(other.rejected)
    }

    /// Those of an entity whose totals are known.
    ///
    /// - Parameter hasNested: whether entities relate to one another.
    package init(_ totals: EntityTotals, hasNested: Bool) {
        self.init()
        recordsRead = totals.recordsRead
        inserted = totals.inserted
        updated = totals.updated
        unchanged = totals.unchanged
        ignored = totals.ignored
        rejected = totals.rejected
        if hasNested { add(totals.nested) }
    }

    /// Adds what nested objects came to.
    package mutating func add(_ other: NestedCounts) {
        nested = other.nested
        nestedInserted = other.inserted
        nestedUpdated = other.updated
        nestedUnchanged = other.unchanged
        nestedIgnored = other.ignored
        linked = other.linked
        stubs = other.stubs
        deleted = other.deleted
    }
}
