import ImportModel
import Importer

/// Settles what relates entities: the importing process does it, in steps before and after the buckets of objects.
struct RelationSettling {
    private let task: ChunkWorker.Task
    private let model: ServerModel
    private let tables: RelatedTables
    private let session: ServerSession
    private let steps: RelationSteps

    private var job: Int64 { task.job.id }
    private var label: String { task.store.label }

    /// - Returns: nil where no entity relates to another.
    init?(_ task: ChunkWorker.Task, _ model: ServerModel, _ session: ServerSession) {
        guard let tables = model.related else { return nil }
        self.task = task
        self.model = model
        self.tables = tables
        self.session = session
        steps = RelationSteps(task.job.id, session)
    }

    private func statements(_ connection: ServerConnection) throws -> RelationStatements {
        let filled = try connection.execute(
            "SELECT position FROM _import_entity WHERE job = $1 AND NOT was_empty",
            [.integer(job)]
        ).map { Int(try $0.integer(0)) }
        let filledJoins = try connection.execute(
            "SELECT table_name FROM _import_join WHERE job = $1 AND NOT was_empty",
            [.integer(job)]
        ).map { ExactText(try $0.text(0)) }
        return RelationStatements(
            staged: StagedRelations(job: job, tables: tables),
            filled: Set(filled),
            filledJoins: Set(
                tables.joins.map(\.making).filter {
                    filledJoins.contains(ExactText(tables.layout.join(of: $0).table))
                }
            )
        )
    }

    // MARK: Before objects

    /// Finds which records are accepted, and lets buckets be settled.
    func begin() throws {
        try steps.take(1) { connection in
            let statements = try statements(connection)
            // Until all is there, references may come before what they lead to.
            try ServerTables.drop(tables.foreignKeys, connection)
            try tables.dropPartnerIndexes(connection)
            try reject(statements, connection)
            for statement in statements.taking { _ = try connection.execute(statement) }
            for entity in statements.identified where statements.filled.contains(entity) {
                let filled = try connection.execute(statements.fillingStubs(of: entity)).first?.integer(0) ?? 0
                if filled > 0 { try count(entity, ["stubs": -filled], connection) }
            }
            for statement in statements.leavingLocal { _ = try connection.execute(statement) }
            _ = try connection.execute(
                "UPDATE _import_settle SET state = 'open' WHERE job = $1 AND state = 'waiting'",
                [.integer(job)]
            )
        }
    }

    private func reject(_ statements: RelationStatements, _ connection: ServerConnection) throws {
        let lacking = try statements.identified.filter { entity in
            try connection.execute(statements.isLacking(entity)).first?.bool(0) == true
        }
        guard !lacking.isEmpty else { return }
        _ = try connection.execute(RelationStatements.verdict)
        var found = 0
        repeat {
            found = try lacking.reduce(0) { try $0 + Int(connection.execute(statements.rejecting($1)).affected) }
            try task.interruption.check()
        } while found > 0
        _ = try connection.execute(RelationStatements.lacking)
        for entity in lacking { _ = try connection.execute(statements.findingLacking(entity)) }
        for statement in statements.removingRejects { _ = try connection.execute(statement) }
        let rejects = RelationRejects(task, model)
        var last: Int64 = 0
        while true {
            // What is wrong is found in the records again; a part of them at a time.
            let rows = try connection.execute(
                """
                SELECT ordinal, array_to_string(array_agg(child ORDER BY child), ',') FROM _import_lacking
                WHERE ordinal > $1 GROUP BY ordinal ORDER BY ordinal LIMIT 10000
                """,
                [.integer(last)]
            )
            if rows.isEmpty { return }
            let records = try rows.map { row in
                let children = try row.text(1).split(separator: ",").compactMap { Int($0) }
                return (ordinal: try row.integer(0), lacking: Set(children))
            }
            last = records.last?.ordinal ?? last
            let counts = try rejects.write(records, connection)
            for entity in counts.rejected.indices where counts.rejected[entity] > 0 || counts.linked[entity] > 0 {
                let linked = counts.linked[entity]
                try count(
                    entity,
                    ["rejected": counts.rejected[entity], "nested": -linked, "linked": -linked],
                    connection
                )
            }
        }
    }

