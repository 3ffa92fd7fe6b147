import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// What is left to do for a job whose entities relate to one another, when all of its records are in the store: orphans, and
/// references to objects that are not there.
///
/// Done again, it changes nothing more.
struct GraphSettlement {
    private let job: StoredJob
    private let plan: GraphPlan
    private let layout: ModelLayout
    private let statements: LinkStatementCache
    private let links: LinkWriter
    private let wasAppending: Bool
    private let check: () throws -> Void
    private var changes: [EntityChanges]
    /// The entities all of whose references came with the objects that they lead to, by their indexes.
    private var wholeEntities: Set<Int> = []

    /// - Parameters:
    ///   - wasAppending: whether the job has appended all of its records to empty tables.
    ///   - check: called between the steps; may throw.
    init(
        _ job: StoredJob,
        _ model: ModelDescription,
        wasAppending: Bool,
        _ database: Database,
        check: @escaping () throws -> Void
    ) throws {
        self.job = job
        self.wasAppending = wasAppending
        self.check = check
        var model = model
        // The values are coerced already, maybe by transformers that only another program has.
        for entity in model.entities.indices {
            for attribute in model.entities[entity].attributes.indices {
                model.entities[entity].attributes[attribute].transformers = []
            }
        }
        plan = try GraphPlan(model, onConflict: job.options.onConflict, transformers: .standard)
        layout = plan.layout
        statements = try LinkStatementCache(database)
        links = LinkWriter(layout, statements, job: job.id)
        changes = plan.nodes.enumerated().map { index, node in
            EntityChanges(entity: node.plan.entity.name, table: node.plan.entity.table, position: index)
        }
        guard wasAppending else { return }
        let totals = try EntityTotals.all(of: job.id, database)
        wholeEntities = Set(totals.indices.filter { totals[$0].nested.linked == 0 })
    }

    /// - Returns: what it has changed, by entity.
    mutating func settle(_ database: Database) throws -> [EntityChanges] {
        if !wasAppending { try takeAwayLost() }
        try deleteOrphans()
        for relationship in layout.relationships.indices {
            try check()
            try resolve(relationship)
        }
        try links.removeLookups()
        for (position, change) in changes.enumerated() {
            try change.nested.save(job: job.id, position: position, database)
        }
        return changes
    }

    // MARK: Orphans

    /// What has been left by objects that are gone and that no record is of again.
    private mutating func takeAwayLost() throws {
        for relationship in layout.relationships.indices {
            var last = Int64.min
            while true {
                try check()
                var outcome = GraphWriter.Outcome()
                guard let next = try links.takeAwayLost(relationship, after: last, &outcome) else { break }
                outcome.count(&changes)
                for entry in outcome.ledger { try count(entry.kind, 1, relationship) }
                last = next
            }
        }
    }

    private mutating func deleteOrphans() throws {
        for relationship in layout.relationships.indices {
            let form = links.form(of: relationship)
            var targets: [RowKey] = []
            try statements.run(
                "SELECT target FROM _import_orphan WHERE job = ? AND relationship = ? ORDER BY target",
                [.number(job.id), .text(form.name)]
            ) { targets.append(RowKey(bytes: $0.bytes(of: 0))) }
            for target in targets { try deleteIfUnlinked(target, form) }
            try statements.run(
                "DELETE FROM _import_orphan WHERE job = ? AND relationship = ?",
                [.number(job.id), .text(form.name)]
            )
        }
    }

    private mutating func deleteIfUnlinked(_ target: RowKey, _ form: LinkStatements) throws {
        let destination = layout.table(of: form.destination).quotedIdentifier
        // Of a link in columns it is the row id: the identifier may be gone with the link.
        let condition = form.isJoin ? form.destinationKey.map { "\($0) = ?" }.joined(separator: " AND ") : "rowid = ?"
        let select = "SELECT rowid FROM \(destination) WHERE \(condition)"
        guard let found = try statements.integer(select, [.key(target)]) else { return }
        let isLinked = try statements.exists(form.isLinked, form.isJoin ? [.key(target)] : [.number(found)])
        guard !isLinked || form.isParent else { return }
        var outcome = GraphWriter.Outcome()
        let isGone = try form.deletesOrphans && links.delete(found, of: form.destination, &outcome)
        if !isGone, form.isParent { try links.detach(found, form, &outcome) }
        outcome.count(&changes)
        guard form.deletesOrphans else { return }
        try count(isGone ? .orphanDeleted : .orphanDenied, 1, form.relationship)
    }

    // MARK: References

    private mutating func resolve(_ index: Int) throws {
        let placement = layout.relationships[index]
        let form = links.form(of: index)
        var open: Int64 = 0
        if placement.hasReferences(index) { open = try settle(index) }
        open += try settleWaiting(index, form)
        try statements.setUnresolved(open, form.name, job: job.id)
        try setCount(.unresolved, open, index)
        try countMissing(index, form)
    }

    /// - Returns: how many references stay open.
    private mutating func settle(_ index: Int) throws -> Int64 {
        let placement = layout.relationships[index]
        if wholeEntities.contains(placement.destination) { return 0 }
        let isJoin = placement.shape == .join
        var open: Int64 = 0
        for (holder, form) in LinkStatements.all(index, layout) {
            let dangling = form.dangling(in: layout, destination: placement.destination)
            switch placement.description.unresolved {
            case .keep, .reject: break
            case .null:
                let rowIDs = try isJoin ? [] : statements.integers("SELECT rowid FROM \(dangling)")
                let count = try statements.run(form.removal(of: dangling))
                for rowID in rowIDs { changes[holder].touch(rowID) }
                if count > 0 { try self.count(.unresolved, Int64(count), index) }
            case .stub: try makeStubs(index, form, dangling)
            }
            open += try statements.integer("SELECT count(*) FROM \(dangling)") ?? 0
        }
        return open
    }

