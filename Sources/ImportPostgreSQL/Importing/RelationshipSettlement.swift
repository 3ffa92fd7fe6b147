import ImportModel
import Importer

/// Settles what relates entities: the importing process does it, in steps before and after the buckets of objects.
struct RelationshipSettlement {
    let task: ChunkWorker.Task
    private let model: PGModel
    private let tables: RelationshipTables
    private let session: PGLockingSession
    private let steps: RelationshipSteps

    private var job: Int64 { task.job.id }

    /// - Returns: nil where no entity relates to another.
    init?(_ task: ChunkWorker.Task, _ model: PGModel, _ session: PGLockingSession) {
        guard let tables = model.related else { return nil }
        self.task = task
        self.model = model
        self.tables = tables
        self.session = session
        steps = RelationshipSteps(job: task.job.id, session: session)
    }

    private func statements(_ connection: PGConnection) throws -> RelationshipStatements {
        let filled = try connection.execute(
            "SELECT position, table_name FROM _import_entity WHERE job = $1 AND NOT was_empty",
            [.integer(job)]
        ).map { (position: Int(try $0.integer(0)), table: BytewiseString(try $0.text(1))) }
        let filledJoins = Set(filled.filter { $0.position < 0 }.map(\.table))
        return RelationshipStatements(
            staged: RelationshipStagingTables(job: job, tables: tables),
            filled: Set(filled.map(\.position)),
            filledJoins: Set(
                tables.joins.map(\.making).filter {
                    filledJoins.contains(BytewiseString(tables.layout.join(of: $0).table))
                }
            )
        )
    }

    // MARK: Before objects

    /// Finds which records are accepted, and lets buckets be settled.
    func begin() throws {
        try steps.take(1) { connection in
            let statements = try statements(connection)
            try PendingLinkBackup(job: job).keep(connection)
            _ = try connection.execute("SAVEPOINT importer_judged")
            if model.serial != nil { return try settleSerially(statements, connection) }
            // Until all is there, references may come before what they lead to.
            try PGTables.drop(tables.foreignKeys, connection)
            try tables.dropPartnerIndexes(connection)
            for table in [RelationshipStatements.verdict, RelationshipStatements.lacking] {
                _ = try connection.execute(table)
            }
            if tables.graph.rejectsUnresolved { _ = try connection.execute(RelationshipStatements.dangling) }
            let retries = RetryTable(of: task.job)
            if let retries { try passOverClosed(by: retries, statements, connection) }
            _ = try connection.execute("SAVEPOINT importer_kinds")
            if !tables.graph.rejectsUnresolved { try findSubentities(statements, connection) }
            let isGuarded = try UserConstraints(staged: statements.staged).areThere(isStaged: true, connection)
            let isAtOnce = isGuarded || tables.graph.rejectsUnresolved
            // Without what is refused, objects may be others.
            if isAtOnce { _ = try connection.execute("ROLLBACK TO SAVEPOINT importer_kinds") }
            _ = try connection.execute("RELEASE SAVEPOINT importer_kinds")
            if isGuarded, !tables.shared.isEmpty { return try settleSerially(statements, connection) }
            if !isAtOnce || !statements.leavesOut && !findsSubentities { try reject(statements, connection) }
            if isAtOnce {
                var all = try SingleTransactionSettlement(self, statements, connection)
                try all.settle()
                try steps.note(2, connection)
            } else {
                try prepare(statements, connection)
            }
            try retries?.settleAll(connection)
            _ = try connection.execute(
                "UPDATE _import_settle SET state = $2 WHERE job = $1 AND state = 'waiting'",
                [.integer(job), .text(isAtOnce ? "done" : "open")]
            )
        }
    }

    /// Settles all by taking one record after the other; what was found out about them before is forgotten.
    private func settleSerially(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
        _ = try connection.execute("ROLLBACK TO SAVEPOINT importer_judged")
        try ReplaySettlement(
            task: task,
            model: model,
            tables: tables,
            constraints: UserConstraints(staged: statements.staged),
            connection: connection
        ).settle()
        try steps.note(2, connection)
        _ = try connection.execute(
            "UPDATE _import_settle SET state = 'done' WHERE job = $1 AND state = 'waiting'",
            [.integer(job)]
        )
    }

