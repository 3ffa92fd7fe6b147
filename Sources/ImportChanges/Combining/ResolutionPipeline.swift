import Foundation
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Resolves conflicts that a merge has left in a store: as one job like any other.
///
/// ```swift
/// let resolution = ResolutionPipeline(of: "people.sqlite", by: .side(.theirs))
/// try resolution.run()
/// print(resolution.resolved)
/// ```
///
/// What ours was must still be there; where it is not, nothing is written, and the report lists it. It is run once.
public final class ResolutionPipeline {
    /// Shared with observers.
    public var progress: ImportProgress { pipeline.progress }
    /// Shared with callers that may stop it.
    public var interruption: Interruption { pipeline.interruption }
    /// The report of the job, also where conflicts have stopped it; nil where there was nothing to be done.
    public private(set) var report: ImportReport?
    /// How many conflicts are resolved.
    public private(set) var resolved: Int64 = 0

    private let store: String
    private let resolution: ConflictResolution
    private let pipeline: ChangePipeline

    /// Prepares to resolve conflicts; nothing is touched before `run`.
    ///
    /// - Parameters:
    ///   - store: where the SQLite file is.
    ///   - resolution: which conflicts are resolved, and how.
    ///   - run: what the result does not depend on; of these `commitEvery` and `durability` count.
    ///   - merges: where commits are announced.
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

    /// Resolves them, and blocks this thread as long.
    ///
    /// - Returns: what it has come to; nil where no conflict is to be resolved.
    /// - Throws: `ImportError` with `.badInput` where a line of the file is none of an open conflict, or where the store is not what it
    ///   was when the conflict was found.
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
