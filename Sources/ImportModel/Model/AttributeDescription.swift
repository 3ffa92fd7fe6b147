/// An attribute of an entity, with its column (after `NSAttributeDescription`).
public struct AttributeDescription: Sendable, Hashable {
    /// The name, unique in its entity.
    public var name: String
    /// The column's name in the table.
    public var column: String
    /// The type to which its values are coerced.
    public var type: AttributeType
    /// True if the attribute may be null or missing in a record.
    public var isOptional: Bool
    /// The value of an inserted object whose record does not have the key.
    public var defaultValue: JSONValue?
    /// The key paths of the value; the first one that the record has is used.
    ///
    /// Empty if the JSON does not have the value.
    public var from: [AttributePath]
    /// True if an inserted object without a value gets a generated UUID.
    public var isGenerated: Bool
    /// Determines who may change the value of a stored object.
    public var owner: Owner
    /// The formats of a date, tried in order (none for `iso8601`), or the format of a binary (`base64`, `base64url`, none for either;
    /// `uuid`, `text`).
    public var formats: [String]
    /// The time zone of dates without a zone, as a name of the time zone database (`Europe/Berlin`); nil for UTC.
    public var timeZone: String?
    /// True if a date is stored as the writer's local time instead of the instant.
    public var isWallClock: Bool
    /// The digits of a second that a date has: 3, 6 or 9, all of which are written.
    ///
    /// More than 3 are for the storage forms `iso8601` and `sqlite`; other forms have as many as they have.
    public var fraction: Int
    /// The storage form of a date, a UUID or a decimal; nil for the standard form, which is `iso8601` or `text`, or that of a
    /// ``StoreClient``.
    public var storage: StorageForm?
    /// The flags of a bitfield.
    public var bits: [Bit]
    /// The names of the value transformers that are applied to a string before coercion, in order.
    public var transformers: [String]
    /// The rules for values beyond their type.
    public var validation: Validation
    /// Its name in the previous model; nil if it has not changed.
    public var renamingIdentifier: String?
    /// Annotations, which are stored as they are.
    public var userInfo: JSONValue?

    /// Who may change an attribute of a stored object.
    public enum Owner: String, Sendable, Hashable, Codable, CaseIterable {
        /// Every record that has the attribute.
        case source
        /// Only users of the store: an import sets the attribute on insert and never again.
        case local
    }

    // More than seven parameters, as it is a plain value: one for each property.
    /// Creates an attribute; by default its column has its name, and its value is under its name.
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
        fraction: Int = 3,
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
        self.fraction = fraction
        self.storage = storage
        self.bits = bits
        self.transformers = transformers
        self.validation = validation
        self.renamingIdentifier = renamingIdentifier
        self.userInfo = userInfo
    }
}
