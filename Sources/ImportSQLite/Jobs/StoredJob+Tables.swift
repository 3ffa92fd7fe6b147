import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The tables of a job's model.
extension StoredJob {
    /// Gives the job its model, and the store the model's tables.
    ///
    /// - Parameters:
    ///   - model: given, or inferred.
    ///   - isFinal: whether it was inferred from all records.
    /// - Returns: what that changes in tables that other jobs have filled, to be told when it is committed, and what is to be
    ///   said of it.
    package mutating func adopt(
        _ model: ModelDescription,
        _ transformers: TransformerRegistry,
        isFinal: Bool = true,
        _ database: Database,
        store: String
    ) throws -> (merges: [MergeNotification], messages: [MessageText]) {
        // What cannot be imported with, or read back, must not get into the store.
        var appended: GraphPlan?
        if model.isFlat {
            for (position, entity) in model.entities.enumerated() {
                _ = try EntityPlan(entity: entity, index: position, transformers: transformers)
            }
        } else {
            let plan = try GraphPlan(model, onConflict: options.onConflict, transformers: transformers)
            // The tables of another job have indexes then, or get them now.
            if try AppendMode.isPossible(plan, database) { appended = plan }
        }
        try JobRollback.checkThatNoneIsOpen(model.tables, besides: id, database)
        try TheirTables(options: options, database: database, store: store).check(model)
        let merges = try DeferredUniqueIndex.settle(tables: model.tables, database)
        try AppendMode.end(tables: model.tables, database)
        let preparation = try StoreSchema.prepareTables(
            model,
            job: id,
            isAppending: appended != nil,
            database,
            store: store
        )
        if !model.isFlat { try BookkeepingSchema.make(["_import_link", "_import_stub", "_import_orphan"], database) }
        if let appended { try AppendMode.begin(id, appended, database) }
        if model.rejectsUnresolved {
            try JobRollback(job: id).begin(ModelLayout(importing: model), database)
        }
        try database.execute(
            sql: "UPDATE _import_job SET model = ?, is_model_final = ? WHERE id = ?",
            arguments: [try Self.document(of: model, database), isFinal, id]
        )
        self.model = model
        isModelFinal = isFinal
        if keepsUndo { try ImportUndoLog.begin(self, model, database) }
        let layout = model.isFlat ? nil : try ModelLayout(importing: model)
        for (position, entity) in model.entities.enumerated() {
            let isThere = layout?.hasTable(position) ?? true
            try insert(
                entity,
                position: position,
                table: isThere ? layout?.table(of: position) ?? entity.table : "",
                made: preparation.made,
                database
            )
            guard layout == nil else { continue }
            let isNew = preparation.made.contains(entity.table)
            try prepareIndexes(of: entity, position: position, isNew: isNew, database, store: store)
        }
        try TableFingerprint.forget(model.tables, database)
        return (merges, preparation.messages)
    }

    /// Begins to count an entity.
    ///
    /// - Parameter table: that of its rows; empty for none.
    private func insert(
        _ entity: EntityDescription,
        position: Int,
        table: String,
        made: [String],
        _ database: Database
    ) throws {
        let rows = table.isEmpty ? "0" : "(SELECT count(*) FROM \(table.quotedIdentifier))"
        try database.execute(
            sql: """
                INSERT INTO _import_entity (
                    job, position, entity, table_name, made_table, rows_before, last_rowid_before
                ) SELECT ?, ?, ?, ?, ?, \(rows), ?
                """,
            arguments: [
                id, position, entity.name, table, made.contains(table),
                table.isEmpty ? 0 : try AssignedRowIDs.keepLast(of: table, entity, database),
            ]
        )
    }

    /// Makes sure that the tables are as the job needs them, when it continues after a while.
    ///
    /// - Throws: `ImportError` when another job has made them otherwise.
    func prepareAgain(_ database: Database, store: String) throws {
        guard let model else { return }
        guard model.isFlat else {
            _ = try StoreSchema.prepareTables(
                ModelLayout(importing: model),
                job: id,
                isAppending: AppendMode.exists(id, database),
                database,
                store: store
            )
            return
        }
        let deferred = try DeferredUniqueIndex.positions(job: id, database)
        let known = try StoredForms(database)
        for (position, entity) in model.entities.enumerated() where try database.hasTable(entity.table) {
            try StoreSchema.extend(entity, known: known, job: id, database, store: store)
            guard !deferred.contains(position) else { continue }
            try StoreSchema.prepareIdentifier(of: entity, job: id, database, store: store)
        }
    }

    /// Takes away what the job has added to tables that nothing came into.
    func removeUnusedAdditions(_ database: Database) throws {
        // What refers to a table needs its indexes, whether there are rows or not.
        guard model?.isFlat != false else { return }
        let tables = try String.fetchAll(
            database,
            sql: "SELECT table_name FROM _import_entity WHERE job = ?",
            arguments: [id]
        )
        let taken = try takenTables(database)
        for table in tables where !taken.contains(table) {
            try SchemaAdditions.remove(job: id, from: table, database)
        }
    }

    /// Takes away the counts of entities that nothing came to, where the model has several.
    func removeUnusedCounts(_ database: Database) throws {
        guard model?.entities.count ?? 0 > 1 else { return }
        try database.execute(
            sql: """
                DELETE FROM _import_entity WHERE job = ? AND NOT made_table
                    AND records_read + rejected + nested + linked + deleted + deletions = 0 AND stubs = 0
                """,
            arguments: [id]
        )
    }

    /// The tables that the job has taken anything for.
    func takenTables(_ database: Database) throws -> Set<String> {
        try Set(
            String.fetchAll(
                database,
                sql: """
                    SELECT table_name FROM _import_entity
                    WHERE job = :job AND inserted + updated + unchanged + ignored + nested + stubs + deleted > 0
                    """,
                arguments: ["job": id]
            )
        )
    }

    /// The attributes of an entity's table that the entity does not have, where objects are replaced as a whole.
    package func unread(besides entity: EntityDescription, _ database: Database) throws -> [AttributeDescription] {
        guard options.onConflict == .replace, !entity.identifier.isEmpty else { return [] }
        return try StoredEntities.unread(besides: entity, database)
    }

    /// Leaves to the end what of an entity's indexes can be built then, and makes sure of the others.
    private func prepareIndexes(
        of entity: EntityDescription,
        position: Int,
        isNew: Bool,
        _ database: Database,
        store: String
    ) throws {
        let isEmpty = try !BookkeepingSchema.hasRows(entity.table, database)
        if isEmpty, !isNew { try StoreSchema.openPrimaryKey(of: entity.table, job: id, database) }
        let isDeferred =
            try isEmpty && (options.onConflict != .error || mayRejectLate && isReadableAgain)
            && DeferredUniqueIndex.isPossible(entity, database)
        if isDeferred {
            try DeferredUniqueIndex.begin(job: id, position: position, database)
        } else {
            try StoreSchema.prepareIdentifier(of: entity, job: id, database, store: store)
        }
        guard isEmpty else { return }
        try DeferredIndexes.drop(of: entity, job: id, position: position, includesIdentifier: isDeferred, database)
    }
}
