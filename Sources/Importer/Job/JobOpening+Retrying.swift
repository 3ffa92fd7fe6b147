import Foundation
import ImportModel

/// What a retry was asked for.
struct RetryRequest: Sendable {
    /// The repair file; nil for the stored rejects as they are.
    let file: String?
    /// The model to import with; nil for the one of the rejects' job.
    let model: ModelDescription?
    /// Which of the stored rejects.
    let selection: RejectSelection
}

/// Finds out what a retry means for its store.
extension JobOpening {
    /// Where the stored rejects are written to be retried as they are: a file that is not there yet, as one that is may
    /// have been edited.
    private static func exportPath(of store: String) -> String {
        var path = store + ".retry.ndjson"
        var number = 2
        while FileManager.default.fileExists(atPath: path) {
            path = "\(store).retry-\(number).ndjson"
            number += 1
        }
        return path
    }

    /// What it means to retry.
    ///
    /// - Throws: `ImportError`: `.badInput` when the file has lines that cannot be retried, `.usage` when its rejects
    ///   are of jobs that differ.
    func decide(
        retrying request: RetryRequest,
        _ journal: any JournalReader,
        in destination: some Destination
    ) throws -> Decision {
        let jobs = try journal.jobs()
        guard !jobs.isEmpty else {
            throw ImportError(.storeEmpty, at: store, "holds no import", advice: "Begin one with \(call: .importing).")
        }
        try StoreIndexes(wanted: run.indexes).check(request.model)
        guard let file = request.file else { return try decide(retryingStored: request, jobs, journal, destination) }
        let description = try repairFile(file)
        let kind: StoredJob.Retry = request.model == nil ? .file : .fileUnderModel
        let same = jobs.filter {
            $0.retry != nil && Self.areSame($0.sources.map(\.description), [description])
        }
        if let open = same.last(where: { $0.state != .finished }) {
            guard open.retry == kind, kind == .file || open.options.model == request.model else {
                throw begunWithAnotherModel
            }
            return .resume(open)
        }
        let done = same.last {
            $0.retry == kind && (kind == .file || $0.options.model == request.model)
        }
        if let done, try isUnchanged(description, since: done, journal) { return .nothing(done) }
        return try begin(description, kind, request, jobs, journal)
    }

    private var begunWithAnotherModel: ImportError {
        ImportError(
            .optionsDiffer,
            at: store,
            "the interrupted retry was started with another \(.model)",
            advice: "Finish it with \(call: .resuming(store: store))."
        )
    }

    private func repairFile(_ path: String) throws -> SourceDescription {
        let descriptions = try planner.describe([path])
        guard descriptions.count == 1, descriptions[0].isRepeatable else {
            throw ImportError(
                .sourceReadOnce,
                at: path,
                "a retry reads its file twice, so it must be one file",
                advice: "Save the lines to a file and give its path."
            )
        }
        return descriptions[0]
    }

    /// Whether a file is what a finished retry has read: size and time say so, or else its bytes.
    private func isUnchanged(
        _ now: SourceDescription,
        since done: StoredJob,
        _ journal: any JournalReader
    ) throws -> Bool {
        let before = done.sources[0].description
        guard !SourceCheck.isUntouched(now, since: before) else { return true }
        guard now.size == before.size else { return false }
        let check = SourceCheck(opener: planner.opener, interruption: planner.interruption)
        return try check.isSame(now, as: done, source: 0, journal)
    }

    /// What it means to retry the stored rejects under another model.
    private func decide(
        retryingStored request: RetryRequest,
        _ jobs: [StoredJob],
        _ journal: any JournalReader,
        _ destination: some Destination
    ) throws -> Decision {
        let model = request.model
        let same = jobs.filter { $0.retry == .stored }
        if let open = same.last(where: { $0.state != .finished }) {
            guard open.options.model == model else { throw begunWithAnotherModel }
            return .resume(open)
        }
        let done = same.filter { $0.options.model == model }
        let untried = try journal.hasUntried(request.selection, besidesThoseOf: done.map(\.id))
        guard untried else { return .nothing(done.last ?? jobs[jobs.count - 1]) }
        let (path, token) = (Self.absolute(Self.exportPath(of: store)), UUID().uuidString.lowercased())
        let partial = try destination.exportRejects(request.selection, to: path, token: token)
        if partial > 0 {
            planner.announce(
                "\(partial == 1 ? "1 reject is" : "\(partial) rejects are") left out: "
                    + "only their first bytes are kept"
            )
        }
        return try begin(try repairFile(path), .stored, request, jobs, journal, token: token)
    }

    // MARK: Beginning

    private func begin(
        _ description: SourceDescription,
        _ kind: StoredJob.Retry,
        _ request: RetryRequest,
        _ jobs: [StoredJob],
        _ journal: any JournalReader,
        token: String? = nil
    ) throws -> Decision {
        let plan = try Self.plan(description, jobs, planner.opener, planner.interruption, journal)
        let own = jobs.filter { plan.jobs.contains($0.id) }.map { ($0.id, Self.options(of: $0, request.model)) }
        guard let options = own.last?.1, let model = options.model else {
            throw ImportError(.fault, at: store, "the rejects' job has no model")
        }
        guard request.model != nil || own.allSatisfy({ $0.1 == options }) else {
            let names = own.map { "\($0.0)" }.joined(separator: ", ")
            throw ImportError(
                .jobsDiffer,
                at: description.displayName,
                "has rejects of the jobs \(names), whose models or options differ",
                advice: "Retry each job's rejects by themselves (\(call: .exportingRejects(of: .job))), "
                    + "or give one model for all with \(.model)."
            )
        }
        try StoreIndexes(wanted: run.indexes).check(model)
        let entities = try plan.entities()
        for name in entities where !model.entities.contains(where: { ExactText($0.name) == ExactText(name) }) {
            throw ImportError.unknownRetriedEntity(name)
        }
        let tables = model.entities.map(\.table)
        try journal.checkTables(tables)
        try checkIdentifiers(of: model, replacing: nil, journal)
        let sample = try planner.opener.open(description, interruption: planner.interruption).peek()
        var job = StoredJob(
            options: options,
            retry: kind,
            sources: [
                StoredJob.Source(
                    description: description.fingerprinted(sample.bytes),
                    shape: SourceShape(layout: .stream, paths: ["$.record"]),
                    entities: [entities[0]]
                )
            ],
            model: model,
            chunkDirectory: try freeDirectory(jobs, journal)
        )
        // What is recorded of the file is recorded for this job.
        if let token { job.token = token }
        return .begin(job, open: [:], retry: plan)
    }

    /// Reads a repair file.
    static func plan(
        _ description: SourceDescription,
        _ jobs: [StoredJob],
        _ opener: SourceOpener,
        _ interruption: Interruption,
        _ journal: any JournalReader
    ) throws -> any RetryPlan {
        try journal.retryPlan(
            opener.open(description, interruption: interruption),
            description.displayName,
            maxRecordBytes: jobs.map(\.options.maxRecordBytes).max() ?? 0
        )
    }

    /// The job's own options, but for those that choose among its records or limit its rejects.
    private static func options(of job: StoredJob, _ model: ModelDescription?) -> JobOptions {
        JobOptions(
            model: model ?? job.model,
            onConflict: job.options.onConflict,
            onError: job.options.onError == .stop ? .reject : job.options.onError,
            isLossless: job.options.isLossless,
            maxRecordBytes: job.options.maxRecordBytes,
            maxDepth: job.options.maxDepth
        )
    }
}
