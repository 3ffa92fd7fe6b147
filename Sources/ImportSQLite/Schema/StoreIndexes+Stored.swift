import GRDB
import ImportEngine
import ImportModel

/// What the store has of indexes that are built at the end.
extension StoreIndexes {
    /// The table that keeps them with their job, so that a resume builds what the first run was asked for.
    private static let table = "_import_index"

    /// Those that a job has been asked for last.
    package init(of job: StoredJob, _ database: Database) throws {
        let lists = try BookkeepingRow.all(database, "attributes", from: Self.table, of: job.id, "ORDER BY position")
        self.init(wanted: try lists.map { try $0.json("attributes") { !$0.isEmpty } })
    }

    /// Keeps them with a job, instead of those that it was asked for before; none are no new wish.
    package func save(for job: StoredJob, _ database: Database) throws {
        guard !wanted.isEmpty else { return }
        try overwrite(for: job, database)
    }

    /// Keeps them with a job, instead of all that it was asked for before.
    package func overwrite(for job: StoredJob, _ database: Database) throws {
        try database.delete(job: job.id, from: [Self.table])
        if !wanted.isEmpty { try BookkeepingSchema.make([Self.table], database) }
        for (position, names) in wanted.enumerated() {
            try database.execute(
                sql: "INSERT INTO \(Self.table) (job, position, attributes) VALUES (?, ?, ?)",
                arguments: [job.id, position, try BookkeepingJSON.encode(names)]
            )
        }
    }

    /// Builds the indexes that do not exist yet, of every entity that has their attributes.
    ///
    /// Done once or again, in one transaction or not, the outcome is the same.
    ///
    /// - Returns: the names of those that were built.
    /// - Throws: `DatabaseError` when SQLite fails or is interrupted.
    @discardableResult
    package func build(for model: ModelDescription, _ database: Database) throws -> [String] {
        var built: [String] = []
        for names in wanted {
            for entity in model.entities {
                guard let columns = Self.columns(names, of: entity) else { continue }
                built += try Self.build(columns, on: entity.table, database)
            }
        }
        return built
    }

    /// Builds the indexes that the entities of a model ask for and that do not exist yet, in these tables.
    ///
    /// - Throws: `DatabaseError` when SQLite fails or is interrupted.
    package static func build(wantedBy model: ModelDescription, in tables: Set<String>, _ database: Database) throws {
        guard model.entities.contains(where: { !$0.indexes.isEmpty }) else { return }
        for index in try ModelLayout(importing: model).wantedIndexes where tables.contains(index.table) {
            _ = try build(index.columns, on: index.table, database)
        }
    }

    /// Builds an index, if there is none on just these columns.
    ///
    /// - Returns: its name; none where there is one.
    private static func build(_ columns: [String], on table: String, _ database: Database) throws -> [String] {
        if try hasIndex(columns, on: table, database) { return [] }
        let name = try StoreSchema.freeName(([table] + columns).joined(separator: "_"), database)
        try database.execute(sql: StoreSchema.index(name, columns, table, isUnique: false))
        return [name]
    }

    /// True if an index over all rows, or the row id itself, is on just these columns in this order.
    private static func hasIndex(_ columns: [String], on table: String, _ database: Database) throws -> Bool {
        let table = try StoredTable(table, database)
        return [table.rowIDColumn].compactMap(\.self).folded == columns.folded
            || table.indexes.contains { !$0.isPartial && $0.names == columns.folded && $0.isPlain }
    }
}
