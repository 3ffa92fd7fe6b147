import GRDB
import ImportModel

/// The entities that a store's models and tables make together.
enum StoredEntities {
    /// Reads them, in the order in which their tables were first described.
    static func read(_ database: Database) throws -> [EntityDescription] {
        var tables: [ExactText] = []
        var described: [ExactText: EntityDescription] = [:]
        for text in try String.fetchAll(database, sql: "SELECT model FROM _import_model ORDER BY id") {
            guard let model = try? ModelDescription(stored: Array(text.utf8)) else { continue }
            for entity in model.entities {
                let table = ExactText(entity.table.asciiLowercased)
                if let earlier = described[table] {
                    described[table] = joined(entity, earlier)
                } else {
                    tables.append(table)
                    described[table] = entity
                }
            }
        }
        return try tables.compactMap { table in try described[table].flatMap { try withColumns($0, database) } }
    }

    /// What a later model says of an entity, and what an earlier one said beyond that.
    private static func joined(_ later: EntityDescription, _ earlier: EntityDescription) -> EntityDescription {
        var entity = later
        if entity.identifier.isEmpty { entity.identifier = earlier.identifier }
        let columns = Set(later.attributes.map { ExactText($0.column.asciiLowercased) })
        entity.attributes += earlier.attributes.filter { !columns.contains(ExactText($0.column.asciiLowercased)) }
        return entity
    }

    /// The entity with an attribute for each column that its table has; nil if there is no table.
    private static func withColumns(_ entity: EntityDescription, _ database: Database) throws -> EntityDescription? {
        let columns = try Row.fetchAll(
            database,
            sql: "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden <> 1",
            arguments: [entity.table]
        )
        guard !columns.isEmpty else { return nil }
        var known: [ExactText: AttributeDescription] = [:]
        for attribute in entity.attributes { known[ExactText(attribute.column.asciiLowercased)] = attribute }
        var names = Set(entity.attributes.map { ExactText($0.name) })
        var result = entity
        result.attributes = columns.map { row in
            let column: String = row["name"]
            if let attribute = known[ExactText(column.asciiLowercased)] { return attribute }
            var name = column
            while !names.insert(ExactText(name)).inserted { name += "_" }
            return AttributeDescription(name: name, column: column, type: type(declared: row["type"]), isOptional: true)
        }
        return result
    }

    /// What a declared type says of a column, after SQLite's rules (<https://www.sqlite.org/datatype3.html>).
    private static func type(declared: String) -> AttributeType {
        let type = declared.uppercased()
        if type.contains("INT") { return .integer64 }
        if type.contains("CHAR") || type.contains("CLOB") || type.contains("TEXT") { return .string }
        if type.isEmpty || type.contains("BLOB") { return .binary }
        return .double
    }
}
