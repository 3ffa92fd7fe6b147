import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// A table of a store, as SQLite describes it (<https://www.sqlite.org/pragma.html#pragma_table_xinfo>).
package struct StoredTable {
    /// A column that rows are told apart by, and how its texts are compared.
    package struct KeyColumn {
        package let name: String
        package let collation: String
        let isDescending: Bool
    }

    package struct Index {
        package let name: String
        package let isUnique: Bool
        /// True if it is over some rows alone.
        package let isPartial: Bool
        /// True if it was made by `CREATE INDEX`; the others are constraints of their table.
        let isDeclared: Bool
        let isPrimaryKey: Bool
        /// In its order; nil for an expression.
        package fileprivate(set) var columns: [KeyColumn?] = []

        /// True if it compares as it usually does: texts by their bytes.
        package var isBinary: Bool { columns.allSatisfy { $0?.collation.uppercased() == "BINARY" } }

        /// The columns, in its order and in lower case; nil where there is an expression among them.
        package var names: [BytewiseString]? {
            let names = columns.compactMap { $0.map { ExistingEntity.folded($0.name) } }
            return names.count == columns.count ? names : nil
        }

        /// True if it is as one that is made without further words: ascending, texts by their bytes.
        package var isPlain: Bool { isBinary && columns.allSatisfy { $0?.isDescending == false } }

        /// True if it is on just these columns, in any order, and compares texts by their bytes.
        func isJust(_ columns: [String]) -> Bool { isBinary && names.map(Set.init) == Set(columns.folded) }
    }

    package let name: String
    /// In order; none if there is no such table.
    package let columns: [StoredColumn]
    package let hasRowID: Bool
    /// The one that was made last comes first.
    package private(set) var indexes: [Index] = []

    /// - Parameter readsRows: whether the first and last rows tell what its columns hold.
    package init(_ name: String, _ database: Database, readsRows: Bool = false) throws {
        self.name = name
        let rows = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT info.*, list.wr, list.strict FROM pragma_table_list(?) AS list, pragma_table_xinfo(list.name) AS info
                    WHERE list.schema = 'main' AND list.type <> 'view' AND info.hidden <> 1 ORDER BY info.cid
                    """
            ),
            arguments: [name]
        )
        hasRowID = rows.first.map { !($0["wr"] as Bool) } ?? true
        let order = hasRowID ? "rowid" : nil
        columns = try rows.map { row in
            var column = StoredColumn(row)
            if readsRows { column.rows = try ColumnSample(of: column.name, in: name, order: order, database) }
            return column
        }
        let keys = try Row.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT list.*, key.name AS "column", key.coll, key."desc"
                    FROM pragma_index_list(?) AS list, pragma_index_xinfo(list.name) AS key
                    WHERE key.key ORDER BY list.seq, key.seqno
                    """
            ),
            arguments: [name]
        )
        for key in keys {
            if indexes.last?.name != key["name"] {
                indexes.append(
                    Index(
                        name: key["name"],
                        isUnique: key["unique"],
                        isPartial: key["partial"],
                        isDeclared: key["origin"] == "c",
                        isPrimaryKey: key["origin"] == "pk"
                    )
                )
            }
            let column = (key["column"] as String?).map {
                KeyColumn(name: $0, collation: key["coll"] ?? "BINARY", isDescending: key["desc"])
            }
            indexes[indexes.count - 1].columns.append(column)
        }
    }

    /// Makes sure that rows have row ids, by which objects are read.
    package func checkReadable() throws {
        guard !hasRowID else { return }
        throw ImportError(
            .tableUnsuitable,
            "the table \(name) is WITHOUT ROWID, and objects are read by their row ids",
            advice: "Read it with SQL: importer query."
        )
    }

    /// The columns that have values of their own.
    package var ownColumns: [StoredColumn] { columns.filter { !$0.isComputed } }

    /// The columns of the primary key, in its order.
    package var primaryKey: [String] {
        columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
    }

    package func column(_ name: String) -> StoredColumn? {
        columns.first { ExistingEntity.folded($0.name) == ExistingEntity.folded(name) }
    }

    /// The column that is another name of the row id (<https://www.sqlite.org/lang_createtable.html#rowid>).
    package var rowIDColumn: String? {
        let key = primaryKey
        // A key with an index of its own is none: `INTEGER PRIMARY KEY DESC`.
        guard key.count == 1, column(key[0])?.declared == "INTEGER", !indexes.contains(where: \.isPrimaryKey) else {
            return nil
        }
        return key[0]
    }

    /// What the row ids are called; nil where they have no name, or where there are none.
    package var rowIDName: String? {
        hasRowID ? ["rowid", "_rowid_", "oid"].first { column($0) == nil } : nil
    }

    /// The columns of the primary key, and then those of each unique index on columns alone, over all rows, by the indexes' names.
    package var keys: [[KeyColumn]] {
        let unique = indexes.filter { $0.isUnique && !$0.isPartial && $0.names != nil }
        let primary =
            unique.first(where: \.isPrimaryKey).map { $0.columns.compactMap(\.self) }
            // A row id has no index.
            ?? primaryKey.map { KeyColumn(name: $0, collation: "BINARY", isDescending: false) }
        return (primary.isEmpty ? [] : [primary])
            + unique.filter { !$0.isPrimaryKey }.sorted { $0.name < $1.name }.map { $0.columns.compactMap(\.self) }
    }

    /// True if the primary key, or a unique index over all rows, is on just these columns.
    package func hasKey(_ columns: [String]) -> Bool {
        keys.contains { Set($0.map(\.name).folded) == Set(columns.folded) }
    }

    package func isNeverNull(_ name: String) -> Bool {
        guard let column = column(name) else { return false }
        return column.isRequired || column.isKey && (!hasRowID || rowIDColumn != nil)
    }

    /// What may be an identifier where nothing else is said: the primary key, then each unique constraint without nulls.
    var rowKeys: [ExistingEntity.Key] {
        let primary = primaryKey
        return keys.map { $0.map(\.name) }.filter { $0 == primary || $0.allSatisfy(isNeverNull) }
            .map { ExistingEntity.Key(columns: $0, isPrimary: $0 == primary) }
    }

    /// The columns that identify a row by themselves: the primary key, or the only unique index without nulls; nil for none.
    package var identifier: [String]? {
        let primary = primaryKey
        if !primary.isEmpty { return primary }
        let unique = keys.map { $0.map(\.name) }.filter { $0.allSatisfy(isNeverNull) }
        return unique.count == 1 ? unique[0] : nil
    }
}

extension Sequence<String> {
    /// The names as those of columns are compared.
    package var folded: [BytewiseString] { map(ExistingEntity.folded) }
}
