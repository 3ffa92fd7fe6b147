import GRDB

/// What the importer knew of a table when its last job ended, to tell later what other programs have done since.
///
/// It is the highest row id, and digests of up to 256 rows that are evenly spaced by their row ids. What that costs does
/// not depend on how large the table is, so a change of few rows in a large table may go unseen. An import that begins or
/// resumes forgets it, since from then on the table is changed by the importer itself.
struct TableWitness {
    /// How many rows are compared, at most.
    static let mostRows = 256
    /// They have no more bytes than this, but for the last of them.
    static let mostBytes = 16 << 20
    /// A statement has at most 2,000 columns, and the row id is one.
    private static let mostColumns = 1_999

    /// The highest row id; 0 for an empty table.
    let lastRowID: Int64
    /// The columns that are compared.
    let columns: [String]

    /// What is known of a table; nil where nothing is.
    init?(of table: String, _ database: Database) throws {
        guard try database.tableExists("_import_table"),
            let row = try BookkeepingRow.fetchOne(
                database,
                from: "_import_table",
                sql: "SELECT last_rowid, columns FROM _import_table WHERE table_name = ?",
                arguments: [table]
            )
        else { return nil }
        lastRowID = try row.rowID("last_rowid")
        columns = try row.json("columns", where: { !$0.isEmpty && $0.count <= Self.mostColumns })
    }

    // MARK: Writing

    /// Forgets what is known of tables, in the transaction in which the importer begins to change them.
    static func forget(_ tables: [String], _ database: Database) throws {
        for table in tables {
            try database.execute(sql: "DELETE FROM _import_table WHERE table_name = ?", arguments: [table])
            try database.execute(sql: "DELETE FROM _import_sample WHERE table_name = ?", arguments: [table])
        }
    }

    /// Keeps what is known of tables, in the transaction that ends their job.
    static func record(_ tables: [String], _ database: Database) throws {
        try forget(tables, database)
        for table in tables where try database.tableExists(table) { try record(table, database) }
    }

    /// Whether anything can be known of a table: it is known by row ids, and a column may have their name.
    static func isPossible(_ table: String, _ database: Database) throws -> Bool {
        let sql = """
            SELECT list.wr = 0 AND NOT EXISTS (
                SELECT 1 FROM pragma_table_xinfo(list.name) WHERE name = 'rowid' COLLATE NOCASE
            ) FROM pragma_table_list(?) AS list WHERE list.schema = 'main'
            """
        return try Bool.fetchOne(database, sql: sql, arguments: [table]) ?? false
    }

    private static func record(_ table: String, _ database: Database) throws {
        let columns = try String.fetchAll(
            database,
            sql: "SELECT name FROM pragma_table_info(?) ORDER BY cid LIMIT ?",
            arguments: [table, mostColumns]
        )
        let name = table.quotedIdentifier
        // Each by itself is looked up; both in one SELECT would read the whole table.
        let ends = try Row.fetchOne(
            database,
            sql: "SELECT (SELECT min(rowid) FROM \(name)) AS first, (SELECT max(rowid) FROM \(name)) AS last"
        )
        let last = ends?["last"] as Int64?
        try database.execute(
            sql: "INSERT INTO _import_table (table_name, last_rowid, columns) VALUES (?, ?, ?)",
            arguments: [table, last ?? 0, try StoredJSON.encode(columns)]
        )
        guard let first = ends?["first"] as Int64?, let last else { return }
        let select = try database.makeStatement(
            sql: "SELECT rowid, \(list(columns)) FROM \(name) WHERE rowid >= ? ORDER BY rowid LIMIT 1"
        )
        let insert = try database.makeStatement(
            sql: "INSERT INTO _import_sample (table_name, row, digest) VALUES (?, ?, ?)"
        )
        let sampler = RowSampler(select, database)
        var bytes = 0
        var next = first
        for place in places(from: first, to: last) where place >= next {
            guard let sample = try sampler.sample(place) else { break }
            try sampler.keep(sample, of: table, insert)
            bytes += sample.bytes
            guard bytes < mostBytes, sample.rowID < last else { break }
            next = sample.rowID + 1
        }
    }

    /// Evenly spaced numbers from the first to the last.
    private static func places(from first: Int64, to last: Int64) -> [Int64] {
        let span = UInt64(bitPattern: last &- first)
        let (steps, rest) = span.quotientAndRemainder(dividingBy: UInt64(mostRows - 1))
        return (0..<UInt64(mostRows)).map { number in
            first &+ Int64(bitPattern: number * steps + number * rest / UInt64(mostRows - 1))
        }
    }

    // MARK: Comparing

    /// How many of the rows that are known are still there, and how many of these have other values now.
    func compare(_ table: String, _ database: Database) throws -> (compared: Int64, changed: Int64) {
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: "_import_sample",
            sql:
                "SELECT row, digest FROM _import_sample WHERE table_name = ? AND length(digest) <= 16 ORDER BY row LIMIT ?",
            arguments: [table, Self.mostRows]
        )
        let select = try database.makeStatement(
            sql: "SELECT rowid, \(Self.list(columns)) FROM \(table.quotedIdentifier) WHERE rowid = ?"
        )
        let sampler = RowSampler(select, database)
        var (compared, changed): (Int64, Int64) = (0, 0)
        for row in rows {
            let digest = try row.text("digest")
            guard let sample = try sampler.sample(row.rowID("row")) else { continue }
            compared += 1
            if sample.digest != digest { changed += 1 }
        }
        return (compared, changed)
    }

    private static func list(_ columns: [String]) -> String {
        columns.map(\.quotedIdentifier).joined(separator: ", ")
    }
}
