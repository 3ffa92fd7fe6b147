import GRDB
import ImportEngine
import ImportModel

/// Writes batches of entities that relate to one another: it appends their records as long as the tables have nothing else, and
/// writes one after the other then, but for runs of new objects.
///
/// Belongs to one connection; used inside of its transactions only.
final class GraphBatchWriter {
    private let job: Int64
    private let writer: GraphWriter
    /// nil where no record of the model can be appended.
    private let appender: GraphAppender?
    /// True if it is known which lists have elements without an object; tables that were empty have none.
    private var isLostKnown: Bool

    /// - Parameter laysOutRows: whether batches have rows and links laid out; the connection then has an `AttachedDatabaseImage`.
    init(
        _ database: Database,
        _ plan: GraphPlan,
        _ job: StoredJob,
        isAppending: Bool,
        laysOutRows: Bool
    ) throws {
        self.job = job.id
        isLostKnown = isAppending
        writer = try GraphWriter(database, plan: plan, job: job.id, options: job.options)
        let keyed = laysOutRows ? FastGraphPlan(plan)?.keyed ?? [] : nil
        appender = plan.isAppendable ? try GraphAppender(database, plan: plan, job: job.id, keyed: keyed) : nil
    }

    /// The images of a batch's objects and links; nil where there are none.
    static func images(_ graph: GraphPlan, _ database: Database) throws -> DatabaseImageSchema? {
        guard try String.fetchOne(database, sql: "PRAGMA encoding") == "UTF-8",
            let keyed = FastGraphPlan(graph)?.keyed
        else { return nil }
        // Rows that are laid out are written all at once, so none may be refused by what another program has added.
        let keyedTables = Set(keyed.map { graph.layout.table(of: Int($0)) })
        for table in graph.layout.tables
        where table.isJoin || keyedTables.contains(table.name) || !table.indexes.contains(where: \.isIdentifier) {
            let stored = try StoredTable(table.name, database)
            let isFree =
                try stored.columns.allSatisfy { $0.defaultText == nil }
                && stored.indexes.allSatisfy {
                    try !$0.isUnique || $0.isPrimaryKey || SchemaAdditions.isNoted($0.name, database)
                }
                && !database.exists(
                    "SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE",
                    [table.name]
                )
            guard isFree, try AssignedRowIDs.last(of: table.name, database) == nil else { return nil }
        }
        let links = try LinkTable.all(of: graph.layout).enumerated().map { place, links in
            try links.plan(index: graph.nodes.count + place)
        }
        return DatabaseImageSchema(graph.plans + links, keyed: keyed)
    }

    /// The errors of records that were decoded only when the last batch was written.
    var errors: ErrorCounts { writer.errors }

    /// Writes the records of a batch.
    ///
    /// - Parameters:
    ///   - changes: gets what is changed, by entity.
    ///   - retained: gets the rows that the records are about; nil where nobody asks for them.
    ///   - long: does what may take long, in its place.
    /// - Returns: the rejects that were found only now.
    /// - Throws: `LayoutInvalidated` where rows that are laid out have to be looked up; `DatabaseError` when SQLite fails.
    func write(
        _ batch: borrowing RowBatch,
        _ image: DatabaseImage?,
        _ found: LateRejects,
        source: Int,
        _ progress: inout CommitState,
        _ cache: inout AppendCache,
        _ changes: inout [EntityChanges],
        _ ledger: inout LedgerCounts,
        _ retained: inout RetainedRows?,
        _ database: Database,
        long: (() throws -> Void) throws -> Void
    ) throws -> [RowBatch.Reject] {
        writer.source = source
        writer.errors = ErrorCounts()
        func reject(_ record: Int, _ errors: [ImportModel.RecordError]) -> RowBatch.Reject {
            let row = batch.rows[batch.graph.records[record].row]
            let name = found.plans[Int(row.entity)].entity.name
            // Those of the store's own have no path from the record on.
            let own: Set<CoercionError.Code> = [.duplicateIdentifier, .constraintViolation]
            return found.reject(row, batch.places[record], errors.map { own.contains($0.code) ? $0 : $0.of(name) })
        }
        if progress.isAppending, let outcome = try appender?.append(batch, image, found, &cache, changes) {
            changes = outcome.changes
            return outcome.refused.map { reject($0.record, $0.errors) }
        }
        if image != nil { throw LayoutInvalidated(entity: 0) }
        if progress.isAppending {
            try long { try AppendMode.end(job, writer.layout, database) }
            progress.isAppending = false
        }
        writer.retained = retained
        if !isLostKnown {
            writer.links.losing = try writer.links.lost().map(\.relationship)
            isLostKnown = true
        }
        // What is appended is not looked at one by one.
        let appender = retained == nil && writer.links.losing.isEmpty ? appender : nil
        let refused = try writer.write(batch, found, appending: appender, &changes, &ledger)
        retained = writer.retained
        return refused.map { reject($0.record, $0.errors) }
    }
}
