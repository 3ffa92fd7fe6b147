import ImportSources

/// What has become of one object between two states of a store: one line of a change set, or a part of one.
///
/// An inserted object has new values only, a deleted one old values only. Of an updated one, what is not mentioned is the same in
/// both states.
public struct ObjectChange: Sendable, Hashable {
    /// What has become of an object.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        case inserted, updated, deleted
    }

    /// What has become of it.
    public var kind: Kind
    /// The name of its entity.
    public var entity: String
    /// Its identifier.
    public var identifier: ObjectReference
    /// Its attributes in the model's order: all of an inserted or deleted object, of an updated one those that changed.
    public var attributes: [AttributeChange]
    /// What it refers to.
    public var references: [ReferenceChange]
    /// What has become of what it owns.
    public var relationships: [OwnedChange]
    /// Objects that it owned before it was deleted and that have another owner now: they must not be deleted with it.
    public var moved: [MovedObjects]
    /// The lists of it whose order is another one.
    public var order: [OrderChange]
    /// Whether it says more of the object that the change before it is of.
    ///
    /// What has become of a very large object is told in several changes, so that none of them is too large.
    public var isContinued: Bool

    /// A change of an object, of which nothing is said beyond what is given.
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

    /// Whether anything is said of the object itself, and not only of what it owns.
    public var changesObject: Bool {
        kind != .updated || !attributes.isEmpty || !references.isEmpty || !order.isEmpty
            || relationships.contains { if case .values = $0.content { true } else { false } }
    }
}

extension ObjectChange {
    /// Whether nothing comes of it.
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

    /// A value of an attribute.
    public init(_ name: String, _ value: StoredValue) {
        self.name = name
        self.value = value
    }

    /// Whether name and value are the same, byte by byte.
    public static func == (one: NamedValue, other: NamedValue) -> Bool {
        BytewiseString(one.name) == BytewiseString(other.name) && one.value == other.value
    }
}

/// An object as others refer to it: by the values of its identifier.
public struct ObjectReference: Sendable, Hashable {
    /// The attributes of its identifier, in the identifier's order.
    public var values: [NamedValue]

    /// The object with these values.
    public init(_ values: [NamedValue]) {
        self.values = values
    }
}

/// An attribute of an object in both states.
public struct AttributeChange: Sendable, Hashable {
    /// The attribute's name.
    public var name: String
    /// Its value before; nil where this state lacks the attribute, or the object.
    ///
    /// A null is ``StoredValue/null``.
    public var old: StoredValue?
    /// Its value after.
    public var new: StoredValue?

    /// An attribute with its values.
    public init(_ name: String, old: StoredValue? = nil, new: StoredValue? = nil) {
        self.name = name
        self.old = old
        self.new = new
    }
}

/// What an object refers to in both states, by a relationship to objects that it does not own.
public struct ReferenceChange: Sendable, Hashable {
    /// What a to-one leads to.
    public enum Target: Sendable, Hashable {
        /// To nothing.
        case null
        /// To an object, whether it is there or not.
        case object(ObjectReference)
    }

    /// What has become of it.
    public enum Content: Sendable, Hashable {
        /// A to-one; nil where this state lacks the object.
        case toOne(old: Target?, new: Target?)
        /// A many-to-many.
        case toMany(added: [ObjectReference], removed: [ObjectReference])
    }

    /// The relationship's name.
    public var name: String
    /// What has become of it.
    public var content: Content

    /// A reference with its values.
    public init(_ name: String, _ content: Content) {
        self.name = name
        self.content = content
    }
}

/// What has become of the objects that an object owns by one relationship.
public struct OwnedChange: Sendable, Hashable {
    /// What has become of them.
    public enum Content: Sendable, Hashable {
        /// Objects with identifier: those that changed, by their identifiers.
        case objects([ObjectChange])
        /// Objects without identifier are a value of their owner: all of them, in their order, or by their values where they have
        /// none. nil where this state lacks the owner.
        case values(old: [OwnedValue]?, new: [OwnedValue]?)
    }

    /// The relationship's name.
    public var name: String
    /// What has become of them.
    public var content: Content

    /// What has become of the objects of a relationship.
    public init(_ name: String, _ content: Content) {
        self.name = name
        self.content = content
    }
}

/// An object without identifier, as a value of its owner.
public struct OwnedValue: Sendable, Hashable, Codable {
    /// A reference of it.
    public struct Reference: Sendable, Hashable, Codable {
        /// The relationship's name.
        public var name: String
        /// The object that it leads to; nil for none.
        public var target: ObjectReference?

        /// A reference to an object.
        public init(_ name: String, _ target: ObjectReference?) {
            self.name = name
            self.target = target
        }
    }

    /// What it owns itself.
    public struct Owned: Sendable, Hashable, Codable {
        /// The relationship's name.
        public var name: String
        /// The objects.
        public var values: [OwnedValue]

        /// Objects of a relationship.
        public init(_ name: String, _ values: [OwnedValue]) {
            self.name = name
            self.values = values
        }
    }

    /// Its attributes, in the model's order.
    public var attributes: [NamedValue]
    /// Its references.
    public var references: [Reference]
    /// What it owns.
    public var owned: [Owned]

    /// An object with these values.
    public init(_ attributes: [NamedValue], references: [Reference] = [], owned: [Owned] = []) {
        self.attributes = attributes
        self.references = references
        self.owned = owned
    }
}

/// Objects that a deleted object owned and that have another owner now.
public struct MovedObjects: Sendable, Hashable, Codable {
    /// The relationship's name.
    public var name: String
    /// The objects, by their identifiers.
    public var objects: [ObjectReference]

    /// Objects of a relationship.
    public init(_ name: String, _ objects: [ObjectReference]) {
        self.name = name
        self.objects = objects
    }
}

/// A list in both of its orders.
public struct OrderChange: Sendable, Hashable, Codable {
    /// The relationship's name.
    public var name: String
    /// All of its objects before; nil where this state lacks the owner.
    public var old: [ObjectReference]?
    /// All of its objects after.
    public var new: [ObjectReference]?

    /// A list with its orders.
    public init(_ name: String, old: [ObjectReference]?, new: [ObjectReference]?) {
        self.name = name
        self.old = old
        self.new = new
    }
}
