import ImportEngine

/// The changes from one snapshot of a view to the next (after `NSFetchedResultsControllerDelegate`).
///
/// As there, deletions and updates have positions in the old snapshot, insertions those in the new one. The records of inserted and
/// deleted sections are listed, too. Apply them to a table on a screen in this order: remove the deleted records and those that
/// move, replace the updated ones, remove the deleted sections, insert the inserted sections, and then the inserted records and those
/// that move, each list in its order.
public struct RecordViewChanges: Sendable, Hashable {
    /// A section that is inserted.
    public struct SectionInsertion: Sendable, Hashable {
        /// Its position in the new snapshot.
        public let index: Int
        /// Its name.
        public let name: Record.Value?

        /// True if index and name are the same; texts are compared by their bytes.
        public static func == (one: Self, other: Self) -> Bool {
            one.index == other.index && SectionName(one.name) == SectionName(other.name)
        }

        /// Equal ones have the same index.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(index)
        }
    }

    /// A record that is inserted.
    public struct Insertion: Sendable, Hashable {
        /// Its position in the new snapshot.
        public let path: RecordIndexPath
        /// The record.
        public let record: Record
    }

    /// A record whose position has changed, and whose values may have changed, too.
    ///
    /// The index path may be the same, if as many records before it were inserted as were deleted. No record moves out of a deleted
    /// section or into an inserted one: that is a deletion and an insertion.
    public struct Move: Sendable, Hashable {
        /// Its position in the old snapshot.
        public let source: RecordIndexPath
        /// Its position in the new snapshot.
        public let target: RecordIndexPath
        /// The record, as it is now.
        public let record: Record
        /// True if values of the record have changed.
        public let isUpdated: Bool
    }

    /// A record that has changed, but has not moved, apart from insertions and deletions before it.
    public struct Update: Sendable, Hashable {
        /// Its position in the old snapshot.
        public let path: RecordIndexPath
        /// The record, as it is now.
        public let record: Record
    }

    /// The deleted sections, by their index in the old snapshot, in ascending order.
    public internal(set) var deletedSections: [Int] = []
    /// The inserted sections, in ascending order.
    public internal(set) var insertedSections: [SectionInsertion] = []
    /// The deleted records, by their position in the old snapshot, in ascending order.
    public internal(set) var deletions: [RecordIndexPath] = []
    /// The inserted records, in the order of their index paths.
    public internal(set) var insertions: [Insertion] = []
    /// The records that move, in the order of their new index paths: as few as possible.
    public internal(set) var moves: [Move] = []
    /// The records that have changed and do not move, in order.
    public internal(set) var updates: [Update] = []
    /// The new snapshot's offset.
    public internal(set) var offset = 0
    /// The new snapshot's total.
    public internal(set) var total = 0

    /// True if no section or record was inserted, deleted, moved or updated.
    ///
    /// The total may have changed.
    public var isEmpty: Bool {
        deletedSections.isEmpty && insertedSections.isEmpty && deletions.isEmpty && insertions.isEmpty && moves.isEmpty
            && updates.isEmpty
    }
}
