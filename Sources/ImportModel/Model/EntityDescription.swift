/// One kind of object, with its table (after `NSEntityDescription`).
public struct EntityDescription: Sendable, Hashable {
    /// The name by which the model and the command line know it.
    public var name: String
    /// The table's name in the store.
    public var table: String
    /// Where this entity's records are; nil where the import finds it or has it as an option.
    public var records: RecordPath?
    /// The names of the attributes by which two records are the same object; empty for none.
    ///
    /// ``parentIdentifier`` among them means the object that a nested one belongs to. An entity with a parent entity has
    /// that one's identifier, if it is empty here.
    public var identifier: [String]
    /// In the order of the table's columns, without those that are inherited.
    public var attributes: [AttributeDescription]
    /// How its objects refer to others, in the order in which their values are read; without those that are inherited.
    public var relationships: [RelationshipDescription]
    /// The name of the entity whose attributes, relationships and identifier it inherits; nil for none.
    public var parent: String?
    /// Whether it has no objects of its own, but only those of its subentities.
    public var isAbstract: Bool
    /// Indexes that are built when an import ends: of each the names of attributes, inherited ones too, and of to-one
    /// relationships whose columns are in its table.
    public var indexes: [[String]]
    /// Groups of attributes that change together, inherited ones too.
    ///
    /// Where one of a group differs, a change set has all of it, and a merge accepts all of it from one side.
    public var together: [[String]]
    /// How an object says which subentity it is; nil where it does not.
    public var subentity: SubentityDescription?
    /// Its name in the model before this one; nil where it is the same.
    public var renamingIdentifier: String?
    /// Free annotations, kept and given back as they are.
    public var userInfo: JSONValue?

    /// The object around a nested one, in an ``identifier``.
    public static let parentIdentifier = "@parent"

    // More than seven parameters, as it is a plain value: one for each property.
    /// An entity; its table has its name unless said otherwise.
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
