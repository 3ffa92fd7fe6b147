import ImportModel

/// Judges a job whose records are all in the store, before anything is deleted that they do not have.
struct JudgePhase {
    private let run: JobRun
    private let context: RunContext

    init(_ run: JobRun) {
        self.run = run
        context = run.context
    }

    /// - Returns: the run, which may be finished.
    /// - Throws: `ImportError` with `.badInput` when too many records were rejected; a resume judges again.
    func judge() throws -> JobRun {
        try warnOfEmptyPaths(but: run.journal.unfoundPaths(of: run.job))
        do {
            try judgeRejects()
        } catch {
            if !context.options.keepsChunks { removeChunks() }
            throw error
        }
        return run
    }

    /// As `removeLeft`, while the job is not finished.
    private func removeChunks() {
        try? JobChunks(journal: run.journal, store: context.store).recorded(of: run.job)?.remove(store: context.store)
    }

    /// Everything is imported by now; a resume comes here again.
    private func judgeRejects() throws {
        guard let limit = run.job.options.maxErrors else { return }
        let counts = try run.journal.recordCounts(of: run.job)
        try RejectLimit.judge(rejected: counts.rejected, of: counts.read, by: limit)
    }

    /// A record path without records may not be what was meant.
    ///
    /// - Parameter unfound: those that the job's message names.
    private func warnOfEmptyPaths(but unfound: [String]) throws {
        let job = run.job
        guard job.options.limit != 0 else { return }
        let few = job.options.skip == 0 ? "no records" : "no more records than are passed over"
        let read = try run.journal.readEntities(of: job)
        let hierarchy = EntityHierarchy(job.model?.entities ?? [])
        for source in job.sources {
            for (path, entity) in zip(source.shape.paths, source.entities)
            where !unfound.contains(path) {
                // What is read for an entity may be of its subentities.
                let kinds = hierarchy.index(of: entity).map { hierarchy.subentities(of: $0) } ?? []
                let names = kinds.map { hierarchy.entities[$0].name } + [entity]
                guard !names.contains(where: read.contains) else { continue }
                context.announce(["\(source.description.displayName): \(few) were found at \(path)"])
            }
        }
    }
}
