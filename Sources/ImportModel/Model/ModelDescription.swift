/// A set of entities: what a model file holds (after `NSManagedObjectModel`).
public struct ModelDescription: Sendable, Hashable {
    /// In the file's order.
    public var entities: [EntityDescription]

    public init(entities: [EntityDescription]) {
        self.entities = entities
    }
}

/// One kind of object, with its table (after `NSEntityDescription`).
public struct EntityDescription: Sendable, Hashable {
    public var name: String
    /// The table's name in the store.
    public var table: String
    /// Where this entity's records stand; nil where the import finds or is told it.
    public var records: RecordPath?
    /// The names of the attributes by which two records are the same object; empty for none.
    public var identifier: [String]
    /// In the order of the table's columns.
    public var attributes: [AttributeDescription]
    /// Free annotations, kept and given back as they are.
    public var userInfo: JSONValue?

    public init(
        name: String,
        table: String? = nil,
        records: RecordPath? = nil,
        identifier: [String] = [],
        attributes: [AttributeDescription],
        userInfo: JSONValue? = nil
    ) {
        self.name = name
        self.table = table ?? name
        self.records = records
        self.identifier = identifier
        self.attributes = attributes
        self.userInfo = userInfo
    }
}

/// One property of an entity, with its column (after `NSAttributeDescription`).
public struct AttributeDescription: Sendable, Hashable {
    public var name: String
    /// The column's name in the table.
    public var column: String
    public var type: AttributeType
    /// Whether a record may have null here, or lack it.
    public var isOptional: Bool
    /// What an inserted object gets when its record has no such key.
    public var defaultValue: JSONValue?
    /// Where the value is looked for, the first that is there wins.
    public var from: [AttributePath]

    public init(
        name: String,
        column: String? = nil,
        type: AttributeType,
        isOptional: Bool = false,
        defaultValue: JSONValue? = nil,
        from: [AttributePath]? = nil
    ) {
        self.name = name
        self.column = column ?? name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
        self.from = from ?? [AttributePath(keys: [name])]
    }
}

/// The type of an attribute (DESIGN §7).
public enum AttributeType: String, Sendable, Hashable, Codable, CaseIterable {
    case string
    case integer16
    case integer32
    case integer64
    case double
    case decimal
    case boolean
    case date
    case uuid
    case json
}
