/// Deletes what the sources no longer have, once all of their records are in the store; in a job that is no mirror it does nothing.
struct MirrorPhase {
    private let run: JobRun
    private let context: RunContext

    init(_ run: JobRun) {
        self.run = run
        context = run.context
    }

    /// - Returns: the run, whose store has what the sources have, or keeps what is withheld.
    /// - Throws: `ImportError`; it is as if it had not begun then.
    func mirror() throws -> JobRun {
        guard let options = run.job.options.mirror else { return run }
        try context.interruption.check()
        let merge = try run.journal.mirror(run.job, options, context.transformers, context.interruption)
        if let merge { context.merges.enqueue(merge) }
        return run
    }
}
