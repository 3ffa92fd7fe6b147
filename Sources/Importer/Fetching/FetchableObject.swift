import ImportEngine
import ImportModel
import ImportSources

/// A type whose values are the records of an entity: anything `Decodable` that has the attributes' names as its keys.
///
/// ```swift
/// struct Person: FetchableObject {
///     static let entityName = "people"
///     let name: String
///     let age: Int?
///     let created: Date
/// }
/// let reader = try StoreReader(store: "people.sqlite")
/// let adults = try await Person.fetchAll(in: reader, where: RecordPredicate("age >= 18"), sortedBy: [RecordSort("name")])
/// ```
///
/// Dates decode as `Date`, decimals as `Decimal` (or `String`, with all their digits), binaries as `Data`, UUIDs as `UUID`, URIs as
/// `URL`, JSON as the type of its value, bitfields as an integer or an object of flags. Keys without an attribute are missing.
///
/// A relationship that is included is a key, too: a to-one decodes as an object or an optional, a to-many as an array.
///
/// ```swift
/// struct Order: FetchableObject {
///     struct Line: Decodable {
///         let sku: String
///         let count: Int?
///     }
///     static let entityName = "order"
///     static let includedRelationships = ["lines"]
///     let id: Int
///     let lines: [Line]
/// }
/// ```
public protocol FetchableObject: Decodable {
    /// The entity's name; by default the name of the type.
    static var entityName: String { get }
    /// The relationships whose objects are fetched too, as key paths (`lines.product`); by default none.
    ///
    /// In nested objects, decimals are numbers and bitfields are objects of flags.
    static var includedRelationships: [String] { get }
}

extension FetchableObject {
    /// The name of the type.
    public static var entityName: String { String(describing: Self.self) }

    /// None.
    public static var includedRelationships: [String] { [] }

    /// All objects that match the predicate.
    ///
    /// - Throws: `ImportError` when there is no such entity or attribute, or the store cannot be read; `RecordPredicateError` when the
    ///   predicate does not fit the entity; `DecodingError` when a record is no such object.
    public static func fetchAll(
        in reader: StoreReader,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = [],
        offset: Int = 0,
        limit: Int? = nil
    ) throws -> [Self] {
        try reader.fetch(Self.self, where: predicate, sortedBy: sort, offset: offset, limit: limit)
    }

    /// The first object that matches the predicate; nil if there is none.
    ///
    /// - Throws: as `fetchAll` does.
    public static func fetchFirst(
        in reader: StoreReader,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = []
    ) throws -> Self? {
        try reader.first(Self.self, where: predicate, sortedBy: sort)
    }

    /// The number of objects that match the predicate.
    ///
    /// - Throws: as `fetchAll` does.
    public static func fetchCount(in reader: StoreReader, where predicate: RecordPredicate? = nil) throws -> Int {
        try reader.count(entityName, where: predicate)
    }

    /// The object with this identifier; nil if there is none.
    ///
    /// - Parameters:
    ///   - reader: reads the store.
    ///   - identifier: a value for each of the entity's identifying attributes, in their order.
    /// - Throws: as `fetchAll` does; `ImportError` with `.usage` when the entity has no identifier, or one of other length.
    public static func fetchOne(in reader: StoreReader, identifier: JSONValue...) throws -> Self? {
        try reader.one(Self.self, identifier: identifier)
    }
}

extension StoreReader {
    /// The objects that match the predicate, in memory.
    ///
    /// - Throws: as `FetchableObject.fetchAll(in:where:sortedBy:offset:limit:)` does.
    public func fetch<Object: FetchableObject>(
        _ type: Object.Type,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = [],
        offset: Int = 0,
        limit: Int? = nil
    ) throws -> [Object] {
        try fetch(type, where: predicate, sortedBy: sort, offset: offset, limit: limit, nil)
    }

    func fetch<Object: FetchableObject>(
        _ type: Object.Type,
        where predicate: RecordPredicate?,
        sortedBy sort: [RecordSort],
        offset: Int,
        limit: Int?,
        _ interruption: Interruption?
    ) throws -> [Object] {
        let request = FetchRequest(
            entity: type.entityName,
            where: predicate,
            sortedBy: sort,
            offset: offset,
            limit: limit,
            including: type.includedRelationships
        )
        guard let contents = try contents(of: request) else { return [] }
        let attributes = contents.description.attributes
        var objects: [Object] = []
        _ = try forEachRecord(request, contents) {
            try interruption?.check()
            objects.append(try Object(from: ObjectDecoder($0, attributes: attributes)))
        }
        return objects
    }

