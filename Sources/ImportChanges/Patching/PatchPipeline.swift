import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Applies a change set to a store, as one job: in commits, and resumable.
///
/// ```swift
/// var options = DifferenceOptions()
/// options.entities = ["people"]
/// let changes = URL(filePath: "monday.changes.ndjson")
/// try StoreDifference(from: "sunday.sqlite", to: "monday.sqlite", options: options).write(to: ChangeSetWriter(changes))
/// let outcome = try PatchPipeline(changes, into: "sunday.sqlite").run()
/// print(outcome.report.updated, outcome.report.conflicts ?? 0)
/// ```
///
/// The whole change set is first compared with the store, without writing. Then each change is compared again, in the transaction that
/// writes it: a value is written if the store has the change's old value, and nothing if it already has the new one. A store value that is
/// neither is a conflict (``PatchOptions``). Any SQLite file can be patched. Create one pipeline per run.
public final class PatchPipeline: Sendable {
    /// The progress of the run, for observers.
    public var progress: ImportProgress { pipeline.progress }
    /// Interrupts the run when requested.
    public var interruption: Interruption { pipeline.interruption }
    /// The center that posts a notification of every commit.
    public var merges: MergeCenter { pipeline.merges }

    /// Is called with the number of the job, in the transaction that begins it.
    package typealias Beginning = @Sendable (Database, Int64) throws -> Void

    private let path: String
    /// What reports call the change set.
    private let name: String
    /// The change set where no file has it; nil for one that is read.
    private let kept: SpooledChangeSet?
    private let beginning: Beginning?
    private let options: PatchOptions
    private let delegate: (any PatchDelegate)?
    private let pipeline: ChangePipeline
    private var store: String { pipeline.store }

    /// Prepares to apply a change set; nothing is read or written before `run`.
    ///
    /// - Parameters:
    ///   - changes: the change set's file.
    ///   - store: the location of the SQLite file.
    ///   - options: the options that determine the result.
    ///   - delegate: customizes how changes are applied.
    ///   - run: the options that do not; only `commitEvery`, `again` and `durability` are used.
    ///   - merges: the center that posts commits.
    public convenience init(
        _ changes: any FileLocation,
        into store: any FileLocation,
        options: PatchOptions = PatchOptions(),
        delegate: (any PatchDelegate)? = nil,
        run: RunOptions = RunOptions(),
        merges: MergeCenter = MergeCenter()
    ) {
        self.init(path: changes.filePath, into: store, options: options, delegate: delegate, run: run, merges: merges)
    }

    /// Prepares to apply the whole change set of a reader, whatever the reader's position.
    public convenience init(
        _ reader: ChangeSetReader,
        into store: any FileLocation,
        options: PatchOptions = PatchOptions(),
        delegate: (any PatchDelegate)? = nil,
        run: RunOptions = RunOptions(),
        merges: MergeCenter = MergeCenter()
    ) {
        self.init(path: reader.path, into: store, options: options, delegate: delegate, run: run, merges: merges)
    }

    /// - Parameter path: the change set's, `-` for standard input.
    package init(
        path: String,
        into store: any FileLocation,
        options: PatchOptions,
        delegate: (any PatchDelegate)? = nil,
        run: RunOptions,
        merges: MergeCenter = MergeCenter()
    ) {
        self.path = path
        name = path == "-" ? "standard input" : path
        kept = nil
        beginning = nil
        self.delegate = delegate
        self.options = options
        pipeline = ChangePipeline(store.filePath, run, merges)
    }

    /// - Parameters:
    ///   - changes: a change set that was made for this.
    ///   - name: what reports call it.
    ///   - pipeline: has not been run.
    ///   - beginning: is called in the transaction that begins the job.
    package init(
        _ changes: SpooledChangeSet,
        named name: String,
        options: PatchOptions,
        _ pipeline: ChangePipeline,
        beginning: @escaping Beginning
    ) {
        path = "-"
        self.name = name
        kept = changes
        self.beginning = beginning
        delegate = nil
        self.options = options
        self.pipeline = pipeline
    }

    /// The report so far, also if conflicts have stopped the run; nil before there is one.
    public var report: ImportReport? { pipeline.report }

    /// Applies the change set until it finishes, is interrupted or fails; blocks the calling thread.
    ///
    /// - Returns: the job's report.
    /// - Throws: `ImportError` with `.badInput` when the file is not a change set, or conflicts stop the patch (``report`` lists
    ///   them; nothing was written, or commits made before stay and the job can be resumed); `.inUse` when another import uses the
    ///   store.
    @discardableResult
    public func run() throws -> ChangeOutcome { try pipeline.run(run) }

