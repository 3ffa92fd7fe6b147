import ImportEngine

/// What a view shows, all of its records from one moment.
public struct RecordViewSnapshot: Sendable, Hashable {
    /// Records that are one after another and have the same section key (after `NSFetchedResultsSectionInfo`).
    public struct Section: Sendable, Hashable {
        /// The section key of its records: the first one's, where their texts differ and the collation takes them for
        /// the same; nil in a view without a section key.
        public let name: Record.Value?
        /// Those of its records that are in the window, sorted.
        public let records: [Record]

        /// Creates one.
        public init(name: Record.Value?, records: [Record]) {
            self.name = name
            self.records = records
        }

        /// How many of its records are in the window.
        public var count: Int { records.count }

        /// Whether name and records are the same, texts by their bytes.
        public static func == (one: Self, other: Self) -> Bool {
            SectionName(one.name) == SectionName(other.name) && one.records == other.records
        }

        /// Equal sections have equal records.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(records)
        }
    }

    /// The sections of which something is in the window, sorted; a view without a section key has one at most.
    public let sections: [Section]
    /// How many records of the sorted whole the window passes over, from 0.
    public let offset: Int
    /// How many records the entity has in all, or how many the predicate holds for.
    ///
    /// Under a predicate they are counted at most once a second, so the number may be older than the records.
    public let total: Int

    /// Creates one.
    public init(sections: [Section] = [], offset: Int = 0, total: Int = 0) {
        self.sections = sections
        self.offset = offset
        self.total = total
    }

    /// The records of all sections, sorted.
    public var records: [Record] { sections.flatMap(\.records) }

    /// How many records are in the window.
    public var count: Int { sections.reduce(0) { $0 + $1.count } }

    /// The record that is there, if one does.
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
