/// The columns of a query, the row id first, some of them in a query of their own where they are too many for one.
///
/// A table may have as many columns as a query (`SQLITE_MAX_COLUMN`), which asks for the row id and for what it sorts by as well.
struct SelectedColumns {
    /// What a query has at most.
    static let most = 2_000

    /// The first ones, as they come after `SELECT`.
    let list: String
    /// A query by the row id for the others; nil where there are none.
    let beyond: String?

    /// - Parameter table: quoted.
    init(_ columns: [String], of table: String) {
        list = columns.prefix(Self.most).joined(separator: ", ")
        let others = columns.dropFirst(Self.most)
        beyond = others.isEmpty ? nil : "SELECT \(others.joined(separator: ", ")) FROM \(table) WHERE rowid = ?"
    }
}
