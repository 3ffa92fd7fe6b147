/// A position in the store's log of commits.
///
/// Save it, and pass it to a `StoreFollower` to continue after the last commit received, without gaps or duplicates.
public struct StorePosition: Sendable, Hashable, Codable {
    /// Tells the store from others; nil where nothing was followed yet.
    package let store: Int64?
    /// The number of the last entry of the store's log that was seen; 0 for none.
    package let sequence: Int64
    /// Tells that entry from one that has the same number in a copy of the store, or that came instead of one that a
    /// power cut took away.
    package let stamp: Int64

    package init(store: Int64?, sequence: Int64, stamp: Int64) {
        self.store = store
        self.sequence = sequence
        self.stamp = stamp
    }

    /// The position before the first commit of any store.
    public static let start = StorePosition(store: nil, sequence: 0, stamp: 0)
}
