/// Notes that a job is finished, and removes what it needs no more.
struct FinishJob {
    private let run: JobRun
    private let context: RunContext

    init(_ run: JobRun) {
        self.run = run
        context = run.context
    }

    /// - Throws: `ImportError`; a resume comes here again.
    func finish() throws {
        let unfound = try run.journal.unfoundPaths(of: run.job)
        let last = try run.journal.finish(
            run.job,
            message: Self.message(of: unfound),
            seconds: run.seconds,
            keepsChunks: context.options.keepsChunks
        )
        context.merges.enqueue(last)
        run.removeLeft()
        context.progress.update { $0.phase = .finished }
    }

    private static func message(of unfound: [String]) -> String? {
        guard !unfound.isEmpty else { return nil }
        return "nothing was found at the record path\(unfound.count > 1 ? "s" : "") \(unfound.joined(separator: ", "))"
    }
}
