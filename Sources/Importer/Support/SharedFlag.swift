import Synchronization

/// A flag that one thread clears while another may be acting on it.
final class SharedFlag: Sendable {
    private let isSet = Mutex(true)

    func clear() { isSet.withLock { $0 = false } }

    /// Acts if it is still set; it stays so meanwhile.
    func ifSet(_ action: () -> Void) {
        isSet.withLock { if $0 { action() } }
    }
}
