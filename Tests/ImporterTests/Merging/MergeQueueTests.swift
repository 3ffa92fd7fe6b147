import ImportModel
import Importer
import Testing

@testable import ImportEngine

struct MergeQueueTests {
    /// However long nobody takes anything, what is kept is bounded, and what it ends with is not lost.
    @Test(arguments: [1, EntityChanges.maximumRanges]) func theQueueIsBounded(ranges: Int) throws {
        var change = EntityChanges(entity: "a", table: "a")
        for row in 0..<ranges { change.update(Int64(row * 2)) }
        var queue = MergeQueue()
        let last = 5_000
        for commit in 1...last {
            queue.add(
                MergeNotification(
                    job: Int64(commit / 1_000 + 1),
                    commit: Int64(commit),
                    changes: [change],
                    totals: [],
                    marker: Marker(),
                    isFinished: commit % 1_000 == 999
                )
            )
        }
        let merges = queue.takeAll().compactMap { item -> MergeNotification? in
            if case .merge(let merge) = item { merge } else { nil }
        }
        #expect(merges.count <= MergeQueue.mostMerges)
        #expect(merges.reduce(0) { $0 + $1.changes.reduce(0) { $0 + $1.rangeCount } } <= MergeQueue.mostRanges)
        let merged = try #require(merges.merged)
        #expect(merged.needsRefresh && merged.commit == Int64(last))
        #expect(merged.finishedJobs == [1, 2, 3, 4, 5])
        #expect(merges.first?.needsRefresh == false)
        #expect(queue.isEmpty)
    }
}
