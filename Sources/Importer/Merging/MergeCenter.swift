import Foundation

extension Notification.Name {
    /// Posted after commits that readers can see; `MergeNotification(_:)` takes out what they changed.
    ///
    /// The object is the `MergeCenter`. It comes on a thread of the center's own, in commit order.
    public static let storeDidMerge = Notification.Name("ImporterStoreDidMerge")
}

extension MergeNotification {
    fileprivate static let userInfoKey = "merge"

    /// What a `storeDidMerge` notification tells; nil for any other notification.
    public init?(_ notification: Notification) {
        guard let merge = notification.userInfo?[Self.userInfoKey] as? MergeNotification else { return nil }
        self = merge
    }
}

/// Hands merge notifications to whoever looks at the store, without ever holding the import up.
///
/// A commit only leaves its notification here. One thread posts them, in commit order; while an observer is busy, those
/// that come meanwhile become one.
public final class MergeCenter: Sendable {
    private struct State {
        var pending: MergeNotification?
        var isClosed = false
        var isDelivering = false
        var sequences: [MergeNotifications.Mailbox] = []
    }

    // Guarded by `condition`; a `Mutex` cannot be waited on.
    nonisolated(unsafe) private var state = State()
    private let condition = NSCondition()
    private let center: NotificationCenter

    /// - Parameter center: where notifications are posted.
    public init(center: NotificationCenter = .default) {
        self.center = center
    }

    /// The notifications from now on, as an asynchronous sequence that ends with the import.
    ///
    /// It keeps one notification for a reader that is behind: those that come meanwhile are merged into it.
    public func notifications() -> MergeNotifications {
        let mailbox = MergeNotifications.Mailbox()
        condition.withLock {
            state.sequences.append(mailbox)
            if state.isClosed { mailbox.close() }
        }
        return MergeNotifications(mailbox: mailbox)
    }

    /// Leaves a notification for delivery.
    func enqueue(_ notification: MergeNotification) {
        let sequences = condition.withLock { () -> [MergeNotifications.Mailbox] in
            if state.pending == nil { state.pending = notification } else { state.pending?.merge(notification) }
            if !state.isDelivering {
                state.isDelivering = true
                Thread.detachNewThread { [self] in deliver() }
            }
            condition.broadcast()
            state.sequences.removeAll { $0.isAbandoned }
            return state.sequences
        }
        for mailbox in sequences { mailbox.put(notification) }
    }

    /// Ends the sequences; what is left to be posted is posted without anybody waiting for it.
    func close() {
        let sequences = condition.withLock { () -> [MergeNotifications.Mailbox] in
            state.isClosed = true
            condition.broadcast()
            defer { state.sequences = [] }
            return state.sequences
        }
        for mailbox in sequences { mailbox.close() }
    }

    private func deliver() {
        while true {
            let next = condition.withLock { () -> MergeNotification? in
                while state.pending == nil, !state.isClosed { condition.wait() }
                guard let pending = state.pending else {
                    state.isDelivering = false
                    condition.broadcast()
                    return nil
                }
                state.pending = nil
                return pending
            }
            guard let next else { return }
            center.post(name: .storeDidMerge, object: self, userInfo: [MergeNotification.userInfoKey: next])
        }
    }
}
