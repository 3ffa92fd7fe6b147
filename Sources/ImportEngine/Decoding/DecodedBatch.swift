import ImportSources

/// What a decoder makes of records: rows, and those of them that are laid out already, beside the other workers and before their turn
/// to commit comes.
///
/// A row that is laid out has no cells. Where entities relate to one another, their links are rows of further tables. Rows of an
/// entity follow one another: from the first that is not laid out on, none is, but for records that wait to be complete
/// (`EntityPlan.keepsIncomplete`), which are no rows yet.
///
/// It cannot be copied and its image is nobody else's: while a store borrows it to commit it, no decoder can fill it again.
package struct DecodedBatch: ~Copyable {
    /// The chunk whose records they are.
    package var chunk: SealedChunk?
    package var rows = RowBatch()
    /// Of each entity whose rows are laid out, those up to the first that has to be written by itself; nil for none.
    package var layout: DatabaseImage?

    package init() {}

    /// How many records it has.
    package var records: Int { Int(rows.recordsRead.reduce(0, +)) }

    /// How much memory it takes, roughly.
    package var footprint: Int { rows.footprint + (layout?.bytes.count ?? 0) }
}

/// A batch in a list of several.
package final class BoxedBatch {
    package init() {}

    package var content = DecodedBatch()
}

/// An image has rows that are not to be written any more: they have to be looked up, must not follow one another, or no longer fit
/// their table.
///
/// Their chunk is to be decoded again, with the entity closed.
package struct LayoutInvalidated: Error {
    /// The entity's index in the job.
    package let entity: Int32

    package init(entity: Int32) {
        self.entity = entity
    }
}
