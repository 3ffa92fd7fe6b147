import GRDB
import ImportEngine
import ImportModel

/// A job that appends records to tables that were empty when it began, so that their indexes are built when all is there.
///
/// It is one from its beginning until a record asks for more, another job comes to its tables, or it is settled.
enum AppendMode {
    /// True if a job that begins with a model can be one: it is the first that comes to any of the tables.
    static func isPossible(_ plan: GraphPlan, _ database: Database) throws -> Bool {
        guard plan.isAppendable else { return false }
        for table in plan.layout.tables {
            guard try database.hasTable(table.name) else { continue }
            let isEmpty =
                try table.isJoin
                ? !BookkeepingSchema.hasRows(table.name, database) : StoreSchema.isStillEmpty(table.name, database)
            guard isEmpty else { return false }
        }
        return try database.count("_import_link", where: "1") == 0
    }

    static func begin(_ job: Int64, _ plan: GraphPlan, _ database: Database) throws {
        try AppendedIdentifiers.begin(plan, job: job, database)
        try StoreSchema.prepareListIndexes(plan.layout, job: job, database)
        try database.execute(sql: "UPDATE _import_job SET is_appending = 1 WHERE id = ?", arguments: [job])
    }

    static func exists(_ job: Int64, _ database: Database) throws -> Bool {
        let sql = "SELECT is_appending FROM _import_job WHERE id = ?"
        return try Bool.fetchOne(database, sql: sql, arguments: [job]) ?? false
    }

    /// Builds the indexes that have waited; the job looks links up from now on.
    static func end(_ job: Int64, _ layout: ModelLayout, _ database: Database) throws {
        try StoreSchema.sortLinks(layout, database)
        try StoreSchema.prepareIndexes(layout, job: job, database)
        try database.execute(sql: "UPDATE _import_job SET is_appending = 0 WHERE id = ?", arguments: [job])
    }

    /// Ends those that append to some of these tables, as another job comes to them.
    static func end(tables: [String], _ database: Database) throws {
        let tables = Set(tables.map(\.asciiLowercased))
        for job in try StoredJob.unfinished(database) where try exists(job.id, database) {
            guard let model = job.model, model.tables.contains(where: { tables.contains($0.asciiLowercased) }) else {
                continue
            }
            try end(job.id, ModelLayout(importing: model), database)
        }
    }
}
