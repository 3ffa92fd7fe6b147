import ImportEngine

/// What makes one snapshot of a view the next one (after `NSFetchedResultsControllerDelegate`).
///
/// As there, what goes is named by where it was in the old snapshot, and what comes by where it is in the new one;
/// updates are of the old one. The records of sections that come or go are named too. Applied in this order, they are right
/// for a table on a screen: take out the deleted records and those that move, replace the updated ones, take out the deleted
/// sections, put in the inserted sections, and then the inserted records and those that move, each list in its order.
public struct RecordViewChanges: Sendable, Hashable {
    /// A section that comes.
    public struct SectionInsertion: Sendable, Hashable {
        /// Where it is in the new snapshot.
        public let index: Int
        /// Its name.
        public let name: Record.Value?

        /// Whether index and name are the same, texts by their bytes.
        public static func == (one: Self, other: Self) -> Bool {
            one.index == other.index && SectionName(one.name) == SectionName(other.name)
        }

        /// Equal ones have the same index.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(index)
        }
    }

    /// A record that comes.
    public struct Insertion: Sendable, Hashable {
        /// Where it is in the new snapshot.
        public let path: RecordIndexPath
        /// The record.
        public let record: Record
    }

    /// A record that is elsewhere now, and may have changed too.
    ///
    /// The index path may be the same, where as many records have come before it as have gone. Out of a section that goes,
    /// and into one that comes, nothing moves: that is a deletion and an insertion.
    public struct Move: Sendable, Hashable {
        /// Where it was in the old snapshot.
        public let source: RecordIndexPath
        /// Where it is in the new snapshot.
        public let target: RecordIndexPath
        /// The record, as it is now.
        public let record: Record
        /// Whether it has changed.
        public let isUpdated: Bool
    }

    /// A record that has changed and is where it was, but for those that come and go before it.
    public struct Update: Sendable, Hashable {
        /// Where it was in the old snapshot.
        public let path: RecordIndexPath
        /// The record, as it is now.
        public let record: Record
    }

    /// The sections that go, where they were in the old snapshot, the first one first.
    public internal(set) var deletedSections: [Int] = []
    /// The sections that come, the first one first.
    public internal(set) var insertedSections: [SectionInsertion] = []
    /// The records that go, where they were in the old snapshot, the first one first.
    public internal(set) var deletions: [RecordIndexPath] = []
    /// The records that come, in the order of their indexes.
    public internal(set) var insertions: [Insertion] = []
    /// The records that move, in the order of their new index paths: as few as possible.
    public internal(set) var moves: [Move] = []
    /// The records that have changed and do not move, in order.
    public internal(set) var updates: [Update] = []
    /// The new snapshot's offset.
    public internal(set) var offset = 0
    /// The new snapshot's total.
    public internal(set) var total = 0

    /// Whether no section and no record comes, goes, moves or has changed; the total may be another.
    public var isEmpty: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && deletions.isEmpty && insertions.isEmpty && moves.isEmpty
            && updates.isEmpty
    }
}
