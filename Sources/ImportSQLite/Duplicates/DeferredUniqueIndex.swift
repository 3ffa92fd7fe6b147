import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// An entity whose identifier is not looked at while its table is filled for the first time.
///
/// Keeping an index up while a million random identifiers come in takes many times as long as building it once. So each
/// record becomes a row, and settling makes one object of the rows that have the same identifier, just as if each had
/// been merged as it came, or rejects of all but the first; then it builds the index. The row that came first keeps its
/// row id, those of the others stay free.
///
/// A record that lacks what a new object must have becomes none: it waits for its object (`IncompleteRecordQueue`).
struct DeferredUniqueIndex {
    /// What it needs until it is settled.
    private static let tables = [
        "_import_deferred_identifier", "_import_presence", "_import_place", "_import_incomplete",
    ]

    let job: StoredJob
    /// The entity's index in the job.
    let position: Int
    let plan: EntityPlan

    /// True if the index that keeps the entity's identifier unique can wait: its table is empty, does without it, and
    /// takes any rows and any merges of them.
    static func isPossible(_ entity: EntityDescription, _ database: Database) throws -> Bool {
        guard !entity.identifier.isEmpty, try hasOwnTypes(entity, database) else { return false }
        let constraints = try TableConstraints(of: entity, database)
        guard !constraints.canRefuse, !constraints.mayCollate else { return false }
        let table = try StoredTable(entity.table, database)
        return table.primaryKey.isEmpty && table.indexes.allSatisfy { !$0.isUnique || $0.isDeclared }
    }

    /// True if the columns of the identifier keep its values as they are written, so that they are compared as such.
    private static func hasOwnTypes(_ entity: EntityDescription, _ database: Database) throws -> Bool {
        let columns = Set(entity.identifierColumns.map(ExistingEntity.folded))
        let attributes = entity.attributes.filter { columns.contains(ExistingEntity.folded($0.column)) }
        let stored = try StoredTable(entity.table, database).columns
        return attributes.allSatisfy { attribute in
            stored.contains {
                ExistingEntity.folded($0.name) == ExistingEntity.folded(attribute.column)
                    && ($0.declared.isEmpty || $0.affinity == DeclaredType.Affinity(declared: attribute.declaredType))
            }
        }
    }

    /// Notes that an entity's identifier is deferred.
    static func begin(job: Int64, position: Int, _ database: Database) throws {
        try BookkeepingSchema.make(tables, database)
        try database.execute(
            sql: "INSERT INTO _import_deferred_identifier (job, entity) VALUES (?, ?)",
            arguments: [job, position]
        )
    }

