/// Where decoded rows go besides their cells: a destination may lay them out its own way, beside the other workers and before
/// their turn to commit comes.
///
/// A row that is laid out has no cells. Where entities relate to one another, their links are rows of further tables. Rows of an entity follow one another: from the first that is not laid out on, none is,
/// but for records that wait to be complete (`EntityPlan.keepsIncomplete`), which are no rows yet.
/// Decoders are generic over it, so that a row costs no look-up of a witness.
package protocol RowLayout: AnyObject {
    /// What all layouts of a job have in common.
    associatedtype Schema

    /// Fewer rows in a batch are not worth laying out.
    static var fewestRows: Int { get }

    /// How much memory it takes, in bytes.
    var footprint: Int { get }

    init(_ schema: Schema)

    /// Empties it; it accepts no rows before `open`.
    func reset()

    /// Reserves room for the rows of records.
    ///
    /// - Parameter bytes: how many bytes the records have.
    func reserve(_ bytes: Int)

    /// Accepts rows of an entity, by its index in the job.
    func open(_ entity: Int32)

    /// Accepts no more rows of an entity.
    func close(_ entity: Int32)

    /// Adds a row after the others of its entity.
    ///
    /// - Parameters:
    ///   - values: the row's cells, and the bytes that they are slices of.
    ///   - presence: a bit per attribute, set where it has a cell; the others get their defaults.
    ///   - entity: its index in the job.
    /// - Returns: whether it was accepted; if not, no row of the entity is any more.
    func append(_ values: RowValues, presence: UnsafeMutableBufferPointer<UInt64>, entity: Int32) -> Bool

    /// Remembers which rows it has, for `goBack`.
    func mark()

    /// Forgets all rows that were added after `mark`.
    func goBack()

    /// Ends it, when all rows are added.
    func finish()
}

/// A layout has rows that are not to be written any more: they have to be looked up, must not follow one another, or no longer
/// fit their table.
///
/// Their chunk is to be decoded again, with the entity closed.
package struct UnusableLayout: Error {
    /// The entity's index in the job.
    package let entity: Int32
}

/// What a decoder makes of records: rows, and those of them that are laid out already.
///
/// It cannot be copied and its layout is nobody else's: while a store borrows it to commit it, no decoder can fill it again.
package struct DecodedBatch<Layout: RowLayout>: ~Copyable {
    package var rows = RowBatch()
    /// Of each entity whose rows are laid out, those up to the first that has to be written by itself; nil for none.
    package var layout: Layout?

    package init() {}

    /// How much memory it takes, roughly.
    package var footprint: Int { rows.footprint + (layout?.footprint ?? 0) }
}

/// A batch in a list of several.
final class ListedBatch<Layout: RowLayout> {
    var content = DecodedBatch<Layout>()
}