    /// Compares the change set with the store, without writing.
    ///
    /// - Returns: the report that a run would have, as far as it is known before a change is made; its job is 0.
    /// - Throws: `ImportError` as `run` does, also where conflicts would stop it.
    @discardableResult
    public func check() throws -> ImportReport {
        let destination = SQLiteDestination(store, durability: pipeline.options.durability)
        do {
            try destination.checkIsThere()
            try pipeline.options.check()
            let changes = try SpooledChangeSet(path, interruption)
            var report = try check(changes.path).report
            report.sources = [name]
            report.state = .finished
            return report
        } catch {
            throw destination.explain(error)
        }
    }

    private func check(_ path: String) throws -> PatchDryRun.Findings {
        let dryRun = PatchDryRun(store: store, options: options, interruption: interruption, delegate: delegate)
        var findings = try dryRun.run(path, named: kept == nil ? self.path : path, compares: true)
        findings.report.sources = [name]
        pipeline.report = findings.report
        if let breakOff = findings.breakOff {
            guard findings.report.recordsRead > 0 else { throw breakOff }
            progress.update { $0.messages.append("\(breakOff.message); only the changes before that are applied") }
        }
        if findings.stops > 0 { throw ImportError.conflicts(findings.stops, at: store, isBegun: false) }
        return findings
    }

    private func run(_ context: RunContext, _ destination: SQLiteDestination) throws -> ChangeOutcome {
        let job = PatchJob(context: context, destination: destination, delegate: delegate)
        switch try destination.tidyingUp({ try decide(context, destination) }) {
        case .nothing(let done):
            destination.tidyUp()
            return .init(report: try destination.report(of: done.id), wasAlreadyFinished: true)
        case .resume(let open): return .init(report: try job.resume(open, options), wasAlreadyFinished: false)
        case .begin:
            let changes = try kept ?? SpooledChangeSet(path, interruption)
            let findings = try destination.tidyingUp { try check(changes.path) }
            let planned = try planned(changes, findings, context, destination)
            let report = try job.begin(planned, findings.header, beginning)
            return .init(report: report, wasAlreadyFinished: false)
        }
    }

    // MARK: What is to be done

    private enum Decision {
        case begin
        case resume(StoredJob)
        case nothing(StoredJob)
    }

    private func decide(_ context: RunContext, _ destination: SQLiteDestination) throws -> Decision {
        try destination.read { journal in
            let descriptions = path == "-" ? [] : try context.opener.describe(path, interruption: interruption)
            func isSame(_ job: StoredJob) -> Bool {
                job.change?.kind == .patch && !descriptions.isEmpty
                    && JobResolver.areSame(job.sources.map(\.description), descriptions)
            }
            if let open = try journal.unfinishedJobs().last {
                guard isSame(open) else {
                    throw ImportError(
                        .jobUnfinished,
                        at: store,
                        "job \(open.id) is not finished, and could overwrite these changes",
                        advice: "Finish it with \(call: .resuming(store: store)), then \(.sameAgain)."
                    )
                }
                return .resume(open)
            }
            guard !context.options.again, let now = descriptions.first,
                let done = try journal.lastJob(withOneOf: descriptions, where: isSame)
            else { return .begin }
            guard try !journal.isUndone(done.id), !done.isEnded, done.change?.options == options else {
                return .begin
            }
            let before = done.sources[0].description
            if SourceCheck.isUntouched(now, since: before) { return .nothing(done) }
            let check = SourceCheck(opener: context.opener, interruption: interruption)
            return try check.isSame(now, as: done, source: 0, journal) ? .nothing(done) : .begin
        }
    }

    private func planned(
        _ changes: SpooledChangeSet,
        _ findings: PatchDryRun.Findings,
        _ context: RunContext,
        _ destination: SQLiteDestination
    ) throws -> StoredJob {
        let token = UUID().uuidString.lowercased()
        let kept = try changes.keep(beside: store, token, destination)
        guard var description = try context.opener.describe(kept, interruption: interruption).first else {
            throw ImportError(.fault, at: kept, "there is no change set")
        }
        description.name = name
        let change = StoredJob.Change(
            kind: .patch,
            options: options,
            endOffset: findings.endOffset,
            hasDelegate: delegate == nil ? nil : true
        )
        var job = StoredJob(change, of: description, store: store)
        job.token = token
        return job
    }
}
