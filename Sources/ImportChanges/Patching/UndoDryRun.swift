import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The first of an undo's passes: compares the rows with what the job has left, and writes nothing.
package struct UndoDryRun {
    /// What was found.
    package struct Findings {
        package var report: ImportReport
        /// Conflicts under a policy that stops.
        var stops: Int64 = 0
    }

    package let store: String
    package let job: Int64
    package let options: PatchOptions
    package let interruption: Interruption

    package func run() throws -> Findings {
        let compared = try ComparedStore(store, identifiers: [:])
        return try compared.read { database in
            let schema = try UndoSchema(undoing: job, compared.schema, database)
            let statements = try PatchStatements(database)
            let comparison = UndoComparison(job: job, statements: statements, options: options)
            var tally = ChangeTally()
            var stops: Int64 = 0
            for table in schema.tables.prefix(schema.loggedCount) {
                let isWhole = schema.whole.contains(ExistingEntity.folded(table.name))
                try UndoLogRow.forEach(of: job, table, isWhole: isWhole, statements, store: store) { row in
                    try interruption.check()
                    let plan = try comparison.plan(row, table)
                    stops += Int64(plan.policies.filter { $0 == .stop }.count)
                    tally.add(table.entity, plan.outcome, plan.conflicts)
                }
            }
            return Findings(report: tally.report("job \(job)"), stops: stops)
        }
    }
}
