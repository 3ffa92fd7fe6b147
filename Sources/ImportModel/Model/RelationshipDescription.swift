/// A relationship of an entity to another (after `NSRelationshipDescription`).
public struct RelationshipDescription: Sendable, Hashable {
    /// The name, unique among the attributes and relationships of its entity.
    public var name: String
    /// The name of the entity that it leads to.
    public var destination: String
    /// True if an object may have several destinations.
    public var isToMany: Bool
    /// The sources of its value in the JSON; the first one that the object has is used.
    ///
    /// Empty if the JSON does not have the value.
    public var from: [Source]
    /// The attributes of the destination by which a scalar refers to it; empty for its identifier.
    ///
    /// The store has the identifier in any case.
    public var by: [String]
    /// The relationship of the destination that is the inverse of this one; nil for none.
    public var inverse: String?
    /// True if a to-one may be null, or a to-many empty.
    public var isOptional: Bool
    /// True if the order of a to-many is stored.
    ///
    /// nil for the default: true, except for the second side of a many-to-many, and if `from` is empty.
    public var isOrdered: Bool?
    /// The minimum number of destinations of a to-many; nil for no limit.
    public var minimumCount: Int?
    /// The maximum number of destinations of a to-many; nil for no limit.
    public var maximumCount: Int?
    /// Determines what happens to the destinations of a deleted object.
    ///
    /// nil for the default: ``DeleteRule/cascade`` for owned destinations without inverse, else ``DeleteRule/nullify``.
    public var deleteRule: DeleteRule?
    /// Determines what a list does to existing links.
    public var list: ListPolicy
    /// Determines what happens to objects that a list has unlinked; nil for the default: deleted if they are owned, else kept.
    public var orphans: OrphanPolicy?
    /// Determines what happens to dangling references when the job ends.
    public var unresolved: UnresolvedPolicy
    /// Determines how nested elements are identified.
    public var identity: Identity
    /// Determines what a nested object does to a stored one.
    public var onConflict: ConflictPolicy
    /// Determines who may change the links of a stored object.
    public var owner: AttributeDescription.Owner
    /// The names of its columns, one for each column of the key that they refer to; empty for the default.
    public var columns: [String]
    /// The name of its join table; nil for the default.
    public var table: String?
    /// Its name in the previous model; nil if it has not changed.
    public var renamingIdentifier: String?
    /// Annotations, which are stored as they are.
    public var userInfo: JSONValue?

    /// A source of the value of a relationship in the JSON.
    public enum Source: Sendable, Hashable {
        /// The value at a key path: an object, an identifier, or an array of these.
        case value(AttributePath)
        /// The values of an object that is a collection (`prices.*`).
        case members(of: AttributePath)
        /// The parts of an identifier of several attributes, in its order.
        case identifier([AttributePath])
    }

    /// What happens to the destinations of a deleted object (after `NSDeleteRule`).
    public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
        /// They no longer refer to the object.
        case nullify
        /// They are deleted too.
        case cascade
        /// The object cannot be deleted while it has any.
        case deny
        /// They keep a reference to an object that does not exist.
        case noAction
    }

    /// What a list in the JSON does to an object's existing links.
    public enum ListPolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// The links are those of the list, in its order.
        case replace
        /// The list adds links after the existing ones.
        case union
    }

    /// What happens to objects that a list has unlinked.
    public enum OrphanPolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// They stay.
        case keep
        /// They are deleted when the job ends, unless something is linked to them by the relationship again.
        case delete
    }

    /// What happens to dangling references when the job ends.
    public enum UnresolvedPolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// They are kept and counted; a later import may insert the object.
        case keep
        /// They become null and are counted.
        case null
        /// Their records become rejects.
        case reject
        /// Objects with just their identifier are inserted.
        case stub
    }

    /// How nested elements are identified.
    public enum Identity: String, Sendable, Hashable, Codable, CaseIterable {
        /// By the identifier of their entity.
        case identifier
        /// Elements without identifier by their index in the list.
        case position
    }

    // More than seven parameters, as it is a plain value: one for each property.
    /// Creates a relationship; by default it is a to-one, and its value is under its name.
    ///
    /// There is an argument for each property, and all but the name and the destination have defaults.
    public init(
        name: String,
        destination: String,
        isToMany: Bool = false,
        from: [Source]? = nil,
        by: [String] = [],
        inverse: String? = nil,
        isOptional: Bool = true,
        isOrdered: Bool? = nil,
        minimumCount: Int? = nil,
        maximumCount: Int? = nil,
        deleteRule: DeleteRule? = nil,
        list: ListPolicy = .replace,
        orphans: OrphanPolicy? = nil,
        unresolved: UnresolvedPolicy = .keep,
        identity: Identity = .identifier,
        onConflict: ConflictPolicy = .merge,
        owner: AttributeDescription.Owner = .source,
        columns: [String] = [],
        table: String? = nil,
        renamingIdentifier: String? = nil,
        userInfo: JSONValue? = nil
    ) {
        self.name = name
        self.destination = destination
        self.isToMany = isToMany
        self.from = from ?? [.value(AttributePath(keys: [name]))]
        self.by = by
        self.inverse = inverse
        self.isOptional = isOptional
        self.isOrdered = isOrdered
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.deleteRule = deleteRule
        self.list = list
        self.orphans = orphans
        self.unresolved = unresolved
        self.identity = identity
        self.onConflict = onConflict
        self.owner = owner
        self.columns = columns
        self.table = table
        self.renamingIdentifier = renamingIdentifier
        self.userInfo = userInfo
    }
}
