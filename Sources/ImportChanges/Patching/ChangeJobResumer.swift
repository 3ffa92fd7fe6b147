import ImportEngine
import ImportModel
import ImportSQLite

/// Runs a job that changes what is there, where that is what a resume or a retry means.
package struct ChangeJobResumer {
    package let context: RunContext
    /// Locked.
    package let destination: SQLiteDestination

    package init(context: RunContext, destination: SQLiteDestination) {
        self.context = context
        self.destination = destination
    }

    /// - Throws: `ImportError`; `ConflictStop` where conflicts stop it.
    package func run(_ job: StoredJob, _ decision: JobResolver.Decision) throws -> ImportReport {
        if case .begin(_, _, _, let plan?) = decision {
            return try PatchJob(context: context, destination: destination).retry(job, plan)
        }
        guard job.change?.kind == .undo else {
            return try PatchJob(context: context, destination: destination).resume(job)
        }
        return try UndoJob(context: context, destination: destination).resume(job)
    }
}
