/// What commits have left for the thread that merges, and the sequences that have come in between.
///
/// It is bounded by counts: of notifications, and of the ranges in all of them, about 5 MB. The thread that empties it waits
/// for no observer, and merging costs it less than the commits cost, so it only fills up where that thread gets no processor.
/// Then the last notification becomes one that asks for a refresh, and takes in what follows: nothing is lost but which rows
/// it was. Adding costs the same however many rows a notification has.
struct MergeQueue {
    /// What the thread takes, in order.
    enum Item {
        case merge(MergeNotification)
        /// A sequence that is to have what follows.
        case sequence(MergeNotifications.Mailbox)
    }

    /// So many notifications wait at most.
    static let mostMerges = 1_000
    /// So many ranges are in them at most, unless one alone has more.
    static let mostRanges = 32 * EntityChanges.maximumRanges

    private var items: [Item] = []
    private var mergeCount = 0
    private var rangeCount = 0

    var isEmpty: Bool { items.isEmpty }

    mutating func add(_ sequence: MergeNotifications.Mailbox) {
        items.append(.sequence(sequence))
    }

    mutating func add(_ next: MergeNotification) {
        let ranges = next.rangeCount
        if mergeCount == 0 || (mergeCount < Self.mostMerges && rangeCount + ranges <= Self.mostRanges) {
            items.append(.merge(next))
            mergeCount += 1
            rangeCount += ranges
        } else if case .merge(let last)? = items.last {
            rangeCount -= last.rangeCount
            var refresh = last.refreshing()
            refresh.merge(next)
            items[items.count - 1] = .merge(refresh)
        } else {
            items.append(.merge(next.refreshing()))
            mergeCount += 1
        }
    }

    /// All there is; nothing is left.
    mutating func takeAll() -> [Item] {
        defer { self = MergeQueue() }
        return items
    }
}

extension MergeNotification {
    /// How many ranges it has, of all entities.
    fileprivate var rangeCount: Int { changes.reduce(0) { $0 + $1.rangeCount } }
}
