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

/// Cuts, decodes and commits what is left of a job that has its model, in source order.
struct ImportPhase<Store: OrderedDestination> {
    private var run: JobRun
    private let destination: Store
    private let context: RunContext

    /// - Parameter destination: the run's, by its type, for which the phase is specialised.
    init(_ run: JobRun, into destination: Store) {
        self.run = run
        self.destination = destination
        context = run.context
    }

    /// - Returns: the run, all of whose records are in the store.
    /// - Throws: `ImportError`; what was committed before stays.
    consuming func importRecords() throws -> JobRun {
        guard let model = run.job.model else { throw ImportError(.fault, at: context.store, "the job has no model") }
        context.progress.update { $0.phase = .importing }
        let feed = try ChunkFeed(run)
        let writers = try destination.writers(run.job, model, started: run.started, context.interruption)
        defer { try? writers.close() }
        let workers = ImportWorkers(run, model, writers)
        let fault: ImportError?
        do {
            fault = try workers.run { try feed.feed($0, keepsAll: false) }
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

extension RecordDestination where Self: OrderedDestination {
    package func importRecords(of run: JobRun) throws -> JobRun { try ImportPhase(run, into: self).importRecords() }
}
