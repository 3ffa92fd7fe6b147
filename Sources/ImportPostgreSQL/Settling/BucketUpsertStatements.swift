/// The statements that settle one bucket: in this order, in one transaction, on one connection.
///
/// None has parameters. The transaction leaves nothing behind but objects and an empty bucket, so after a kill it is run
/// again as if it had never begun; whoever runs it notes in the same transaction that the bucket is done.
struct BucketUpsertStatements: Sendable {
    /// What all others begin with.
    var settings: [String]
    /// The short way, where the table was empty: it is asked first.
    var short: FastPath?
    /// What finds out what becomes of the rows; beside temporary tables, it notes rows that have said nothing new.
    var reading: [String]
    /// What writes the objects; where the server refuses any of them, `parts` does it instead.
    var writing: [String]
    /// What writes all objects but those that the server refuses.
    var parts: BisectionStatements
    /// Empties the bucket.
    var emptying: String
    /// A query for the records that become rejects, in source order: `_ordinal` and `_child`; `missing`, which is true
    /// where they lack what a new object needs, and false where their object is there and must not be; and `code`,
    /// `expected` and `found`, which are NULL except where the server has refused them.
    ///
    /// There may be as many as the bucket has rows. It can be read as a cursor, or row by row.
    var rejects: String
    /// A query for one row of counts of records: `inserted`, `updated`, `unchanged`, `ignored`, `rejected`.
    var counts: String
    /// A query for one row of counts of nested objects: `inserted`, `updated`, `unchanged`; nil where there are none.
    var nestedCounts: String?
    /// A query for both by entity, where the table has the objects of several: its number, the counts of records, those of nested
    /// objects; nil where it has those of one.
    var subentityCounts: String?

    /// What settles the rows where no object is refused; their results say nothing.
    var settling: [String] { settings + reading + writing + [emptying] }

    /// What settles a bucket each of whose rows is an object of its own.
    struct FastPath: Sendable {
        /// A query for one row: how many rows there are, how many of them are of nested objects, and whether each is an object of
        /// its own and lacks nothing.
        var asking: String
        /// Inserts all of them.
        var inserting: String
    }
}
