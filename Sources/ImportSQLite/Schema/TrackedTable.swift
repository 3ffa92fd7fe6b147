import GRDB
import ImportModel
import ImportSources

/// A table of a store's user, and what its rows are known by.
package struct TrackedTable {
    package let name: String
    /// The columns by which a row is known; `rowid` by a name that no column has.
    package let key: [String]
    /// The columns that are kept: those that have values of their own.
    package let columns: [String]
    package let hasRowID: Bool
    /// True if the row id is a column, and so the object's own.
    package let hasOwnRowID: Bool
    /// The unique columns by which an object is found whatever its row id is; empty where there are none.
    package let identity: [String]

    /// The ordinary tables of a store, but those of the bookkeeping.
    ///
    /// - Throws: `ImportError` for one whose rows cannot be told apart.
    package static func all(_ database: Database) throws -> [TrackedTable] {
        try names(database).map { try TrackedTable($0, database) }
    }

    /// Their names.
    package static func names(_ database: Database) throws -> [String] {
        try String.fetchAll(
            database,
            sql: """
                SELECT m.name FROM sqlite_master AS m JOIN pragma_table_list AS l ON l.name = m.name AND l.schema = 'main'
                WHERE m.type = 'table' AND l.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                    AND m.name NOT LIKE '\\_import\\_%' ESCAPE '\\' ORDER BY m.rowid
                """
        )
    }

    /// - Parameter kept: the columns that are kept of it already; all of them unless given.
    package init(_ name: String, columns kept: [String]? = nil, _ database: Database) throws {
        self.name = name
        let table = try StoredTable(name, database)
        hasRowID = table.hasRowID
        columns = kept ?? table.ownColumns.map(\.name)
        hasOwnRowID = table.rowIDColumn != nil
        let identity = table.keys.first?.map(\.name) ?? []
        self.identity = Set(identity.folded).isSubset(of: columns.folded) ? identity : []
        guard hasRowID else {
            key = table.primaryKey
            return
        }
        if let name = table.rowIDName ?? table.rowIDColumn {
            key = [name]
        } else {
            throw ImportError(
                .rowsIndistinct,
                "\(name.printable): its columns have all names of the row id, so what undo needs cannot be kept",
                advice:
                    "Do without undo (\(.keepsUndo, "false")), or rename the column rowid, _rowid_ or "
                    + "oid."
            )
        }
    }

    /// The call whose value is the columns of a row as bytes.
    package static func call(_ columns: [String], of row: String) -> String {
        RowKey.call(columns.map { "\(row).\($0.quotedIdentifier)" })
    }

    /// The expression whose value is the number that the key of a row begins with, as `RowKey.number` has it.
    package func number(of row: String) -> String {
        let first = "\(row).\(key[0].quotedIdentifier)"
        return hasRowID ? first : "iif(typeof(\(first)) = 'integer', \(first), 0)"
    }

    package var cells: String {
        RowKey.call(columns.map(\.quotedIdentifier))
    }

    /// That a row is the one with the key that is bound from the first parameter on: storage class and bytes.
    package var hasKey: String {
        guard !hasRowID else { return "\(key[0].quotedIdentifier) = ?1" }
        return Self.matches(key)
    }

    /// That columns are what is bound; the first part may use an index, whatever its collation is.
    package static func matches(_ columns: [String], from first: Int = 1) -> String {
        columns.enumerated().map { place, column in
            let (name, mark) = (column.quotedIdentifier, "?\(place + first)")
            return "\(name) = \(mark) AND \(name) = \(mark) COLLATE BINARY AND typeof(\(name)) = typeof(\(mark))"
        }.joined(separator: " AND ")
    }
}

extension RowKey {
    /// The integer that it begins with; nil where it does not.
    package var firstNumber: Int64? {
        guard bytes.count >= 9, bytes[0] == 1 else { return nil }
        return Int64(bitPattern: bytes[1..<9].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// By which keys are sorted before they are sorted by their bytes: the integer that it begins with, or 0.
    package var number: Int64 { firstNumber ?? 0 }
}