    /// The indexes of a job's entities whose identifiers are deferred.
    static func positions(job: Int64, _ database: Database) throws -> Set<Int> {
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: "_import_deferred_identifier",
            sql: """
                SELECT entity, (SELECT count(*) FROM _import_entity AS known WHERE known.job = deferred.job) AS entities
                FROM _import_deferred_identifier AS deferred WHERE job = ?
                """,
            arguments: [job]
        )
        return try Set(
            rows.map { row in
                let position = try row.index("entity")
                guard try position < row.index("entities") else { throw row.damage("entity") }
                return position
            }
        )
    }

    /// Settles what other jobs have deferred in these tables, for a job that looks identifiers up as they come.
    ///
    /// - Returns: what that changed, to be told when it is committed.
    /// - Throws: `ImportError` with `.usage` where that takes the other job's sources.
    static func settle(tables: [String], _ database: Database) throws -> [MergeNotification] {
        let tables = Set(tables.map(\.asciiLowercased))
        return try StoredJob.unfinished(database).compactMap { job in
            let isShared = job.model?.entities.contains { tables.contains($0.table.asciiLowercased) } ?? false
            guard isShared else { return nil }
            let changes = try settle(job, database)
            return changes.allSatisfy(\.isEmpty) ? nil : try MergeLog.append(changes, of: job.id, database)
        }
    }

    /// Settles all that a job has deferred, and makes the indexes again that it has dropped.
    ///
    /// - Parameters:
    ///   - sources: where records that turn out to be rejects are read again; nil where they cannot be.
    ///   - check: called between the steps; may throw.
    /// - Returns: what that changed.
    static func settle(
        _ job: StoredJob,
        _ database: Database,
        sources: SourceRecordReader? = nil,
        check: () throws -> Void = {}
    ) throws -> [EntityChanges] {
        guard let model = job.model else { return [] }
        var groups = try ErrorGroupTable(database, job: job.id)
        let isStrict = job.options.onConflict == .error
        let rejecter = isStrict ? DuplicateRejector(database, job: job, sources: sources) : nil
        let changes: [EntityChanges] = try positions(job: job.id, database).sorted().compactMap { position in
            guard model.entities.indices.contains(position) else { return nil }
            try check()
            var entity = model.entities[position]
            // The values are coerced already, maybe by transformers that only another program has.
            for attribute in entity.attributes.indices { entity.attributes[attribute].transformers = [] }
            let plan = try EntityPlan(
                entity: entity,
                index: position,
                onConflict: job.options.onConflict,
                unread: job.unread(besides: entity, database)
            )
            var changes = EntityChanges(entity: entity.name, table: entity.table, position: position)
            try DeferredUniqueIndex(job: job, position: position, plan: plan)
                .settle(&changes, &groups, rejecting: rejecter, isLast: true, database)
            try database.execute(
                sql: """
                    UPDATE _import_entity SET updated = updated + ?, unchanged = unchanged + ?, ignored = ignored + ?,
                        rejected = rejected + ?
                    WHERE job = ? AND position = ?
                    """,
                arguments: [
                    changes.updated, changes.unchanged, changes.ignored, changes.rejected, job.id, position,
                ]
            )
            return changes
        }
        try check()
        try rejecter?.writeRejects()
        try DeferredIndexes.restore(job: job.id, database)
        return changes
    }

    /// True if a job has left anything to the end.
    static func isPending(job: Int64, _ database: Database) throws -> Bool {
        try !positions(job: job, database).isEmpty || DeferredIndexes.exist(job: job, database)
    }

    /// Keeps what rows that were just written mention.
    func save(_ presence: PresenceMasks?, _ database: Database) throws {
        guard let presence, plan.needsPresence else { return }
        let statement = try database.cachedStatement(
            sql: "INSERT INTO _import_presence (job, entity, first_rowid, runs) VALUES (?, ?, ?, ?)"
        )
        for block in presence.blocks {
            try statement.execute(arguments: [job.id, position, block.firstRowID, Data(block.bytes)])
        }
    }

    /// Keeps where the records of rows that were just written are.
    ///
    /// - Parameter source: their source's index in the job.
    func save(_ positions: RecordPositions?, source: Int, _ database: Database) throws {
        guard let positions else { return }
        let statement = try database.cachedStatement(
            sql: "INSERT INTO _import_place (job, entity, first_rowid, source, places) VALUES (?, ?, ?, ?, ?)"
        )
        for block in positions.blocks {
            try statement.execute(arguments: [job.id, position, block.firstRowID, source, Data(block.bytes)])
        }
    }

    /// The row id of the table's last row; nil where it has none.
    func lastRowID(_ database: Database) throws -> Int64? {
        let sql = "SELECT max(rowid) FROM \(plan.entity.table.quotedIdentifier)"
        return try Int64.fetchOne(database.cachedStatement(sql: sql))
    }

    /// Makes one object of the rows that have the same identifier, builds the index, and merges the records that wait for their
    /// objects.
    ///
    /// The job's count of inserted objects is corrected; what the other records came to is the caller's to count.
    ///
    /// - Parameters:
    ///   - changes: gets what is changed by it.
    ///   - rejecter: what takes the rows away whose records are rejects; nil where they are merged.
    ///   - isLast: whether no more rows come, so that a table without any needs no index.
    /// - Throws: `DatabaseError`, and `ImportError` when the rows are not those that the job wrote.
    func settle(
        _ changes: inout EntityChanges,
        _ groups: inout ErrorGroupTable,
        rejecting rejecter: DuplicateRejector? = nil,
        isLast: Bool = false,
        _ database: Database
    ) throws {
        let waiting = try IncompleteRecordQueue(database, job: job, plan: plan)
        if isLast, waiting == nil, try !BookkeepingSchema.hasRows(plan.entity.table, database) {
            try DeferredIndexes.restoreIdentifier(of: position, job: job.id, database)
            return try forget(database)
        }
        // Most often no two rows have the same identifier, which is found out by building the index.
        if try !buildIndex(database) {
            let before = changes.deleted
            if let rejecter {
                try rejecter.removeRows(of: plan, &changes)
            } else {
                try DuplicateMerger(database, job: job.id, position: position, plan: plan).run(&changes, waiting)
            }
            try database.execute(
                sql: "UPDATE _import_entity SET inserted = inserted - ? WHERE job = ? AND position = ?",
                arguments: [changes.deleted - before, job.id, position]
            )
            try makeIndex(database)
        }
        try waiting?.settle(&changes, &groups)
        try forget(database)
    }

    private func forget(_ database: Database) throws {
        for table in Self.tables {
            try database.execute(
                sql: "DELETE FROM \(table) WHERE job = ? AND entity = ?",
                arguments: [job.id, position]
            )
        }
    }

    /// - Returns: whether all rows have identifiers of their own, so that there is an index now.
    private func buildIndex(_ database: Database) throws -> Bool {
        do {
            try makeIndex(database)
            return true
        } catch let error as ImportError where error.code == .badInput {
            return false
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
            return false
        }
    }

    /// The index that the table had, or one of the import's own.
    private func makeIndex(_ database: Database) throws {
        try DeferredIndexes.restoreIdentifier(of: position, job: job.id, database)
        try StoreSchema.prepareIdentifier(of: plan.entity, job: job.id, database, store: plan.entity.table)
    }
}
