import ImportModel
import Importer

struct RowFault {}
struct RefusedRow: Error { let ordinal: Int64; let error: ImportModel.RecordError }
struct RefusedRows {
    mutating func add(_ row: RefusedRow) {}
    subscript(ordinal: Int64) -> ImportModel.RecordError? { nil }
}
struct ChunkRows {
    init(_ plan: EntityPlan, _ options: JobOptions) throws {}
    init(staging plan: EntityPlan, table: String, _ options: JobOptions) throws {}
    mutating func begin() {}
    var count: Int { 0 }
    mutating func append(
        _ row: RowBatch.Row,
        cells: UnsafeBufferPointer<Cell>,
        chunk: UnsafeBufferPointer<UInt8>,
        own: UnsafeBufferPointer<UInt8>,
        presence: [UInt64]
    ) -> RowFault? { nil }
    func error(_ fault: RowFault, byteOffset: Int64) -> ImportModel.RecordError { fatalError() }
    var statement: String { "" }
    func write(to stream: inout CopyStream) throws {}
    func refused(_ failure: ServerFailure) -> RefusedRow? { nil }
}
enum ServerTables {
    enum Kind { case table, other }
    static func quoted(_ name: String) -> String { ServerConnection.quoted(name) }
    static func kind(of name: String, _ connection: ServerConnection) throws -> Kind? { nil }
    static func identifierIndex(of entity: EntityDescription) -> String { "" }
    static func prepareIdentifier(of entity: EntityDescription, _ connection: ServerConnection, label: String) throws {}
    static func hasRows(_ name: String, _ connection: ServerConnection) throws -> Bool { false }
    static func check(_ names: [String], _ connection: ServerConnection, label: String) throws {}
    static func prepare(_ entity: EntityDescription, _ connection: ServerConnection, label: String) throws -> Bool {
        true
    }
    static func buildIndexes(
        of entity: EntityDescription,
        _ wanted: StoreIndexes,
        _ connection: ServerConnection,
        label: String
    ) throws -> [String] { [] }
}

enum ServerType {
    case json, text
    var declaration: String { "" }
}
struct ServerColumn {
    var name: String; var type: ServerType; var attribute: AttributeDescription; var quoted: String
    static func all(of entity: EntityDescription) -> [ServerColumn] { [] }
}
