import ImportSources

/// The change of one object between two states of a store: a line of a change set, or a part of one.
///
/// An inserted object has only new values, a deleted one only old values. In an updated object, attributes and relationships that are
/// not listed are the same in both states.
public struct ObjectChange: Sendable, Hashable {
    /// The kinds of changes.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        case inserted, updated, deleted
    }

    /// The kind of change.
    public var kind: Kind
    /// The name of its entity.
    public var entity: String
    /// Its identifier.
    public var identifier: ObjectReference
    /// Its attributes in the model's order: all of an inserted or deleted object, of an updated one those that changed.
    public var attributes: [AttributeChange]
    /// The changed references.
    public var references: [ReferenceChange]
    /// The changes of objects that it owns.
    public var relationships: [OwnedChange]
    /// Objects that it owned before it was deleted and that now have another owner: they must not be deleted with it.
    public var moved: [MovedObjects]
    /// Its lists whose order has changed.
    public var order: [OrderChange]
    /// True if the change continues the previous one, of the same object.
    ///
    /// The change of a very large object is divided into several changes, so that none of them is too large.
    public var isContinued: Bool

    /// Creates the change of an object.
    public init(
        _ kind: Kind,
        entity: String,
        identifier: ObjectReference,
        attributes: [AttributeChange] = [],
        references: [ReferenceChange] = [],
        relationships: [OwnedChange] = [],
        isContinued: Bool = false
    ) {
        self.kind = kind
        self.entity = entity
        self.identifier = identifier
        self.attributes = attributes
        self.references = references
        self.relationships = relationships
        self.isContinued = isContinued
        moved = []
        order = []
    }

    /// True if the object itself is changed, and not only objects that it owns.
    public var changesObject: Bool {
        kind != .updated || !attributes.isEmpty || !references.isEmpty || !order.isEmpty
            || relationships.contains { if case .values = $0.content { true } else { false } }
    }
}

extension ObjectChange {
    /// True if nothing comes of it.
    package var saysNothing: Bool {
        kind == .updated && attributes.isEmpty && references.isEmpty && relationships.isEmpty && moved.isEmpty
            && order.isEmpty
    }
}

/// A value with the name of its attribute.
public struct NamedValue: Sendable, Hashable, Codable {
    /// The attribute's name.
    public var name: String
    /// Its value.
    public var value: StoredValue

    /// Creates the value of an attribute.
    public init(_ name: String, _ value: StoredValue) {
        self.name = name
        self.value = value
    }

    /// True if name and value are the same, byte by byte.
    public static func == (one: NamedValue, other: NamedValue) -> Bool {
        BytewiseString(one.name) == BytewiseString(other.name) && one.value == other.value
    }
}

/// A reference to an object by the values of its identifier.
public struct ObjectReference: Sendable, Hashable {
    /// The attributes of its identifier, in the identifier's order.
    public var values: [NamedValue]

    /// Creates a reference to the object with the given values.
    public init(_ values: [NamedValue]) {
        self.values = values
    }
}

/// An attribute of an object in both states.
public struct AttributeChange: Sendable, Hashable {
    /// The attribute's name.
    public var name: String
    /// Its old value; nil if the attribute or the object is not in the old state.
    ///
    /// A null is ``StoredValue/null``.
    public var old: StoredValue?
    /// Its new value; nil if the attribute or the object is not in the new state.
    public var new: StoredValue?

    /// Creates the change of an attribute.
    public init(_ name: String, old: StoredValue? = nil, new: StoredValue? = nil) {
        self.name = name
        self.old = old
        self.new = new
    }
}

/// The destinations of a relationship in both states, where the object does not own them.
public struct ReferenceChange: Sendable, Hashable {
    /// The destination of a to-one.
    public enum Target: Sendable, Hashable {
        /// No object.
        case null
        /// An object, which may not exist.
        case object(ObjectReference)
    }

    /// The kind of change.
    public enum Content: Sendable, Hashable {
        /// The destination of a to-one; nil if the object is not in that state.
        case toOne(old: Target?, new: Target?)
        /// The links of a many-to-many that were added and removed.
        case toMany(added: [ObjectReference], removed: [ObjectReference])
    }

    /// The relationship's name.
    public var name: String
    /// The kind of change.
    public var content: Content

    /// Creates the change of a reference.
    public init(_ name: String, _ content: Content) {
        self.name = name
        self.content = content
    }
}

/// The changes of the objects that an object owns by one relationship.
public struct OwnedChange: Sendable, Hashable {
    /// The changes of the objects.
    public enum Content: Sendable, Hashable {
        /// Changed objects with an identifier.
        case objects([ObjectChange])
        /// All objects without identifier, which are a value of their owner: in their order, or sorted by their values if they have none;
        /// nil if the owner is not in that state.
        case values(old: [OwnedValue]?, new: [OwnedValue]?)
    }

    /// The relationship's name.
    public var name: String
    /// The changes of the objects.
    public var content: Content

    /// Creates the changes of the objects of a relationship.
    public init(_ name: String, _ content: Content) {
        self.name = name
        self.content = content
    }
}

/// An object without identifier, as a value of its owner.
public struct OwnedValue: Sendable, Hashable, Codable {
    /// A reference of the object.
    public struct Reference: Sendable, Hashable, Codable {
        /// The relationship's name.
        public var name: String
        /// The object that it leads to; nil for none.
        public var target: ObjectReference?

        /// Creates a reference to an object.
        public init(_ name: String, _ target: ObjectReference?) {
            self.name = name
            self.target = target
        }
    }

    /// Objects that the object owns.
    public struct Owned: Sendable, Hashable, Codable {
        /// The relationship's name.
        public var name: String
        /// The objects.
        public var values: [OwnedValue]

        /// Creates a relationship with its objects.
        public init(_ name: String, _ values: [OwnedValue]) {
            self.name = name
            self.values = values
        }
    }

    /// Its attributes, in the model's order.
    public var attributes: [NamedValue]
    /// Its references.
    public var references: [Reference]
    /// The objects that it owns.
    public var owned: [Owned]

    /// Creates an object with the given values.
    public init(_ attributes: [NamedValue], references: [Reference] = [], owned: [Owned] = []) {
        self.attributes = attributes
        self.references = references
        self.owned = owned
    }
}

/// Objects that a deleted object owned and that now have another owner.
public struct MovedObjects: Sendable, Hashable, Codable {
    /// The relationship's name.
    public var name: String
    /// The objects, by their identifiers.
    public var objects: [ObjectReference]

    /// Creates a relationship with its objects.
    public init(_ name: String, _ objects: [ObjectReference]) {
        self.name = name
        self.objects = objects
    }
}

/// A list with its order in both states.
public struct OrderChange: Sendable, Hashable, Codable {
    /// The relationship's name.
    public var name: String
    /// All of its objects in their old order; nil if the owner is not in the old state.
    public var old: [ObjectReference]?
    /// All of its objects in their new order; nil if the owner is not in the new state.
    public var new: [ObjectReference]?

    /// Creates the change of a list's order.
    public init(_ name: String, old: [ObjectReference]?, new: [ObjectReference]?) {
        self.name = name
        self.old = old
        self.new = new
    }
}
