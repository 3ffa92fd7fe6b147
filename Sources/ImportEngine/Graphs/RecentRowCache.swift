/// The last statements of nested objects in the batch at hand, as far as there is room: one that says the same as the last one of
/// its object needs no row.
///
/// Used by one worker.
package final class RecentRowCache {
    // Objects that are named again soon are what it is for; it stays in the processor's caches.
    private static let slots = 1 << 13

    private let digests: UnsafeMutablePointer<(high: UInt64, low: UInt64)>

    package init() {
        digests = .allocate(capacity: Self.slots)
        digests.initialize(repeating: (0, 0), count: Self.slots)
    }

    deinit { digests.deallocate() }

    /// Forgets everything, as a batch begins or what was said is taken back.
    package func reset() { digests.update(repeating: (0, 0), count: Self.slots) }

    /// Remembers what a row says.
    ///
    /// - Returns: whether the last one of its object said the same.
    @inline(__always)
    package func remember(_ digest: RowDigest) -> Bool {
        let slot = Int(truncatingIfNeeded: digest.key & UInt64(Self.slots - 1))
        if digests[slot] == (digest.high, digest.low) { return true }
        digests[slot] = (digest.high, digest.low)
        return false
    }
}
