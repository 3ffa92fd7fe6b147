import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// The header of a change set: its two states and their entities.
public struct ChangeSetHeader: Sendable, Hashable {
    /// One of the two states.
    public struct State: Sendable, Hashable {
        /// The base name of the store's file.
        public var name: String
        /// The number of objects of each entity, in the order of the entities.
        public var objects: [(entity: String, count: Int64)]

        /// Creates the state of a store.
        public init(name: String, objects: [(entity: String, count: Int64)] = []) {
            self.name = name
            self.objects = objects
        }

        /// True if the names and numbers are the same.
        public static func == (one: State, other: State) -> Bool {
            one.name == other.name && one.objects.elementsEqual(other.objects) { $0.0 == $1.0 && $0.1 == $1.1 }
        }

        /// Equal states have the same name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// The version of the program that has written the change set.
    public var program: String
    /// The old state.
    public var old: State
    /// The new state.
    public var new: State
    /// The entities, in the model's order.
    public var entities: [ChangedEntity]
    /// The options of the comparison that differ from their defaults.
    public var options: [NamedOption]

    /// An option with its value as JSON.
    public struct NamedOption: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Its value.
        public var value: JSONValue

        /// Creates an option.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a header of this program.
    public init(old: State, new: State, entities: [ChangedEntity], options: [NamedOption] = []) {
        program = ImporterVersion.text
        self.old = old
        self.new = new
        self.entities = entities
        self.options = options
    }
}

/// The description of an entity in a change set.
public struct ChangedEntity: Sendable, Hashable {
    /// An attribute of the entity.
    public struct Attribute: Sendable, Hashable {
        /// The attribute's name.
        public var name: String
        /// The description of its values; nil for values of any kind, in a column that no model describes.
        public var description: AttributeDescription?

        /// Creates an attribute.
        public init(_ name: String, _ description: AttributeDescription? = nil) {
            self.name = name
            self.description = description
        }
    }

    /// A relationship of the entity.
    public struct Relationship: Sendable, Hashable {
        /// The relationship's name.
        public var name: String
        /// The name of the entity that it leads to.
        public var entity: String
        /// True if an object may have several destinations.
        public var isToMany: Bool
        /// True if an object owns its destinations, so that their changes are nested in its own.
        public var isOwned: Bool
        /// True if the order of a to-many is stored.
        public var isOrdered: Bool
        /// True if the changes of destinations that an object does not own may be nested in its own.
        public var isIncluded = false

        /// Creates a relationship.
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
    /// The names of the attributes of the identifier; empty if objects are parts of their owner.
    public var identifier: [String]
    /// Its attributes, in the model's order.
    public var attributes: [Attribute]
    /// Its relationships.
    public var relationships: [Relationship]
    /// Groups of attributes that are all written when one of them changes.
    public var together: [[String]]
    /// The attributes that only the old state has.
    public var onlyOld: [String]
    /// The attributes that only the new state has.
    public var onlyNew: [String]

    /// Creates an entity.
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

/// Counts of changed objects.
public struct ChangeCounts: Sendable, Hashable, Codable {
    /// The number of objects that only the new state has.
    public var inserted: Int64 = 0
    /// The number of objects that differ between the states, apart from those that differ only in objects that they own.
    public var updated: Int64 = 0
    /// The number of objects that only the old state has.
    public var deleted: Int64 = 0
    /// The number of objects that are the same in both states.
    public var unchanged: Int64 = 0

    /// Creates counts of zero.
    public init() {}
}

/// The footer of a change set.
public struct ChangeSetFooter: Sendable, Hashable {
    /// The number of lines with changes.
    public var changes: Int64
    /// The counts of each entity, in the order of the entities.
    public var entities: [Entity]
    /// The XXH3-64 of all bytes before the footer, as 16 hexadecimal digits; nil if it was left out, for example by people who have edited
    /// the file.
    public var checksum: String?

    /// The counts of an entity.
    public struct Entity: Sendable, Hashable {
        /// The entity's name.
        public var name: String
        /// Its counts.
        public var counts: ChangeCounts

        /// The counts of an entity.
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
