import Foundation
import GRDB

extension Migrator.Step {
    /// Adds what mirrors keep: the rows that imports have inserted, those that a job has seen, and what was deleted.
    static let format9 = Migrator.Step(
        to: 9,
        texts: BookkeepingTable.texts(
            in: tablesOfFormat4 + tablesOfFormat5 + tablesOfFormat6 + tablesOfFormat7 + tablesOfFormat8
                + tablesOfFormat9
        )
    ) { database in
        try database.execute(sql: tablesOfFormat9)
        try fillInserted(database)
    }

    /// The bookkeeping tables that format 9 adds.
    static let tablesOfFormat9 = """
        CREATE TABLE IF NOT EXISTS _import_inserted (
            number INTEGER PRIMARY KEY,
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            last_rowid INTEGER NOT NULL,
            ranges BLOB
        ) STRICT;
        CREATE TABLE IF NOT EXISTS _import_seen (
            job INTEGER NOT NULL,
            table_name TEXT NOT NULL,
            page INTEGER NOT NULL,
            content BLOB NOT NULL,
            PRIMARY KEY (job, table_name, page)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS _import_mirror (
            job INTEGER PRIMARY KEY,
            is_done INTEGER NOT NULL,
            deleted INTEGER NOT NULL,
            withheld INTEGER NOT NULL,
            reason TEXT,
            objects TEXT NOT NULL
        ) STRICT;
        """

    /// Takes over the rows of earlier jobs as far as they are known: those of chunks whose rows have all the row ids from the
    /// first to the last.
    private static func fillInserted(_ database: Database) throws {
        let chunks = try Row.fetchCursor(
            database,
            sql: """
                SELECT entity.table_name, chunk.job, first_rowid, last_rowid
                FROM _import_chunk AS chunk
                JOIN _import_entity AS entity ON entity.job = chunk.job AND entity.position = chunk.entity
                WHERE chunk.inserted > 0 AND first_rowid <= last_rowid
                    AND last_rowid - first_rowid = chunk.inserted - 1
                ORDER BY chunk.job, first_ordinal
                """
        )
        while let row = try chunks.next() {
            let (first, last): (Int64, Int64) = (row["first_rowid"], row["last_rowid"])
            try InsertedRows.save([first...last], of: row["table_name"], job: row["job"], database)
        }
    }
}
