import Foundation
import GRDB
import ImportModel
import Importer
import Synchronization
import TestSupport
import Testing

@testable import ImportChanges
@testable import ImportSQLite

/// Anyone who follows a store sees what those in the importing process see: all of it, once, in order.
struct StoreFollowerTests {
    /// An import of 400 records of two entities, some of which come again or do not fit.
    private struct Job {
        let job: LibraryImport
        let options: JobOptions

        init(_ policy: ConflictPolicy) throws {
            let records = (0..<400).map { index -> String in
                let key = index % 9 == 4 ? index / 2 : index
                return "{\"k\":\"k\(key)\",\"n\":\(index % 31 == 7 ? "\"x\"" : "\(index)")}"
            }
            let text =
                "{\"a\":[\(records.prefix(200).joined(separator: ","))],"
                + "\"b\":[\(records.suffix(200).joined(separator: ","))]}"
            let attributes = #""attributes": {"k": {"type": "string"}, "n": {"type": "integer64"}}"#
            let model = """
                {"entities": {
                    "A": {"records": "$.a[*]", "identifier": ["k"], \(attributes)},
                    "B": {"records": "$.b[*]", \(attributes)}
                }}
                """
            job = try LibraryImport(text)
            options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)), onConflict: policy)
        }

        func pipeline(commitEvery: Int) -> ImportPipeline {
            job.pipeline(options, RunOptions(workers: 2, chunkSize: 700, commitEvery: commitEvery))
        }
    }

    @Test(arguments: [ConflictPolicy.merge, .replace, .ignore, .error], [1, 7])
    func agreesWithWhatIsAnnounced(policy: ConflictPolicy, commitEvery: Int) throws {
        let job = try Job(policy)
        let pipeline = job.pipeline(commitEvery: commitEvery)
        let seen = SeenMerges(of: pipeline.merges)
        let report = try pipeline.run().report
        let announced = seen.all()
        let follower = try StoreFollower(store: job.job.store, from: .start)
        let logged = try follower.pollAll()
        #expect(logged.count == 1)
        #expect(announced.merged == logged.merged)
        #expect(follower.position == announced.last?.position)
        let last = try #require(logged.last)
        #expect(last.isFinished && !last.needsRefresh)
        for totals in last.totals {
            #expect(
                totals.recordsRead
                    == totals.inserted + totals.updated + totals.unchanged + totals.ignored + totals.rejected
            )
            let rows = try StoreContent.query(job.job.store, "SELECT rowid FROM \"\(totals.table)\" ORDER BY rowid")
            let rowIDs = rows.split(separator: "\n").compactMap { Int64($0) }
            #expect(logged.rows(of: totals.entity) == rowIDs)
            #expect(totals.rows == Int64(rowIDs.count))
            #expect(totals.rejected == report.entities[totals.entity]?.rejected)
        }
        #expect(last.totals.reduce(0) { $0 + $1.recordsRead } == report.recordsRead)
        #expect(last.totals.reduce(0) { $0 + $1.updated } == report.updated)
    }

    /// The totals are right after every commit, not only after the last one.
    @Test func tellsRunningTotals() async throws {
        let job = try Job(.merge)
        let pipeline = job.pipeline(commitEvery: 5)
        let seen = SeenMerges(of: pipeline.merges)
        _ = try await pipeline.run()
        var inserted: [String: Int64] = [:]
        for merge in seen.all() {
            for change in merge.changes { inserted[change.entity, default: 0] += change.inserted - change.deleted }
            #expect(merge.totals.map(\.entity) == ["A", "B"])
            for totals in merge.totals {
                #expect(totals.inserted == inserted[totals.entity] ?? 0)
                #expect(totals.rows == totals.inserted)
            }
            let read = merge.totals.reduce(0) { $0 + $1.recordsRead }
            #expect(read == merge.marker.recordOrdinal)
        }
    }

    /// Rows that were there before are counted too, and those of an import that continues after another one.
    @Test func knowsHowManyRowsATableHas() throws {
        let job = try LibraryImport(LibraryImport.items(30))
        _ = try job.pipeline().run()
        // The second import stops at a fault, the third comes between, and the second continues.
        let broken = try job.directory.write("[{\"id\":100},{\"id\":101}", to: "item2.json")
        let model = #"{"entities": {"item": {"attributes": {"id": {"type": "integer64"}}}}}"#
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        func run(_ source: String) throws {
            _ = try ImportPipeline(sources: [source], into: job.store, job: options, run: RunOptions()).run()
        }
        #expect(throws: ImportError.self) { try run(broken) }
        try run(try job.directory.write("[{\"id\":200}]", to: "item3.json"))
        let follower = try StoreFollower(store: job.store)
        try job.directory.write("[{\"id\":100},{\"id\":101},{\"id\":102},{\"id\":103}]", to: "item2.json")
        try run(broken)
        let merge = try #require(try follower.pollAll().last)
        #expect(merge.isFinished)
        #expect(merge.totals.map(\.rows) == [35])
        #expect(try StoreContent.rowCount(job.store) == 35)
    }

    /// Looking at any moment of an import, nothing is missed and nothing comes twice.
    @Test(arguments: [false, true]) func missesNothingWhileAnImportRuns(comesAnew: Bool) async throws {
        let job = try LibraryImport(LibraryImport.items(1))
        _ = try await job.pipeline().run()
        let more = try job.directory.write(LibraryImport.items(3_000), to: "more.json")
        let pipeline = ImportPipeline(
            sources: [more],
            into: job.store,
            job: JobOptions(entity: "more"),
            run: RunOptions(workers: 2, chunkSize: 4_000, commitEvery: 7)
        )
        let store = job.store
        let first = try StoreFollower(store: store)
        let following = Task.detached { () throws -> [MergeNotification] in
            var follower = first
            var all: [MergeNotification] = []
            while all.last?.isFinished != true {
                if let next = try follower.poll() { all.append(next) }
                guard comesAnew else { continue }
                // As one does that was killed: it knows no more than what it has kept.
                let kept = try JSONEncoder().encode(follower.position)
                follower = try StoreFollower(store: store, from: JSONDecoder().decode(StorePosition.self, from: kept))
            }
            return all
        }
        _ = try await pipeline.run()
        let all = try await following.value
        #expect(all.allSatisfy { !$0.needsRefresh })
        #expect(all.flatMap(\.changes).flatMap(\.insertedRanges).flatMap { Array($0) } == Array(1...3_000))
        #expect(all.map(\.commit) == all.map(\.commit).sorted())
    }

    /// One that is too late for the log is told to look at everything again, and then continues as before.
    @Test func asksForARefreshWhenTheLogIsTooShort() throws {
        let job = try LibraryImport(LibraryImport.items(1))
        _ = try job.pipeline().run()
        let follower = try StoreFollower(store: job.store)
        let count = Int(MergeLog.storedEntries + 2 * MergeLog.trimmedEntries)
        let more = try job.directory.write(LibraryImport.items(count), to: "more.json")
        _ = try ImportPipeline(
            sources: [more],
            into: job.store,
            job: JobOptions(),
            run: RunOptions(commitEvery: 1)
        ).run()
        let kept = try Int(StoreContent.query(job.store, "SELECT count(*) FROM _import_merge")) ?? 0
        #expect((MergeLog.storedEntries..<MergeLog.storedEntries + MergeLog.trimmedEntries).contains(Int64(kept)))
        let merges = try follower.pollAll()
        #expect(merges.map(\.needsRefresh) == [true])
        #expect(merges.first?.changes.isEmpty == true)
        #expect(merges.first?.isFinished == true)
        #expect(merges.first?.totals.map(\.rows) == [Int64(count)])
        let last = try job.directory.write("[{\"id\":1}]", to: "last.json")
        _ = try ImportPipeline(sources: [last], into: job.store, job: JobOptions(), run: RunOptions()).run()
        #expect(try follower.pollAll().merged?.changes.map(\.inserted) == [1])
    }

    /// A restart takes rows back, under whatever numbers the new ones come.
    @Test func asksForARefreshAfterARestart() throws {
        let job = try LibraryImport("[{\"id\":1},{\"id\":2}")
        #expect(throws: ImportError.self) { try job.pipeline().run() }
        let follower = try StoreFollower(store: job.store)
        let late = try StoreFollower(store: job.store, from: .start)
        try job.directory.write("[{\"id\":3},{\"id\":4},{\"id\":5}]", to: "item.json")
        let pipeline = job.pipeline(JobOptions(), RunOptions(restart: true))
        let seen = SeenMerges(of: pipeline.merges)
        _ = try pipeline.run()
        for merges in [seen.all(), try follower.pollAll(), try late.pollAll()] {
            #expect(merges.merged?.needsRefresh == true)
            #expect(merges.merged?.isFinished == true)
            #expect(merges.merged?.totals.map(\.rows) == [3])
        }
    }

    /// What an interrupted job has left to be merged is merged for the next one, and announced as its own.
    @Test func tellsWhatIsMergedForAnotherJob() throws {
        let job = try LibraryImport("[{\"k\":\"a\"},{\"k\":\"b\"},{\"k\":\"a\"}", named: "one.json")
        let model = #"{"entities": {"item": {"identifier": ["k"], "attributes": {"k": {"type": "string"}}}}}"#
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        #expect(throws: ImportError.self) { try job.pipeline(options).run() }
        let follower = try StoreFollower(store: job.store, from: .start)
        #expect(try follower.pollAll().rows(of: "item") == [1, 2, 3])
        let more = try job.directory.write("[{\"k\":\"b\"},{\"k\":\"c\"}]", to: "two.json")
        let pipeline = ImportPipeline(sources: [more], into: job.store, job: options, run: RunOptions())
        let seen = SeenMerges(of: pipeline.merges)
        _ = try pipeline.run()
        let merges = try follower.pollAll()
        #expect(merges.map(\.job) == [1, 2])
        #expect(merges.map(\.isFinished) == [false, true])
        #expect(merges.first?.changes.map(\.deletedRanges) == [[3...3]])
        #expect(merges.first?.totals.map(\.unchanged) == [1])
        #expect(merges.last?.changes.map(\.inserted) == [1])
        #expect(merges.last?.totals.map(\.rows) == [3])
        #expect(seen.all().merged?.changes == merges.merged?.changes)
    }

    /// Two jobs are distinguished, however late one looks: that the first was finished is not lost.
    @Test func tellsJobsApart() throws {
        let job = try LibraryImport(LibraryImport.items(10))
        _ = try job.pipeline(JobOptions(), RunOptions(commitEvery: 2)).run()
        let more = try job.directory.write(LibraryImport.items(5), to: "more.json")
        _ = try ImportPipeline(sources: [more], into: job.store, job: JobOptions(), run: RunOptions()).run()
        let merges = try StoreFollower(store: job.store, from: .start).pollAll()
        #expect(merges.map(\.job) == [1, 2])
        #expect(merges.allSatisfy { $0.isFinished })
        #expect(merges.map { $0.changes.map(\.inserted) } == [[10], [5]])
        // Nor is it for an observer who was busy meanwhile.
        #expect(merges.merged?.job == 2)
        #expect(merges.merged?.finishedJobs == [1, 2])
    }

    /// Where the log no longer says which jobs were finished meanwhile, the store does.
    @Test func tellsWhichJobsAreFinishedWhenTheLogIsTooShort() throws {
        let job = try LibraryImport(LibraryImport.items(10))
        _ = try job.pipeline().run()
        let more = try job.directory.write("[{\"id\":1}", to: "more.json")
        let pipeline = ImportPipeline(sources: [more], into: job.store, job: JobOptions(), run: RunOptions())
        #expect(throws: ImportError.self) { try pipeline.run() }
        try DatabaseQueue(path: job.store).write {
            try $0.execute(
                sql: "DELETE FROM _import_merge WHERE sequence < (SELECT max(sequence) FROM _import_merge)"
            )
        }
        let merge = try #require(try StoreFollower(store: job.store, from: .start).poll())
        #expect(merge.needsRefresh && merge.job == 2 && !merge.isFinished)
        #expect(merge.finishedJobs == [1])
    }

    // MARK: Stores that are not what they were

    @Test func saysThatTheStoreIsGoneOrAnother() throws {
        let job = try LibraryImport(LibraryImport.items(3))
        _ = try job.pipeline().run()
        let other = try LibraryImport(LibraryImport.items(4))
        _ = try other.pipeline().run()
        let follower = try StoreFollower(store: job.store)
        #expect(try follower.poll() == nil)
        try FileManager.default.removeItem(atPath: job.store)
        #expect { try follower.poll() } throws: { "\($0)".contains("deleted") }
        try FileManager.default.copyItem(atPath: other.store, toPath: job.store)
        #expect { try follower.poll() } throws: { "\($0)".contains("another store") }
        // The position means nothing there either.
        let anew = try StoreFollower(store: job.store, from: follower.position)
        #expect { try anew.poll() } throws: { "\($0)".contains("another store") }
        #expect(try StoreFollower(store: job.store).poll() == nil)
    }

    /// A copy of the store that went another way, as one that lost its last commits with the power does too.
    @Test func noticesThatCommitsWereTakenBack() throws {
        let job = try LibraryImport(LibraryImport.items(3))
        _ = try job.pipeline().run()
        let copy = job.directory.path("copy.sqlite")
        try FileManager.default.copyItem(atPath: job.store, toPath: copy)
        for (store, name) in [(job.store, "one"), (copy, "two")] {
            let source = try job.directory.write(LibraryImport.items(2), to: "\(name).json")
            _ = try ImportPipeline(sources: [source], into: store, job: JobOptions(), run: RunOptions()).run()
        }
        let position = try StoreFollower(store: job.store).position
        let merges = try StoreFollower(store: copy, from: position).pollAll()
        #expect(merges.map(\.needsRefresh) == [true])
    }

    /// A file that an import has just made is a store that has nothing in it yet.
    @Test func followsAStoreFromTheEmptyFileOn() throws {
        let job = try LibraryImport(LibraryImport.items(30))
        try Data().write(to: URL(fileURLWithPath: job.store))
        let follower = try StoreFollower(store: job.store)
        #expect(try follower.poll() == nil)
        let pipeline = job.pipeline(JobOptions(), RunOptions(commitEvery: 5))
        let polled = Shared<[MergeNotification]>([])
        let observer = NotificationCenter.default.addObserver(
            forName: .storeDidMerge,
            object: pipeline.merges,
            queue: nil
        ) { _ in
            if let merge = try? follower.poll() { polled.change { $0.append(merge) } }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        _ = try pipeline.run()
        let deadline = ContinuousClock.now + patience
        while polled.value.last?.isFinished != true, ContinuousClock.now < deadline {
            if let merge = try follower.poll() { polled.change { $0.append(merge) } }
            sched_yield()
        }
        #expect(polled.value.rows(of: "item") == Array(1...30))
        #expect(polled.value.allSatisfy { !$0.needsRefresh })
        #expect(try follower.poll() == nil)
    }

    @Test func saysThatThereIsNoStore() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: ImportError.self) { try StoreFollower(store: directory.path("nope.sqlite")) }
        let text = try directory.write(
            "no database, but long enough to be taken for something that has a header",
            to: "x"
        )
        #expect(throws: ImportError.self) { try StoreFollower(store: text) }
    }

    /// What a log that was tampered with says is not believed.
    @Test func asksForARefreshWhenTheLogIsDamaged() throws {
        let job = try LibraryImport(LibraryImport.items(3))
        _ = try job.pipeline().run()
        try DatabaseQueue(path: job.store).write { try $0.execute(sql: "UPDATE _import_merge SET changes = x'ffff07'") }
        let merges = try StoreFollower(store: job.store, from: .start).pollAll()
        #expect(merges.map(\.needsRefresh) == [true])
    }

    // MARK: As they come

    @Test func isASequenceThatEndsWithItsTask() async throws {
        let job = try LibraryImport(LibraryImport.items(50))
        _ = try await job.pipeline(JobOptions(), RunOptions(commitEvery: 10)).run()
        let follower = try StoreFollower(store: job.store, from: .start)
        let reading = Task { () throws -> [MergeNotification] in
            var all: [MergeNotification] = []
            for try await merge in follower.notifications {
                all.append(merge)
                withUnsafeCurrentTask { $0?.cancel() }
            }
            return all
        }
        let all = try await reading.value
        #expect(all.map(\.isFinished) == [true])
        #expect(all.rows(of: "item") == Array(1...50))
    }

    /// A store that cannot be read just now keeps no other task from running.
    @Test func leavesItsThreadWhileItReads() async throws {
        let job = try LibraryImport(LibraryImport.items(3))
        _ = try await job.pipeline().run()
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let locker = try DatabaseQueue(path: job.store, configuration: configuration)
        // Without a WAL, anyone who reads waits for who writes.
        try await locker.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
        let follower = try StoreFollower(store: job.store, from: .start)
        try await locker.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
        let ranOthers = try await leavesItsThreadToOthers(
            release: { _ = try? locker.writeWithoutTransaction { try $0.execute(sql: "COMMIT") } },
            { for try await merge in follower.notifications where merge.isFinished { break } }
        )
        #expect(ranOthers)
    }

    /// Those who observe a center need not know whether the import runs here or elsewhere.
    @Test func handsOnToACenter() async throws {
        let job = try LibraryImport(LibraryImport.items(50))
        _ = try await job.pipeline().run()
        let follower = try StoreFollower(store: job.store, from: .start)
        let center = MergeCenter()
        let seen = SeenMerges(of: center)
        let sequence = center.notifications()
        let following = Task { try await follower.follow(into: center) }
        var read: [MergeNotification] = []
        for await merge in sequence {
            read.append(merge)
            if merge.isFinished { following.cancel() }
        }
        try await following.value
        #expect(read.rows(of: "item") == Array(1...50))
        #expect(seen.all().merged == read.merged)
    }

    @Test func endsTheSequenceWithTheErrorWhenTheStoreGoes() async throws {
        let job = try LibraryImport(LibraryImport.items(3))
        _ = try await job.pipeline().run()
        let follower = try StoreFollower(store: job.store)
        try FileManager.default.removeItem(atPath: job.store)
        await #expect(throws: ImportError.self) {
            for try await _ in follower.notifications {}
        }
    }
}
