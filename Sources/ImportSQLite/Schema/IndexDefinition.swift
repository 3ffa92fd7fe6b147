import GRDB

/// An index on columns of a table, over all of its rows.
package struct IndexDefinition {
    /// How an index compares texts: by one of the collations that every SQLite has
    /// (<https://www.sqlite.org/datatype3.html#collation>).
    package enum Collation: String, Sendable {
        case binary = "BINARY"
        case noCase = "NOCASE"
        case rightTrim = "RTRIM"
        /// That of its column.
        case declared = ""
    }

    /// One of its columns.
    package struct Column {
        package let name: String
        package var collation: Collation
        let isDescending: Bool
    }

    package let table: String
    package let name: String
    package let isUnique: Bool
    /// In its order.
    package var columns: [Column] = []

    /// A table's indexes that were made by `CREATE INDEX` on columns alone, in the order in which they were made.
    package static func all(of table: StoredTable) -> [IndexDefinition] {
        table.indexes.reversed().filter { $0.isDeclared && !$0.isPartial }.compactMap { index in
            let columns = index.columns.compactMap { column -> Column? in
                guard let column, let collation = Collation(rawValue: column.collation.uppercased()) else { return nil }
                return Column(name: column.name, collation: collation, isDescending: column.isDescending)
            }
            guard columns.count == index.columns.count else { return nil }
            return IndexDefinition(table: table.name, name: index.name, isUnique: index.isUnique, columns: columns)
        }
    }

    /// The statement that makes it, spelled as GRDB does: its migrator compares texts.
    package var statement: String {
        let columns = columns.map {
            $0.name.quotedIdentifier + ($0.collation == .declared ? "" : " COLLATE \($0.collation.rawValue)")
                + ($0.isDescending ? " DESC" : "")
        }
        return "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name.quotedIdentifier) ON \(table.quotedIdentifier)"
            + "(\(columns.joined(separator: ", ")))"
    }

    /// True if it can be made: its table is there, and nothing has its name.
    ///
    /// Somebody may have made it again already, or have done away with the table.
    package func isMissing(_ database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: """
                SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE)
                    AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE)
                """,
            arguments: [table, name]
        ) ?? false
    }
}

extension IndexDefinition {
    /// What all rows of an index say of it; without its columns.
    package init(_ row: BookkeepingRow) throws {
        table = try row.text("table_name")
        name = try row.text("name")
        isUnique = try row.flag("is_unique")
        // Those of the importer's own and of SQLite's tables were never dropped.
        for (column, value) in [("table_name", table), ("name", name)]
        where ["_import_", "sqlite_"].contains(where: value.asciiLowercased.hasPrefix) {
            throw row.damage(column)
        }
    }
}

extension IndexDefinition.Column {
    /// What its row says of it.
    package init(_ row: BookkeepingRow) throws {
        name = try row.text("column_name")
        collation = try row.choice("collation")
        isDescending = try row.flag("is_descending")
    }
}
