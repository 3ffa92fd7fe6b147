import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

extension StoreDifference {
    /// Compares a store as it was before a job with how it was after it, and calls `body` with the difference.
    ///
    /// Both states are made in the temporary directory: in copies of the store all later jobs are undone, and in one of them the job
    /// itself. The store is not written.
    ///
    /// - Parameters:
    ///   - job: the job's number.
    ///   - store: the location of the SQLite file.
    ///   - options: the options of the comparison.
    ///   - interruption: ends the copying when requested.
    ///   - body: gets the difference, which is of no use afterwards.
    /// - Throws: `ImportError` with `.noInput` when there is no such store or job; `.badInput` when the job is not finished, or it or a
    ///   later one of its tables cannot be undone; what `init` and `body` throw.
    public static func ofJob<Result>(
        _ job: Int64,
        in store: any FileLocation,
        options: DifferenceOptions = DifferenceOptions(),
        interruption: Interruption = Interruption(),
        _ body: (StoreDifference) throws -> Result
    ) throws -> Result {
        let store = store.filePath
        let tables = try tables(changedSince: job, in: store)
        return try TemporaryFolder.with { folder in
            let (before, after) = ("\(folder)/before-job-\(job).sqlite", "\(folder)/after-job-\(job).sqlite")
            try StoreCopy.make(of: store, at: after, interruption)
            for later in tables.keys.sorted(by: >) where later != job && isAlike(tables[later], tables[job]) {
                try undo(later, in: after, of: store)
            }
            try StoreCopy.make(of: after, at: before, interruption)
            try undo(job, in: before, of: store)
            return try body(StoreDifference(from: before, to: after, options: options))
        }
    }

    /// True if two jobs may have changed the same table; nothing is known of those without a model.
    private static func isAlike(_ one: Set<BytewiseString>?, _ other: Set<BytewiseString>?) -> Bool {
        guard let one, let other, !one.isEmpty, !other.isEmpty else { return true }
        return !one.isDisjoint(with: other)
    }

    /// The tables of a job and of all later ones, by the number of the job.
    private static func tables(changedSince job: Int64, in store: String) throws -> [Int64: Set<BytewiseString>] {
        try SQLiteDestination(store, durability: .normal).read { journal in
            guard let first = try journal.job(job) else {
                throw ImportError(
                    .jobNotFound,
                    at: store,
                    "has no job \(job)",
                    advice: "\(call: .status) lists its jobs."
                )
            }
            guard first.state == .finished else {
                throw ImportError(
                    .jobUnfinished,
                    at: store,
                    "job \(job) is not finished",
                    advice: "Finish it with \(call: .resuming(store: store)) first."
                )
            }
            var tables: [Int64: Set<BytewiseString>] = [:]
            try journal.forEachJob { each in
                guard each.id >= job else { return false }
                tables[each.id] = Set(each.tables.map(ExistingEntity.folded))
                return true
            }
            return tables
        }
    }

    /// - Parameter store: the store that `copy` is of, for messages.
    private static func undo(_ job: Int64, in copy: String, of store: String) throws {
        var options = PatchOptions()
        // What others have changed since is none of the job's changes.
        options.conflicts = [.init(.take)]
        var run = RunOptions()
        run.durability = .off
        do {
            try UndoPipeline(of: copy, job: job, options: options, run: run).run()
        } catch let error as ImportError {
            throw error.saying(error.text.replacing(copy, with: store))
        }
    }
}
