import ImportModel
import Importer

/// The staging tables of a job's entities that have an identifier, and the buckets in which they are settled.
enum StagingTables {
    /// Makes the staging tables of a job's entities, and a row for each bucket.
    ///
    /// Where entities relate to one another, buckets are settled when it is known which records are accepted.
    ///
    /// - Parameter bytes: of all sources, as far as that is known.
    static func prepare(_ job: StoredJob, _ model: PGModel, bytes: Int64, _ connection: PGConnection) throws {
        let constraints = model.related.map {
            UserConstraints(staged: RelationshipStagingTables(job: job.id, tables: $0))
        }
        let isGuarded = try constraints?.areThere(isStaged: false, connection) ?? false
        let staged = model.tables.filter { !$0.1.identifier.isEmpty }
        guard !staged.isEmpty else { return }
        let counts = try staged.map { _, entity in
            // Which of two objects has what only one may have is decided in source order.
            let isAlone = try isGuarded || PGTables.hasRivals(entity, connection)
            return [true, false].map { isAlone ? 1 : StagingUpsert.buckets(forBytes: bytes, tableWasEmpty: $0) }
        }
        try BookkeepingSchema.prepareSettling(connection)
        for ((position, _), buckets) in zip(staged, counts) {
            connection.post(
                """
                UPDATE _import_entity SET buckets = CASE WHEN was_empty THEN $3::integer ELSE $4::integer END
                WHERE job = $1 AND position = $2 AND buckets = 0
                """,
                [.integer(job.id), .integer(Int64(position))] + buckets.map { .integer(Int64($0)) }
            )
        }
        let questions = staged.flatMap { self.questions(of: job.id, $0.1.table) }
        let upserts = try staged.map { try upsert(of: job, $0.0, model, connection, with: questions) }
        for ((position, _), upsert) in zip(staged, upserts) {
            for statement in upsert.stageTables { connection.post(statement) }
            connection.post(
                """
                INSERT INTO _import_settle (job, position, bucket, state)
                SELECT $1, $2, bucket, $4 FROM generate_series(0, $3::integer - 1) AS bucket ON CONFLICT DO NOTHING
                """,
                [
                    .integer(job.id), .integer(Int64(position)), .integer(Int64(upsert.buckets)),
                    .text(model.related == nil ? "open" : "waiting"),
                ]
            )
        }
    }

    /// What is asked to settle an entity's rows.
    static func questions(of job: Int64, _ table: String) -> [PGStatement] {
        [buckets(of: job), PGTables.columnsQuestion(table)]
    }

    /// Of a job's entities, whether their tables were empty, and how many buckets they have.
    private static func buckets(of job: Int64) -> PGStatement {
        PGStatement("SELECT position, was_empty, buckets FROM _import_entity WHERE job = $1", [.integer(job)])
    }

    /// Drops all staging tables of a job.
    static func drop(of job: Int64, _ connection: PGConnection) throws {
        let names = try connection.execute(
            """
            SELECT relname FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                AND starts_with(c.relname, $1)
            """,
            [.text(StagingName.prefix(of: job))]
        ).map { try PGNames.quoted($0.text(0)) }
        if !names.isEmpty { _ = try connection.execute("DROP TABLE \(names.joined(separator: ", "))") }
    }

    static func upsert(
        of job: StoredJob,
        _ position: Int,
        _ model: PGModel,
        _ connection: PGConnection,
        with questions: [PGStatement] = []
    ) throws -> StagingUpsert {
        let entity = model.entities[position]
        let listed = Set(
            model.related?.listed.filter { model.home(of: $0.holder) == position }.flatMap { reference in
                Array(reference.columns) + [reference.position].compactMap(\.self)
            } ?? []
        )
        let row = try connection.ask(buckets(of: job.id), with: questions).first {
            try $0.integer(0) == Int64(position)
        }
        guard let row else { throw ImportError(.fault, "the job \(job.id) does not count the entity \(entity.name)") }
        let stored = try PGTables.columns(of: entity.table, connection).columns
        let columns = PGColumn.all(of: entity).enumerated().map { index, column in
            let found = stored.first { BytewiseString($0.name) == BytewiseString(column.name) }
            let collation = found?.collation.map { " COLLATE \($0)" } ?? ""
            return StagedEntity.Column(
                name: column.quoted,
                type: column.type.declaration + collation,
                isIdentifier: entity.identifier.contains(column.attribute.name),
                isGenerated: column.attribute.isGenerated,
                isJSON: column.type == .json,
                isLoose: found?.isLoose ?? false,
                isLocal: column.attribute.owner == .local,
                isListed: listed.contains(index)
            )
        }
        let wasEmpty = try row.bool(1)
        let settled = StagedEntity(
            table: PGTables.quoted(entity.table),
            stage: PGTables.quoted(StagingName.rows(of: job.id, position)),
            columns: columns,
            // Where entities relate to one another, records are left out before, and those that replace objects mention all.
            policy: job.model?.isFlat == false ? .merge : job.options.onConflict,
            tableWasEmpty: wasEmpty,
            countsNested: job.model?.isFlat == false,
            unchanged: job.model?.isFlat == false
                ? (PGTables.quoted(StagingName.unchanged(of: job.id)), position) : nil,
            subentities: model.related?.stagedSubentities(of: position)
        )
        return StagingUpsert(settled, buckets: Int(try row.integer(2)))
    }
}
