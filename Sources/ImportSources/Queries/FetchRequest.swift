/// The records of an entity to read, and their order (after `NSFetchRequest`).
public struct FetchRequest: Sendable, Hashable {
    /// The entity's name.
    public var entity: String
    /// The predicate that records must match; nil for all records.
    public var predicate: RecordPredicate?
    /// The attributes to sort by, in order of precedence.
    ///
    /// Records that are equal in all of them are ordered by row id, in the direction of the last one, so that sorting by one attribute only
    /// needs an index on it.
    public var sort: [RecordSort]
    /// The number of sorted records to skip.
    public var offset: Int
    /// The maximum number of records; nil for no limit.
    public var limit: Int?
    /// The relationships whose objects are read along with each record, as key paths: `lines`, `customer.address`.
    ///
    /// A key path includes all relationships on its way.
    public var includes: [String]

    /// Creates a fetch request.
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

    /// True if the requests are the same; names are compared byte by byte, as the store distinguishes entities.
    public static func == (one: FetchRequest, other: FetchRequest) -> Bool {
        BytewiseString(one.entity) == BytewiseString(other.entity) && one.predicate == other.predicate
            && one.sort == other.sort
            && one.offset == other.offset && one.limit == other.limit
            && one.includes.map(BytewiseString.init) == other.includes.map(BytewiseString.init)
    }
}
