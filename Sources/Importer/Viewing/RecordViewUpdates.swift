import ImportEngine

/// The updates of a view, for `for try await`.
///
/// There are at most 60 updates a second, and fewer if reading the store would take more than a twentieth of the time. Each has all
/// commits since the one before: a slow reader gets fewer updates, and blocks nothing.
public struct RecordViewUpdates: AsyncSequence, Sendable {
    /// The type of the elements.
    public typealias Element = RecordViewUpdate

    let view: RecordView
    /// Takes the notifications in.
    let take: @Sendable (NotificationBuffer) async -> Void

    /// Creates the iterator; one reader may use it.
    public func makeAsyncIterator() -> Iterator {
        Iterator(view: view, take)
    }

    /// Iterates over the updates; when it is deinitialized, the view is no longer updated.
    public final class Iterator: AsyncIteratorProtocol {
        private let view: RecordView
        private let buffer = NotificationBuffer()
        private let reading = SerialReadQueue("importer.view")
        private let taking: Task<Void, Never>
        private var hasBegun = false
        private var hasEnded = false
        /// Nothing is read before.
        private var next = Duration.zero

        init(view: RecordView, _ take: @escaping @Sendable (NotificationBuffer) async -> Void) {
            self.view = view
            taking = Task { [buffer] in await take(buffer) }
        }

        deinit {
            taking.cancel()
        }

        /// The next update; nil when the notifications have ended, or the task is cancelled.
        ///
        /// - Throws: `ImportError` when the store can no longer be read, was replaced or deleted; what the sequence of
        ///   notifications throws.
        public func next() async throws -> RecordViewUpdate? {
            if !hasBegun {
                hasBegun = true
                // What was committed before the notifications began.
                if let update = try await read({ try $0.refresh() }) { return update }
            }
            while !hasEnded {
                let wait = next - view.clock.now()
                if wait > .zero { await view.clock.sleep(wait) }
                let update: RecordViewUpdate?
                // Somebody else may be reading by the same view just now.
                let due = try await reading.run { [view] in view.totalIsDue }
                switch try await buffer.next(until: due, view.clock) {
                case .merge(let notification): update = try await read { try $0.merge(notification) }
                case .time: update = try await read { try $0.recount() }
                case .end:
                    hasEnded = true
                    update = Task.isCancelled ? nil : try await read { try $0.recount() }
                }
                if let update { return update }
            }
            return nil
        }

        private func read(
            _ body: @escaping @Sendable (RecordView) throws -> RecordViewUpdate?
        ) async throws -> RecordViewUpdate? {
            let (update, start, end) = try await reading.run { [view] in
                let start = view.clock.now()
                let update = try body(view)
                return (update, start, view.clock.now())
            }
            next = Swift.max(start + .seconds(1) / 60, end + (end - start) * 19)
            return update
        }
    }
}

extension RecordView {
    /// The view's updates from now on, as an asynchronous sequence that ends with the notifications.
    ///
    /// - Parameter notifications: those of the `MergeCenter` of an import, or of a `StoreFollower`.
    public func updates<Notifications: AsyncSequence & Sendable>(
        following notifications: Notifications
    ) -> RecordViewUpdates where Notifications.Element == MergeNotification {
        RecordViewUpdates(view: self) { await $0.take(from: notifications) }
    }

    /// Calls `onChange` with each update until the import is over.
    ///
    /// - Parameters:
    ///   - notifications: those of the `MergeCenter` of an import, or of a `StoreFollower`.
    ///   - isolation: the actor that `onChange` is called on, by default that of the caller. The store is read elsewhere.
    ///   - onChange: receives each update.
    /// - Throws: `ImportError` when the store can no longer be read, was replaced or deleted; what `onChange` throws.
    public func follow<Notifications: AsyncSequence & Sendable>(
        _ notifications: Notifications,
        isolation: isolated (any Actor)? = #isolation,
        onChange: (RecordViewUpdate) async throws -> Void
    ) async throws where Notifications.Element == MergeNotification {
        for try await update in updates(following: notifications) { try await onChange(update) }
    }
}
