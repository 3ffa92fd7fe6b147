import GRDB
import TestSupport
import Testing

@testable import Importer

/// What a look at some rows of a large table says of all of them.
struct ColumnDistributionTests {
    /// A store with rows `id`, `n` = id % 7, of which `condition` are deleted.
    private func store(rows: Int, deleting condition: String = "0") throws -> LibraryImport {
        let job = try LibraryImport("[{\"id\": 0, \"n\": 0}]")
        _ = try job.pipeline().run()
        let writer = try DatabaseQueue(path: job.store)
        try writer.write { database in
            try database.execute(
                sql: """
                    WITH RECURSIVE number(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM number WHERE id + 1 < \(rows))
                    INSERT INTO item (id, n) SELECT id, id % 7 FROM number;
                    DELETE FROM item WHERE \(condition);
                    """
            )
        }
        try writer.close()
        return job
    }

    private func distribution(_ attribute: String, _ job: LibraryImport) throws -> ColumnDistribution {
        try StoreReader(store: job.store).distribution(of: attribute, in: "item", Interruption())
    }

    @Test func aSmallTableIsReadWhole() throws {
        let found = try distribution("n", store(rows: 70))
        #expect(found.rows == 70 && !found.isSampled && found.nulls == 0 && found.distinct == 7)
        #expect(found.top.map(\.count) == Array(repeating: 10, count: 7))
        #expect(found.histogram.map(\.count).reduce(0, +) == 70)
    }

    @Test func ofALargeTableSomeRowsFromEverywhereAreRead() throws {
        let job = try store(rows: 300_000)
        let found = try distribution("n", job)
        #expect(found.rows == 100_000 && found.isSampled && found.distinct == 7)
        #expect(found.top.allSatisfy { (14_000...14_500).contains($0.count) })
        let ids = try distribution("id", job)
        guard case .integer(let first)? = ids.histogram.first?.from, case .integer(let last)? = ids.histogram.last?.to
        else { throw StoreContent.Failure("no whole numbers") }
        #expect(first < 10 && last > 297_000)
        #expect(ids.histogram.allSatisfy { (2_000...5_000).contains($0.count) })
    }

    /// Where rows are gone, others are not read in their place, and so none twice.
    @Test func noRowIsCountedTwice() throws {
        let job = try store(rows: 300_000, deleting: "id BETWEEN 50000 AND 250000 OR id % 3 = 0")
        let ids = try distribution("id", job)
        #expect(ids.isSampled)
        #expect(ids.distinct == ids.rows)
        #expect((30_000...70_000).contains(ids.rows))
    }
}
