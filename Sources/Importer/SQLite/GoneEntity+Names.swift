import GRDB
import ImportModel

extension GoneEntity {
    /// What an entity is called once it is gone.
    static func name(of entity: String, in model: ModelLayout, _ database: Database) throws -> String {
        let taken = Set(model.entities.map { ExactText($0.name) })
        var (name, number) = ("\(entity) (gone)", 1)
        while try taken.contains(ExactText(name)) || isKnown(name, database) {
            number += 1
            name = "\(entity) (gone \(number))"
        }
        return name
    }

    private static func isKnown(_ name: String, _ database: Database) throws -> Bool {
        let sql = ["_import_entity", "_import_reject", "_import_error", "_import_ledger"].map {
            "EXISTS (SELECT 1 FROM \($0) WHERE entity = :name)"
        }
        return try Bool.fetchOne(
            database,
            sql: "SELECT \(sql.joined(separator: " OR "))",
            arguments: ["name": name]
        ) ?? false
    }
}
