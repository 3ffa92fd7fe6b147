import Foundation
import ImportModel
import ImportSources

/// What a retry was asked for.
package struct RetryRequest: Sendable {
    /// The records that it imports.
    package enum Records: Sendable {
        /// Those of a repair file.
        case file(String)
        /// The stored rejects as they are.
        case stored(RejectSelection)
        /// Those that a program has repaired.
        case given(ProgramRepairs)
    }

    package let records: Records
    /// The model to import with; nil for the one of the rejects' job.
    package let model: ModelDescription?

    package init(records: Records, model: ModelDescription?) {
        self.records = records
        self.model = model
    }

    /// - Parameter file: a repair file; nil to try open rejects as they are.
    package init(file: String?, _ selection: RejectSelection, model: ModelDescription?) {
        var selection = selection
        selection.includesSettled = false
        self.init(records: file.map { .file($0) } ?? .stored(selection), model: model)
    }
}

/// Finds out what a retry means for its store.
extension JobResolver {
    /// Where records are kept that are in no file: in one that is not there yet, as one that is may have been edited.
    private static func keptPath(of base: String) -> String {
        var path = base + ".retry.ndjson"
        var number = 2
        while FileManager.default.fileExists(atPath: path) {
            path = "\(base).retry-\(number).ndjson"
            number += 1
        }
        return path
    }

    /// What it means to retry.
    ///
    /// - Throws: `ImportError`: `.badInput` when the file has lines that cannot be retried, `.usage` when its rejects
    ///   are of jobs that differ.
    package func decide(retrying request: RetryRequest, in destination: some Destination) throws -> Decision {
        let jobs = try journal.jobs()
        guard !jobs.isEmpty else {
            throw ImportError(.storeEmpty, at: store, "holds no import", advice: "Begin one with \(call: .importing).")
        }
        try StoreIndexes(wanted: run.indexes).check(request.model)
        switch request.records {
        case .file(let path): return try decide(retryingFile: path, request, jobs)
        case .stored(let selection):
            return try decide(retryingStored: selection, request, jobs, destination)
        case .given(let repairs): return try decide(retryingGiven: repairs, request, jobs, destination)
        }
    }

