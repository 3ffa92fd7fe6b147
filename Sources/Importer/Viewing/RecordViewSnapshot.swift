import ImportEngine

/// The records in a view's window, all from one state of the store.
public struct RecordViewSnapshot: Sendable, Hashable {
    /// Records that are one after another and have the same section key (after `NSFetchedResultsSectionInfo`).
    public struct Section: Sendable, Hashable {
        /// The section key of its records: the first one's, if their texts differ and the collation considers them equal; nil in a view
        /// without a section key.
        public let name: Record.Value?
        /// Its records in the window, sorted.
        public let records: [Record]

        /// Creates a section.
        public init(name: Record.Value?, records: [Record]) {
            self.name = name
            self.records = records
        }

        /// The number of its records in the window.
        public var count: Int { records.count }

        /// True if name and records are the same; texts are compared by their bytes.
        public static func == (one: Self, other: Self) -> Bool {
            SectionName(one.name) == SectionName(other.name) && one.records == other.records
        }

        /// Equal sections have equal records.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(records)
        }
    }

    /// The sections with records in the window, sorted; a view without a section key has at most one.
    public let sections: [Section]
    /// The number of sorted records before the window.
    public let offset: Int
    /// The number of all records of the entity, or of those that match the predicate.
    ///
    /// With a predicate it is counted at most once a second, so it may be older than the records.
    public let total: Int

    /// Creates a snapshot.
    public init(sections: [Section] = [], offset: Int = 0, total: Int = 0) {
        self.sections = sections
        self.offset = offset
        self.total = total
    }

    /// The records of all sections, sorted.
    public var records: [Record] { sections.flatMap(\.records) }

    /// The number of records in the window.
    public var count: Int { sections.reduce(0) { $0 + $1.count } }

    /// The record at an index path, or nil if there is none.
    public subscript(path: RecordIndexPath) -> Record? {
        guard sections.indices.contains(path.section) else { return nil }
        let records = sections[path.section].records
        return records.indices.contains(path.row) ? records[path.row] : nil
    }
}

/// A section's name, equal to another only byte by byte.
struct SectionName: Hashable {
    let value: Record.Value?

    init(_ value: Record.Value?) {
        self.value = value
    }

    static func == (one: Self, other: Self) -> Bool {
        switch (one.value, other.value) {
        case (nil, nil): true
        case (let one?, let other?): one.isSame(as: other)
        default: false
        }
    }

    /// `String` gives texts the same hash that are canonically equivalent, those with the same bytes among them.
    func hash(into hasher: inout Hasher) {
        hasher.combine(value)
    }
}
