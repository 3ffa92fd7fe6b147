import ImportEngine
import ImportModel

/// What of two stores is compared, and what is said of it.
public struct DifferenceOptions: Sendable, Hashable {
    /// Which old values an updated or deleted object has in a change set.
    public enum OldValues: String, Sendable, Hashable, Codable, CaseIterable {
        /// Those of attributes that changed.
        case changed
        /// Those of all attributes.
        case all
        /// None, so that the change set cannot be checked against the store that it is applied to.
        case none
    }

    /// A property of an entity, in an include or exclude list.
    public struct Property: Sendable, Hashable {
        /// The entity's name; nil for every entity.
        public var entity: String?
        /// The name of an attribute or relationship.
        public var name: String

        /// A property of an entity, or of every entity that has it.
        public init(_ name: String, of entity: String? = nil) {
            self.name = name
            self.entity = entity
        }
    }

    /// Where a comparison begins.
    public struct Root: Sendable, Hashable {
        /// The entity's name.
        public var entity: String
        /// The values of the object's identifier as people write them, in its order; nil for all objects.
        ///
        /// One text is also divided at commas where the identifier has several parts.
        ///
        /// A number means an integer or a real, and a text of these digits.
        public var identifier: [String]?

        /// One object of an entity, or all of them.
        public init(_ entity: String, identifier: [String]? = nil) {
            self.entity = entity
            self.identifier = identifier
        }
    }

    /// The only entities that are compared, with what they own; empty for all.
    public var entities: [String] = []
    /// The only objects where the comparison begins: they, what they own, and what included references lead to; empty for all.
    public var roots: [Root] = []
    /// What must hold for an object in one of the states; it is of the only entity that is compared by itself.
    public var predicate: RecordPredicate?
    /// Attributes and relationships that are compared although they are left out otherwise.
    ///
    /// What an included reference leads to is nested in the change of the object that refers to it, each object once.
    public var included: [Property] = []
    /// Attributes and relationships that are left out.
    public var excluded: [Property] = []
    /// The only attributes and relationships that are compared, of the entities that are named here; empty for all.
    public var only: [Property] = []
    /// By entity, the attributes by which two objects are the same.
    public var identifiers: [String: [String]] = [:]
    /// Which old values are given.
    public var old = OldValues.changed
    /// Whether the difference is that from the second store to the first.
    public var isReversed = false
    /// How many threads read rows side by side, from 1, each with connections of its own; in WAL mode, one reads them all.
    ///
    /// What is found does not depend on it.
    public var workers = 2

    /// All of both stores.
    public init() {}
}
