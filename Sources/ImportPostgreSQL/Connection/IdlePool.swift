import Synchronization

/// Things with a connection, kept from one use to the next: to connect takes longer than most of what is asked.
final class IdlePool<Thing>: Sendable {
    private let make: @Sendable () -> Thing
    private let idle = Mutex(Idle())

    /// Of what is idle nobody has a reference, and each is removed for one user alone.
    private struct Idle: @unchecked Sendable {
        var things: [Thing] = []
    }

    /// - Parameter make: makes one where all are in use.
    init(_ make: @escaping @Sendable () -> Thing) {
        self.make = make
    }

    /// Calls `body` with one that is not in use; it is kept unless `body` throws.
    func use<Result>(_ body: (Thing) throws -> Result) rethrows -> Result {
        let taken = idle.withLock { idle in
            Idle(things: idle.things.popLast().map { [$0] } ?? [])
        }
        let thing = taken.things.first ?? make()
        let result = try body(thing)
        let used = Idle(things: [thing])
        idle.withLock { $0.things += used.things }
        return result
    }
}
