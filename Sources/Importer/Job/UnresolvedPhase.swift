/// Finds records that become rejects when all are there, as what they refer to is not.
struct UnresolvedPhase {
    private static let message: ImportText = "some references lead nowhere: importing again without their records"

    private let run: JobRun
    private let context: RunContext

    init(_ run: JobRun) {
        self.run = run
        context = run.context
    }

    /// - Returns: whether the import begins once more, without records that are noted now.
    /// - Throws: `ImportError`; it is as if it had not begun then.
    func takesBack() throws -> Bool {
        try context.interruption.check()
        guard let merge = try run.journal.takeBackUnresolved(run.job, context.interruption) else { return false }
        context.merges.enqueue(merge)
        context.progress.update {
            // Each round may find more.
            if !$0.messages.contains(Self.message) { $0.messages.append(Self.message) }
        }
        return true
    }
}
