import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Applies single changes, and at the end those that had to wait for others.
///
/// A change waits whose row a table refuses, that refers to an object that is not there yet, or that deletes what others still
/// refer to. What counts is the end: changes that wait are made together, with what must be unique put aside first.
final class ChangeApplier {
    /// Foreign keys would lead nowhere.
    struct OpenForeignKeys: Error {}

    let schema: PatchSchema
    let statements: PatchStatements
    let job: Int64
    let comparison: ChangeComparison
    let writer: ChangeWriter
    let rejected: RejectedChange
    /// What the last change came to.
    var steps: [ChangePlan.Step] = []
    /// Which change has put a value aside.
    var parkedBy: [ChangeComparison.ParkedCell: Int64] = [:]

    init(
        _ schema: PatchSchema,
        _ statements: PatchStatements,
        _ options: PatchOptions,
        _ job: Int64,
        _ delegate: (any PatchDelegate)?
    ) {
        self.schema = schema
        self.statements = statements
        self.job = job
        comparison = ChangeComparison(schema, statements, options, delegate)
        writer = ChangeWriter(schema, statements)
        rejected = RejectedChange(writer: ChangeLineWriter(schema.described))
    }

    /// Applies a change.
    ///
    /// - Returns: what it has come to; nil where it waits for others.
    func apply(_ record: ChangeRecords.Record, _ entity: Int) throws -> PatchCounts.Line? {
        do {
            let line = try apply(
                record.change,
                (record.ordinal, record.byteOffset, record.bytes),
                entity,
                isLast: false,
                writes: false
            )
            try writeSteps()
            return line
        } catch is ChangeWriter.Refusal {
        } catch is OpenForeignKeys {
        }
        try statements.run(
            """
            INSERT OR REPLACE INTO _import_waiting_change (job, ordinal, position, byte_offset, lines)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                .integer(job), .integer(record.ordinal), .integer(Int64(entity)), .integer(record.byteOffset),
                .blob(record.bytes),
            ]
        )
        return nil
    }

    /// Writes all that the last change has come to, or nothing.
    private func writeSteps() throws {
        // One statement is done or not by itself. In a savepoint, SQLite would write each page as it was to a temporary file first.
        if schema.statementsStandAlone, steps.isEmpty || steps.count == 1 && steps[0].isOneStatement {
            return try writer.write(steps, isLast: false)
        }
        try statements.savepoint("import_line") {
            try writer.write(steps, isLast: false)
            if statements.hasOpenForeignKeys { throw OpenForeignKeys() }
        }
    }

    /// - Parameter writes: whether it is written; else its steps are left for the caller to write.
    func apply(
        _ change: ObjectChange,
        _ place: (ordinal: Int64, byteOffset: Int64, bytes: [UInt8]),
        _ entity: Int,
        isLast: Bool,
        writes: Bool = true
    ) throws -> PatchCounts.Line {
        let plan = try comparison.plan(change)
        steps = []
        var line = PatchCounts.Line(
            ordinal: place.ordinal,
            byteOffset: place.byteOffset,
            entity: entity,
            kind: change.kind,
            outcome: plan.isRejected ? .rejected : .done(plan.outcome(change.kind))
        )
        line.conflicts = plan.conflicts
        line.stops = plan.stops
        if plan.stops { return line }
        if plan.isRejected {
            line.rejected = rejected.lines(place.bytes, plan.conflicts)
            return line
        }
        line.effects = plan.effects
        line.noted = plan.noted
        steps = plan.steps
        if writes { try writer.write(steps, isLast: isLast) }
        return line
    }
}
