/// An entity, with its table (after `NSEntityDescription`).
public struct EntityDescription: Sendable, Hashable {
    /// The name in the model and on the command line.
    public var name: String
    /// The table's name in the store.
    public var table: String
    /// The record path of this entity; nil if the import detects it or has it as an option.
    public var records: RecordPath?
    /// The names of the attributes of the identifier, by which records of the same object are recognized; empty for none.
    ///
    /// ``parentIdentifier`` among them is the object that a nested one belongs to. If it is empty, an entity with a parent entity has the
    /// parent's identifier.
    public var identifier: [String]
    /// The attributes in the order of the table's columns, without inherited ones.
    public var attributes: [AttributeDescription]
    /// The relationships in the order in which their values are read, without inherited ones.
    public var relationships: [RelationshipDescription]
    /// The name of the entity whose attributes, relationships and identifier it inherits; nil for none.
    public var parent: String?
    /// True if all of its objects are of its subentities.
    public var isAbstract: Bool
    /// Indexes that are built when an import ends, each with the names of attributes, including inherited ones, and of to-one
    /// relationships whose columns are in its table.
    public var indexes: [[String]]
    /// Groups of attributes that change together, including inherited ones.
    ///
    /// If one attribute of a group differs, a change set has the whole group, and a merge accepts the whole group from one side.
    public var together: [[String]]
    /// The value that names an object's subentity; nil if there is none.
    public var subentity: SubentityDescription?
    /// Its name in the previous model; nil if it has not changed.
    public var renamingIdentifier: String?
    /// Annotations, which are stored as they are.
    public var userInfo: JSONValue?

    /// The columns of the identifier, in its order.
    package var identifierColumns: [String] {
        identifier.compactMap { name in attributes.first { $0.name == name }?.column }
    }

    /// The object around a nested one, in an ``identifier``.
    public static let parentIdentifier = "@parent"

    // More than seven parameters, as it is a plain value: one for each property.
    /// Creates an entity; by default its table has its name.
    ///
    /// There is an argument for each property, and all but the name and the attributes have defaults.
    public init(
        name: String,
        table: String? = nil,
        records: RecordPath? = nil,
        identifier: [String] = [],
        attributes: [AttributeDescription],
        relationships: [RelationshipDescription] = [],
        parent: String? = nil,
        isAbstract: Bool = false,
        indexes: [[String]] = [],
        together: [[String]] = [],
        subentity: SubentityDescription? = nil,
        renamingIdentifier: String? = nil,
        userInfo: JSONValue? = nil
    ) {
        self.name = name
        self.table = table ?? name
        self.records = records
        self.identifier = identifier
        self.attributes = attributes
        self.relationships = relationships
        self.parent = parent
        self.isAbstract = isAbstract
        self.indexes = indexes
        self.together = together
        self.subentity = subentity
        self.renamingIdentifier = renamingIdentifier
        self.userInfo = userInfo
    }
}
