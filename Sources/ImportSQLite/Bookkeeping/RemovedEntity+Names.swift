import GRDB
import ImportEngine
import ImportModel
import ImportSources

extension RemovedEntity {
    /// What an entity is called once it is gone.
    package static func name(of entity: String, in model: ModelLayout, _ database: Database) throws -> String {
        let taken = Set(model.entities.map { BytewiseString($0.name) })
        var (name, number) = ("\(entity) (gone)", 1)
        while try taken.contains(BytewiseString(name)) || isKnown(name, database) {
            number += 1
            name = "\(entity) (gone \(number))"
        }
        return name
    }

    private static func isKnown(_ name: String, _ database: Database) throws -> Bool {
        try ["_import_entity", "_import_reject", "_import_ledger"].contains {
            try database.count($0, where: "entity = \(name.sqlLiteral)") > 0
        }
    }
}
