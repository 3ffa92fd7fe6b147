import ImportEngine

/// The updates of a view, for `for try await`.
///
/// They come at most 60 times a second, and so that reading the store takes at most a twentieth of the time. Each reports
/// everything that was committed since the one before: a slow reader gets fewer, and holds nothing up.
public struct RecordViewUpdates: AsyncSequence, Sendable {
    /// What comes.
    public typealias Element = RecordViewUpdate

    let view: RecordView
    /// Takes the notifications in.
    let take: @Sendable (NotificationBuffer) async -> Void

    /// Begins to follow; meant for one reader.
    public func makeAsyncIterator() -> Iterator {
        Iterator(view: view, take)
    }

    /// Reads the sequence; when it goes, nothing is taken in for it any more.
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
    /// - Parameter notifications: from the `MergeCenter` of an import, or of another process.
    public func updates<Notifications: AsyncSequence & Sendable>(
        following notifications: Notifications
    ) -> RecordViewUpdates where Notifications.Element == MergeNotification {
        RecordViewUpdates(view: self) { await $0.take(from: notifications) }
    }

    /// Follows an import until it is over: calls `onChange` with each update.
    ///
    /// - Parameters:
    ///   - notifications: from the `MergeCenter` of an import, or of another process.
    ///   - isolation: where `onChange` is called: the caller's own isolation, if nothing else is said. The store is read
    ///     elsewhere.
    ///   - onChange: gets each update.
    /// - Throws: `ImportError` when the store can no longer be read, was replaced or deleted; what `onChange` throws.
    public func follow<Notifications: AsyncSequence & Sendable>(
        _ notifications: Notifications,
        isolation: isolated (any Actor)? = #isolation,
        onChange: (RecordViewUpdate) async throws -> Void
    ) async throws where Notifications.Element == MergeNotification {
        for try await update in updates(following: notifications) { try await onChange(update) }
    }
}
