import FlyingSocks

/// A subscription as the body of an answer: it ends when its reader goes.
struct EventStream: AsyncBufferedSequence {
    typealias Element = UInt8

    let subscription: EventSubscription

    func makeAsyncIterator() -> Iterator {
        Iterator(subscription: subscription, bell: subscription.bell.makeAsyncIterator())
    }

    /// Waits for events, and gives all that have come as one buffer.
    struct Iterator: AsyncBufferedIteratorProtocol {
        fileprivate let subscription: EventSubscription
        fileprivate var bell: AsyncStream<Void>.Iterator
        private var rest: ArraySlice<UInt8> = []

        fileprivate init(subscription: EventSubscription, bell: AsyncStream<Void>.Iterator) {
            self.subscription = subscription
            self.bell = bell
        }

        mutating func next() async -> UInt8? {
            if rest.isEmpty { rest = await nextBuffer(suggested: 1)?[...] ?? [] }
            return rest.popFirst()
        }

        mutating func nextBuffer(suggested count: Int) async -> [UInt8]? {
            while await bell.next() != nil {
                let bytes = subscription.take()
                if !bytes.isEmpty { return bytes }
            }
            return nil
        }
    }
}
