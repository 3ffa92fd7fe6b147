import ImportModel
import Importer

/// Reads records from a server's schema, as `StoreReader` does from a SQLite store.
///
/// A reader has a connection of its own. Each call sees one state of the schema: committed rows, and of entities with an identifier,
/// settled ones. A reader is created and used by one thread.
public final class PostgreSQLReader {
    private let store: PostgreSQLStore
    private let interruption: Interruption
    private let session: PGLockingSession

    /// Prepares to read a schema; nothing is opened before the first call.
    ///
    /// - Parameters:
    ///   - store: the schema.
    ///   - interruption: ends a running query, on the server, too.
    public init(_ store: PostgreSQLStore, interruption: Interruption = Interruption()) {
        self.store = store
        self.interruption = interruption
        session = PGLockingSession(store, interruption, writes: false)
    }

    private var label: String { store.label }

    /// Calls `body` in a transaction that only reads.
    private func read<Result>(_ body: (PGConnection, [PGEntity]) throws -> Result) throws -> Result {
        try session.snapshot { connection in
            connection.isInterruptible = true
            return try body(connection, PGEntity.all(connection, label: label))
        }
    }

    private func entity(named name: String, _ entities: [PGEntity]) throws -> PGEntity {
        try entities[entities.map(\.description).place(ofEntityOrTable: name, in: label)]
    }

    // MARK: Entities

    /// The entity with the given name, or with the given table: with an attribute for each column of its table.
    ///
    /// - Throws: `ImportError` with `.entityNotFound` when there is none; others when the server cannot be read.
    public func entity(named name: String) throws -> EntityDescription {
        try read { try entity(named: name, $1).description }
    }

    /// The schema's entities whose tables exist, with their counts.
    ///
    /// - Throws: `ImportError` when the server cannot be read.
    public func entityCounts() throws -> [EntityCount] {
        try read { connection, entities in
            try entities.map { entity in
                let table = entity.description.table
                let rows = try connection.execute("SELECT count(*) FROM \(entity.source())").first
                return EntityCount(
                    entity: entity.description.name,
                    table: table,
                    records: try rows?.integer(0) ?? 0,
                    attributes: entity.description.attributes.count
                )
            }
        }
    }

    /// The attributes with the given names, in their order; a server's rows have no row id.
    ///
    /// - Throws: `ImportError` when one does not exist.
    public func attributes(named names: [String], of entity: EntityDescription) throws -> [AttributeDescription] {
        try read { try self.entity(named: entity.name, $1).columns(named: names).map(\.attribute) }
    }

    // MARK: Records

    /// The number of records of a request, after offset and limit.
    ///
    /// - Throws: `ImportError` when there is no such entity or attribute, or the server cannot be read; `RecordPredicateError` when
    ///   the predicate does not fit the entity.
    public func count(_ request: FetchRequest) throws -> Int {
        try read { connection, entities in
            let query = try PGQuery(request, attributes: [], of: entity(named: request.entity, entities))
            let all = Int(clamping: try connection.execute(query.counting, query.parameters).first?.integer(0) ?? 0)
            return min(max(0, request.limit ?? .max), max(0, all - max(0, request.offset)))
        }
    }

    /// Calls `body` with each record while the server sends them; values are those of a SQLite store, the row id is 0.
    ///
    /// Without an order, records are sorted by their identifier; without an identifier, they have the order of their rows in the table.
    ///
    /// - Parameters:
    ///   - request: the records to read.
    ///   - attributes: the names of the attributes to read, in order; nil for all.
    ///   - body: receives each record; if it throws, reading ends.
    /// - Returns: true, as all records are from one state of the schema.
    /// - Throws: as `count` does, and what `body` throws.
    @discardableResult
    public func forEachRecord(
        _ request: FetchRequest,
        attributes: [String]? = nil,
        _ body: (Record) throws -> Void
    ) throws -> Bool {
        try forEachRow(request, attributes) { _ in
        } each: {
            try body(Record(rowID: 0, values: $0))
        }
        return true
    }

    /// - Parameter begin: called with what is read, before the first row.
    private func forEachRow(
        _ request: FetchRequest,
        _ attributes: [String]?,
        begin: ([AttributeDescription]) throws -> Void,
        each body: ([Record.Value]) throws -> Void
    ) throws {
        try read { connection, entities in
            let query = try PGQuery(request, attributes: attributes, of: entity(named: request.entity, entities))
            try begin(query.terms.map(\.attribute))
            let types = query.terms.map(\.column.type)
            try store.forEachRow(query.selecting, query.parameters, connection) { row in
                try interruption.check()
                try body(try types.indices.map { try types[$0].value(row, $0) })
            }
        }
    }

    /// Writes records in a format, about 1 MiB at a time, while the server sends them.
    ///
    /// - Parameters:
    ///   - request: the records to write.
    ///   - attributes: the names of the attributes to write, in order; nil for all.
    ///   - format: the format of the output.
    ///   - dates: the format of dates.
    ///   - write: receives the bytes, and is called at least once.
    /// - Returns: true, as all records are from one state of the schema.
    /// - Throws: as `count` does, and what `write` throws.
    @discardableResult
    public func write(
        _ request: FetchRequest,
        attributes: [String]? = nil,
        as format: RecordFormat,
        dates: DateStyle = .iso8601,
        to write: ([UInt8]) throws -> Void
    ) throws -> Bool {
        var writer = RecordWriter([], as: format, dates: dates)
        var output: [UInt8] = []
        try forEachRow(request, attributes) { attributes in
            writer = RecordWriter(attributes, as: format, dates: dates)
            output.removeAll()
            writer.begin(&output)
        } each: { values in
            writer.append(values, to: &output)
            guard output.count >= 1 << 20 else { return }
            try write(output)
            output.removeAll(keepingCapacity: true)
        }
        writer.end(&output)
        if !output.isEmpty { try write(output) }
        return true
    }
}
