import ImportModel

/// The first of two phases of a job without a model: cuts everything, looks at every record, and gives the job the model that
/// fits them all.
struct InferPhase {
    private var run: JobRun
    private let context: RunContext

    init(_ run: JobRun) {
        self.run = run
        context = run.context
    }

    /// - Returns: the run, whose job has its model.
    /// - Throws: `ImportError` when no record can be read, or the store does not accept such a model.
    consuming func infer() throws -> JobRun {
        context.progress.update { $0.phase = .inferring }
        let feed = try ChunkFeed(run)
        let stage = InferStage(
            sources: run.job.sources,
            options: run.job.options,
            removesChunks: false,
            progress: context.progress,
            interruption: context.interruption
        )
        let fault = try stage.run(workers: context.options.workers) { try feed.feed($0, keepsAll: true) }
        let model = try model(of: stage, fault)
        FreedMemory.giveBack()
        if fault == nil { try checkIndexes(model) }
        try adopt(model, fault)
        // Its sources are at their ends.
        run.open = [:]
        run.fault = fault
        run.hasJustSplit = true
        return run
    }

    private func model(of stage: InferStage, _ fault: ImportError?) throws -> ModelDescription {
        let inferred: (model: ModelDescription, notices: [ImportText])
        do {
            let own = try run.continued ?? run.journal.continuedEntities(of: run.job)
            inferred = try stage.model(
                textsHaveNUL: context.textsHaveNUL ?? run.destination.textsHaveNUL,
                continuing: own
            ) { [journal = run.journal] in try journal.isTaken($0) }
        } catch {
            // What is missing may come after the fault.
            if let fault { throw run.ended(by: fault) }
            run.abandon()
            throw error
        }
        let sources = run.job.sources.map { $0.description.path ?? $0.description.name }
        context.announce(InferenceNotice.shortened(inferred.notices, sources: sources))
        return inferred.model
    }

    /// Makes sure that the model has what this run is to build indexes on, and says which of an earlier run's it has not.
    private func checkIndexes(_ model: ModelDescription) throws {
        do {
            try StoreIndexes(wanted: context.options.indexes).check(model)
        } catch let error as ImportError {
            throw try run.refuse(error)
        }
        guard context.options.indexes.isEmpty else { return }
        for names in try run.journal.indexes(of: run.job).missing(in: model) {
            context.announce([
                "\(.indexes, names.joined(separator: ",")): no entity has all these attributes: it is not built"
            ])
        }
    }

    private mutating func adopt(_ model: ModelDescription, _ fault: ImportError?) throws {
        do {
            let adopted = try run.journal.adopt(model, by: run.job, context.transformers, isFinal: fault == nil)
            run.job = adopted.job
            context.announce(adopted.messages)
            for merge in adopted.merges { context.merges.enqueue(merge) }
        } catch let error as ImportError where fault == nil && [.badInput, .usage].contains(error.code) {
            // The store does not accept such a model: a job that can never go on would only be in the way.
            run.abandon()
            throw error
        }
    }
}
