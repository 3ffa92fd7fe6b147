import Synchronization

/// How often a server was waited for.
final class RoundTripCounter: Sendable {
    private let trips = Atomic(0)

    var count: Int { trips.load(ordering: .relaxed) }

    func add(_ more: Int) { trips.add(more, ordering: .relaxed) }
}
