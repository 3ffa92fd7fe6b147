import ImportSources

/// Carries on with the deletions that a finished job has withheld; its sources are not read again.
package struct WithheldDeletionJob {
    package let context: RunContext
    /// Locked.
    package let destination: any Destination

    package init(context: RunContext, destination: any Destination) {
        self.context = context
        self.destination = destination
    }

    /// - Parameters:
    ///   - number: the job's in the store.
    ///   - given: what is allowed beyond the job's own options; its scope counts for nothing.
    /// - Returns: the job's report, and whether nothing was withheld.
    /// - Throws: `ImportError`: `.usage` where the job is no mirror or not finished, `.badInput` where a later job has written to
    ///   its entities.
    package func run(_ number: Int64, _ given: MirrorOptions) throws -> (report: ImportReport, wasDone: Bool) {
        let job = try destination.tidyingUp { try decide(number) }
        guard var options = job.options.mirror else { throw notMirrored(number) }
        options.allowsEmpty = options.allowsEmpty || given.allowsEmpty
        options.despiteRejects = options.despiteRejects || given.despiteRejects
        options.maxDelete = given.maxDelete ?? options.maxDelete
        let before = try destination.report(of: number)
        guard before.withheldReason != nil else {
            destination.tidyUp()
            return (before, true)
        }
        let journal = try destination.open()
        let merge: MergeNotification?
        do {
            try journal.bringUp()
            context.progress.update { $0.phase = .finishing }
            merge = try journal.mirror(job, options, context.transformers, context.interruption)
        } catch {
            destination.abandon()
            throw error
        }
        if let merge { context.merges.enqueue(merge) }
        let report = try destination.close(after: job)
        context.progress.update { $0.phase = .finished }
        return (report, false)
    }

    private func decide(_ number: Int64) throws -> StoredJob {
        guard let job = try destination.read({ try $0.job(number) }) else {
            throw ImportError(
                .jobNotFound,
                at: context.store,
                "has no job \(number)",
                advice: "\(call: .status) lists its jobs."
            )
        }
        guard job.options.mirror != nil else { throw notMirrored(number) }
        guard job.state == .finished else {
            throw ImportError(
                .jobUnfinished,
                at: context.store,
                "job \(number) is not finished: it deletes nothing before its sources are read to their ends",
                advice: "Finish it with \(call: .resuming(store: context.store))."
            )
        }
        return job
    }

    private func notMirrored(_ number: Int64) -> ImportError {
        ImportError(
            .optionsConflict,
            at: context.store,
            "job \(number) was not run with \(.mirror), so it has no deletions to finish",
            advice: "Import them once more with \(.mirror)."
        )
    }
}
