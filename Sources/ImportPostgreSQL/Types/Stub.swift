import ImportModel
import Importer

enum ServerTables {
    enum Kind { case table, other }
    static func quoted(_ name: String) -> String { ServerNames.quoted(ServerNames.fitting(name)) }
    static func kind(of name: String, _ connection: ServerConnection) throws -> Kind? {
        let row = try connection.execute(
            "SELECT relkind FROM pg_class WHERE relname = $1 AND relnamespace = current_schema()::regnamespace",
            [.text(ServerNames.fitting(name))]
        ).first
        guard let kind = try row?.text(0) else { return nil }
        return ["r", "p"].contains(kind) ? .table : .other
    }
    static func identifierIndex(of entity: EntityDescription) -> String {
        let columns = ServerColumn.all(of: entity)
        let names = entity.identifier.compactMap { name in columns.first { $0.attribute.name == name }?.quoted }
        return "CREATE UNIQUE INDEX IF NOT EXISTS \(quoted(entity.table + "_identifier")) ON \(quoted(entity.table)) (\(names.joined(separator: ", ")))"
    }
    static func prepareIdentifier(of entity: EntityDescription, _ connection: ServerConnection, label: String) throws {
        _ = try connection.execute(identifierIndex(of: entity))
    }
    static func hasRows(_ name: String, _ connection: ServerConnection) throws -> Bool {
        try connection.execute("SELECT EXISTS (SELECT 1 FROM \(quoted(name)))").first?.bool(0) ?? false
    }
    static func check(_ names: [String], _ connection: ServerConnection, label: String) throws {}
    static func prepare(_ entity: EntityDescription, _ connection: ServerConnection, label: String) throws -> Bool {
        if try kind(of: entity.table, connection) != nil { return false }
        let columns = ServerColumn.all(of: entity).map(\.definition).joined(separator: ", ")
        _ = try connection.execute("CREATE TABLE \(quoted(entity.table)) (\(columns))")
        return true
    }
    static func buildIndexes(of entity: EntityDescription, _ wanted: StoreIndexes, _ connection: ServerConnection, label: String) throws -> [String] { [] }
}
