import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

extension InferTool {
    /// The tables of a store that no import has made.
    func theirTables(in store: String) throws -> [String] {
        let opened = try ReadOnlyStore(store)
        defer { opened.close() }
        return try opened.read(StoreSchema.theirTables)
    }

    /// The model that an import into the tables of a store would have, and what it follows from.
    func model(
        _ inference: InferenceWorkers,
        of sources: [StoredJob.Source],
        in store: String
    ) throws -> (model: ModelDescription, notices: [MessageText]) {
        let opened = try ReadOnlyStore(store)
        defer { opened.close() }
        return try opened.read { database in
            var stored: [String: ExistingEntity] = [:]
            for name in Set(sources.flatMap(\.entities)) {
                try StoreSchema.checkThatTables([name], areFreeIn: database, store: store)
                stored[name] = try StoredEntities.continued(name, database)
            }
            for table in stored.values.map(\.entity.table) {
                try StoreSchema.checkRowIDs(of: StoredTable(table, database), areNeeded: false, store: store)
            }
            let inferred = try inference.model(continuing: stored) { name in
                guard try StoreSchema.isTaken(name, database) else { return false }
                return try !database.tableExists(name) || !StoreSchema.isStillEmpty(name, database)
            }
            let lines = try inferred.model.entities.flatMap { entity in
                stored[entity.name]?.isForeign == true ? try reasons(for: entity, database) : []
            }
            return (inferred.model, lines + inferred.notices)
        }
    }

    /// For each attribute, what its column is declared as.
    private func reasons(for entity: EntityDescription, _ database: Database) throws -> [MessageText] {
        let table = try StoredTable(entity.table, database, readsRows: true)
        return entity.attributes.compactMap { attribute in
            guard let column = table.column(attribute.column) else { return nil }
            let declared = column.declaration.isEmpty ? "no declared type" : column.declaration
            let format = attribute.type == .binary ? attribute.formats.map { " of \($0)" }.joined() : ""
            let form = attribute.ownForm.map { " as \($0.rawValue)" } ?? ""
            let dependsOnRows = [.date, .uuid].contains(attribute.type) || column.type == .binary
            let rows = column.rows?.isEmpty == false ? ", as its rows are" : ", and no rows to look at"
            return
                "\(entity.name): \(attribute.column): \(declared): \(attribute.type.rawValue)\(format)\(form)\(dependsOnRows ? rows : "")"
        }
    }
}
