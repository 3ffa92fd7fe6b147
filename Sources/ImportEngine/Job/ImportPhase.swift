import ImportModel
import ImportSources

/// A destination that knows how the records of a run come into it.
package protocol RecordDestination: Destination {
    /// Cuts, decodes and commits what is left of a job that has its model.
    ///
    /// - Returns: the run, all of whose records are in the store.
    /// - Throws: `ImportError`; what was committed before stays.
    func importRecords(of run: JobRun) throws -> JobRun
}

extension RecordDestination where Self: OrderedDestination {
    /// Cuts, decodes and commits what is left of a job that has its model, in source order.
    package func importRecords(of run: JobRun) throws -> JobRun {
        var run = run
        let context = run.context
        guard let model = run.job.model else { throw ImportError(.fault, at: context.store, "the job has no model") }
        context.progress.update { $0.phase = .importing }
        let feed = try ChunkFeed(run)
        let writers = try writers(run.job, model, started: run.started, context.interruption)
        defer { try? writers.close() }
        let workers = ImportWorkers(run, model, writers)
        let fault: ImportError?
        do {
            fault = try workers.run { queue in
                try feed.feed(keepsAll: false) { try queue.put($0, committed: $1) }
            }
        } catch let error as ImportError where error.reason == .sourceChanged && !run.job.takesChunks {
            // They are cut from something else than what is in the store.
            try JobChunks.drop(of: run.job, in: run.directory)
            throw error
        }
        if let fault = fault ?? run.fault { throw run.ended(by: fault) }
        try context.interruption.check()
        try run.checkCompleteness()
        run.open = [:]
        return run
    }
}