    /// True if records may have to be taken one after the other: to find of which entities objects are, or which are left out.
    var findsSubentities: Bool { !tables.shared.isEmpty || tables.takesInOrder }

    /// Finds of which entities objects are, and with that which records are accepted, where it depends on the records before.
    func findSubentities(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
        guard try findsSubentities && SubentityReplay.isNeeded(statements, connection) else { return }
        let replay = try SubentityReplay(task, model, statements, connection)
        try replay.find()
        let changes = replay.changes
        for entity in changes.read.indices {
            let (rejected, linked) = (changes.rejected[entity], changes.linked[entity])
            let counts: KeyValuePairs = [
                "records_read": changes.read[entity], "rejected": rejected, "ignored": changes.ignored[entity],
                "nested": linked + changes.skipped[entity], "linked": linked,
            ]
            if counts.contains(where: { $0.value != 0 }) { try count(entity, counts, connection) }
        }
    }

    /// What is done before objects, when it is known which records are accepted.
    func prepare(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
        for statement in statements.settlingUnsaid { _ = try connection.execute(statement) }
        let named = try findNamed(statements, connection)
        for statement in statements.taking + statements.findingLate { _ = try connection.execute(statement) }
        for statement in named.flatMap(\.deciding) { _ = try connection.execute(statement) }
        for entity in statements.identified where statements.filled.contains(entity) {
            for row in try connection.execute(statements.fillingStubs(of: entity)) {
                try count(Int(row.integer(0)), ["stubs": -row.integer(1)], connection)
            }
        }
    }

    /// Makes rejects of records that the server refuses.
    func reject(
        _ refused: [RefusedRow],
        _ statements: RelationshipStatements,
        _ connection: PGConnection
    ) throws {
        let ordinals = refused.map { "\($0.ordinal)" }.joined(separator: ",")
        _ = try connection.execute("DELETE FROM \(RelationshipStatements.verdictTable)")
        _ = try connection.execute(
            "INSERT INTO \(RelationshipStatements.verdictTable) SELECT unnest(string_to_array($1, ',')::bigint[])",
            [.text(ordinals)]
        )
        for statement in statements.removingRejects { _ = try connection.execute(statement) }
        let rejects = RelationshipRejects(task, model)
        try count(rejects.write(refused.map { ($0.ordinal, .refused($0)) }, connection), as: "rejected", connection)
    }

    /// Makes rejects of records whose references lead to nothing: those that are noted.
    func rejectDangling(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
        _ = try connection.execute(
            """
            DELETE FROM \(RelationshipStatements.verdictTable);
            INSERT INTO \(RelationshipStatements.verdictTable) SELECT DISTINCT ordinal FROM \(RelationshipStatements.danglingTable)
            """
        )
        for statement in statements.removingRejects { _ = try connection.execute(statement) }
        let rejects = RelationshipRejects(task, model)
        let errors = try DanglingReferenceErrors(
            statements,
            task.job.options,
            subentities: EmptySubentityLookup(),
            connection
        )
        try forEachVerdict(connection) { ordinals in
            let records = ordinals.map { (ordinal: $0, reason: RelationshipRejects.Reason.dangling(errors)) }
            try count(rejects.write(records, connection), as: "rejected", connection)
        }
        _ = try connection.execute("DELETE FROM \(RelationshipStatements.danglingTable)")
    }

    /// Calls `body` with the records that are not accepted, in order, some at a time.
    private func forEachVerdict(_ connection: PGConnection, _ body: ([Int64]) throws -> Void) throws {
        var last: Int64 = 0
        while true {
            let ordinals = try connection.execute(
                "SELECT ordinal FROM \(RelationshipStatements.verdictTable) WHERE ordinal > $1 ORDER BY ordinal LIMIT 10000",
                [.integer(last)]
            ).map { try $0.integer(0) }
            guard let end = ordinals.last else { return }
            last = end
            try body(ordinals)
        }
    }

