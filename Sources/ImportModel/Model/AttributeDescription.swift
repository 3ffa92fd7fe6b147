/// One property of an entity, with its column (after `NSAttributeDescription`).
public struct AttributeDescription: Sendable, Hashable {
    /// The name, unique in its entity.
    public var name: String
    /// The column's name in the table.
    public var column: String
    /// What its values are coerced to.
    public var type: AttributeType
    /// Whether a record may have null here, or lack it.
    public var isOptional: Bool
    /// What an inserted object gets when its record has no such key.
    public var defaultValue: JSONValue?
    /// The key paths of the value; the first one that the record has is used.
    ///
    /// Empty where nothing in the JSON states it.
    public var from: [AttributePath]
    /// Whether an inserted object that has no value here gets a UUID of its own.
    public var isGenerated: Bool
    /// Whose value counts once the object exists.
    public var owner: Owner
    /// The formats that are tried in order: of a date (none for `iso8601`), or the one of a binary (`base64`, `base64url`,
    /// none for either; `uuid`, `text`).
    public var formats: [String]
    /// How a date without a zone is read: a name of the time zone database (`Europe/Berlin`); nil for UTC.
    public var timeZone: String?
    /// Whether a date keeps the writer's local time instead of the instant.
    public var isWallClock: Bool
    /// How a date, a UUID or a decimal is stored; nil for the standard form, which is `iso8601` or `text`, or that of a
    /// ``StoreClient``.
    public var storage: StorageForm?
    /// The flags of a bitfield.
    public var bits: [Bit]
    /// The names of the value transformers that a string goes through before it is coerced, in order.
    public var transformers: [String]
    /// What a value must be beyond its type.
    public var validation: Validation
    /// Its name in the model before this one; nil where it is the same.
    public var renamingIdentifier: String?
    /// Free annotations, kept and given back as they are.
    public var userInfo: JSONValue?

    /// Who may change an attribute of a stored object.
    public enum Owner: String, Sendable, Hashable, Codable, CaseIterable {
        /// Every record that mentions it.
        case source
        /// Only those who use the store: an import sets it on insert and never again.
        case local
    }

    // More than seven parameters, as it is a plain value: one for each property.
    /// An attribute; its column has its name, and its value is under its name, unless said otherwise.
    ///
    /// There is an argument for each property, and all but the name and the type have defaults.
    public init(
        name: String,
        column: String? = nil,
        type: AttributeType,
        isOptional: Bool = false,
        defaultValue: JSONValue? = nil,
        from: [AttributePath]? = nil,
        isGenerated: Bool = false,
        owner: Owner = .source,
        formats: [String] = [],
        timeZone: String? = nil,
        isWallClock: Bool = false,
        storage: StorageForm? = nil,
        bits: [Bit] = [],
        transformers: [String] = [],
        validation: Validation = Validation(),
        renamingIdentifier: String? = nil,
        userInfo: JSONValue? = nil
    ) {
        self.name = name
        self.column = column ?? name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
        self.from = from ?? [AttributePath(keys: [name])]
        self.isGenerated = isGenerated
        self.owner = owner
        self.formats = formats
        self.timeZone = timeZone
        self.isWallClock = isWallClock
        self.storage = storage
        self.bits = bits
        self.transformers = transformers
        self.validation = validation
        self.renamingIdentifier = renamingIdentifier
        self.userInfo = userInfo
    }
}
