import GRDB
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportChanges
@testable import ImportEngine

struct StoreWriterTests {
    /// `count` items with the numbers from 1 on, those of `faulty` without a sound one.
    private static func items(_ count: Int, faulty: Set<Int> = []) -> String {
        let items = (1...count).map { "{\"id\": \(faulty.contains($0) ? "\"x\"" : "\($0)"), \"name\": \"n\($0)\"}" }
        return "[\(items.joined(separator: ",\n"))]"
    }

    private static func options(_ onConflict: ConflictPolicy = .merge, identifier: String = "") throws -> JobOptions {
        let identifier = identifier.isEmpty ? "" : "\"identifier\": [\"\(identifier)\"],"
        let model = """
            {"entities": {"item": {"records": "$[*]", \(identifier) "attributes": {
              "id": {"type": "integer64"}, "name": {"type": "string"}}}}}
            """
        let description = try ModelDescription(parsing: Array(model.utf8))
        return JobOptions(model: description, onConflict: onConflict, maxErrors: .unlimited)
    }

    /// What others find in a store, all of it at one moment.
    private struct Content: Equatable {
        let items: [Int]
        let rejects: [Int64]
        let marker: Marker?
        let totals: [EntityTotals]
        /// How many commits the log has.
        let logged: Int

        static func of(_ given: BegunImport) throws -> Content {
            let job = given.run.job.id
            return try given.read { database in
                Content(
                    items: try Int.fetchAll(database, sql: "SELECT id FROM item ORDER BY rowid"),
                    rejects: try BookkeepingRow.fetchAll(
                        database,
                        from: "_import_reject",
                        sql: "SELECT ordinal FROM _import_reject ORDER BY id"
                    ).map { try $0.number("ordinal") },
                    marker: try Marker(database, job: job),
                    totals: try EntityTotals.all(of: job, database),
                    logged: try Int.fetchOne(database, sql: "SELECT count(*) FROM _import_merge") ?? -1
                )
            }
        }
    }

    /// After each commit a store has the records up to its marker, those that were rejected too, and all counts say so.
    @Test(arguments: [1, 7, DatabaseImage.fewestRows, 1_000], [400, 1 << 20])
    func countsARecordWithItsRow(records: Int, chunkSize: Int) throws {
        let faulty: Set = [3, 4, 50, 150]
        let given = try BegunImport(Self.items(150, faulty: faulty), try Self.options(), chunkSize: chunkSize)
        try #require(given.chunks.count > (chunkSize == 400 ? 10 : 0))
        var rows: [Int64] = []
        for chunk in given.chunks.indices {
            try given.open(chunk)
            while !given.decoder.isExhausted {
                let before = given.progress.marker
                let merge = try given.commit(records)
                let content = try Content.of(given)
                let ordinal = Int(merge.marker.recordOrdinal)
                #expect(ordinal > before.recordOrdinal && ordinal <= Int(before.recordOrdinal) + records)
                #expect(content.items == (1...ordinal).filter { !faulty.contains($0) })
                #expect(content.rejects.map(Int.init) == faulty.filter { $0 <= ordinal }.sorted())
                #expect(content.marker == given.progress.marker)
                #expect(
                    content.marker?.recordOrdinal == Int64(ordinal)
                        && content.marker?.byteOffset == merge.marker.byteOffset
                )
                #expect(content.marker?.commits == before.commits + 1 && content.logged == Int(before.commits) + 1)
                #expect(content.totals == merge.totals)
                #expect(content.totals.map(\.recordsRead) == [Int64(ordinal)])
                #expect(content.totals.map(\.inserted) == [Int64(content.items.count)])
                #expect(given.progress.rejects == Int64(content.rejects.count))
                rows += merge.changes.flatMap(\.insertedRanges).joined()
            }
        }
        #expect(rows == Array(1...146))
        #expect(given.progress.marker.source == 1)
        #expect(given.progress.marker.chunksDone == given.chunks.count)
    }

    // MARK: Batches that are not committed

    /// Commits ten records, then what must fail, and looks at what that leaves.
    private func expectNothing<Failure: Error>(
        of given: BegunImport,
        records: Int = 90,
        where change: String = "",
        _ failure: Failure.Type
    ) throws -> Failure? {
        try given.open()
        _ = try given.commit(10)
        if !change.isEmpty { try given.execute(change) }
        let (content, marker, rejects) = (try Content.of(given), given.progress.marker, given.progress.rejects)
        let error = #expect(throws: Failure.self) { try given.commit(records) }
        #expect(try Content.of(given) == content)
        #expect(given.progress.marker == marker)
        #expect(given.progress.rejects == rejects)
        return error
    }

    @Test func leavesNothingOfABatchWithOneRejectTooMany() throws {
        var options = try Self.options()
        options.maxErrors = .count(2)
        let given = try BegunImport(Self.items(100, faulty: [3, 20, 60, 70]), options)
        let excess = try expectNothing(of: given, RejectLimit.Excess.self)
        #expect(excess?.reject.ordinal == 60)
    }

    /// The marker is written after the rows and before the log: what comes after it has failed, too.
    @Test(arguments: ["_import_job", "_import_entity", "_import_merge"])
    func leavesNothingOfABatchThatFailsOnTheWay(table: String) throws {
        let given = try BegunImport(Self.items(100), try Self.options())
        let triggers = ["INSERT", "UPDATE"].map {
            "CREATE TRIGGER on_\($0) BEFORE \($0) ON \(table) BEGIN SELECT RAISE(ABORT, 'not now'); END;"
        }
        let error = try expectNothing(of: given, where: triggers.joined(), ImportError.self)
        #expect(error?.code == .io)
        // It fails no longer, and the same records are committed once.
        try given.execute("DROP TRIGGER on_INSERT; DROP TRIGGER on_UPDATE")
        try given.open()
        _ = try given.commit(1_000)
        #expect(try Content.of(given).items == Array(1...100))
    }

    /// Rows that do not follow one another cannot be those of an image; written one by one they are all there.
    @Test func leavesNothingOfABatchWhoseImageIsNoLongerTrue() throws {
        let given = try BegunImport(Self.items(100), try Self.options())
        let last = Int64.max - 20
        let layout = try expectNothing(
            of: given,
            where: "UPDATE item SET rowid = \(last) WHERE rowid = 10",
            LayoutInvalidated.self
        )
        #expect(layout?.entity == 0)
        given.decoder.closeLayouts(of: 0)
        try given.open()
        _ = try given.commit(1_000)
        #expect(Set(try Content.of(given).items) == Set(1...100))
    }

    /// The lock keeps others away; should it ever not, nothing is imported twice.
    @Test func leavesNothingOfABatchThatAnotherHasCommitted() throws {
        let given = try BegunImport(Self.items(100), try Self.options())
        let change = "UPDATE _import_job SET commits = commits + 1, record_ordinal = record_ordinal + 1"
        let error = try expectNothing(of: given, where: change, ImportError.self)
        #expect(error?.reason == .storeInUse)
    }

    // MARK: Rejects that only the store knows of

    /// Those that it finds and those of decoding are in source order, and their rows are nowhere.
    @Test(arguments: [ConflictPolicy.merge, .error])
    func rejectsOfBothKindsAreInSourceOrder(_ onConflict: ConflictPolicy) throws {
        let faulty: Set = [2, 5, 9, 80]
        let refused = [4, 6, 8, 70]
        let constraint = "CHECK (id NOT IN (\(refused.map(String.init).joined(separator: ", "))))"
        let given = try BegunImport(
            Self.items(100, faulty: faulty),
            try Self.options(onConflict, identifier: "name"),
            after: "CREATE TABLE item (id INTEGER \(constraint), name TEXT); INSERT INTO item VALUES (-7, 'n7')"
        )
        try given.open()
        let merge = try given.commit(1_000)
        // What is there already is changed or refused.
        let rejected = faulty.union(refused).union(onConflict == .error ? [7] : []).sorted()
        let content = try Content.of(given)
        #expect(content.rejects.map(Int.init) == rejected)
        #expect(Set(content.items.map(abs)) == Set(1...100).subtracting(rejected).union([7]))
        #expect(content.items.contains(onConflict == .error ? -7 : 7))
        #expect(merge.changes.map(\.rejected) == [Int64(rejected.count)])
        #expect(given.progress.rejects == Int64(rejected.count))
        #expect(content.totals.map(\.updated) == [onConflict == .error ? 0 : 1])
    }
}