    /// Makes rejects of records that lack something.
    func reject(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
        for table in [RelationshipStatements.verdictTable, RelationshipStatements.lackingTable] {
            _ = try connection.execute("DELETE FROM \(table)")
        }
        let lacking = try statements.identified.filter { entity in
            try connection.execute(statements.isLacking(entity)).first?.bool(0) == true
        }
        guard !lacking.isEmpty || statements.leavesOut else { return }
        if statements.leavesOut {
            for statement in statements.leavingOut { _ = try connection.execute(statement) }
        } else {
            var found = 0
            repeat {
                found = try lacking.reduce(0) { try $0 + Int(connection.execute(statements.rejecting($1)).affected) }
                try task.interruption.check()
            } while found > 0
        }
        for entity in lacking { _ = try connection.execute(statements.findingLacking(entity)) }
        if statements.leavesOut {
            for statement in statements.notingLeftOut { _ = try connection.execute(statement) }
        }
        if statements.leavesOut, statements.staged.countsReferences { try countIgnored(statements, connection) }
        for statement in statements.removingRejects { _ = try connection.execute(statement) }
        let rejects = RelationshipRejects(task, model)
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
                return (ordinal: try row.integer(0), reason: RelationshipRejects.Reason.lacking(Set(children)))
            }
            last = records.last?.ordinal ?? last
            try count(rejects.write(records, connection), as: "rejected", connection)
        }
    }

    /// Passes over records of a retry whose rejects are not open any more.
    private func passOverClosed(
        by retries: RetryTable,
        _ statements: RelationshipStatements,
        _ connection: PGConnection
    ) throws {
        guard try retries.holdAll(closed: RelationshipStatements.verdictTable, connection) > 0 else { return }
        for statement in statements.removingRejects { _ = try connection.execute(statement) }
        let rejects = RelationshipRejects(task, model)
        try forEachVerdict(connection) {
            try count(rejects.count($0, connection), as: "ignored", connection)
        }
    }

    /// Counts records that are not accepted, with what else they said.
    private func count(_ counts: RelationshipRejects.Counts, as outcome: String, _ connection: PGConnection) throws {
        for entity in counts.records.indices where counts.records[entity] > 0 || counts.linked[entity] > 0 {
            let linked = counts.linked[entity]
            try count(
                entity,
                [outcome: counts.records[entity], "nested": -linked, "linked": -linked],
                connection
            )
        }
    }

    private func countIgnored(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
        for entity in statements.identified {
            let ignored = try connection.execute(statements.ignored(entity)).first?.integer(0) ?? 0
            if ignored > 0 { try count(entity, ["ignored": ignored], connection) }
        }
        for row in try connection.execute(statements.ignoredReferences) {
            let linked = try row.integer(1)
            try count(Int(row.integer(0)), ["nested": -linked, "linked": -linked], connection)
        }
    }

    // MARK: After objects

    /// Makes elements and links, and finds what leads to nothing.
    func finish() throws {
        try steps.take(2) { try relate(statements($0), $0) }
        try steps.take(3) { connection in
            _ = try connection.execute("SET LOCAL maintenance_work_mem = '256MB'")
            try tables.prepareIndexes(connection)
        }
        for key in tables.foreignKeys {
            try session.write { connection in
                connection.isInterruptible = true
                defer { connection.isInterruptible = false }
                _ = try PGTables.make(key, connection)
            }
        }
        try session.write { try StagingTables.drop(of: job, $0) }
    }

    private func relate(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
        try link(statements, connection)
        try resolveAll(statements, connection)
    }

    /// Makes elements and links.
    func link(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
        for table in [RelationshipStatements.relinked, RelationshipStatements.gone] {
            _ = try connection.execute(table)
        }
        if !tables.names.isEmpty {
            let renamed = "SELECT _entity, _ordinal, _child FROM \(statements.staged.renamed.quoted)"
            _ = try connection.execute("INSERT INTO _import_relinked \(renamed)")
        }
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
    }

    /// Deletes orphans, and finds what leads to nothing.
    func resolveAll(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
        try deleteOrphans(statements, connection)
        try resolve(statements, connection)
    }

    private func countElements(of entity: Int, _ statements: RelationshipStatements, _ connection: PGConnection)
        throws
    {
        for row in try connection.execute(statements.elementCounts(of: entity)) {
            let (inserted, updated, unchanged) = (try row.integer(2), try row.integer(3), try row.integer(4))
            try count(
                Int(row.integer(0)),
                [
                    "inserted": try row.integer(1), "nested": inserted + updated + unchanged,
                    "nested_inserted": inserted, "nested_updated": updated, "nested_unchanged": unchanged,
                    "deleted": try row.integer(5),
                ],
                connection
            )
        }
    }

    private func countUnlinked(_ unlinked: (relationship: Int, count: String), _ connection: PGConnection) throws {
        guard let count = try connection.execute(unlinked.count).first?.integer(0), count > 0 else { return }
        try note(.unlinked, count, unlinked.relationship, connection)
    }

    /// Records and nested objects whose lists said something new are updates, too.
    private func countRelinked(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
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

    func deleteOrphans(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
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
        _ = try execute(orphans.detaching + orphans.sparing)
        for (entity, statement) in orphans.deletingElements {
            let gone = Int64(try connection.execute(statement).affected)
            if gone > 0 { try count(entity, ["deleted": gone], connection) }
        }
        _ = try execute(orphans.clearing)
        for statement in orphans.deleting {
            for row in try connection.execute(statement) {
                try count(Int(row.integer(0)), ["deleted": row.integer(1)], connection)
            }
        }
    }

    // MARK: References to what is not there

    private func resolve(_ statements: RelationshipStatements, _ connection: PGConnection) throws {
        for index in tables.layout.relationships.indices {
            try task.interruption.check()
            let name = tables.name(of: index)
            let placement = tables.layout.relationships[index]
            let dangling = statements.dangling.filter { $0.relationship == index }
            var open: Int64 = 0
            switch placement.description.unresolved {
            case .keep, .reject:
                open = try countWaiting(name, connection)
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
                // Of what is named by other attributes nobody knows the identifier.
                open = try countWaiting(name, connection)
                try note(.unresolved, open, index, connection)
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

    private func countWaiting(_ relationship: String, _ connection: PGConnection) throws -> Int64 {
        let waiting = "SELECT count(*) FROM _import_link WHERE relationship = $1"
        return try connection.execute(waiting, [.text(relationship)]).first?.integer(0) ?? 0
    }

    // MARK: Counts

    private func count(_ entity: Int, _ counts: KeyValuePairs<String, Int64>, _ connection: PGConnection) throws {
        let names = counts.map(\.key)
        let places = names.indices.map { "$\($0 + 4)" }
        let sums = names.map { "\($0) = _import_count.\($0) + excluded.\($0)" }
        _ = try connection.execute(
            """
            INSERT INTO _import_count (job, chunk, position, \(names.joined(separator: ", ")))
            VALUES ($1, $2, $3, \(places.joined(separator: ", ")))
            ON CONFLICT (job, chunk, position) DO UPDATE SET \(sums.joined(separator: ", "))
            """,
            [.integer(job), .integer(RelationshipSteps.chunk), .integer(Int64(entity))]
                + counts.map { .integer($0.value) }
        )
    }

    func note(
        _ kind: LedgerKind,
        _ count: Int64,
        _ relationship: Int,
        _ connection: PGConnection
    ) throws {
        guard count > 0 else { return }
        let placement = tables.layout.relationships[relationship]
        _ = try connection.execute(
            """
            INSERT INTO _import_ledger (job, chunk, entity, attribute, kind, count) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (job, chunk, entity, attribute, kind) WHERE NOT is_error DO UPDATE SET count = _import_ledger.count + excluded.count
            """,
            [
                .integer(job), .integer(RelationshipSteps.chunk), .text(tables.layout.entities[placement.entity].name),
                .text(placement.description.name), .text(kind.rawValue), .integer(count),
            ]
        )
    }
}
