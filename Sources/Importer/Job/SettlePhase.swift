/// Makes one object of the rows that have the same identifier, or rejects of the later ones, and builds the indexes.
struct SettlePhase {
    private let run: JobRun
    private let context: RunContext

    init(_ run: JobRun) {
        self.run = run
        context = run.context
    }

    /// - Returns: the run, whose rows are what they are to be.
    /// - Throws: `ImportError`; it is as if it had not begun then.
    func settle() throws -> JobRun {
        context.progress.update { $0.phase = .finishing }
        try context.interruption.check()
        FreedMemory.giveBack()
        if let merge = try run.journal.settle(run.job, context.opener, context.interruption) {
            context.merges.enqueue(merge)
            context.progress.update { $0.rejects += merge.changes.reduce(0) { $0 + $1.rejected } }
        }
        context.announce(try run.journal.wordsOfIndexesLeftOut(of: run.job))
        return run
    }
}
