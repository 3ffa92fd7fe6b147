import ImportModel
import Importer

/// The staging tables of a job's entities that have an identifier, and the buckets in which they are settled.
enum StagedEntities {
    /// Makes the staging tables of a job's entities, and a row for each bucket.
    ///
    /// - Parameter bytes: of all sources, as far as that is known.
    static func prepare(_ job: StoredJob, _ model: ModelDescription, bytes: Int64, _ connection: ServerConnection)
        throws
    {
        for (position, entity) in model.entities.enumerated() where !entity.identifier.isEmpty {
            // Which of two objects has what only one may have is decided in source order.
            let isAlone = try ServerTables.hasRivals(entity, connection)
            let buckets = [true, false].map { isAlone ? 1 : Settlement.buckets(forBytes: bytes, tableWasEmpty: $0) }
            _ = try connection.execute(
                """
                UPDATE _import_entity SET buckets = CASE WHEN was_empty THEN $3::integer ELSE $4::integer END
                WHERE job = $1 AND position = $2 AND buckets = 0
                """,
                [.integer(job.id), .integer(Int64(position))] + buckets.map { .integer(Int64($0)) }
            )
            let settlement = try settlement(of: job, position, entity, connection)
            for statement in settlement.stageTables { _ = try connection.execute(statement) }
            for bucket in 0..<settlement.buckets {
                _ = try connection.execute(
                    "INSERT INTO _import_settle (job, position, bucket) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
                    [.integer(job.id), .integer(Int64(position)), .integer(Int64(bucket))]
                )
            }
        }
    }

    /// The name of an entity's staging table.
    static func stage(of job: Int64, _ position: Int) -> String { "_import_stage_\(job)_\(position)" }

    static func settlement(
        of job: StoredJob,
        _ position: Int,
        _ entity: EntityDescription,
        _ connection: ServerConnection
    ) throws -> Settlement {
        let row = try connection.execute(
            "SELECT was_empty, buckets FROM _import_entity WHERE job = $1 AND position = $2",
            [.integer(job.id), .integer(Int64(position))]
        ).first
        guard let row else { throw ImportError(.fault, "the job \(job.id) does not count the entity \(entity.name)") }
        let stored = try ServerTables.columns(of: entity.table, connection).columns
        let columns = ServerColumn.all(of: entity).map { column in
            let found = stored.first { ExactText($0.name) == ExactText(column.name) }
            let collation = found?.collation.map { " COLLATE \($0)" } ?? ""
            return SettledEntity.Column(
                name: column.quoted,
                type: column.type.declaration + collation,
                isIdentifier: entity.identifier.contains(column.attribute.name),
                isGenerated: column.attribute.isGenerated,
                isJSON: column.type == .json,
                isLoose: found?.isLoose ?? false,
                isLocal: column.attribute.owner == .local
            )
        }
        let wasEmpty = try row.bool(0)
        let settled = SettledEntity(
            table: ServerTables.quoted(entity.table),
            stage: ServerTables.quoted(stage(of: job.id, position)),
            columns: columns,
            policy: job.options.onConflict,
            tableWasEmpty: wasEmpty
        )
        return Settlement(settled, buckets: Int(try row.integer(1)))
    }
}
