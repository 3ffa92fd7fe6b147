/// How objects of one entity refer to those of another (after `NSRelationshipDescription`).
public struct RelationshipDescription: Sendable, Hashable {
    /// The name, unique among the attributes and relationships of its entity.
    public var name: String
    /// The name of the entity that it leads to.
    public var destination: String
    /// Whether an object may have several.
    public var isToMany: Bool
    /// Where its value is in the JSON; the first one that is there is used.
    ///
    /// Empty where nothing in the JSON states it.
    public var from: [Source]
    /// The attributes of the destination that a scalar names; empty for its identifier.
    ///
    /// The store has the identifier all the same.
    public var by: [String]
    /// The relationship of the destination that is the other side of this one; nil for none.
    public var inverse: String?
    /// Whether a to-one may be null, or a to-many empty.
    public var isOptional: Bool
    /// Whether the order of a to-many is kept.
    ///
    /// nil for the default: kept, but for the second side of a many-to-many, and where nothing in the JSON states it.
    public var isOrdered: Bool?
    /// The fewest destinations of a to-many; nil for no limit.
    public var minimumCount: Int?
    /// The most of them; nil for no limit.
    public var maximumCount: Int?
    /// What happens to the destinations of an object that is deleted.
    ///
    /// nil for the default: ``DeleteRule/cascade`` for owned destinations without inverse, else ``DeleteRule/nullify``.
    public var deleteRule: DeleteRule?
    /// What a list does to the links that are there.
    public var list: ListPolicy
    /// What happens to objects that a list has unlinked; nil for the default: deleted if they are owned, else kept.
    public var orphans: OrphanPolicy?
    /// What happens to references to objects that are not there when the job ends.
    public var unresolved: UnresolvedPolicy
    /// By what nested elements are told apart.
    public var identity: Identity
    /// What a nested object does to a stored one.
    public var onConflict: ConflictPolicy
    /// Whose links count once an object exists.
    public var owner: AttributeDescription.Owner
    /// The names of the columns that hold it, one for each column of the key that they refer to; empty for the default.
    public var columns: [String]
    /// The name of its join table; nil for the default.
    public var table: String?
    /// Its name in the model before this one; nil where it is the same.
    public var renamingIdentifier: String?
    /// Free annotations, kept and given back as they are.
    public var userInfo: JSONValue?

    /// Where the value of a relationship is in the JSON.
    public enum Source: Sendable, Hashable {
        /// The value at a key path: an object, an identifier, or an array of these.
        case value(AttributePath)
        /// The values of an object that is a collection (`prices.*`).
        case members(of: AttributePath)
        /// The parts of an identifier of several attributes, in its order.
        case identifier([AttributePath])
    }

    /// What happens to the destinations of an object that is deleted (after `NSDeleteRule`).
    public enum DeleteRule: String, Sendable, Hashable, Codable, CaseIterable {
        /// They no longer refer to it.
        case nullify
        /// They are deleted too.
        case cascade
        /// The object cannot be deleted while it has any.
        case deny
        /// They refer to what is not there.
        case noAction
    }

    /// What a list in the JSON does to the links that an object has.
    public enum ListPolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// The links are those of the list, in its order.
        case replace
        /// It adds links after those that are there.
        case union
    }

    /// What happens to objects that a list has unlinked.
    public enum OrphanPolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// They stay.
        case keep
        /// They are deleted when the job ends, unless something is linked to them by the relationship again.
        case delete
    }

    /// What happens to references to objects that are not there when the job ends.
    public enum UnresolvedPolicy: String, Sendable, Hashable, Codable, CaseIterable {
        /// They stay, and are counted; a later import may bring the object.
        case keep
        /// They become null, and are counted.
        case null
        /// Their records are rejects.
        case reject
        /// The store gets objects that have only their identifier.
        case stub
    }

    /// By what nested elements are told apart.
    public enum Identity: String, Sendable, Hashable, Codable, CaseIterable {
        /// By the identifier of their entity.
        case identifier
        /// Those without identifier by their index in the list.
        case position
    }

    // More than seven parameters, as it is a plain value: one for each property.
    /// A relationship, to-one unless said otherwise; its value is under its name.
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
