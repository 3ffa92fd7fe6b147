import ImportSources

/// Which records of an entity to read, and in which order (after `NSFetchRequest`).
public struct FetchRequest: Sendable, Hashable {
    /// The entity's name.
    public var entity: String
    /// What must hold for a record; nil for all of them.
    public var predicate: RecordPredicate?
    /// What to sort by, the first one first.
    ///
    /// Records that are equal in all of it are ordered by row id, in the direction of the last one: then an index on one attribute is
    /// all that sorting by it needs.
    public var sort: [RecordSort]
    /// How many records of the sorted whole to pass over, from 0.
    public var offset: Int
    /// How many records to read at most; nil for no limit.
    public var limit: Int?
    /// The relationships whose objects are read along with each record, as key paths: `lines`, `customer.address`.
    ///
    /// A key path includes all relationships on its way.
    public var includes: [String]

    /// Creates one.
    public init(
        entity: String,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = [],
        offset: Int = 0,
        limit: Int? = nil,
        including includes: [String] = []
    ) {
        self.entity = entity
        self.predicate = predicate
        self.sort = sort
        self.offset = offset
        self.limit = limit
        self.includes = includes
    }

    /// Whether it asks for the same; names are compared byte by byte, as the store distinguishes entities.
    public static func == (one: FetchRequest, other: FetchRequest) -> Bool {
        BytewiseString(one.entity) == BytewiseString(other.entity) && one.predicate == other.predicate
            && one.sort == other.sort
            && one.offset == other.offset && one.limit == other.limit
            && one.includes.map(BytewiseString.init) == other.includes.map(BytewiseString.init)
    }
}
