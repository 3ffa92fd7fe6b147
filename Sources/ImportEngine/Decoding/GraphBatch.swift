/// What the records of a batch say beyond their rows, where entities relate to one another: which rows belong to which record,
/// and what lists say.
@usableFromInline package struct GraphBatch {
    /// A record that was accepted.
    package struct Record {
        /// The index of its own row in the batch; those of nested objects follow.
        package let row: Int
        /// What it says, in the order in which it takes effect.
        package var operations: Range<Int>
        /// True if its links only add to what is there, provided that its own object is new.
        package var isAppendable = false
        /// True if stored objects decide what its objects are, so that it is decoded when it is written.
        package var isOpen = false
    }

    /// What a row is beyond its cells: 48 bytes, as a batch has one for each row.
    ///
    /// A batch has fewer rows and cells than 32 bits count.
    @usableFromInline package struct Nested {
        @usableFromInline let storedRelationship: Int32
        @usableFromInline var storedReferenceCell: Int32 = -1
        @usableFromInline var storedPositionCell: Int32 = -1
        @usableFromInline var storedKeyCell: Int32 = -1
        @usableFromInline var storedPosition: Int32 = 0
        /// Where the object around is laid out: its number among the rows of its entity in the batch, from 1; else 0.
        package var aroundNumber: Int32 = 0
        /// What it says of an object that has an identifier, and is nested in another.
        package var digest = RowDigest()

        /// - Parameter relationship: the one that it is nested in, among the layout's; -1 for a record's own row.
        package init(relationship: Int) {
            storedRelationship = Int32(relationship)
        }

        /// The relationship that it is nested in, among the layout's; -1 for a record's own row.
        @inlinable package var relationship: Int { Int(storedRelationship) }

        /// The first of its cells that refer to the object around, or -1: where that is known by its row id alone, the cell is
        /// the writer's to fill.
        @inlinable package var referenceCell: Int {
            get { Int(storedReferenceCell) }
            set { storedReferenceCell = Int32(newValue) }
        }

        /// The cell of its index in its list, or -1.
        @inlinable package var positionCell: Int {
            get { Int(storedPositionCell) }
            set { storedPositionCell = Int32(newValue) }
        }

        /// The first of the cells by which it is referred to; -1 where that is its row id.
        @inlinable package var keyCell: Int {
            get { Int(storedKeyCell) }
            set { storedKeyCell = Int32(newValue) }
        }

        /// Its index in its list, from 0.
        @inlinable package var position: Int {
            get { Int(storedPosition) }
            set { storedPosition = Int32(newValue) }
        }
    }

    /// The targets of a list that has nothing in it any more, where a list without elements would only add none.
    package static let emptied = -1 ..< -1

    /// Something that a record says.
    package enum LinkOperation {
        /// An object is as this row has it.
        case row(Int)
        /// The links of an object are these, for a relationship that its own row does not hold.
        ///
        /// - isStated: whether the record has the list; otherwise it is empty as the object is taken as a whole.
        case links(relationship: Int, row: Int, targets: Range<Int>)
        /// A column of an object refers to another that is known by its row id alone.
        case refers(relationship: Int, row: Int, to: Int)
        /// A column of an object refers to the one whose attributes have these values.
        case names(relationship: Int, row: Int, valueCell: Int)
        /// An object is linked in a join table to another that is known by its row id alone.
        case joins(relationship: Int, row: Int, to: Int)
        /// An object refers to one of this entity, and says no more of it.
        case reference(entity: Int)
    }

    /// An element of a list.
    package struct Target {
        /// The first of the cells by which it is referred to; -1 where it is known by its row id alone.
        package let keyCell: Int
        /// The index of its row in the batch; -1 where the list has its identifier only.
        package var row: Int
        /// True if these cells are values of other attributes than its identifier's.
        package var isNamed = false
    }

    package var records: [Record] = []
    /// For each row of the batch.
    package var nested: [Nested] = []
    package var operations: [LinkOperation] = []
    package var targets: [Target] = []
    /// The first cells, in their order, of references that an object lacks which replaces a stored one: they are null for that alone.
    package var unsaid: [Int] = []
    /// By entity, how many nested objects say what the last one of the same object in the batch has said, and have no row.
    package var repeated: [Int64] = []
    /// In a retry, what each of the records is.
    package var retried: [RetriedRecords.Record] = []

    /// True if a reference that begins with this cell is null as its object lacks it.
    package func isUnsaid(_ cell: Int) -> Bool {
        var (low, high) = (0, unsaid.count)
        while low < high {
            let middle = (low + high) / 2
            if unsaid[middle] < cell { low = middle + 1 } else { high = middle }
        }
        return low < unsaid.count && unsaid[low] == cell
    }

    /// How much memory it takes, roughly.
    var footprint: Int {
        records.count * (MemoryLayout<Record>.stride + MemoryLayout<RowBatch.RecordLocation>.stride)
            + nested.count * MemoryLayout<Nested>.stride + operations.count * MemoryLayout<LinkOperation>.stride
            + targets.count * MemoryLayout<Target>.stride
    }

    package mutating func removeAll() {
        records.removeAll(keepingCapacity: true)
        nested.removeAll(keepingCapacity: true)
        operations.removeAll(keepingCapacity: true)
        targets.removeAll(keepingCapacity: true)
        unsaid.removeAll(keepingCapacity: true)
        repeated.removeAll(keepingCapacity: true)
        retried.removeAll()
    }
}
