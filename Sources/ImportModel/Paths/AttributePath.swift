/// Where an attribute's value is in its record: `name.full`, `['a.b'].c`, or `$key`, and `$key[1]` for the
/// key one further out, where several lead to the record.
///
/// In a nested object it is within that object, and may also be `@value` (the element itself, in a list of scalars),
/// `@index` (its index in its list), `@key` (its key, where an object is the collection), or `@parent.name` (an attribute of
/// the object around it).
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

    /// The path of these keys; none for the record itself.
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

    /// The key under which a record of a keyed collection is (`$key`), or an element of an object that is a collection
    /// (`@key`).
    public static let recordKey = recordKey(outwards: 0)

    /// The key at a level, counted outwards from ``recordKey`` (0): `$key[1]` is a file's in `$.files.*.functions.*`.
    public static func recordKey(outwards level: Int) -> AttributePath { AttributePath(.key(level)) }

    /// The record itself (`$`).
    public static let record = AttributePath(keys: [])

    /// An element that is no object, or any other (`@value`).
    ///
    /// An entity with an attribute of this path takes scalars for objects of its own; otherwise they are identifiers.
    public static let element = AttributePath(.element)

    /// The index of an element in its list, from 0 (`@index`).
    public static let index = AttributePath(.index)

    /// Whether this is ``recordKey``.
    public var isRecordKey: Bool { keyLevel == 0 }

    /// How many keys further out than ``recordKey`` this one is; nil for all that is no key.
    public var keyLevel: Int? {
        if case .key(let level) = origin { return level }
        return nil
    }

    /// Whether this is ``element``.
    public var isElement: Bool { origin == .element }

    /// Whether this is ``index``.
    public var isIndex: Bool { origin == .index }

    /// The attribute of the object around, where this is a ``parent(attribute:)``; nil for all others.
    public var parentAttribute: String? {
        if case .parent(let attribute) = origin { return attribute }
        return nil
    }

    /// Whether the keys lead to the value: none of them for the record itself.
    public var isWithinRecord: Bool { origin == .value }
}