    // MARK: After objects

    /// Makes elements and links, and finds what leads to nothing.
    func finish() throws {
        try steps.take(2) { connection in
            let statements = try statements(connection)
            for table in [RelationStatements.relinked, RelationStatements.gone] { _ = try connection.execute(table) }
            for entity in tables.keyless {
                for statement in statements.settlingElements(of: entity) { _ = try connection.execute(statement) }
                try countElements(of: entity, statements, connection)
                try task.interruption.check()
            }
            for reference in tables.unnamed {
                for statement in statements.settlingUnnamed(reference) { _ = try connection.execute(statement) }
                try countElements(of: reference.holder, statements, connection)
            }
            for reference in tables.listed {
                for statement in statements.settlingLinks(reference) { _ = try connection.execute(statement) }
                for unlinked in statements.unlinked(reference) { try countUnlinked(unlinked, connection) }
                try task.interruption.check()
            }
            for join in tables.joins {
                for statement in statements.settling(join) { _ = try connection.execute(statement) }
                for unlinked in statements.unlinked(join) { try countUnlinked(unlinked, connection) }
                try task.interruption.check()
            }
            for row in try connection.execute("SELECT entity, sum(rows)::bigint FROM _import_gone GROUP BY entity") {
                try count(Int(row.integer(0)), ["deleted": row.integer(1)], connection)
            }
            try countRelinked(statements, connection)
            try deleteOrphans(statements, connection)
            try resolve(statements, connection)
        }
        try steps.take(3) { connection in
            _ = try connection.execute("SET LOCAL maintenance_work_mem = '256MB'")
            try tables.prepareIndexes(connection)
        }
        for key in tables.foreignKeys {
            try session.write(isDurable: false) { connection in
                connection.isInterruptible = true
                defer { connection.isInterruptible = false }
                _ = try ServerTables.make(key, connection)
            }
        }
        try session.write(isDurable: false) { try StagedEntities.drop(of: job, $0) }
    }

    private func countElements(of entity: Int, _ statements: RelationStatements, _ connection: ServerConnection) throws
    {
        guard let row = try connection.execute(statements.elementCounts(of: entity)).first else { return }
        let (inserted, updated, unchanged) = (try row.integer(1), try row.integer(2), try row.integer(3))
        try count(
            entity,
            [
                "inserted": try row.integer(0), "nested": inserted + updated + unchanged, "nested_inserted": inserted,
                "nested_updated": updated, "nested_unchanged": unchanged, "deleted": try row.integer(4),
            ],
            connection
        )
    }

    private func countUnlinked(_ unlinked: (relationship: Int, count: String), _ connection: ServerConnection) throws {
        guard let count = try connection.execute(unlinked.count).first?.integer(0), count > 0 else { return }
        try note(.unlinked, count, unlinked.relationship, connection)
    }

    /// Records and nested objects whose lists said something new are updates, too.
    private func countRelinked(_ statements: RelationStatements, _ connection: ServerConnection) throws {
        for row in try connection.execute(statements.countingRelinked) {
            let (own, nested) = (try row.integer(1), try row.integer(2))
            try count(
                Int(row.integer(0)),
                ["updated": own, "unchanged": -own, "nested_updated": nested, "nested_unchanged": -nested],
                connection
            )
        }
    }

    // MARK: Orphans

    private func deleteOrphans(_ statements: RelationStatements, _ connection: ServerConnection) throws {
        let orphans = OrphanStatements(staged: statements.staged, statements: statements)
        guard orphans.isNeeded else { return }
        func execute(_ all: [String]) throws -> Int64 {
            try all.reduce(0) { try $0 + Int64(connection.execute($1).affected) }
        }
        _ = try execute(orphans.preparing)
        guard try execute(orphans.finding) > 0 else { return }
        while try execute(orphans.spreading) > 0 { try task.interruption.check() }
        _ = try execute(orphans.denying)
        for count in orphans.counts {
            for (kind, sql) in [(LedgerKind.orphanDeleted, count.gone), (.orphanDenied, count.denied)] {
                try note(kind, connection.execute(sql).first?.integer(0) ?? 0, count.relationship, connection)
            }
        }
        func delete(_ all: [(entity: Int, statement: String)]) throws {
            for (entity, statement) in all {
                let gone = Int64(try connection.execute(statement).affected)
                if gone > 0 { try count(entity, ["deleted": gone], connection) }
            }
        }
        _ = try execute(orphans.detaching + orphans.sparing)
        try delete(orphans.deletingElements)
        _ = try execute(orphans.clearing)
        try delete(orphans.deleting)
    }

