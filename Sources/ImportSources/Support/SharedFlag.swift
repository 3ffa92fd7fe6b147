import Synchronization

/// A flag that one thread clears while another may be acting on it.
package final class SharedFlag: Sendable {
    package init() {}

    private let isSet = Mutex(true)

    package func clear() { isSet.withLock { $0 = false } }

    /// Acts if it is still set; it stays so meanwhile.
    package func ifSet(_ action: () -> Void) {
        isSet.withLock { if $0 { action() } }
    }
}