    /// The first object that matches the predicate; nil if there is none.
    ///
    /// - Throws: as `fetch` does.
    public func first<Object: FetchableObject>(
        _ type: Object.Type,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = []
    ) throws -> Object? {
        try fetch(type, where: predicate, sortedBy: sort, limit: 1).first
    }

    /// The object with this identifier; nil if there is none.
    ///
    /// - Parameters:
    ///   - type: the type of the object.
    ///   - identifier: a value for each of the entity's identifying attributes, in their order.
    /// - Throws: as `fetch` does; `ImportError` with `.usage` when the entity has no identifier, or one of other length.
    public func one<Object: FetchableObject>(_ type: Object.Type, identifier: [JSONValue]) throws -> Object? {
        guard let entity = try awaitedEntity(named: type.entityName)?.description else { return nil }
        return try first(type, where: try predicate(identifier: identifier, of: entity))
    }

    // MARK: Without a type

    /// The records that match the predicate, as values by attribute name, in memory.
    ///
    /// The values are JSON values: dates in ISO 8601, decimals with all their digits, binaries in base64. If `String` considers the
    /// names of two attributes equal (`é` as one scalar and as two), the value is that of the first; `records(_:attributes:)` has both.
    ///
    /// - Parameters:
    ///   - entity: the name of the entity.
    ///   - includes: the relationships whose objects are nested in each record, as key paths (`lines.product`): a to-many as an
    ///     array, a to-one as an object or null.
    ///   - predicate: the condition that records must match.
    ///   - sort: the sort order.
    ///   - offset: the number of records to skip.
    ///   - limit: the maximum number of records.
    /// - Throws: `ImportError` when there is no such entity, attribute or relationship, or the store cannot be read;
    ///   `RecordPredicateError` when the predicate does not fit the entity.
    public func fetch(
        _ entity: String,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = [],
        offset: Int = 0,
        limit: Int? = nil,
        including includes: [String] = []
    ) throws -> [[String: JSONValue]] {
        let request = FetchRequest(
            entity: entity,
            where: predicate,
            sortedBy: sort,
            offset: offset,
            limit: limit,
            including: includes
        )
        return try fetch(request, nil)
    }

    func fetch(_ request: FetchRequest, _ interruption: Interruption?) throws -> [[String: JSONValue]] {
        guard let contents = try contents(of: request) else { return [] }
        let attributes = contents.description.attributes
        var objects: [[String: JSONValue]] = []
        _ = try forEachRecord(request, contents) { record in
            try interruption?.check()
            var object: [String: JSONValue] = [:]
            for (attribute, value) in zip(attributes, record.values) where object[attribute.name] == nil {
                object[attribute.name] = attribute.json(of: value)
            }
            objects.append(object)
        }
        return objects
    }

    /// The first record that matches the predicate; nil if there is none.
    ///
    /// - Throws: as `fetch` does.
    public func first(
        _ entity: String,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = [],
        including includes: [String] = []
    ) throws -> [String: JSONValue]? {
        try fetch(entity, where: predicate, sortedBy: sort, limit: 1, including: includes).first
    }

    /// The record with this identifier; nil if there is none.
    ///
    /// - Parameters:
    ///   - entity: the name of the entity.
    ///   - identifier: a value for each of the entity's identifying attributes, in their order.
    ///   - includes: the relationships whose objects are nested in it, as in `fetch`.
    /// - Throws: as `fetch` does; `ImportError` with `.usage` when the entity has no identifier, or one of other length.
    public func one(
        _ entity: String,
        identifier: [JSONValue],
        including includes: [String] = []
    ) throws -> [String: JSONValue]? {
        guard let description = try awaitedEntity(named: entity)?.description else { return nil }
        let predicate = try predicate(identifier: identifier, of: description)
        return try first(entity, where: predicate, including: includes)
    }

    /// The number of records that match the predicate.
    ///
    /// - Throws: as `fetch` does.
    public func count(_ entity: String, where predicate: RecordPredicate? = nil) throws -> Int {
        try count(FetchRequest(entity: entity, where: predicate))
    }

    private func predicate(identifier values: [JSONValue], of entity: EntityDescription) throws -> RecordPredicate {
        guard !entity.identifier.isEmpty, entity.identifier.count == values.count else {
            throw ImportError(
                .identifierMismatch,
                entity.identifier.isEmpty
                    ? "\(entity.name) has no identifier"
                    : "the identifier of \(entity.name) is \(entity.identifier.joined(separator: ", "))",
                advice: entity.identifier.isEmpty ? "Fetch it by a predicate." : "Give a value for each."
            )
        }
        let terms = entity.identifier.map { "\(RecordPredicate.quoted($0)) = ?" }
        return try RecordPredicate(parsing: terms.joined(separator: " and "), arguments: values)
    }
}
