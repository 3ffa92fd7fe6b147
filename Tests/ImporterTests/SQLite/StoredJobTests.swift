import GRDB
import ImportModel
import ImportSources
import Importer
import TestSupport
import Testing

@testable import ImportEngine
@testable import ImportSQLite

/// What is asked of a store's jobs by queries is what all of its jobs together say.
struct StoredJobTests {
    private static let paths = ["/a.json", "/b.json", "/c.json", nil]

    private static func source(_ generator: inout SeededGenerator) -> StoredJob.Source {
        let path = paths.randomElement(using: &generator) ?? nil
        let description = SourceDescription(
            name: path ?? "-",
            path: path,
            member: path == "/c.json" ? ["x", "y"].randomElement(using: &generator) : nil,
            size: nil,
            modified: nil,
            fingerprint: ["0", "1"].randomElement(using: &generator)
        )
        let recordPath = ["$[*]", "$.items[*]"].randomElement(using: &generator) ?? "$"
        let entity = ["item", "Item", "other"].randomElement(using: &generator) ?? ""
        return StoredJob.Source(
            description: description,
            shape: SourceShape(layout: .stream, paths: [recordPath]),
            entities: [entity]
        )
    }

    /// Adds jobs of every kind and state: imports, retries, undos of earlier jobs and of undos.
    private static func fill(_ database: Database, _ generator: inout SeededGenerator) throws {
        try BookkeepingSchema.prepareBookkeeping(database, store: "store", all: true)
        for number in 1...Int64.random(in: 1...12, using: &generator) {
            var job = StoredJob(
                options: JobOptions(limit: [nil, 5].randomElement(using: &generator) ?? nil),
                retry: Int.random(in: 0..<5, using: &generator) == 0 ? .stored : nil,
                sources: (0..<Int.random(in: 1...3, using: &generator)).map { _ in source(&generator) },
                model: nil,
                chunkDirectory: "/chunks"
            )
            if number > 1, Bool.random(using: &generator) {
                let undoes = Int64.random(in: 1..<number, using: &generator)
                job.change = StoredJob.Change(kind: .undo, options: PatchOptions(), undoes: undoes)
            }
            try job.insert(database)
            var marker = Marker()
            marker.recordOrdinal = Int64.random(in: 0...1, using: &generator)
            try marker.save(database, job: job.id)
            let states: [ImportReport.State] = [.finished, .finished, .finished, .interrupted, .failed, .running]
            let state = states.randomElement(using: &generator) ?? .finished
            try job.setState(state, seconds: 0, database)
        }
    }

    /// Answers from all jobs, as the boundary does for a store without queries.
    private struct AllJobs {
        let jobs: [StoredJob]
        let ordinals: [Int64: Int64]

        func known(of entities: Set<String>, excluding job: Int64?) -> [String: KnownRecords] {
            var known: [String: KnownRecords] = [:]
            for stored in jobs.reversed() where stored.id != job && stored.retry == nil && stored.change == nil {
                guard !StoredJob.isUndone(stored.id, jobs), ordinals[stored.id] ?? 0 > 0 else { continue }
                for source in stored.sources { source.add(to: &known, of: entities, stored.options) }
            }
            return known
        }
    }

    @Test(arguments: 0..<100) func queriesSayWhatAllJobsSay(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try DatabaseQueue().write { database in
            try Self.fill(database, &generator)
            let jobs = try StoredJob.all(database)
            let ids = jobs.map(\.id)
            #expect(try StoredJob.last(database)?.id == ids.last)
            #expect(try StoredJob.isAnyThere(database))
            #expect(try StoredJob.find(1, database)?.sources.count == jobs[0].sources.count)
            #expect(try StoredJob.find(99, database) == nil)
            let open = jobs.filter { $0.state != .finished }.map(\.id)
            #expect(try StoredJob.unfinished(database).map(\.id) == open)
            #expect(try StoredJob.areAllFinished(database) == open.isEmpty)
            #expect(try StoredJob.newest(3, database).map(\.id) == ids.suffix(3).reversed())
            let early = ids.filter { $0 < 4 }.suffix(2)
            #expect(try StoredJob.newest(2, before: 4, database).map(\.id) == early.reversed())
            #expect(try StoredJob.after(3, database).map(\.id) == ids.filter { $0 > 3 })
            #expect(try StoredJob.undone(database) == Set(ids.filter { StoredJob.isUndone($0, jobs) }))
            for id in ids { #expect(try StoredJob.undo(of: id, database) == StoredJob.undo(of: id, jobs)?.id) }
            let wanted = Self.source(&generator).description
            let having = jobs.filter { job in
                job.sources.contains { $0.description.key != nil && $0.description.key == wanted.key }
            }
            #expect(try StoredJob.numbers(withOneOf: [wanted], database) == having.map(\.id).reversed())
            let streams = jobs.filter { $0.state == .finished }.flatMap(\.sources).map(\.description)
                .filter { !$0.isRepeatable }
            for fingerprint in ["0", "1", "2"] {
                let isThere = streams.contains { $0.fingerprint == fingerprint }
                #expect(try StoredJob.hasFinishedStream(fingerprint, database) == isThere)
            }
            let ordinals = try jobs.map { ($0.id, try Marker(database, job: $0.id)?.recordOrdinal ?? 0) }
            let all = AllJobs(jobs: jobs, ordinals: Dictionary(uniqueKeysWithValues: ordinals))
            for job in [nil, ids.last] {
                let found = try StoredJob.knownRecords(of: ["item"], excluding: job, database)
                #expect(found == all.known(of: ["item"], excluding: job))
            }
        }
    }
}
