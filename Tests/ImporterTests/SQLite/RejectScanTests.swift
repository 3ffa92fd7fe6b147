import GRDB
import ImportModel
import Importer
import TestSupport
import Testing

struct RejectScanTests {
    /// A store with two jobs, all of whose records but one in ten are rejects.
    private static func store(_ count: Int) throws -> LibraryImport {
        let records = (0..<count).map { "{\"x\":\($0.isMultiple(of: 10) ? "1" : "\"no\"")}" }
        let job = try LibraryImport("[" + records.joined(separator: ",") + "]")
        let text = #"{"entities":{"item":{"attributes":{"x":{"type":"integer64"}}}}}"#
        let model = try ModelDescription(parsing: Array(text.utf8))
        _ = try job.pipeline(JobOptions(model: model)).run()
        _ = try job.pipeline(JobOptions(model: model), RunOptions(again: true)).run()
        return job
    }

    @Test func handsEachRejectOverOnceInOrder() throws {
        let job = try Self.store(2_000)
        var numbers: [Int64] = []
        try StoreInspection(store: job.store).forEachReject { numbers.append($0.number) }
        let expected = try StoreContent.query(job.store, "SELECT id FROM _import_reject ORDER BY job, ordinal")
        #expect(numbers.map(String.init).joined(separator: "\n") == expected)
        #expect(numbers.count == 3_600)
        var second = 0
        try StoreInspection(store: job.store).forEachReject(RejectSelection(job: 2)) { _ in second += 1 }
        #expect(second == 1_800)
    }

    /// Anyone who reads slowly must not make the WAL of an import grow.
    @Test func holdsNothingUpWhileItsRejectsAreUsed() throws {
        let job = try Self.store(20)
        let writer = try DatabaseQueue(path: job.store)
        var visits = 0
        try StoreInspection(store: job.store).forEachReject { _ in
            visits += 1
            guard visits == 1 else { return }
            try writer.inDatabase { database in
                try database.execute(sql: "CREATE TABLE other (x)")
                let row = try Row.fetchOne(database, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                #expect(row?["busy"] == 0)
            }
        }
        #expect(visits == 36)
    }
}
