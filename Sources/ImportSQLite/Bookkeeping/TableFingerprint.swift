import GRDB
import ImportEngine

/// What the importer knew of a table when its last job ended, to tell later what other programs have done since.
///
/// It is the highest row id, and digests of up to 256 rows that are evenly spaced by their row ids. What that costs does
/// not depend on how large the table is, so a change of few rows in a large table may go unseen. An import that begins or
/// resumes forgets it, since from then on the table is changed by the importer itself.
package struct TableFingerprint {
    /// How many rows are compared, at most.
    package static let mostRows = 256
    /// They have no more bytes than this, but for the last of them.
    package static let mostBytes = 16 << 20
    /// A statement has at most 2,000 columns, and the row id is one.
    private static let mostColumns = 1_999

    /// The highest row id; 0 for an empty table.
    package let lastRowID: Int64
    /// The columns that are compared.
    package let columns: [String]
    /// The rows that are compared.
    package let samples: [Sample]

    /// A row id, and the digest of the row.
    package struct Sample {
        package let row: Int64
        package let digest: String
    }

    /// As it is kept.
    private struct Content: Codable, Equatable {
        let last: Int64
        let columns: [String]
        /// Row ids and digests in turns, with blanks between them: as one text, it costs little to write.
        let samples: String
    }

    /// What is known of a table; nil where nothing is.
    package init?(of table: String, _ database: Database) throws {
        guard
            let row = try BookkeepingRow.fetchOne(
                database,
                from: "_import_entity",
                sql: """
                    SELECT fingerprint FROM _import_entity WHERE table_name = ? COLLATE NOCASE AND fingerprint IS NOT NULL
                    ORDER BY job DESC LIMIT 1
                    """,
                arguments: [table]
            )
        else { return nil }
        let content: Content = try row.json("fingerprint") {
            !$0.columns.isEmpty && $0.columns.count <= Self.mostColumns
        }
        (lastRowID, columns) = (content.last, content.columns)
        let words = content.samples.split(separator: " ")
        samples = try stride(from: 0, to: min(words.count, 2 * Self.mostRows), by: 2).map { place in
            guard let rowID = Int64(words[place]), words.indices.contains(place + 1) else {
                throw row.damage("fingerprint")
            }
            return Sample(row: rowID, digest: String(words[place + 1]))
        }
    }

    // MARK: Writing

    /// How many of a table's last counts may have what is known of it: one for each of its entities, of the last jobs.
    private static let mostCounts = 200

    /// Forgets what is known of tables, in the transaction in which the importer begins to change them.
    package static func forget(_ tables: [String], _ database: Database) throws {
        let update = try database.makeStatement(
            sql: """
                UPDATE _import_entity SET fingerprint = NULL WHERE fingerprint IS NOT NULL AND (job, position) IN (
                    SELECT job, position FROM _import_entity WHERE table_name = ? COLLATE NOCASE
                    ORDER BY job DESC LIMIT ?
                )
                """
        )
        for table in tables { try update.execute(arguments: [table, mostCounts]) }
    }

    /// Keeps what is known of tables, in the transaction that ends their job.
    package static func record(_ tables: [String], _ database: Database) throws {
        try forget(tables, database)
        for table in tables where try isPossible(table, database) { try record(table, database) }
    }

    /// True if anything can be known of a table: it is known by row ids, and a column may have their name.
    package static func isPossible(_ table: String, _ database: Database) throws -> Bool {
        let table = try StoredTable(table, database)
        return !table.columns.isEmpty && table.rowIDName == "rowid"
    }

    private static func record(_ table: String, _ database: Database) throws {
        let columns = try StoredTable(table, database).ownColumns.prefix(mostColumns).map(\.name)
        let name = table.quotedIdentifier
        // Each by itself is looked up; both in one SELECT would read the whole table.
        let ends = try Row.fetchOne(
            database,
            sql: "SELECT (SELECT min(rowid) FROM \(name)) AS first, (SELECT max(rowid) FROM \(name)) AS last"
        )
        let last = ends?["last"] as Int64?
        let samples = try ends.map { try Self.samples(of: name, columns, $0, database) } ?? []
        try database.cachedStatement(
            sql: """
                UPDATE _import_entity SET fingerprint = :fingerprint
                WHERE (job, position) = (
                    SELECT job, position FROM _import_entity WHERE table_name = :table COLLATE NOCASE
                    ORDER BY job DESC, position LIMIT 1
                )
                """
        ).execute(
            arguments: [
                "fingerprint": try BookkeepingJSON.encode(
                    Content(
                        last: last ?? 0,
                        columns: columns,
                        samples: samples.map { "\($0.row) \($0.digest)" }.joined(separator: " ")
                    )
                ),
                "table": table,
            ]
        )
    }

    /// Rows between the first and the last one.
    private static func samples(
        of name: String,
        _ columns: [String],
        _ ends: Row,
        _ database: Database
    ) throws -> [Sample] {
        guard let first = ends["first"] as Int64?, let last = ends["last"] as Int64? else { return [] }
        let sampler = RowSampler(
            statement: try database.makeStatement(
                sql: "SELECT rowid, \(list(columns)) FROM \(name) WHERE rowid >= ? ORDER BY rowid LIMIT 1"
            ),
            database: database
        )
        var samples: [Sample] = []
        var bytes = 0
        var next = first
        for place in places(from: first, to: last) where place >= next {
            guard let sample = try sampler.sample(place) else { break }
            samples.append(Sample(row: sample.rowID, digest: sample.digest))
            bytes += sample.bytes
            guard bytes < mostBytes, sample.rowID < last else { break }
            next = sample.rowID + 1
        }
        return samples
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
    ///
    /// - Parameter samples: those that are compared; nil for all.
    package func compare(
        _ table: String,
        _ database: Database,
        _ samples: [Sample]? = nil
    ) throws -> (compared: Int64, changed: Int64) {
        let select = try database.makeStatement(
            sql: "SELECT rowid, \(Self.list(columns)) FROM \(table.quotedIdentifier) WHERE rowid = ?"
        )
        let sampler = RowSampler(statement: select, database: database)
        var (compared, changed): (Int64, Int64) = (0, 0)
        for known in samples ?? self.samples {
            guard let sample = try sampler.sample(known.row) else { continue }
            compared += 1
            if sample.digest != known.digest { changed += 1 }
        }
        return (compared, changed)
    }

    private static func list(_ columns: [String]) -> String {
        columns.map(\.quotedIdentifier).joined(separator: ", ")
    }
}
