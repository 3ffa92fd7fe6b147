import Importer
import Synchronization
import Testing

@testable import ImportMigration

struct WorkerPoolTests {
    private struct Stop: Error {}

    private func run(
        _ workers: Int,
        _ interruption: Interruption = Interruption(),
        work: @escaping @Sendable (ChunkQueue) throws -> Void,
        feed: @escaping () throws -> Int
    ) throws -> Int {
        let queue = ChunkQueue(capacity: 1)
        return try WorkerPool.run(
            workers,
            on: queue,
            interruption: interruption,
            stop: { queue.fail($0) },
            work: { try work(queue) },
            feed: feed
        )
    }

    /// Workers wait for a feed that has nothing yet, and end with it.
    @Test(arguments: [1, 4]) func returnsWhatTheFeedDoesOnceTheWorkersAreDone(workers: Int) throws {
        let ended = Atomic(0)
        let result = try run(workers) { queue in
            while try queue.take() != nil {}
            ended.add(1, ordering: .relaxed)
        } feed: {
            7
        }
        #expect(result == 7)
        #expect((1...workers).contains(ended.load(ordering: .relaxed)))
    }

    /// Whoever waits then is stopped, and so is the reading of sources.
    @Test func aWorkersErrorEndsTheFeedAndIsTheRuns() throws {
        let interruption = Interruption()
        #expect(throws: Stop.self) {
            try run(1, interruption) { _ in
                throw Stop()
            } feed: {
                // As reading does that is asked to stop.
                while !interruption.isRequested {}
                throw interruption.error
            }
        }
        #expect(interruption.isRequested)
    }

    @Test func theFeedsErrorEndsTheWorkers() throws {
        #expect(throws: Stop.self) {
            try run(2) { queue in
                while try queue.take() != nil {}
            } feed: {
                throw Stop()
            }
        }
    }

    /// Somebody who waits for chunks when the run is interrupted is woken.
    @Test func anInterruptionWakesTheWorkers() throws {
        let interruption = Interruption()
        let error = #expect(throws: ImportError.self) {
            try run(2, interruption) { queue in
                while try queue.take() != nil {}
            } feed: {
                interruption.request(.hangup)
                return 0
            }
        }
        #expect(error?.code == .hangup)
    }
}
