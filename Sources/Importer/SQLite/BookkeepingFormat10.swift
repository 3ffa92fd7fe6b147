import Foundation
import GRDB

extension Migrator.Step {
    /// Sorts what undo needs by row ids as numbers: as bytes, those of neighbouring rows are on pages far from each other, each of which
    /// a commit writes.
    static let format10 = Migrator.Step(
        to: 10,
        texts: BookkeepingTable.texts(
            in: tablesOfFormat4 + tablesOfFormat5 + tablesOfFormat6 + tablesOfFormat7 + tablesOfFormat8
                + tablesOfFormat9 + tablesOfFormat10
        )
    ) { database in
        // To rename a table, SQLite reads the whole schema again, and fails where an index needs what another program has.
        try database.execute(
            sql: """
                CREATE TEMP TABLE _import_undo_before AS SELECT * FROM main._import_undo;
                DROP TABLE main._import_undo;
                \(tablesOfFormat10)
                """
        )
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT job, table_name, key, before, after FROM temp._import_undo_before"
        )
        while let next = try rows.next() {
            let row = BookkeepingRow(next, of: "_import_undo", database)
            try database.execute(
                sql: """
                    INSERT INTO _import_undo (job, table_name, number, key, before, after) VALUES (?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    next["job"], next["table_name"], RowKey(bytes: try row.bytes("key")).number, next["key"],
                    next["before"], next["after"],
                ]
            )
        }
        try database.execute(sql: "DROP TABLE temp._import_undo_before")
    }

    /// The bookkeeping table that format 10 replaces: `number` is `RowKey.number` of the key.
    static let tablesOfFormat10 = """
        CREATE TABLE IF NOT EXISTS _import_undo (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            number INTEGER NOT NULL,
            key BLOB NOT NULL,
            before BLOB,
            after BLOB,
            PRIMARY KEY (job, table_name, number, key)
        ) STRICT, WITHOUT ROWID;
        """
}