    private func decide(retryingFile file: String, _ request: RetryRequest, _ jobs: [StoredJob]) throws -> Decision {
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
        if let done, try isUnchanged(description, since: done) { return .nothing(done) }
        let plan = try Self.plan(description, jobs, planner.opener, planner.interruption, journal)
        let sample = try planner.opener.open(description, interruption: planner.interruption).peek()
        let job = try job(description.fingerprinted(sample.bytes), plan, kind, request, jobs)
        return .begin(job, open: [:], retry: plan)
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
        let descriptions = try planner.list([path]).sources
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

    /// True if a file is what a finished retry has read: size and time say so, or else its bytes.
    private func isUnchanged(_ now: SourceDescription, since done: StoredJob) throws -> Bool {
        let before = done.sources[0].description
        guard !SourceCheck.isUntouched(now, since: before) else { return true }
        guard now.size == before.size else { return false }
        let check = SourceCheck(opener: planner.opener, interruption: planner.interruption)
        return try check.isSame(now, as: done, source: 0, journal)
    }

    /// What it means to retry the stored rejects under another model.
    private func decide(
        retryingStored selection: RejectSelection,
        _ request: RetryRequest,
        _ jobs: [StoredJob],
        _ destination: some Destination
    ) throws -> Decision {
        let model = request.model
        let same = jobs.filter { $0.retry == .stored }
        if let open = same.last(where: { $0.state != .finished }) {
            guard open.options.model == model else { throw begunWithAnotherModel }
            return .resume(open)
        }
        let done = same.filter { $0.options.model == model }
        let untried = try journal.hasUntried(selection, besidesThoseOf: done.map(\.id))
        guard untried else { return .nothing(done.last ?? jobs[jobs.count - 1]) }
        var partial: Int64 = 0
        let kept = try keep(jobs, destination) { partial = try journal.forEachRepairLine(selection, $0) }
        if partial > 0 {
            planner.announce(
                "\(partial == 1 ? "1 reject is" : "\(partial.grouped) rejects are") left out: "
                    + "only their first bytes are kept"
            )
        }
        return try begin(kept, .stored, request, jobs)
    }

    /// What it means to retry records that a program has repaired.
    ///
    /// Where all of them are in an interrupted retry's file, in this order, that one is resumed: a program that was killed may
    /// give the same once more, or those of them that are open still.
    private func decide(
        retryingGiven repairs: ProgramRepairs,
        _ request: RetryRequest,
        _ jobs: [StoredJob],
        _ destination: some Destination
    ) throws -> Decision {
        let kind: StoredJob.Retry = request.model == nil ? .file : .fileUnderModel
        let files = try journal.files().filter { $0.kind == .repair && FileManager.default.fileExists(atPath: $0.path) }
        let open = jobs.last { job in
            job.state != .finished && job.retry == kind && (kind == .file || job.options.model == request.model)
                && files.contains { $0.token == job.token }
        }
        var search = try open.map {
            LineFinder(try planner.opener.open($0.sources[0].description, interruption: planner.interruption))
        }
        let kept = try keep(jobs, destination) { body in
            try repairs.forEachLine { line in
                try planner.interruption.check()
                try search?.find(line)
                try body(line[...])
            }
        }
        if let open, search?.hasFoundAll == true { return .resume(open) }
        if kept.plan.jobs.isEmpty { return .nothing(jobs[jobs.count - 1]) }
        return try begin(kept, kind, request, jobs)
    }

    // MARK: Records that are in no file

    /// Records that the importer keeps in a file of its own until their retry is finished, so that it can be resumed.
    private struct StoredRecords {
        let file: SourceDescription
        /// What the file is recorded for.
        let token: String
        let plan: any RetryPlan
    }

    /// Keeps records in a file of the importer's own; where nothing is to be made, reads them all the same.
    ///
    /// - Parameter lines: calls its argument with lines of a repair file.
    private func keep(
        _ jobs: [StoredJob],
        _ destination: some Destination,
        _ lines: @escaping (_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Void
    ) throws -> StoredRecords {
        let (path, token) = (Self.absolute(Self.keptPath(of: chunksBase)), UUID().uuidString.lowercased())
        var size: Int64 = 0
        func plan(_ write: (ArraySlice<UInt8>) throws -> Void) throws -> any RetryPlan {
            try journal.retryPlan(ProgramRepairs.name, maxRecordBytes: Self.maxRecordBytes(of: jobs)) { body in
                try lines {
                    size += Int64($0.count)
                    try body($0)
                    try write($0)
                }
            }
        }
        guard !isPlanning else {
            let plan = try plan { _ in }
            let file = SourceDescription(name: path, path: path, member: nil, size: size, modified: nil)
            return StoredRecords(file: file, token: token, plan: plan)
        }
        let made = try destination.makeRepairFile(at: path, token: token, plan)
        let file = try repairFile(path)
        let sample = try planner.opener.open(file, interruption: planner.interruption).peek()
        return StoredRecords(file: file.fingerprinted(sample.bytes), token: token, plan: made)
    }

    private func begin(
        _ kept: StoredRecords,
        _ kind: StoredJob.Retry,
        _ request: RetryRequest,
        _ jobs: [StoredJob]
    ) throws -> Decision {
        var job = try job(kept.file, kept.plan, kind, request, jobs)
        job.token = kept.token
        return .begin(job, open: [:], retry: kept.plan)
    }

    // MARK: Beginning

    /// A new job that imports the lines of a repair file.
    private func job(
        _ description: SourceDescription,
        _ plan: any RetryPlan,
        _ kind: StoredJob.Retry,
        _ request: RetryRequest,
        _ jobs: [StoredJob]
    ) throws -> StoredJob {
        if let patch = jobs.first(where: { plan.jobs.contains($0.id) && $0.change != nil }) {
            return try self.job(description, plan, kind, request, retrying: patch)
        }
        let own = jobs.filter { plan.jobs.contains($0.id) }.map { ($0.id, Self.options(of: $0, request.model)) }
        guard let options = own.last?.1, let model = options.model else {
            throw ImportError(.fault, at: store, "the rejects' job has no model")
        }
        guard request.model != nil || own.allSatisfy({ $0.1 == options }) else {
            let names = own.map { "\($0.0)" }.joined(separator: ", ")
            throw ImportError(
                .jobsDiffer,
                at: description.name,
                "has rejects of the jobs \(names), whose models or options differ",
                advice: "Retry each job's rejects by themselves (\(call: .exportingRejects(of: .job))), "
                    + "or give one model for all with \(.model)."
            )
        }
        try StoreIndexes(wanted: run.indexes).check(model)
        let entities = try plan.entities()
        for name in entities where !model.entities.contains(where: { BytewiseString($0.name) == BytewiseString(name) })
        {
            guard jobs.contains(where: { $0.model.map { RemovedEntity.isIn($0, name) } ?? false }) else {
                throw ImportError.unknownRetriedEntity(name)
            }
            throw ImportError(
                .unknownEntity,
                "a migration has removed the entity \(name), whose rejects are to be retried",
                advice: "Leave its rejects out: \(call: .exportingRejects(of: .entity))."
            )
        }
        try journal.checkTables(model.entities.map(\.table))
        try checkIdentifiers(of: model, replacing: nil)
        return StoredJob(
            options: options,
            retry: kind,
            sources: [
                StoredJob.Source(
                    description: description,
                    shape: SourceShape(layout: .stream, paths: ["$.record"]),
                    entities: [entities[0]],
                    columns: Self.columns(of: jobs.filter { plan.jobs.contains($0.id) }, entities)
                )
            ],
            model: model,
            chunkDirectory: try freeDirectory(besides: nil)
        )
    }

    /// A new job that applies the changes of a repair file.
    private func job(
        _ description: SourceDescription,
        _ plan: any RetryPlan,
        _ kind: StoredJob.Retry,
        _ request: RetryRequest,
        retrying patch: StoredJob
    ) throws -> StoredJob {
        guard plan.jobs.count == 1, request.model == nil else {
            throw ImportError(
                .jobsDiffer,
                at: description.name,
                "has rejects of job \(patch.id), which are changes and no records",
                advice:
                    "Retry each job's rejects by themselves (\(call: .exportingRejects(of: .job))), and those without \(.model)."
            )
        }
        var options = patch.change?.options ?? PatchOptions()
        // What does not fit again is a reject again.
        options.conflicts = [PatchOptions.Rule(.reject)]
        options.isAtomic = false
        let change = StoredJob.Change(kind: .patch, options: options, endOffset: description.size ?? 0)
        return StoredJob(change, of: description, retry: kind, store: store)
    }

    /// The names of the columns of rows, where all of them had the same.
    private static func columns(of jobs: [StoredJob], _ entities: [String]) -> [[String]]? {
        let headers = jobs.flatMap(\.sources).flatMap { source in
            zip(source.entities, source.columns ?? []).filter { entities.contains($0.0) }.map(\.1)
        }
        let columns = Set(headers.filter { !$0.isEmpty })
        return columns.count == 1 ? Array(columns) : nil
    }

    private static func maxRecordBytes(of jobs: [StoredJob]) -> Int {
        jobs.map(\.options.maxRecordBytes).max() ?? 0
    }

    /// Reads a repair file.
    package static func plan(
        _ description: SourceDescription,
        _ jobs: [StoredJob],
        _ opener: SourceOpener,
        _ interruption: Interruption,
        _ journal: any JournalReader
    ) throws -> any RetryPlan {
        let stream = try opener.open(description, interruption: interruption)
        let plan = try journal.retryPlan(description.name, maxRecordBytes: maxRecordBytes(of: jobs)) { body in
            var block = [UInt8](repeating: 0, count: 256 << 10)
            while true {
                let count = try stream.read(into: &block)
                guard count > 0 else { return }
                try body(block[..<count])
            }
        }
        guard !plan.jobs.isEmpty else {
            throw ImportError(
                .repairFileInvalid,
                at: description.name,
                "there is no line in it",
                advice: "\(call: .exportingRejects()) writes one for each open reject."
            )
        }
        return plan
    }

    /// The job's own options, but for those that choose among its records or limit its rejects.
    private static func options(of job: StoredJob, _ model: ModelDescription?) -> JobOptions {
        JobOptions(
            model: model ?? job.model.map(RemovedEntity.remove),
            reading: job.options.reading,
            onConflict: job.options.onConflict,
            onError: job.options.onError == .stop ? .reject : job.options.onError,
            nul: job.options.nul,
            isLossless: job.options.isLossless,
            maxRecordBytes: job.options.maxRecordBytes,
            maxDepth: job.options.maxDepth
        )
    }
}

extension StoredJob {
    /// A job that changes what is there.
    ///
    /// - Parameter source: has a change in each line.
    package init(_ change: Change, of source: SourceDescription, retry: Retry? = nil, store: String) {
        let shape = SourceShape(layout: .lines, paths: ["$"])
        self.init(
            options: JobOptions(),
            takesChunks: true,
            retry: retry,
            change: change,
            sources: [Source(description: source, shape: shape, entities: [""])],
            model: nil,
            chunkDirectory: JobResolver.absolute(store + ".chunks")
        )
    }
}
