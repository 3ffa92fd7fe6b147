/// What of a store is not as a change leads from.
public struct PatchConflict: Sendable, Hashable, Codable {
    /// What is in the way.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The store has another value than the change leads from or to.
        case changed
        /// The object that is to be updated is not there.
        case missing
        /// The object that is to be inserted is there, with other values.
        case exists
        /// The store's table refuses it: `UNIQUE`, `CHECK`, `NOT NULL`, a foreign key, or a trigger that raises.
        case constraint
    }

    /// A value of an attribute, or what a reference leads to.
    public enum Value: Sendable, Hashable {
        /// What is stored.
        case stored(StoredValue)
        /// An object, by its identifier.
        case object(ObjectReference)
    }

    /// What is in the way.
    public var kind: Kind
    /// The entity's name.
    public var entity: String
    /// The object's identifier.
    public var identifier: ObjectReference
    /// The attribute or relationship; nil where it is about the object.
    public var attribute: String?
    /// The value that the change leads from, where it is about an attribute.
    public var old: Value?
    /// The value that the change leads to.
    public var new: Value?
    /// The value that the store has.
    public var stored: Value?

    package init(
        kind: Kind,
        entity: String,
        identifier: ObjectReference,
        attribute: String? = nil,
        old: Value? = nil,
        new: Value? = nil,
        stored: Value? = nil
    ) {
        self.kind = kind
        self.entity = entity
        self.identifier = identifier
        self.attribute = attribute
        self.old = old
        self.new = new
        self.stored = stored
    }

    /// So many are listed at most.
    package static let mostListed = 1_000
}

extension PatchConflict {
    private enum Keys: String, CodingKey { case kind, entity, identifier, attribute, old, new, stored }

    /// Reads what `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        kind = try values.decode(Kind.self, forKey: .kind)
        entity = try values.decode(String.self, forKey: .entity)
        identifier = try values.decode(ObjectReference.self, forKey: .identifier)
        attribute = try values.decodeIfPresent(String.self, forKey: .attribute)
        func value(_ key: Keys) throws -> Value? {
            guard values.contains(key) else { return nil }
            if let stored = try? values.decode(StoredValue.self, forKey: key) { return .stored(stored) }
            return .object(try values.decode(ObjectReference.self, forKey: key))
        }
        (old, new, stored) = (try value(.old), try value(.new), try value(.stored))
    }

    /// Writes `{"kind": "changed", "entity": "person", "identifier": {"guid": "7"}, "attribute": "city", "old": …}`.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Keys.self)
        try values.encode(kind, forKey: .kind)
        try values.encode(entity, forKey: .entity)
        try values.encode(identifier, forKey: .identifier)
        try values.encode(attribute, forKey: .attribute)
        for (key, value) in [(Keys.old, old), (.new, new), (.stored, stored)] {
            switch value {
            case nil: continue
            case .stored(let value): try values.encode(value, forKey: key)
            case .object(let object): try values.encode(object, forKey: key)
            }
        }
    }
}
