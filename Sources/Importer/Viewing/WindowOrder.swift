import GRDB
import ImportModel

/// The order of a view's records: that of a `RecordOrder`, up to where no two records are the same.
struct WindowOrder: Sendable {
    /// One thing to sort by.
    struct Term: Sendable {
        let column: String
        /// The column with its collation.
        let collated: String
        let ascending: Bool
        /// What all values but null are, so that an index finds them.
        let notNull: String
    }

    /// What decides before the row id does.
    let terms: [Term]
    /// Whether small row ids come first.
    let isRowIDAscending: Bool
    /// Whether new rows have larger row ids than all others: where no attribute is the row id.
    let onlyAppends: Bool

    /// - Throws: `ImportError` with `.usage` when the entity has no such attribute.
    init(_ sort: [RecordSort], of entity: EntityDescription, _ database: Database) throws {
        let order = try RecordOrder(sort, entity: entity)
        let rowIDColumn = try Self.rowIDColumn(of: entity.table, database)
        var terms: [Term] = []
        var isRowIDAscending = order.isRowIDAscending
        for (term, sort) in zip(order.terms, sort) {
            let index = entity.attributes.firstIndex { ExactText($0.name) == ExactText(sort.attribute) }
            guard let index,
                ExactText(entity.attributes[index].column.asciiLowercased) != rowIDColumn.map(ExactText.init)
            else {
                // Nothing comes after what no two records share.
                isRowIDAscending = term.ascending
                break
            }
            let collated = term.column + term.collation
            // With an affinity, SQLite would make a text of the number.
            let smallest = entity.attributes[index].declaredType == "TEXT" ? "''" : "-9e999"
            let isDecimal = entity.attributes[index].type == .decimal
            terms.append(
                Term(
                    column: term.column,
                    collated: collated,
                    ascending: term.ascending,
                    notNull: isDecimal ? "\(term.column) IS NOT NULL" : "\(collated) >= \(smallest)"
                )
            )
        }
        self.terms = terms
        self.isRowIDAscending = isRowIDAscending
        onlyAppends = rowIDColumn == nil
    }

    /// Whether the row id alone decides.
    var isByRowID: Bool { terms.isEmpty }

    /// For `ORDER BY`.
    func sql(backwards: Bool = false) -> String {
        let terms = terms.map { "\($0.collated) \($0.ascending != backwards ? "ASC" : "DESC")" }
        return (terms + ["rowid \(isRowIDAscending != backwards ? "ASC" : "DESC")"]).joined(separator: ", ")
    }

    /// The column that is another name of the row id, in lower case (<https://www.sqlite.org/lang_createtable.html#rowid>).
    private static func rowIDColumn(of table: String, _ database: Database) throws -> String? {
        let keys = try Row.fetchAll(
            database,
            sql: "SELECT name, type FROM pragma_table_info(?) WHERE pk > 0",
            arguments: [table]
        )
        guard keys.count == 1, (keys[0]["type"] as String).asciiLowercased == "integer" else { return nil }
        // A key with an index of its own is none: `INTEGER PRIMARY KEY DESC`.
        let hasIndex = try Bool.fetchOne(
            database,
            sql: "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk')",
            arguments: [table]
        )
        return hasIndex ?? false ? nil : (keys[0]["name"] as String).asciiLowercased
    }
}
