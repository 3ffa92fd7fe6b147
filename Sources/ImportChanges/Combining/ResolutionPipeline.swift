import Foundation
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Resolves conflicts that a merge has left in a store, as one job.
///
/// ```swift
/// let resolution = ResolutionPipeline(of: "people.sqlite", by: .side(.theirs))
/// try resolution.run()
/// print(resolution.resolved)
/// ```
///
/// The store must still have the values of ours. If it does not, nothing is written, and the report lists the conflicts. Create one
/// pipeline per run.
public final class ResolutionPipeline {
    /// The progress of the run, for observers.
    public var progress: ImportProgress { pipeline.progress }
    /// Interrupts the run when requested.
    public var interruption: Interruption { pipeline.interruption }
    /// The report of the job, also if conflicts have stopped it; nil if there was nothing to do.
    public private(set) var report: ImportReport?
    /// The number of resolved conflicts.
    public private(set) var resolved: Int64 = 0

    private let store: String
    private let resolution: ConflictResolution
    private let pipeline: ChangePipeline

    /// Prepares to resolve conflicts; nothing is read or written before `run`.
    ///
    /// - Parameters:
    ///   - store: the location of the SQLite file.
    ///   - resolution: the conflicts to resolve, with their resolutions.
    ///   - run: the options that do not change the result; only `commitEvery` and `durability` are used.
    ///   - merges: the center that posts commits.
    public init(
        of store: any FileLocation,
        by resolution: ConflictResolution,
        run: RunOptions = RunOptions(),
        merges: MergeCenter = MergeCenter()
    ) {
        self.store = store.filePath
        self.resolution = resolution
        pipeline = ChangePipeline(store.filePath, run, merges)
    }

    /// Resolves the conflicts; blocks the calling thread.
    ///
    /// - Returns: the result; nil if there is no conflict to resolve.
    /// - Throws: `ImportError` with `.badInput` when a line of the file is not an open conflict, or when the store has changed since the
    ///   conflict was found.
    @discardableResult
    public func run() throws -> ChangeOutcome? {
        let (changes, count, identifiers) = try chosen()
        guard count > 0 else { return nil }
        var options = PatchOptions()
        options.identifiers = identifiers
        let job = PatchPipeline(changes, named: resolution.name, options: options, pipeline) { database, job in
            try ConflictTable.resolve(changes.path, job: job, database)
        }
        defer { report = job.report }
        let outcome = try job.run()
        resolved = count
        return outcome
    }

    /// The conflicts that are resolved, as a change set; how many; and what identifies their objects.
    private func chosen() throws -> (changes: SpooledChangeSet, count: Int64, identifiers: [String: [String]]) {
        var count: Int64 = 0
        let conflicts = try StoreConflicts(of: store)
        let changes = try SpooledChangeSet { write in
            let writer = ChangeSetWriter(write)
            let state = ChangeSetHeader.State(name: URL(fileURLWithPath: store).lastPathComponent)
            try writer.begin(ChangeSetHeader(old: state, new: state, entities: conflicts.entities))
            let resolved = try resolution.each(of: conflicts) { conflict in
                try interruption.check()
                count += 1
                try writer.write(conflict)
            }
            if resolved > 0 {
                let what: MessageText = resolved == 1 ? "1 conflict is" : "\(resolved) conflicts are"
                progress.update {
                    $0.messages.append("\(what) resolved already, and left as is: to resolve again, undo that job")
                }
            }
            try writer.end([])
        }
        return (changes, count, conflicts.identifiers)
    }
}
