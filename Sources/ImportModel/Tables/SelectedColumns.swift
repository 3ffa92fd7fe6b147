/// The columns of a query, the row id first, some of them in a query of their own where they are too many for one.
///
/// A table may have as many columns as a query (`SQLITE_MAX_COLUMN`), which asks for the row id and for what it sorts by as well.
package struct SelectedColumns {
    /// What a query has at most.
    package static let most = 2_000

    /// Those that a query has no room for.
    package struct Rest: Sendable {
        /// Reads them by the row id.
        package let query: String
        /// How many columns precede them.
        package let place: Int
        /// How many they are.
        package let count: Int
    }

    /// The first ones.
    package let first: [String]
    /// The others; nil where there are none.
    package let beyond: Rest?

    /// - Parameters:
    ///   - table: quoted.
    ///   - more: how many columns of other tables the query has after them.
    package init(_ columns: [String], of table: String, besides more: Int = 0) {
        let room = Self.most - more
        first = Array(columns.prefix(room))
        let others = columns.dropFirst(room)
        let query = "SELECT \(others.joined(separator: ", ")) FROM \(table) WHERE rowid = ?"
        beyond = others.isEmpty ? nil : Rest(query: query, place: room, count: others.count)
    }

    /// The first ones, as they come after `SELECT`.
    package var list: String { first.joined(separator: ", ") }
}
