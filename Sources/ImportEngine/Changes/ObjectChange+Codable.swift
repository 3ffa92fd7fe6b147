/// A key that data names, as an attribute or a relationship.
package struct DataNameKey: CodingKey, ExpressibleByStringLiteral {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(_ name: String) { stringValue = name }
    package init(stringLiteral name: String) { self.init(name) }
    package init?(stringValue: String) { self.init(stringValue) }
    package init?(intValue: Int) { nil }
}

extension ObjectReference: Codable {
    /// Reads an object with a member for each value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: DataNameKey.self)
        // Decoders have the keys in no order; the identifier's own is known to those who know the entity.
        values = try container.allKeys.sorted { $0.stringValue < $1.stringValue }.map {
            NamedValue($0.stringValue, try container.decode(StoredValue.self, forKey: $0))
        }
    }

    /// Writes an object with a member for each value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataNameKey.self)
        for value in values { try container.encode(value.value, forKey: DataNameKey(value.name)) }
    }
}

extension AttributeChange: Codable {
    private enum Keys: String, CodingKey { case name, old, new }

    /// Reads the values that are present; a missing one is not a null.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        func value(_ key: Keys) throws -> StoredValue? {
            guard container.contains(key) else { return nil }
            return try container.decodeNil(forKey: key) ? .null : container.decode(StoredValue.self, forKey: key)
        }
        self.init(try container.decode(String.self, forKey: .name), old: try value(.old), new: try value(.new))
    }

    /// Writes the values that are present, and the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(old, forKey: .old)
        try container.encodeIfPresent(new, forKey: .new)
    }
}

extension ReferenceChange: Codable {
    private enum Keys: String, CodingKey { case name, old, new, added, removed }

    /// Reads either form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        name = try container.decode(String.self, forKey: .name)
        func target(_ key: Keys) throws -> Target? {
            guard container.contains(key) else { return nil }
            return try container.decodeNil(forKey: key)
                ? .null : .object(container.decode(ObjectReference.self, forKey: key))
        }
        if container.contains(.added) || container.contains(.removed) {
            content = .toMany(
                added: try container.decodeIfPresent([ObjectReference].self, forKey: .added) ?? [],
                removed: try container.decodeIfPresent([ObjectReference].self, forKey: .removed) ?? []
            )
        } else {
            content = .toOne(old: try target(.old), new: try target(.new))
        }
    }

    /// Writes the form of a change set, and the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(name, forKey: .name)
        switch content {
        case .toOne(let old, let new):
            for (key, target) in [(Keys.old, old), (Keys.new, new)] {
                switch target {
                case nil: break
                case .null: try container.encodeNil(forKey: key)
                case .object(let object): try container.encode(object, forKey: key)
                }
            }
        case .toMany(let added, let removed):
            try container.encode(added, forKey: .added)
            try container.encode(removed, forKey: .removed)
        }
    }
}

extension OwnedChange: Codable {
    private enum Keys: String, CodingKey { case name, objects, old, new }

    /// Reads either form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        name = try container.decode(String.self, forKey: .name)
        if let objects = try container.decodeIfPresent([ObjectChange].self, forKey: .objects) {
            content = .objects(objects)
        } else {
            content = .values(
                old: try container.decodeIfPresent([OwnedValue].self, forKey: .old),
                new: try container.decodeIfPresent([OwnedValue].self, forKey: .new)
            )
        }
    }

    /// Writes the objects, or the values in both states.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(name, forKey: .name)
        switch content {
        case .objects(let objects): try container.encode(objects, forKey: .objects)
        case .values(let old, let new):
            try container.encodeIfPresent(old, forKey: .old)
            try container.encodeIfPresent(new, forKey: .new)
        }
    }
}

extension ObjectChange: Codable {
    private enum Keys: String, CodingKey {
        case kind = "change"
        case entity = "entityName"
        case identifier, attributes, references, relationships, moved, order
        case isContinued = "continued"
    }

    /// Reads one change without the entities of a change set: values are in the form that has their storage class.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        self.init(
            try container.decode(Kind.self, forKey: .kind),
            entity: try container.decode(String.self, forKey: .entity),
            identifier: try container.decode(ObjectReference.self, forKey: .identifier),
            attributes: try container.decodeIfPresent([AttributeChange].self, forKey: .attributes) ?? [],
            references: try container.decodeIfPresent([ReferenceChange].self, forKey: .references) ?? [],
            relationships: try container.decodeIfPresent([OwnedChange].self, forKey: .relationships) ?? [],
            isContinued: try container.decodeIfPresent(Bool.self, forKey: .isContinued) ?? false
        )
        moved = try container.decodeIfPresent([MovedObjects].self, forKey: .moved) ?? []
        order = try container.decodeIfPresent([OrderChange].self, forKey: .order) ?? []
    }

    /// Writes one change; what is empty is left out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(kind, forKey: .kind)
        try container.encode(entity, forKey: .entity)
        try container.encode(identifier, forKey: .identifier)
        if !attributes.isEmpty { try container.encode(attributes, forKey: .attributes) }
        if !references.isEmpty { try container.encode(references, forKey: .references) }
        if !relationships.isEmpty { try container.encode(relationships, forKey: .relationships) }
        if !moved.isEmpty { try container.encode(moved, forKey: .moved) }
        if !order.isEmpty { try container.encode(order, forKey: .order) }
        if isContinued { try container.encode(true, forKey: .isContinued) }
    }
}
