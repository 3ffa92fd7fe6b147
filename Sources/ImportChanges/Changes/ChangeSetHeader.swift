import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// What a change set says before its first change: between which states it leads, and what their entities are.
public struct ChangeSetHeader: Sendable, Hashable {
    /// One of the two states.
    public struct State: Sendable, Hashable {
        /// The base name of the store's file.
        public var name: String
        /// How many objects each entity had, in the order of the entities.
        public var objects: [(entity: String, count: Int64)]

        /// A state of a store.
        public init(name: String, objects: [(entity: String, count: Int64)] = []) {
            self.name = name
            self.objects = objects
        }

        /// Whether name and numbers are the same.
        public static func == (one: State, other: State) -> Bool {
            one.name == other.name && one.objects.elementsEqual(other.objects) { $0.0 == $1.0 && $0.1 == $1.1 }
        }

        /// Equal states have the same name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// The version of the program that has written it.
    public var program: String
    /// The state that it leads from.
    public var old: State
    /// The state that it leads to.
    public var new: State
    /// The entities, in the model's order.
    public var entities: [ChangedEntity]
    /// The options of the comparison that are not at their default: name and value.
    public var options: [NamedOption]

    /// An option with its value as JSON.
    public struct NamedOption: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Its value.
        public var value: JSONValue

        /// An option.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// A header of this program.
    public init(old: State, new: State, entities: [ChangedEntity], options: [NamedOption] = []) {
        program = ImporterVersion.text
        self.old = old
        self.new = new
        self.entities = entities
        self.options = options
    }
}

/// An entity as a change set has it.
public struct ChangedEntity: Sendable, Hashable {
    /// One of its attributes.
    public struct Attribute: Sendable, Hashable {
        /// The attribute's name.
        public var name: String
        /// What its values are; nil for values of any kind, as a column has them that no model describes.
        public var description: AttributeDescription?

        /// An attribute.
        public init(_ name: String, _ description: AttributeDescription? = nil) {
            self.name = name
            self.description = description
        }
    }

    /// One of its relationships.
    public struct Relationship: Sendable, Hashable {
        /// The relationship's name.
        public var name: String
        /// The name of the entity that it leads to.
        public var entity: String
        /// Whether an object may have several.
        public var isToMany: Bool
        /// Whether its objects belong to the object, and their changes are nested in its own.
        public var isOwned: Bool
        /// Whether the order of a to-many is kept.
        public var isOrdered: Bool
        /// Whether the changes of its objects, which do not belong to the object, may be nested in its own nevertheless.
        public var isIncluded = false

        /// A relationship.
        public init(
            _ name: String,
            to entity: String,
            isToMany: Bool = false,
            isOwned: Bool = false,
            isOrdered: Bool = false
        ) {
            self.name = name
            self.entity = entity
            self.isToMany = isToMany
            self.isOwned = isOwned
            self.isOrdered = isOrdered
        }
    }

    /// Its name.
    public var name: String
    /// The names of the attributes by which two objects are the same; empty for a part of its owner.
    public var identifier: [String]
    /// Its attributes, in the model's order.
    public var attributes: [Attribute]
    /// Its relationships.
    public var relationships: [Relationship]
    /// Groups of attributes that are written whole when one of them changes.
    public var together: [[String]]
    /// The attributes that only the old state has.
    public var onlyOld: [String]
    /// The attributes that only the new state has.
    public var onlyNew: [String]

    /// An entity.
    public init(
        _ name: String,
        identifier: [String],
        attributes: [Attribute],
        relationships: [Relationship] = [],
        together: [[String]] = [],
        onlyOld: [String] = [],
        onlyNew: [String] = []
    ) {
        self.name = name
        self.identifier = identifier
        self.attributes = attributes
        self.relationships = relationships
        self.together = together
        self.onlyOld = onlyOld
        self.onlyNew = onlyNew
    }
}

/// How many objects of an entity have changed.
public struct ChangeCounts: Sendable, Hashable, Codable {
    /// Objects that only the new state has.
    public var inserted: Int64 = 0
    /// Objects that both have and that differ themselves, not only in what they own.
    public var updated: Int64 = 0
    /// Objects that only the old state has.
    public var deleted: Int64 = 0
    /// Objects that are the same in both.
    public var unchanged: Int64 = 0

    /// Nothing.
    public init() {}
}

/// What a change set says after its last change.
public struct ChangeSetFooter: Sendable, Hashable {
    /// How many lines of changes there are.
    public var changes: Int64
    /// The counts of each entity, in the order of the entities.
    public var entities: [Entity]
    /// The XXH3-64 of all bytes before the footer, as 16 hexadecimal digits; nil where it was left out, as by those who have edited
    /// the file.
    public var checksum: String?

    /// An entity with its counts.
    public struct Entity: Sendable, Hashable {
        /// The entity's name.
        public var name: String
        /// Its counts.
        public var counts: ChangeCounts

        /// An entity with its counts.
        public init(_ name: String, _ counts: ChangeCounts) {
            self.name = name
            self.counts = counts
        }
    }
}

extension [BytewiseString: ChangeCounts] {
    /// Counts an object by its entity, and what is nested in its change.
    package mutating func count(_ change: ObjectChange) {
        if !change.isContinued {
            switch change.kind {
            case .inserted: self[BytewiseString(change.entity), default: ChangeCounts()].inserted += 1
            case .deleted: self[BytewiseString(change.entity), default: ChangeCounts()].deleted += 1
            case .updated where change.changesObject:
                self[BytewiseString(change.entity), default: ChangeCounts()].updated += 1
            case .updated: break
            }
        }
        for owned in change.relationships {
            guard case .objects(let changes) = owned.content else { continue }
            for change in changes { count(change) }
        }
    }
}
