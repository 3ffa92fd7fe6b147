import ImportModel
import Synchronization

/// Hands what happens to a store to all who read its events.
final class EventHub: Sendable {
    /// So many may read at a time.
    static let mostSubscriptions = 32
    /// So many merges are kept for readers that come back.
    private static let mostMerges = 256

    private struct WeakSubscription {
        weak var subscription: EventSubscription?
    }

    private struct State {
        var subscriptions: [Int: WeakSubscription] = [:]
        var lastNumber = 0
        var progress: ServerEvent?
        /// The last merges, the newest last.
        var merges: [ServerEvent] = []
    }

    private let state = Mutex(State())
    private let onSubscription: @Sendable () -> Void

    /// - Parameter onSubscription: called for each new reader.
    init(onSubscription: @escaping @Sendable () -> Void = {}) {
        self.onSubscription = onSubscription
    }

    /// How many read now.
    var count: Int { state.withLock { $0.subscriptions.count } }

    /// Adds a reader, who gets the state of the import at once.
    ///
    /// - Parameter last: the number of the last merge that it has got, from its last connection; nil for none.
    /// - Returns: nil where there are too many.
    func subscribe(after last: String?) -> EventSubscription? {
        let subscription = state.withLock { state -> EventSubscription? in
            guard state.subscriptions.count < Self.mostSubscriptions else { return nil }
            state.lastNumber += 1
            let number = state.lastNumber
            let subscription = EventSubscription { [weak self] in self?.remove(number) }
            state.subscriptions[number] = WeakSubscription(subscription: subscription)
            if let last {
                if let place = state.merges.lastIndex(where: { $0.id == last }) {
                    for event in state.merges[(place + 1)...] { subscription.post(event) }
                } else {
                    subscription.post(
                        Self.refresh("what has changed meanwhile is not known", id: state.merges.last?.id)
                    )
                }
            }
            if let progress = state.progress { subscription.post(progress) }
            return subscription
        }
        onSubscription()
        return subscription
    }

    private func remove(_ number: Int) {
        state.withLock { _ = $0.subscriptions.removeValue(forKey: number) }
    }

    /// Sends an event to all readers.
    func post(_ event: ServerEvent) {
        let subscriptions = state.withLock { state -> [EventSubscription] in
            switch event.kind {
            case .progress: state.progress = event
            case .merge:
                state.merges.append(event)
                if state.merges.count > Self.mostMerges { state.merges.removeFirst() }
            case .refresh: state.merges = []
            case .finished: break
            }
            return state.subscriptions.values.compactMap(\.subscription)
        }
        for subscription in subscriptions { subscription.post(event) }
    }

    /// Has all readers sent a comment.
    func postComments() {
        let subscriptions = state.withLock { $0.subscriptions.values.compactMap(\.subscription) }
        for subscription in subscriptions { subscription.postComment() }
    }

    /// What has readers read everything again.
    static func refresh(_ reason: String, id: String? = nil) -> ServerEvent {
        let data: JSONValue = ["reason": .string(reason)]
        return ServerEvent(.refresh, id: id, data: Array(data.serialized().utf8))
    }
}
