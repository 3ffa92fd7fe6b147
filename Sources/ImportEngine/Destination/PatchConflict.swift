/// A difference between the store and the old state that a change expects.
public struct PatchConflict: Sendable, Hashable, Codable {
    /// The kind of difference.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The store has neither the old nor the new value of the change.
        case changed
        /// The object to be updated does not exist.
        case missing
        /// The object to be inserted exists, with other values.
        case exists
        /// The store's table refuses the change: `UNIQUE`, `CHECK`, `NOT NULL`, a foreign key, or a trigger that raises.
        case constraint
    }

    /// A value of an attribute, or the destination of a reference.
    public enum Value: Sendable, Hashable {
        /// The stored value.
        case stored(StoredValue)
        /// An object, by its identifier.
        case object(ObjectReference)
    }

    /// The kind of difference.
    public var kind: Kind
    /// The entity's name.
    public var entity: String
    /// The object's identifier.
    public var identifier: ObjectReference
    /// The attribute or relationship; nil if the conflict is about the whole object.
    public var attribute: String?
    /// The old value of the change, if the conflict is about an attribute.
    public var old: Value?
    /// The new value of the change.
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
