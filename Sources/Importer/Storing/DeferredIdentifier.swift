import Foundation
import GRDB
import ImportModel

/// An entity whose identifier is not looked at while its table is filled for the first time (DESIGN §8).
///
/// Keeping an index up while a million random identifiers come in takes many times as long as building it once. So each
/// record becomes a row, and settling makes one object of the rows that have the same identifier, just as if each had
/// been merged as it came; then it builds the index. The row that came first keeps its row id, those of the others stay
/// free.
struct DeferredIdentifier {
    /// The job's number.
    let job: Int64
    /// The entity's place in the job.
    let position: Int
    let plan: EntityPlan

    /// Notes that the entity's identifier is deferred, if it has one that is not the row id.
    static func begin(_ entity: EntityDescription, job: Int64, position: Int, _ database: Database) throws {
        guard !entity.identifier.isEmpty, StoreSchema.rowIDAttribute(of: entity) == nil else { return }
        try database.execute(
            sql: "INSERT INTO _import_deferred_identifier (job, entity) VALUES (?, ?)",
            arguments: [job, position]
        )
    }

    /// The places of a job's entities whose identifiers are deferred.
    static func positions(job: Int64, _ database: Database) throws -> Set<Int> {
        guard try database.tableExists("_import_deferred_identifier") else { return [] }
        return try Set(
            Int.fetchAll(
                database,
                sql: "SELECT entity FROM _import_deferred_identifier WHERE job = ?",
                arguments: [job]
            )
        )
    }

    /// Settles what other jobs have deferred in these tables, for a job that looks identifiers up as they come.
    static func settle(tables: [String], _ database: Database) throws {
        let tables = Set(tables.map(\.asciiLowercased))
        for job in try StoredJob.all(database) {
            let isShared = job.model?.entities.contains { tables.contains($0.table.asciiLowercased) } ?? false
            if isShared { _ = try settle(job, database) }
        }
    }

    /// Settles all that a job has deferred.
    ///
    /// - Parameter check: called between the steps; may throw.
    /// - Returns: what that changed.
    static func settle(
        _ job: StoredJob,
        _ database: Database,
        check: () throws -> Void = {}
    ) throws -> [EntityChanges] {
        guard let model = job.model else { return [] }
        return try positions(job: job.id, database).sorted().compactMap { position in
            guard model.entities.indices.contains(position) else { return nil }
            try check()
            var entity = model.entities[position]
            // The values are coerced already, maybe by transformers that only another program has.
            for attribute in entity.attributes.indices { entity.attributes[attribute].transformers = [] }
            let plan = try EntityPlan(entity: entity, index: position, onConflict: job.options.onConflict)
            var changes = EntityChanges(entity: entity.name, table: entity.table)
            try DeferredIdentifier(job: job.id, position: position, plan: plan).settle(&changes, database)
            try database.execute(
                sql: """
                    UPDATE _import_entity SET updated = updated + ?, unchanged = unchanged + ?, ignored = ignored + ?
                    WHERE job = ? AND position = ?
                    """,
                arguments: [changes.updated, changes.unchanged, changes.ignored, job.id, position]
            )
            return changes
        }
    }

    /// Keeps what rows that were just written mention.
    func save(_ presence: PresenceRuns?, _ database: Database) throws {
        guard let presence, plan.needsPresence else { return }
        let statement = try database.cachedStatement(
            sql: "INSERT INTO _import_presence (job, entity, first_rowid, runs) VALUES (?, ?, ?, ?)"
        )
        for block in presence.blocks {
            try statement.execute(arguments: [job, position, block.firstRowID, Data(block.bytes)])
        }
    }

    /// Makes one object of the rows that have the same identifier, and builds the index.
    ///
    /// The job's count of inserted objects is corrected; what the other records came to is the caller's to count.
    ///
    /// - Parameter changes: gets what is changed by it.
    /// - Throws: `DatabaseError`, and `ImportError` when the rows are not those that the job wrote.
    func settle(_ changes: inout EntityChanges, _ database: Database) throws {
        // Most often no two rows have the same identifier, which is found out by building the index.
        if try !buildIndex(database) {
            let before = changes.deleted
            try DuplicateMerger(database, job: job, position: position, plan: plan).run(&changes)
            try database.execute(
                sql: "UPDATE _import_entity SET inserted = inserted - ? WHERE job = ? AND position = ?",
                arguments: [changes.deleted - before, job, position]
            )
            try StoreSchema.prepareIdentifier(of: plan.entity, database, store: plan.entity.table)
        }
        for table in ["_import_deferred_identifier", "_import_presence"] {
            try database.execute(sql: "DELETE FROM \(table) WHERE job = ? AND entity = ?", arguments: [job, position])
        }
    }

    /// - Returns: whether all rows have identifiers of their own, so that there is an index now.
    private func buildIndex(_ database: Database) throws -> Bool {
        do {
            try StoreSchema.prepareIdentifier(of: plan.entity, database, store: plan.entity.table)
            return true
        } catch let error as ImportError where error.code == .badInput {
            return false
        }
    }
}
