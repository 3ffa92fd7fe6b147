import Testing

@testable import ImportServer

/// Who gets which events, and what becomes of readers that are slow or gone.
struct EventHubTests {
    private func merge(_ number: Int) -> ServerEvent {
        ServerEvent(.merge, id: "\(number)", data: Array("{\"sequence\":\(number)}".utf8))
    }

    private func text(_ subscription: EventSubscription?) -> String {
        String(decoding: subscription?.take() ?? [], as: UTF8.self)
    }

    @Test func aSlowReaderGetsTheNewestProgress() {
        let hub = EventHub()
        let reader = hub.subscribe(after: nil)
        for number in 1...1_000 { hub.post(ServerEvent(.progress, data: Array("{\"records\":\(number)}".utf8))) }
        #expect(text(reader) == "event: progress\ndata: {\"records\":1000}\n\n")
        #expect(text(reader).isEmpty)
    }

    @Test func aSlowReaderIsToReadEverythingAgain() {
        let hub = EventHub()
        let slow = hub.subscribe(after: nil)
        let fast = hub.subscribe(after: nil)
        var got = ""
        for number in 1...100 {
            hub.post(merge(number))
            got += text(fast)
        }
        #expect(got == (1...100).map { "event: merge\nid: \($0)\ndata: {\"sequence\":\($0)}\n\n" }.joined())
        let events = text(slow).components(separatedBy: "\n\n").filter { !$0.isEmpty }
        #expect(events.count == 1)
        #expect(events.first?.hasPrefix("event: refresh\n") == true)
        hub.post(merge(101))
        #expect(text(slow) == "event: merge\nid: 101\ndata: {\"sequence\":101}\n\n")
    }

    @Test func aReaderContinuesWhereItStopped() {
        let hub = EventHub()
        for number in 1...10 { hub.post(merge(number)) }
        #expect(text(hub.subscribe(after: "8")).components(separatedBy: "\n\n").count == 3)
        #expect(text(hub.subscribe(after: "10")).isEmpty)
        #expect(text(hub.subscribe(after: nil)).isEmpty)
        #expect(text(hub.subscribe(after: "other")).hasPrefix("event: refresh\nid: 10\n"))
        for number in 11...400 { hub.post(merge(number)) }
        #expect(text(hub.subscribe(after: "10")).hasPrefix("event: refresh\n"))
        hub.post(EventHub.refresh("another store"))
        #expect(text(hub.subscribe(after: "400")).hasPrefix("event: refresh\n"))
    }

    @Test func placesAreGivenBack() {
        let hub = EventHub()
        var readers = (0..<EventHub.mostSubscriptions).map { _ in hub.subscribe(after: nil) }
        #expect(readers.allSatisfy { $0 != nil })
        #expect(hub.subscribe(after: nil) == nil)
        readers.removeLast()
        #expect(hub.count == EventHub.mostSubscriptions - 1)
        #expect(hub.subscribe(after: nil) != nil)
        readers.removeAll()
        #expect(hub.count == 0)
        // Nobody is left, and nobody is missed.
        hub.post(merge(1))
        hub.postComments()
    }

    @Test func aCommentIsSentWhereNothingElseWaits() {
        let hub = EventHub()
        let reader = hub.subscribe(after: nil)
        hub.postComments()
        #expect(text(reader).hasPrefix(": "))
        hub.postComments()
        hub.post(merge(1))
        #expect(text(reader).hasPrefix("event: merge\n"))
    }
}
