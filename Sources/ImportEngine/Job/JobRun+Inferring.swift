import ImportModel
import ImportSources

extension JobRun {
    /// The first of two phases of a job without a model: cuts everything, looks at every record, and gives the job the model that
    /// fits them all.
    ///
    /// - Returns: the run, whose job has its model.
    /// - Throws: `ImportError` when no record can be read, or the store does not accept such a model.
    package consuming func inferModel() throws -> JobRun {
        context.progress.update { $0.phase = .inferring }
        let feed = try ChunkFeed(copy self)
        let continued = try continued ?? journal.continuedEntities(of: job)
        let inference = InferenceWorkers(
            sources: job.sources,
            options: job.options,
            removesChunks: false,
            readsBytes: continued.values.contains(where: \.hasBytes),
            progress: context.progress,
            interruption: context.interruption
        )
        var cut: [ChunkEntry] = []
        let fault = try inference.run(workers: context.options.workers) { queue in
            try feed.feed(keepsAll: true) { chunks, committed in
                cut += chunks.map(\.entry)
                try queue.put(chunks, committed: committed)
            }
        }
        try adopt(inference, fault)
        AllocatorTrim.giveBack()
        // Its sources are at their ends.
        open = [:]
        self.fault = fault
        forgetsModel = false
        cutChunks = cut
        return self
    }

    /// Gives the job the model of all records; where the store or what was asked for does not allow that, nothing is changed.
    private mutating func adopt(_ inference: InferenceWorkers, _ fault: ImportError?) throws {
        var notices: [MessageText] = []
        var (isInferred, fitsIndexes) = (false, false)
        let areNamesKnown =
            try job.areNamesKnown || journal.hasGiven(job.options, besides: job.id)
        let newIndexes = try journal.newIndexes(of: context.options.indexes)
        let adopted: JobModelResult
        do {
            adopted = try journal.adopt(by: job, context.transformers, isFinal: fault == nil) {
                stored,
                isTaken in
                let inferred = try inference.model(
                    textsHaveNUL: context.textsHaveNUL ?? destination.textsHaveNUL,
                    continuing: continued ?? stored,
                    isTaken: isTaken,
                    areNamesKnown: areNamesKnown
                )
                (notices, isInferred) = (inferred.notices, true)
                if fault == nil { try (job.newIndexes ?? newIndexes).check(inferred.model) }
                fitsIndexes = true
                return inferred.model
            }
        } catch {
            // What is missing may come after the fault.
            if let fault { throw isInferred ? error : ended(by: fault) }
            guard let refusal = error as? ImportError, [.badInput, .usage].contains(refusal.code) else { throw error }
            // What is imported stays, and the next run may ask for other indexes.
            if forgetsModel || isInferred && !fitsIndexes { throw try refuse(refusal) }
            // The store does not accept such a model: a job that can never go on would only be in the way.
            abandon()
            throw error
        }
        let sources = job.sources.map { $0.description.path ?? $0.description.name }
        context.announce(InferenceNotice.shortened(notices, sources: sources))
        if fault == nil { try sayMissingIndexes(adopted.job) }
        job = adopted.job
        context.announce(adopted.messages)
        for merge in adopted.merges { context.merges.enqueue(merge) }
    }

    /// Says which of an earlier run's indexes the model has nothing for.
    private func sayMissingIndexes(_ job: StoredJob) throws {
        guard context.options.indexes.isEmpty, let model = job.model else { return }
        for names in try journal.indexes(of: job).missing(in: model) {
            context.announce([
                "\(.indexes, names.joined(separator: ",")): no entity has all these attributes: it is not built"
            ])
        }
    }
}
