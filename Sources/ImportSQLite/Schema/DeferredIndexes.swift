import GRDB
import ImportModel

/// Indexes that an empty table goes without while an import fills it, to be made again at its end.
///
/// They are noted in the transaction that drops them, so a run after an interruption finds them. What is kept is
/// what each is on, not its text: a store is data, and none of its texts is run as SQL.
enum DeferredIndexes {
    /// A row for each column of each index.
    static let table = "_import_waiting_index"

    /// Drops what can be made again at the end, whatever the rows are then: indexes made by `CREATE INDEX` on columns.
    ///
    /// Those on expressions or on some of the rows stay: they may fail for a row, which must be known as it comes. So do
    /// those with a collation that only another program has, and then no row can be written.
    ///
    /// - Parameters:
    ///   - position: the entity's index in the job.
    ///   - includesIdentifier: whether unique indexes on the identifier go too; no others do.
    static func drop(
        of entity: EntityDescription,
        job: Int64,
        position: Int,
        includesIdentifier: Bool,
        _ database: Database
    ) throws {
        let indexes = IndexDefinition.all(of: try StoredTable(entity.table, database))
        for (number, index) in indexes.enumerated() {
            if index.isUnique {
                guard includesIdentifier, Set(index.columns.map(\.name).folded) == Set(entity.identifierColumns.folded),
                    index.columns.allSatisfy({ $0.collation == .binary })
                else { continue }
            }
            let kept = try asDeclared(index, database)
            try keep(kept, job: job, position: position, number: number, isIdentifier: index.isUnique, database)
            try database.execute(sql: "DROP INDEX \(index.name.quotedIdentifier)")
        }
    }

    /// The same index in fewer words, where it compares texts as its columns do; the table is empty.
    private static func asDeclared(_ index: IndexDefinition, _ database: Database) throws -> IndexDefinition {
        var short = index
        for place in short.columns.indices { short.columns[place].collation = .declared }
        try database.execute(sql: "DROP INDEX \(index.name.quotedIdentifier); \(short.statement)")
        let made = IndexDefinition.all(of: try StoredTable(index.table, database)).first { $0.name == index.name }
        return made?.columns.map(\.collation) == index.columns.map(\.collation) ? short : index
    }

    private static func keep(
        _ index: IndexDefinition,
        job: Int64,
        position: Int,
        number: Int,
        isIdentifier: Bool,
        _ database: Database
    ) throws {
        try BookkeepingSchema.make([table], database)
        for (place, column) in index.columns.enumerated() {
            try database.execute(
                sql: """
                    INSERT INTO \(table) (
                        job, entity, number, position, table_name, name, is_unique, is_identifier, column_name,
                        collation, is_descending
                    ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    job, position, number, place, index.table, index.name, index.isUnique, isIdentifier, column.name,
                    column.collation.rawValue, column.isDescending,
                ]
            )
        }
    }

    /// True if a job has dropped any that are not there again.
    static func exist(job: Int64, _ database: Database) throws -> Bool { try has("job = ?", [job], database) }

    /// True if one with this name is to be made again.
    static func holds(_ name: String, _ database: Database) throws -> Bool {
        try has("name = ? COLLATE NOCASE", [name], database)
    }

    private static func has(_ condition: String, _ arguments: StatementArguments, _ database: Database) throws -> Bool {
        guard try database.hasTable(table) else { return false }
        return try database.exists("SELECT 1 FROM \(table) WHERE \(condition)", arguments)
    }

    /// Makes a job's indexes again.
    ///
    /// - Throws: `DatabaseError`, with `SQLITE_CONSTRAINT_UNIQUE` where rows have the same identifier; `ImportError` with
    ///   `.io` where what is kept is damaged.
    static func restore(job: Int64, _ database: Database) throws {
        try restore("job = ?", [job], database)
    }

    /// Makes those again that keep an entity's identifier unique.
    static func restoreIdentifier(of position: Int, job: Int64, _ database: Database) throws {
        try restore("job = ? AND entity = ? AND is_identifier", [job, position], database)
    }

    private static func restore(_ condition: String, _ arguments: StatementArguments, _ database: Database) throws {
        guard try database.hasTable(table) else { return }
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: table,
            sql: "SELECT * FROM \(table) WHERE \(condition) ORDER BY job, entity, number, position",
            arguments: arguments
        )
        struct Key: Hashable {
            let job: Int64
            let entity: Int
            let number: Int
        }
        var places: [Key] = []
        var indexes: [Key: IndexDefinition] = [:]
        for row in rows {
            let place = Key(
                job: try row.number("job"),
                entity: try row.index("entity"),
                number: try row.index("number")
            )
            if indexes[place] == nil {
                places.append(place)
                indexes[place] = try IndexDefinition(row)
            }
            indexes[place]?.columns.append(try IndexDefinition.Column(row))
        }
        for place in places {
            if let index = indexes[place], try index.isMissing(database) { try database.execute(sql: index.statement) }
            try database.execute(
                sql: "DELETE FROM \(table) WHERE job = ? AND entity = ? AND number = ?",
                arguments: [place.job, place.entity, place.number]
            )
        }
    }
}
