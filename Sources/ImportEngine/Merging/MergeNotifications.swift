import Synchronization

/// Merge notifications as an asynchronous sequence, for `for await`.
public struct MergeNotifications: AsyncSequence, Sendable {
    /// Holds at most one notification for its reader.
    package final class Mailbox: Sendable {
        private typealias Waiter = CheckedContinuation<MergeNotification?, Never>

        private struct State {
            var pending: MergeNotification?
            var waiter: Waiter?
            var isClosed = false
            var isAbandoned = false
        }

        private let state = Mutex(State())

        /// True if the sequence has no reader any more.
        var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

        /// Hands one to the reader, or keeps it until there is one; to be called by one thread, as `close` is.
        package func put(_ notification: MergeNotification) {
            // Taken out while it is merged: a reader that comes now is a task, and must not hold its thread up.
            var next = state.withLock { state in
                defer { state.pending = nil }
                return state.pending
            }
            if next == nil { next = notification } else { next?.merge(notification) }
            let waiter = state.withLock { state -> Waiter? in
                defer { state.waiter = nil }
                if state.waiter == nil, !state.isAbandoned { state.pending = next }
                return state.waiter
            }
            waiter?.resume(returning: next)
        }

        /// No more come; what is pending can still be read.
        package func close() {
            let waiter = state.withLock { state in
                state.isClosed = true
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: nil)
        }

        package func abandon() {
            state.withLock { $0.isAbandoned = true }
            close()
        }

        package func next() async -> MergeNotification? {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let (ready, other) = state.withLock { state -> (MergeNotification??, Waiter?) in
                        if let pending = state.pending {
                            state.pending = nil
                            return (.some(pending), nil)
                        }
                        if state.isClosed { return (.some(nil), nil) }
                        defer { state.waiter = continuation }
                        return (nil, state.waiter)
                    }
                    if let ready { continuation.resume(returning: ready) }
                    // There is one reader; who else waits must not do so for ever.
                    other?.resume(returning: nil)
                }
            } onCancel: {
                abandon()
            }
        }
    }

    let mailbox: Mailbox

    /// Creates the iterator; one reader may use it.
    public func makeAsyncIterator() -> Iterator {
        Iterator(mailbox: mailbox)
    }

    /// Iterates over the notifications; when it is deinitialized, none are kept any more.
    public final class Iterator: AsyncIteratorProtocol {
        private let mailbox: Mailbox

        package init(mailbox: Mailbox) {
            self.mailbox = mailbox
        }

        deinit {
            mailbox.abandon()
        }

        /// The next notification; nil when the import is over.
        public func next() async -> MergeNotification? {
            await mailbox.next()
        }
    }
}
