import Foundation
import Importer
import Synchronization
import TestSupport
import Testing

struct ChunkQueueTests {
    private struct Stop: Error {}

    /// Chunks of one record each, as the splitter makes them.
    private static func chunks(_ count: Int) throws -> [SealedChunk] {
        let text = "[\((0..<count).map(String.init).joined(separator: ","))]"
        let split = SplitCase(paths: ["$[*]"], chunkSize: 1)
        let entries = try split.split(Array(text.utf8)).entries
        // Nobody reads the chunks: the directory may go.
        let place = ChunkDirectoryCheck()
        defer { withExtendedLifetime(place) {} }
        let directory = try ChunkDirectory(path: place.path, creates: true)
        let shape = SourceShape(layout: .stream, paths: ["$[*]"])
        return entries.map { SealedChunk($0, in: directory, shape: shape, maxRecordBytes: 100) }
    }

    @Test func numbersChunksAsTheyAreHandedOut() throws {
        let chunks = try Self.chunks(5)
        let queue = ChunkQueue(capacity: chunks.count)
        for chunk in chunks { try queue.put([chunk]) }
        queue.close()
        var items: [ChunkQueue.Item] = []
        while let item = try queue.take() { items.append(item) }
        #expect(items.map(\.turn) == Array(chunks.indices))
        #expect(items.flatMap(\.chunks).map(\.entry) == chunks.map(\.entry))
        #expect(try queue.take() == nil)
    }

    /// Who puts is never more than the capacity ahead of those who take.
    @Test(arguments: [1, 3]) func holdsNoMoreThanItsCapacity(capacity: Int) throws {
        let chunks = try Self.chunks(200)
        let queue = ChunkQueue(capacity: capacity)
        let asked = Atomic(0)
        let excesses = Atomic(0)
        let pool = WorkerPool(workers: 1) { queue.fail($0) }
        try pool.start([
            {
                for (index, chunk) in chunks.enumerated() {
                    try queue.put([chunk])
                    if index + 1 > asked.load(ordering: .sequentiallyConsistent) + capacity {
                        excesses.add(1, ordering: .relaxed)
                    }
                }
                queue.close()
            }
        ])
        var count = 0
        repeat { asked.add(1, ordering: .sequentiallyConsistent) } while try queue.take().map { _ in count += 1 } != nil
        try pool.wait()
        #expect(count == chunks.count)
        #expect(excesses.load(ordering: .relaxed) == 0)
    }

    /// Neither who waits nor who comes later gets more; the first error is the one.
    @Test func aFailureEndsItForEverybody() throws {
        let chunks = try Self.chunks(2)
        let queue = ChunkQueue(capacity: 1)
        try queue.put([chunks[0]])
        let pool = WorkerPool(workers: 1) { _ in }
        try pool.start([{ try queue.put([chunks[1]]) }])
        queue.fail(Stop())
        queue.fail(NeverCame("a second error"))
        #expect(throws: Stop.self) { try pool.wait() }
        #expect(throws: Stop.self) { try queue.put([chunks[1]]) }
        #expect(throws: Stop.self) { try queue.take() }
    }

    @Test func aClosedQueueIsEmptied() throws {
        let queue = ChunkQueue(capacity: 1)
        queue.close()
        #expect(try queue.take() == nil)
    }
}
