import GRDB
import Importer
import TestSupport
import Testing

/// What is said of a store's imports by a connection that stays open.
struct StoreOverviewTests {
    private static let records = #"[{"id": 1, "age": 5}, {"id": 2, "age": "x"}, {"id": 3, "age": 7}]"#

    @Test func anOverviewSaysWhatSingleQuestionsDo() throws {
        let job = try LibraryImport(Self.records)
        for _ in 0..<3 { _ = try job.pipeline(JobOptions(), RunOptions(again: true)).run() }
        try DatabaseQueue(path: job.store).inDatabase { database in
            try database.execute(sql: "UPDATE _import_job SET state = 'failed' WHERE id < 3")
        }
        let alone = StoreInspection(store: job.store)
        let open = try #require(try StoreReader(awaiting: job.store).inspection(Interruption()))
        let overview = try open.overview(jobs: 20)
        #expect(overview.report == (try alone.status()) && overview.report.job == 2)
        #expect(overview.unfinished == (try alone.unfinished()) && overview.unfinished.map(\.job) == [1, 2])
        #expect(overview.jobs == (try alone.jobs()) && overview.jobs.count == 3)
        #expect(overview.sources.map(\.records) == [3])
        #expect(try open.ledger() == alone.status().ledger)
        #expect(try open.overview(jobs: 2).jobs == Array(overview.jobs.suffix(2)) && overview.jobCount == 3)
        let newest = try open.jobDetails(before: .max, limit: 2)
        #expect(newest.hasEarlier && newest.jobs.map(\.summary) == Array(overview.jobs.suffix(2)))
        #expect(try newest.jobs.map(\.report) == [alone.status(of: 2), alone.status(of: 3)])
        let first = try open.jobDetails(before: 2, limit: 2)
        #expect(!first.hasEarlier && first.jobs.map(\.summary) == [overview.jobs[0]])
    }

    @Test func tablesThatAreMadeLaterAreSeen() throws {
        let job = try LibraryImport(Self.records)
        _ = try job.pipeline(JobOptions()).run()
        let open = try #require(try StoreReader(awaiting: job.store).inspection(Interruption()))
        let table = try #require(try open.overview(jobs: 20).report.entities.keys.first)
        let other = try DatabaseQueue(path: job.store)
        try other.inDatabase { try $0.execute(sql: "ALTER TABLE _import_addition RENAME TO away") }
        #expect(try open.origin(of: 1, in: table) == nil)
        try other.inDatabase { try $0.execute(sql: "ALTER TABLE away RENAME TO _import_addition") }
        #expect(try open.origin(of: 1, in: table)?.job == 1)
    }

    @Test func whatIsNotThereYetIsNoImport() throws {
        let directory = try TemporaryDirectory()
        let reader = try StoreReader(awaiting: directory.path("none.sqlite"))
        #expect(try reader.inspection(Interruption()).map { try $0.jobs() } == nil)
    }
}
