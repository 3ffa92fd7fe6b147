import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// What a store remembers of having been brought to another model.
package enum MigrationHistory {
    private static let table = "_import_migration"

    /// True if there was one after a job had begun.
    package static func exists(since job: Int64, _ database: Database) throws -> Bool {
        try database.count(table, where: "job >= \(job)") > 0
    }

    /// The last job before the last migration; 0 without one.
    package static func lastJob(_ database: Database) throws -> Int64 {
        guard try database.hasTable(table) else { return 0 }
        return try Int64.fetchOne(database, sql: "SELECT job FROM \(table) ORDER BY id DESC LIMIT 1") ?? 0
    }

    /// The rest of a query: what it selects of the last migration and its `model`; empty where there can be none.
    package static func model(_ select: String, _ database: Database) throws -> String {
        guard try database.hasTable(table) else { return "" }
        return """
            \(select) FROM (SELECT job, model FROM \(table) ORDER BY id DESC LIMIT 1) AS migration
            JOIN _import_document AS model ON model.id = migration.model
            """
    }

    /// True if the tables are those of another model than a job's.
    package static func isSuperseded(_ job: Int64, _ database: Database) throws -> Bool {
        guard try database.hasTable(table) else { return false }
        return try Bool.fetchOne(
            database,
            sql: """
                SELECT migration.model IS NOT job.model
                FROM _import_job AS job, (SELECT job, model FROM \(table) ORDER BY id DESC LIMIT 1) AS migration
                WHERE job.id = ? AND job.id <= migration.job
                """,
            arguments: [job]
        ) ?? false
    }

    /// Saves that a store has another model now.
    ///
    /// - Parameter job: the last one before.
    package static func save(
        job: Int64,
        from before: ModelDescription,
        to model: ModelDescription,
        steps: String,
        _ database: Database
    )
        throws
    {
        let former = try StoredJob.document(of: before, database)
        let number = try StoredJob.document(of: model, database)
        try BookkeepingSchema.make([table], database)
        try database.execute(
            sql: """
                INSERT INTO \(table) (job, model_before, model, migrated, steps)
                VALUES (?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ'), ?)
                """,
            arguments: [job, former, number, steps]
        )
        try adopt(number, model, database)
    }

    /// Gives the model to all jobs, with the entities of theirs that are gone: their rejects are retried with it.
    private static func adopt(_ number: Int64, _ model: ModelDescription, _ database: Database) throws {
        try database.execute(sql: "UPDATE _import_job SET model = ?, is_model_final = 1", arguments: [number])
        let names = Set(model.entities.map { BytewiseString($0.name) })
        var gone: [Int64: [String]] = [:]
        for (layout, content) in try layouts(database) {
            let missing = content.entities.filter { !names.contains(BytewiseString($0)) }
            guard !missing.isEmpty else { continue }
            let sql = "SELECT job FROM _import_source WHERE layout = ? ORDER BY job, position"
            for job in try Int64.fetchAll(database, sql: sql, arguments: [layout]) {
                for name in missing where !gone[job, default: []].contains(where: { $0.hasSameBytes(as: name) }) {
                    gone[job, default: []].append(name)
                }
            }
        }
        for (job, names) in gone.sorted(by: { $0.key < $1.key }) {
            let own = try StoredJob.document(of: RemovedEntity.add(names, to: model), database)
            try database.execute(sql: "UPDATE _import_job SET model = ? WHERE id = ?", arguments: [own, job])
        }
    }

    /// Gives entities other names in what is known of the jobs' sources.
    ///
    /// - Parameter names: the new ones by the old ones.
    package static func rename(_ names: [BytewiseString: String], _ database: Database) throws {
        for (layout, content) in try layouts(database) {
            var renamed = content
            renamed.entities = content.entities.map { names[BytewiseString($0)] ?? $0 }
            try database.execute(
                sql: "UPDATE _import_document SET content = ? WHERE id = ?",
                arguments: [try BookkeepingJSON.encode(renamed), layout]
            )
        }
    }

    /// The documents with the layouts of sources, by their numbers.
    private static func layouts(_ database: Database) throws -> [(number: Int64, content: StoredJob.Layout)] {
        try BookkeepingRow.all(database, from: "_import_document", "WHERE kind = 'layout'")
            .map { (try $0.number("id"), try StoredJob.Layout($0)) }
    }
}
