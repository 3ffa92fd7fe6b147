import Foundation
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Merges two states of a store that have grown out of the same one, and applies the result to ours: as one job like any other.
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
/// Conflicts stop it unless the options say otherwise; those that are marked are kept in the store (``StoreConflicts``) until they are
/// resolved. It is run once.
public final class MergePipeline {
    /// Shared with observers.
    public var progress: ImportProgress { pipeline.progress }
    /// Shared with callers that may stop it.
    public var interruption: Interruption { pipeline.interruption }
    /// How much of ours changes, and how many conflicts there are; nil before that is known.
    public private(set) var summary: MergeSummary?
    /// The first 1,000 conflicts.
    public private(set) var conflicts: [MergeConflict] = []
    /// The report of the job; nil where there was nothing to be done, or before it is done.
    public private(set) var report: ImportReport?

    private let base: String
    private let ours: String
    private let theirs: String
    private let options: MergeOptions
    private let pipeline: ChangePipeline

    /// Prepares to merge; nothing is touched before `run`.
    ///
    /// - Parameters:
    ///   - base: the path of the store that both sides have grown out of.
    ///   - ours: the path of a store, or of a change set that leads from the base to it.
    ///   - theirs: the same of the other side.
    ///   - store: where the result is applied: the store that ours is, which is meant where none is given.
    ///   - options: what the result depends on.
    ///   - run: what it does not depend on; of these `commitEvery` and `durability` count.
    ///   - merges: where commits are announced.
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

    /// Merges, and applies the result until it is finished, interrupted or failed; blocks this thread as long.
    ///
    /// - Returns: how much of ours has changed, and how many conflicts there were.
    /// - Throws: `ImportError` with `.badInput` where the sides cannot be merged, or conflicts stop it (``conflicts`` has them; nothing
    ///   was written); `.inUse` where another import has the store.
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