    // MARK: References to what is not there

    private func resolve(_ statements: RelationStatements, _ connection: ServerConnection) throws {
        for index in tables.layout.relationships.indices {
            try task.interruption.check()
            let name = tables.name(of: index)
            let placement = tables.layout.relationships[index]
            let dangling = statements.dangling.filter { $0.relationship == index }
            var open: Int64 = 0
            switch placement.description.unresolved {
            case .keep, .reject:
                let waiting = "SELECT count(*) FROM _import_link WHERE relationship = $1"
                open = try connection.execute(waiting, [.text(name)]).first?.integer(0) ?? 0
                for one in dangling { open += try connection.execute(one.count).first?.integer(0) ?? 0 }
                try note(.unresolved, open, index, connection)
            case .null:
                var gone = try connection.execute("DELETE FROM _import_link WHERE relationship = $1", [.text(name)])
                    .affected
                for one in dangling { gone += try connection.execute(one.removal).affected }
                try note(.unresolved, Int64(gone), index, connection)
            case .stub:
                let waiting = tables.listed.first { $0.list == index }.flatMap(statements.makingStubs)
                for sql in dangling.map(statements.makingStubs) + [waiting].compactMap(\.self) {
                    let made = try connection.execute(sql).first?.integer(0) ?? 0
                    guard made > 0 else { continue }
                    try count(placement.destination, ["stubs": made], connection)
                    try note(.stub, made, index, connection)
                }
            }
            _ = try connection.execute("DELETE FROM _import_unresolved WHERE relationship = $1", [.text(name)])
            if open > 0 {
                _ = try connection.execute(
                    "INSERT INTO _import_unresolved (job, relationship, count) VALUES ($1, $2, $3)",
                    [.integer(job), .text(name), .integer(open)]
                )
            }
            if let missing = statements.missing(index) {
                try note(.missingReference, connection.execute(missing).first?.integer(0) ?? 0, index, connection)
            }
        }
    }

    // MARK: Counts

    private func count(_ entity: Int, _ counts: KeyValuePairs<String, Int64>, _ connection: ServerConnection) throws {
        let names = counts.map(\.key)
        let places = names.indices.map { "$\($0 + 4)" }
        let sums = names.map { "\($0) = _import_count.\($0) + excluded.\($0)" }
        _ = try connection.execute(
            """
            INSERT INTO _import_count (job, chunk, position, \(names.joined(separator: ", ")))
            VALUES ($1, $2, $3, \(places.joined(separator: ", ")))
            ON CONFLICT (job, chunk, position) DO UPDATE SET \(sums.joined(separator: ", "))
            """,
            [.integer(job), .integer(RelationSteps.chunk), .integer(Int64(entity))]
                + counts.map { .integer($0.value) }
        )
    }

    private func note(
        _ kind: LedgerKind,
        _ count: Int64,
        _ relationship: Int,
        _ connection: ServerConnection
    ) throws {
        guard count > 0 else { return }
        let placement = tables.layout.relationships[relationship]
        _ = try connection.execute(
            """
            INSERT INTO _import_ledger (job, chunk, entity, attribute, kind, count) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (job, chunk, entity, attribute, kind) DO UPDATE SET count = _import_ledger.count + excluded.count
            """,
            [
                .integer(job), .integer(RelationSteps.chunk), .text(tables.layout.entities[placement.entity].name),
                .text(placement.description.name), .text(kind.rawValue), .integer(count),
            ]
        )
    }
}
