/// The statements that settle one bucket: in this order, in one transaction, on one connection.
///
/// None has parameters. The transaction leaves nothing behind but objects and an empty bucket, so after a kill it is run
/// again as if it had never begun; whoever runs it notes in the same transaction that the bucket is done.
struct BucketStatements: Sendable {
    /// What finds out what becomes of the rows; nothing but temporary tables is written.
    var reading: [String]
    /// What writes the objects; where the server refuses any of them, `parts` does it instead.
    var writing: [String]
    /// What writes all objects but those that the server refuses.
    var parts: PartStatements
    /// Empties the bucket.
    var emptying: String
    /// A query for the records that become rejects, in source order: `_ordinal` and `_child`; `missing`, which is true
    /// where they lack what a new object needs, and false where their object is there and must not be; and `code`,
    /// `expected` and `found`, which are NULL except where the server has refused them.
    ///
    /// There may be as many as the bucket has rows. It can be read as a cursor, or row by row.
    var rejects: String
    /// A query for one row of counts: `inserted`, `updated`, `unchanged`, `ignored`, `rejected` of records; `inserted`, `updated`,
    /// `unchanged` of nested objects.
    var counts: String

    /// What settles the rows where no object is refused; their results say nothing.
    var settling: [String] { reading + writing + [emptying] }
}
