/// One kind of object, with its table (after `NSEntityDescription`).
public struct EntityDescription: Sendable, Hashable {
    /// The name by which the model and the command line know it.
    public var name: String
    /// The table's name in the store.
    public var table: String
    /// Where this entity's records are; nil where the import finds it or has it as an option.
    public var records: RecordPath?
    /// The names of the attributes by which two records are the same object; empty for none.
    public var identifier: [String]
    /// In the order of the table's columns.
    public var attributes: [AttributeDescription]
    /// Free annotations, kept and given back as they are.
    public var userInfo: JSONValue?

    /// An entity; its table has its name unless said otherwise.
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
