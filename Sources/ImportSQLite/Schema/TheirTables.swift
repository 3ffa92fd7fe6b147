import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Tables that the importer has not made: whether a job may do with them what its model asks for.
struct TheirTables {
    let options: JobOptions
    let database: Database
    let store: String

    /// - Throws: `ImportError` where a given model has attributes without a column, or a trigger uses what SQLite refuses.
    func check(_ model: ModelDescription) throws {
        for entity in model.entities
        where try database.hasTable(entity.table) && !StoreSchema.hasMade(entity.table, database) {
            let table = try StoredTable(entity.table, database)
            if options.mirror != nil { try StoreSchema.checkRowIDs(of: table, areNeeded: true, store: store) }
            if model.isFlat, options.model != nil, !options.altersTables { try checkColumns(of: entity, table) }
            if !options.trustsTriggers { try checkTriggers(of: table) }
        }
    }

    private func checkColumns(of entity: EntityDescription, _ table: StoredTable) throws {
        let lacking = entity.attributes.map(\.column).filter { table.column($0) == nil }
        guard !lacking.isEmpty else { return }
        throw ImportError(
            .tableUnsuitable,
            at: store,
            "the table \(table.name), which the importer has not made, has no column \(lacking.joined(separator: ", "))",
            advice: "Add it with \(.altersTables), or leave the attribute out of the model. Nothing was written."
        )
    }

    private func checkTriggers(of table: StoredTable) throws {
        let triggers = try Row.fetchAll(
            database,
            sql: "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE",
            arguments: [table.name]
        )
        guard !triggers.isEmpty else { return }
        let name = table.name.quotedIdentifier
        let columns = table.ownColumns.map { "\($0.name.quotedIdentifier) = NULL" }.joined(separator: ", ")
        for sql in ["INSERT INTO \(name) DEFAULT VALUES", "UPDATE \(name) SET \(columns)", "DELETE FROM \(name)"] {
            do {
                // SQLite says so where it compiles the triggers.
                _ = try database.makeStatement(sql: sql)
            } catch let error as DatabaseError where error.message?.hasPrefix("unsafe use of") == true {
                let words = error.message ?? ""
                let used = words.split(separator: "\"").last.map(String.init) ?? ""
                let trigger = triggers.first { ($0["sql"] as String).contains(used) } ?? triggers[0]
                throw ImportError(
                    .optionsConflict,
                    at: store,
                    "the trigger \(trigger["name"] as String) of \(table.name): \(words)",
                    advice: "Let it with \(.trustsTriggers), if you trust the store's schema. Nothing was written."
                )
            } catch {}
        }
    }
}
