import ImportModel
import ImportPostgreSQL
import Importer

/// What reads records back, whatever the store is.
protocol RecordReading {
    func entity(named name: String) throws -> EntityDescription
    func entityCounts() throws -> [EntityCount]
    func attributes(named names: [String], of entity: EntityDescription) throws -> [AttributeDescription]
    func count(_ request: FetchRequest) throws -> Int
    func forEachRecord(
        _ request: FetchRequest,
        attributes: [String]?,
        _ body: (Record) throws -> Void
    ) throws -> Bool
    func write(
        _ request: FetchRequest,
        attributes: [String]?,
        as format: RecordFormat,
        dates: DateStyle,
        to write: ([UInt8]) throws -> Void
    ) throws -> Bool
}

extension StoreReader: RecordReading {}
extension PostgreSQLReader: RecordReading {}
