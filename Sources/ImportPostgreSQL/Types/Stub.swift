import ImportModel
import Importer
enum ServerTables {
    enum Kind { case table, other }
    static func quoted(_ name: String) -> String { ServerConnection.quoted(name) }
    static func kind(of name: String, _ connection: ServerConnection) throws -> Kind? { nil }
    static func identifierIndex(of entity: EntityDescription) -> String { "" }
    static func prepareIdentifier(of entity: EntityDescription, _ connection: ServerConnection, label: String) throws {}
    static func hasRows(_ name: String, _ connection: ServerConnection) throws -> Bool { false }
    static func check(_ names: [String], _ connection: ServerConnection, label: String) throws {}
    static func prepare(_ entity: EntityDescription, _ connection: ServerConnection, label: String) throws -> Bool { true }
    static func buildIndexes(of entity: EntityDescription, _ wanted: StoreIndexes, _ connection: ServerConnection, label: String) throws -> [String] { [] }
}