    private mutating func makeStubs(_ index: Int, _ form: LinkStatements, _ dangling: String) throws {
        let width = Int32(layout.key(of: layout.relationships[index].destination).count)
        while true {
            // A page at a time, as each is looked for by what is there.
            var keys: [RowKey] = []
            var known: Set<RowKey> = []
            try statements.run("SELECT \(form.danglingKey) FROM \(dangling) ORDER BY \(form.danglingOrder) LIMIT 1000")
            {
                let key = RowKey($0, columns: 0..<width)
                if known.insert(key).inserted { keys.append(key) }
            }
            if keys.isEmpty { return }
            for key in keys { try makeStub(key, of: index) }
        }
    }

    private mutating func makeStub(_ key: RowKey, of index: Int) throws {
        let destination = layout.relationships[index].destination
        let plan = plan.nodes[destination].plan
        var columns = layout.key(of: destination).map(\.name.quotedIdentifier)
        var defaults: [Int] = []
        // It has its key only, and says which entity it is of.
        for attribute in [self.plan.nodes[destination].rows.entityColumn].compactMap({ $0 }) {
            guard plan.defaults[attribute].tag != .null else { continue }
            columns.append(plan.entity.attributes[attribute].column.quotedIdentifier)
            defaults.append(attribute)
        }
        let values = plan.defaultBytes.withUnsafeBufferPointer { bytes in
            let values = RowValues(
                cells: UnsafeBufferPointer(start: nil, count: 0),
                chunk: bytes,
                own: bytes,
                defaults: bytes
            )
            return RowKey(defaults.map { plan.defaults[$0] }, values)
        }
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try statements.run(
            "INSERT INTO \(plan.entity.table.quotedIdentifier) (\(columns.joined(separator: ", "))) VALUES (\(places))",
            [.key(key), .key(values)]
        )
        let rowID = sqlite3_last_insert_rowid(statements.connection)
        try StubRows(layout, statements).add(key, of: destination)
        try links.referBack(rowID, destination, key: key)
        changes[destination].insert(rowID)
        changes[destination].nested.stubs += 1
        try count(.stub, 1, index)
    }

    /// Links whose rows have not come.
    private mutating func settleWaiting(_ index: Int, _ form: LinkStatements) throws -> Int64 {
        switch layout.relationships[index].description.unresolved {
        case .keep, .reject: break
        case .null:
            let count = try statements.run("DELETE FROM _import_link WHERE relationship = ?", [.text(form.name)])
            if count > 0 { try self.count(.unresolved, Int64(count), index) }
        case .stub:
            var targets: [RowKey] = []
            try statements.run("SELECT target FROM _import_link WHERE relationship = ?", [.text(form.name)]) {
                targets.append(RowKey(bytes: $0.bytes(of: 0)))
            }
            // Of what is named by other attributes, nobody knows the identifier.
            for target in targets where target.bytes.first != LinkWriter.mark {
                try makeStub(target, of: index)
                var outcome = GraphWriter.Outcome()
                let rowID = sqlite3_last_insert_rowid(statements.connection)
                try links.applyWaiting(for: rowID, layout.relationships[index].destination, key: target, &outcome)
            }
        }
        return try statements.countOfWaiting(form)
    }

    /// Mandatory to-ones that are empty though their other side might have stated them.
    private func countMissing(_ index: Int, _ form: LinkStatements) throws {
        let placement = layout.relationships[index]
        guard !placement.description.isOptional, !placement.description.isToMany, placement.owner == index,
            placement.shape == .oneToMany || placement.shape == .oneToOne
        else { return }
        try setCount(.missingReference, statements.integer(form.countOfEmpty) ?? 0, index)
    }

    // MARK: Ledger

    private func count(_ kind: LedgerKind, _ count: Int64, _ relationship: Int) throws {
        try note(kind, count, relationship, "count + excluded.count")
    }

    /// Counts what is there, and not what has happened.
    private func setCount(_ kind: LedgerKind, _ count: Int64, _ relationship: Int) throws {
        guard count > 0 || layout.relationships[relationship].description.unresolved == .keep else { return }
        guard count == 0 else { return try note(kind, count, relationship, "excluded.count") }
        guard try statements.database.hasTable("_import_ledger") else { return }
        try statements.run(
            "DELETE FROM _import_ledger WHERE job = ? AND NOT is_error AND entity = ? AND attribute = ? AND kind = ?",
            key(kind, relationship)
        )
    }

    /// What a count in the ledger is of.
    private func key(_ kind: LedgerKind, _ relationship: Int) -> [LinkStatementCache.Parameter] {
        let placement = layout.relationships[relationship]
        let entity = layout.entities[placement.entity].name
        return [.number(job.id), .text(entity), .text(placement.description.name), .text(kind.rawValue)]
    }

    private func note(_ kind: LedgerKind, _ count: Int64, _ relationship: Int, _ sum: String) throws {
        try BookkeepingSchema.make(["_import_ledger"], statements.database)
        try statements.run(
            """
            INSERT INTO _import_ledger (job, entity, attribute, kind, count) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET count = \(sum)
            """,
            key(kind, relationship) + [.number(count)]
        )
    }
}

extension OpaquePointer {
    /// The bytes of a blob in a column of the row that the statement is on.
    package func bytes(of column: Int32) -> [UInt8] {
        let count = Int(sqlite3_column_bytes(self, column))
        return Array(UnsafeRawBufferPointer(start: sqlite3_column_blob(self, column), count: count))
    }
}

extension OpaquePointer? {
    /// The bytes of a blob in a column of the row that the statement is on.
    package func bytes(of column: Int32) -> [UInt8] { self?.bytes(of: column) ?? [] }
}
