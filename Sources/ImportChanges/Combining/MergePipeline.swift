import Foundation
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Merges two states of a store with a common base, and applies the result to ours, as one job.
///
/// ```swift
/// var options = MergeOptions()
/// options.conflicts = .mark
/// options.entities = ["people"]
/// let merge = MergePipeline(base: "people.sqlite", ours: "sunday.sqlite", theirs: "monday.sqlite", options: options)
/// let summary = try merge.run()
/// print(summary.conflicts)
/// ```
///
/// By default conflicts stop the merge; marked ones are kept in the store (``StoreConflicts``) until they are resolved. Create one
/// pipeline per run.
public final class MergePipeline {
    /// The progress of the run, for observers.
    public var progress: ImportProgress { pipeline.progress }
    /// Interrupts the run when requested.
    public var interruption: Interruption { pipeline.interruption }
    /// The counts of changes to ours and of conflicts; nil before they are known.
    public private(set) var summary: MergeSummary?
    /// The first 1,000 conflicts.
    public private(set) var conflicts: [MergeConflict] = []
    /// The report of the job; nil if there was nothing to do, or before it is done.
    public private(set) var report: ImportReport?

    private let base: String
    private let ours: String
    private let theirs: String
    private let options: MergeOptions
    private let pipeline: ChangePipeline

    /// Prepares a merge; nothing is read or written before `run`.
    ///
    /// - Parameters:
    ///   - base: the path of the store that both sides started from.
    ///   - ours: the path of a store, or of a change set from the base to it.
    ///   - theirs: the path of the other store, or of a change set from the base to it.
    ///   - store: the store to apply the result to: the one that `ours` is or leads to; by default `ours`.
    ///   - options: the options that determine the result.
    ///   - run: the options that do not; only `commitEvery` and `durability` are used.
    ///   - merges: the center that posts commits.
    public init(
        base: any FileLocation,
        ours: any FileLocation,
        theirs: any FileLocation,
        into store: (any FileLocation)? = nil,
        options: MergeOptions = MergeOptions(),
        run: RunOptions = RunOptions(),
        merges: MergeCenter = MergeCenter()
    ) {
        self.base = base.filePath
        self.ours = ours.filePath
        self.theirs = theirs.filePath
        self.options = options
        pipeline = ChangePipeline((store ?? ours).filePath, run, merges)
    }

    /// Merges, and applies the result until it finishes, is interrupted or fails; blocks the calling thread.
    ///
    /// - Returns: the counts of changes to ours and of conflicts.
    /// - Throws: `ImportError` with `.badInput` when the sides cannot be merged, or conflicts stop the merge (``conflicts`` has
    ///   them; nothing was written); `.inUse` when another import uses the store.
    @discardableResult
    public func run() throws -> MergeSummary {
        let (changes, open) = try merged()
        guard let summary else { throw ImportError(.fault, "a merge without a summary") }
        if options.conflicts == .stop, summary.conflicts > 0 {
            throw ImportError.openConflicts(summary.conflicts, isWritten: false)
        }
        guard summary.conflicts > 0 || summary.hasChanges else { return summary }
        var patch = PatchOptions()
        patch.identifiers = options.identifiers
        // What tables refuse that could not be foreseen is a reject, where conflicts are not to stop it.
        if options.conflicts != .stop { patch.conflicts = [.init(.reject)] }
        let job = PatchPipeline(changes, named: theirs, options: patch, pipeline) { database, job in
            try ConflictTable.add(open.path, job: job, database)
        }
        defer { report = job.report }
        try job.run()
        return summary
    }

    /// The change set, and the lines of the conflicts that stay open.
    private func merged() throws -> (changes: SpooledChangeSet, open: SpooledChangeSet) {
        let merge = try ThreeWayMerge(base: base, ours: ours, theirs: theirs, options: options)
        let entities = merge.header.entities
        var openLines: [UInt8] = []
        var found: [MergeConflict] = []
        var changes: SpooledChangeSet?
        let open = try SpooledChangeSet { writeOpen in
            changes = try SpooledChangeSet { write in
                let writer = ChangeSetWriter(write)
                let lines = ChangeLineWriter(entities)
                try writer.begin(merge.header)
                while let step = try merge.next() {
                    try interruption.check()
                    switch step {
                    case .change(let change): try writer.write(change)
                    case .conflict(let conflict):
                        if found.count < PatchConflict.mostListed { found.append(conflict) }
                        guard conflict.take == nil else {
                            try writer.write(conflict)
                            continue
                        }
                        openLines.removeAll(keepingCapacity: true)
                        lines.append(conflict, to: &openLines)
                        openLines.append(UInt8(ascii: "\n"))
                        try writeOpen(openLines)
                    }
                }
                try writer.end(merge.summary.entities.map { .init($0.name, $0.counts) })
            }
        }
        guard let changes else { throw ImportError(.fault, "a merge without changes") }
        summary = merge.summary
        conflicts = found
        return (changes, open)
    }
}
