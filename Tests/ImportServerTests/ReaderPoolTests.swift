import Importer
import Synchronization
import TestSupport
import Testing

@testable import ImportServer

/// How long a query may take, and how many there are at a time.
struct ReaderPoolTests {
    @Test func aQueryThatTakesTooLongIsStopped() async throws {
        let directory = try TemporaryDirectory()
        let pool = ReaderPool(store: directory.path("none.sqlite"), limit: .milliseconds(10))
        let error = await #expect(throws: ResponseError.self) {
            try await pool.read { _, interruption in
                while !interruption.isRequested {}
                throw ImportError(.interrupted, "interrupted")
            }
        }
        #expect(error?.status == .unavailable)
        #expect(error?.code == "too_slow")
        // The next one is read.
        #expect(try await pool.read { reader, _ in try reader.entities.count } == 0)
    }

    @Test func onlyAFewReadAtATime() async throws {
        let directory = try TemporaryDirectory()
        let pool = ReaderPool(store: directory.path("none.sqlite"), limit: .seconds(900))
        let (now, most) = (Counter(), Counter())
        let count = 40
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await pool.read { _, _ in
                        most.raise(to: now.add(1))
                        _ = now.add(-1)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect((1...ReaderPool.mostReaders).contains(most.value))
    }
}

/// A number that threads share.
private final class Counter: Sendable {
    private let number = Mutex(0)

    var value: Int { number.withLock { $0 } }

    func add(_ more: Int) -> Int {
        number.withLock { number in
            number += more
            return number
        }
    }

    func raise(to new: Int) { number.withLock { $0 = max($0, new) } }
}
