import ImportEngine
import Synchronization

/// Takes merge notifications in as they come, and merges those that its reader has not taken yet into one.
final class NotificationBuffer: Sendable {
    /// What a reader has waited for.
    enum Event: Sendable {
        case merge(MergeNotification)
        /// It is the time that was given.
        case time
        /// No more come.
        case end
    }

    private struct State {
        var pending: MergeNotification?
        var end: Result<Void, any Error>?
        var waiter: CheckedContinuation<Void, Never>?
        /// True if the time has come that is waited for.
        var isTime = false
    }

    private let state = Mutex(State())

    /// Takes in all that come, until they end or the task is cancelled.
    func take<Notifications: AsyncSequence>(
        from notifications: Notifications
    ) async where Notifications.Element == MergeNotification {
        do {
            for try await notification in notifications { put(notification) }
            end(.success(()))
        } catch {
            end(.failure(error))
        }
    }

    private func put(_ notification: MergeNotification) {
        // Taken out while it is merged: a reader that comes now is a task, and must not hold its thread up.
        var pending = state.withLock { state in
            defer { state.pending = nil }
            return state.pending
        }
        if pending == nil { pending = notification } else { pending?.merge(notification) }
        wake { [pending] in $0.pending = pending }
    }

    private func end(_ result: Result<Void, any Error>) {
        wake { $0.end = $0.end ?? result }
    }

    /// Waits for the next one.
    ///
    /// - Parameter time: waits no longer.
    /// - Throws: what the sequence of notifications throws.
    func next(until time: Duration?, _ clock: ViewClock) async throws -> Event {
        while true {
            let isOver = Task.isCancelled
            let isTime = time.map { clock.now() >= $0 } ?? false
            let event = try state.withLock { state -> Event? in
                if isOver { return .end }
                if let pending = state.pending {
                    state.pending = nil
                    return .merge(pending)
                }
                if let end = state.end {
                    try end.get()
                    return .end
                }
                return isTime ? .time : nil
            }
            if let event { return event }
            await wait(until: time, clock)
        }
    }

    /// Waits until something comes, the task is cancelled or it is time; perhaps less.
    private func wait(until time: Duration?, _ clock: ViewClock) async {
        state.withLock { $0.isTime = false }
        let alarm = time.map { time in
            Task {
                await clock.sleep(time - clock.now())
                // One that was cancelled would end the next wait, and that one's the one after it.
                if !Task.isCancelled { wake { $0.isTime = true } }
            }
        }
        defer { alarm?.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if Task.isCancelled || state.isTime || state.pending != nil || state.end != nil { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            wake { _ in }
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
