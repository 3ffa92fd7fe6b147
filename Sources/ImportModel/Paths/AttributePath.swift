/// The path of an attribute's value in its record: `name.full`, `['a.b'].c` or `$key`, or `$key[1]` for the key one level further out
/// if several lead to the record.
///
/// In a nested object the path is relative to that object, and may also be `@value` (the element itself, in a list of scalars),
/// `@index` (its index in its list), `@key` (its key, if an object is the collection) or `@parent.name` (an attribute of the object
/// around it).
public struct AttributePath: Sendable, Hashable {
    /// What a path is, beyond its keys.
    enum Origin: Hashable, Sendable {
        case value
        case element
        case key(Int)
        case index
        case parent(attribute: String)
    }

    /// The keys from the record's object inwards; empty means the record itself (a scalar record's `value`).
    public let keys: [String]
    let origin: Origin

    /// Creates a path of keys; none for the record itself.
    public init(keys: [String]) {
        self.keys = keys
        origin = .value
    }

    init(_ origin: Origin) {
        keys = []
        self.origin = origin
    }

    /// An attribute of the object around a nested one (`@parent.name`).
    public static func parent(attribute: String) -> AttributePath { AttributePath(.parent(attribute: attribute)) }

    /// The key of a record in a keyed collection (`$key`), or of an element of an object that is a collection (`@key`).
    public static let recordKey = recordKey(outwards: 0)

    /// The key at a level, counted outwards from ``recordKey`` (0): in `$.files.*.functions.*`, `$key[1]` is the key of the file.
    public static func recordKey(outwards level: Int) -> AttributePath { AttributePath(.key(level)) }

    /// The record itself (`$`).
    public static let record = AttributePath(keys: [])

    /// The element itself, an object or not (`@value`).
    ///
    /// For an entity with an attribute of this path, scalars are objects; otherwise they are identifiers.
    public static let element = AttributePath(.element)

    /// The index of an element in its list, from 0 (`@index`).
    public static let index = AttributePath(.index)

    /// True if this is ``recordKey``.
    public var isRecordKey: Bool { keyLevel == 0 }

    /// The number of levels outwards from ``recordKey``; nil if the path is not a key.
    public var keyLevel: Int? {
        if case .key(let level) = origin { return level }
        return nil
    }

    /// True if this is ``element``.
    public var isElement: Bool { origin == .element }

    /// True if this is ``index``.
    public var isIndex: Bool { origin == .index }

    /// The attribute of the object around, if this is a ``parent(attribute:)``; nil otherwise.
    public var parentAttribute: String? {
        if case .parent(let attribute) = origin { return attribute }
        return nil
    }

    /// True if the path consists of keys, or of none for the record itself.
    public var isWithinRecord: Bool { origin == .value }
}
