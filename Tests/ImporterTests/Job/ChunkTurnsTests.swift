import Foundation
import Importer
import Synchronization
import Testing

@testable import ImportEngine

struct ChunkTurnsTests {
    private struct Stop: Error {}

    /// However many workers there are, chunks commit in the order in which they were handed out.
    @Test(arguments: [1, 2, 4]) func turnsComeInOrder(workers: Int) throws {
        let queue = ChunkQueue(capacity: 1)
        let next = Mutex(0)
        let committed = Mutex<[Int]>([])
        let pool = WorkerPool(workers: workers) { queue.fail($0) }
        let work: @Sendable () throws -> Void = {
            while true {
                let number = next.withLock { number in
                    defer { number += 1 }
                    return number
                }
                guard number < 200 else { return }
                try queue.wait(for: number)
                committed.withLock { $0.append(number) }
                queue.finish(number)
            }
        }
        try pool.start(Array(repeating: work, count: workers))
        try pool.wait()
        #expect(committed.withLock { $0 } == Array(0..<200))
    }

    /// An error stops those who wait, and is the one that the pool throws.
    @Test func anErrorWakesEveryWaiter() throws {
        let queue = ChunkQueue(capacity: 1)
        let pool = WorkerPool(workers: 3) { queue.fail($0) }
        let waiters = DispatchSemaphore(value: 0)
        let woken = Mutex(0)
        func waiter(for number: Int) -> @Sendable () throws -> Void {
            {
                waiters.signal()
                do {
                    try queue.wait(for: number)
                } catch {
                    woken.withLock { $0 += 1 }
                    throw error
                }
            }
        }
        let thrower: @Sendable () throws -> Void = {
            for _ in 0..<2 { waiters.wait() }
            throw Stop()
        }
        try pool.start([waiter(for: 5), waiter(for: 6), thrower])
        #expect(throws: Stop.self) { try pool.wait() }
        #expect(woken.withLock { $0 } == 2)
    }
}
