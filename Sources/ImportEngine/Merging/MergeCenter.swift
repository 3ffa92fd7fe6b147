import Foundation
import ImportSources

extension Notification.Name {
    /// Posted after commits that readers can see; `MergeNotification(_:)` gets their changes.
    ///
    /// The object is the `MergeCenter`. Notifications are posted on a thread of the center's own, in commit order.
    public static let storeDidMerge = Notification.Name("ImporterStoreDidMerge")
}

extension MergeNotification {
    fileprivate static let userInfoKey = "merge"

    /// The changes of a `storeDidMerge` notification; nil for any other notification.
    public init?(_ notification: Notification) {
        guard let merge = notification.userInfo?[Self.userInfoKey] as? MergeNotification else { return nil }
        self = merge
    }
}

/// Delivers merge notifications to readers, without ever blocking the import.
///
/// A commit only appends its notification to a bounded queue (`MergeQueue`). One thread delivers notifications to the sequences, and
/// merges them for slow readers; it never waits. Another thread posts them, in commit order; while an observer is busy, new
/// notifications are merged into one. Both threads end with the last import that uses the center.
public final class MergeCenter: Sendable {
    private struct State {
        var queue = MergeQueue()
        /// The number of imports and followers that use the center.
        var users = 0
        /// True if there were users, and none is left.
        var isClosed = false
        /// True if there is a thread that reads the queue.
        var isMerging = false
    }

    /// What is still to be posted.
    private struct Posting {
        var pending: MergeNotification?
        /// The number of threads that pass on notifications to post: one, and another that has just ended its sequences.
        var mergers = 0
        /// True if there is a thread that posts.
        var isRunning = false
    }

    // Guarded by `condition`; a `Mutex` cannot be waited on. Nothing is merged while it is held, as commits wait for it.
    nonisolated(unsafe) private var state = State()
    private let condition = NSCondition()
    // Guarded by `postingCondition`; a `Mutex` cannot be waited on.
    nonisolated(unsafe) private var posting = Posting()
    private let postingCondition = NSCondition()
    private let center: NotificationCenter

    /// Creates a center that posts its notifications to a `NotificationCenter`.
    public init(center: NotificationCenter = .default) {
        self.center = center
    }

    /// The notifications from now on, as an asynchronous sequence that ends with the last import that uses the center.
    ///
    /// For a slow reader, it keeps one notification, into which new ones are merged.
    public func notifications() -> MergeNotifications {
        let mailbox = MergeNotifications.Mailbox()
        let isClosed = condition.withLock {
            if !state.isClosed { state.queue.add(mailbox) }
            return state.isClosed
        }
        if isClosed { mailbox.close() }
        return MergeNotifications(mailbox: mailbox)
    }

    /// Begins to deliver the notifications of an import or a follower, which must call `close` at its end, also if this throws.
    ///
    /// The threads are created before anything is committed, so that every commit can be delivered.
    ///
    /// - Throws: `ImportError` with `.noResources` when the system gives no thread.
    package func open() throws {
        try condition.withLock {
            state.users += 1
            state.isClosed = false
            guard !state.isMerging else { return }
            try startPosting()
            do {
                try SystemThread.start(to: "merge notifications") { [self] in merge() }
            } catch {
                endPosting()
                throw error
            }
            state.isMerging = true
        }
    }

    /// Leaves a notification for delivery, which costs the same whatever it reports and however many listen.
    package func enqueue(_ notification: MergeNotification) {
        condition.withLock {
            state.queue.add(notification)
            condition.signal()
        }
    }

    /// Ends the sequences once they have what was left, if no other import uses the center; what is to be posted is posted
    /// without anybody waiting for it.
    package func close() {
        let left = condition.withLock { () -> [MergeQueue.Item] in
            state.users -= 1
            guard state.users == 0 else { return [] }
            state.isClosed = true
            condition.signal()
            return state.isMerging ? [] : state.queue.takeAll()
        }
        // Where there was no thread to be had, none would.
        for case .sequence(let mailbox) in left { mailbox.close() }
    }

    // MARK: Merging

    private func merge() {
        var sequences: [MergeNotifications.Mailbox] = []
        while let items = takeItems() {
            sequences.removeAll { $0.isAbandoned }
            // What has piled up is merged once, not by each of those who get it.
            var merged: MergeNotification?
            for item in items {
                switch item {
                case .merge(let next):
                    if merged == nil { merged = next } else { merged?.merge(next) }
                case .sequence(let mailbox):
                    handOut(merged, to: sequences)
                    merged = nil
                    sequences.append(mailbox)
                }
            }
            handOut(merged, to: sequences)
        }
        for mailbox in sequences { mailbox.close() }
        endPosting()
    }

    /// Waits for what commits leave; nil when no more come.
    private func takeItems() -> [MergeQueue.Item]? {
        condition.withLock {
            while state.queue.isEmpty, !state.isClosed { condition.wait() }
            guard state.queue.isEmpty else { return state.queue.takeAll() }
            state.isMerging = false
            return nil
        }
    }

    private func handOut(_ notification: MergeNotification?, to sequences: [MergeNotifications.Mailbox]) {
        guard let notification else { return }
        for mailbox in sequences { mailbox.put(notification) }
        // Taken out while it is merged: the other thread waits meanwhile.
        var pending = postingCondition.withLock {
            defer { posting.pending = nil }
            return posting.pending
        }
        if pending == nil { pending = notification } else { pending?.merge(notification) }
        postingCondition.withLock {
            posting.pending = pending
            postingCondition.signal()
        }
    }

    // MARK: Posting

    private func startPosting() throws {
        try postingCondition.withLock {
            if !posting.isRunning {
                try SystemThread.start(to: "post notifications") { [self] in post() }
                posting.isRunning = true
            }
            posting.mergers += 1
        }
    }

    private func endPosting() {
        postingCondition.withLock {
            posting.mergers -= 1
            postingCondition.signal()
        }
    }

    private func post() {
        while true {
            let next = postingCondition.withLock { () -> MergeNotification? in
                while posting.pending == nil, posting.mergers > 0 { postingCondition.wait() }
                defer { posting.pending = nil }
                if posting.pending == nil { posting.isRunning = false }
                return posting.pending
            }
            guard let next else { return }
            center.post(name: .storeDidMerge, object: self, userInfo: [MergeNotification.userInfoKey: next])
        }
    }
}
