import ImportEngine
import ImportModel
import ImportSources

/// Options of a comparison of two stores.
public struct DifferenceOptions: Sendable, Hashable {
    /// The old values that an updated or deleted object has in a change set.
    public enum OldValues: String, Sendable, Hashable, Codable, CaseIterable {
        /// The old values of attributes that changed.
        case changed
        /// The old values of all attributes.
        case all
        /// None; the change set cannot be checked against the store that it is applied to.
        case none
    }

    /// A property of an entity, in an include or exclude list.
    public struct Property: Sendable, Hashable {
        /// The entity's name; nil for every entity.
        public var entity: String?
        /// The name of an attribute or relationship.
        public var name: String

        /// Creates a property of an entity, or of every entity that has it.
        public init(_ name: String, of entity: String? = nil) {
            self.name = name
            self.entity = entity
        }
    }

    /// An object, or all objects of an entity, at which a comparison starts.
    public struct Root: Sendable, Hashable {
        /// The entity's name.
        public var entity: String
        /// The values of the object's identifier as texts, in its order; nil for all objects.
        ///
        /// If the identifier has several parts, a single text is divided at commas.
        ///
        /// A number matches an integer, a real and a text with the same digits.
        public var identifier: [String]?

        /// Creates a root: one object of an entity, or all of them.
        public init(_ entity: String, identifier: [String]? = nil) {
            self.entity = entity
            self.identifier = identifier
        }
    }

    /// The entities to compare, with the objects that they own; empty for all.
    public var entities: [String] = []
    /// The objects to compare, with the objects that they own and the destinations of included references; empty for all.
    public var roots: [Root] = []
    /// A predicate that an object must match in one of the states; only one entity may then be compared by itself.
    public var predicate: RecordPredicate?
    /// Attributes and relationships that are compared although they are left out by default.
    ///
    /// The destination of an included reference is nested in the change of the object that refers to it, each object once.
    public var included: [Property] = []
    /// Attributes and relationships that are left out.
    public var excluded: [Property] = []
    /// The attributes and relationships to compare, of the entities named here; empty for all.
    public var only: [Property] = []
    /// The identifiers by entity.
    public var identifiers: [String: [String]] = [:]
    /// The old values in the change set.
    public var old = OldValues.changed
    /// True if the changes are those from the second store to the first.
    public var isReversed = false
    /// The number of threads that read rows, from 1, each with connections of its own; in WAL mode, one reads them all.
    ///
    /// The result does not depend on it.
    public var workers = 2

    /// Creates options to compare all of both stores.
    public init() {}
}
