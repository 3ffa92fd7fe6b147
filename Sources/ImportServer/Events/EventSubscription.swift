import Synchronization

/// What one reader of events has yet to get.
///
/// A reader that is slow costs nobody anything: of progress it gets the newest, and where too many merges wait it is to read
/// everything again instead. It is taken off its hub when the last reference goes.
final class EventSubscription: Sendable {
    private struct Waiting {
        var progress: ServerEvent?
        var merges: [ServerEvent] = []
        var refresh: ServerEvent?
        var finished: ServerEvent?
        var needsComment = false
    }

    /// More merges than these do not wait.
    private static let mostMerges = 32

    /// A call for each time that something has come, of which one waits at most.
    let bell: AsyncStream<Void>
    private let ring: AsyncStream<Void>.Continuation
    private let waiting = Mutex(Waiting())
    private let onEnd: @Sendable () -> Void

    /// - Parameter onEnd: called when nobody has it any more.
    init(onEnd: @escaping @Sendable () -> Void) {
        (bell, ring) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.onEnd = onEnd
    }

    deinit { onEnd() }

    /// Adds an event.
    func post(_ event: ServerEvent) {
        waiting.withLock { waiting in
            switch event.kind {
            case .progress: waiting.progress = event
            case .finished: waiting.finished = event
            case .refresh:
                waiting.refresh = event
                waiting.merges = []
            case .merge where waiting.merges.count < Self.mostMerges && waiting.refresh == nil:
                waiting.merges.append(event)
            case .merge:
                waiting.merges = []
                waiting.refresh = ServerEvent(
                    .refresh,
                    id: event.id,
                    data: Array(#"{"reason":"too much has changed"}"#.utf8)
                )
            }
        }
        ring.yield()
    }

    /// Asks for a comment, where nothing else is waiting.
    func postComment() {
        waiting.withLock { $0.needsComment = true }
        ring.yield()
    }

    /// Everything that waits, in the order in which it is to be sent; empty for nothing.
    func take() -> [UInt8] {
        let waiting = waiting.withLock { waiting in
            defer { waiting = Waiting() }
            return waiting
        }
        var events = [waiting.refresh].compactMap(\.self) + waiting.merges
        events += [waiting.progress, waiting.finished].compactMap(\.self)
        if events.isEmpty { return waiting.needsComment ? ServerEvent.comment : [] }
        return events.flatMap(\.bytes)
    }
}
