import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// Appends records of new objects: nothing is looked up but identifiers.
///
/// It does what `GraphWriter` would do with them, with fewer questions: a new object has no links yet. In tables that were empty when
/// the job began, the indexes of links are not there meanwhile, nor those of identifiers, as long as no object comes again. Later
/// it appends what is new between the records that `GraphWriter` writes. Belongs to one connection; used inside of its transactions only.
package final class GraphAppender {
    /// What became of the records of a batch.
    package struct Outcome {
        package var changes: [EntityChanges]
        /// Records that turned out to be rejects, by their index in the batch, with their errors.
        package var refused: [(record: Int, errors: [ImportModel.RecordError])] = []
    }

    package let plan: GraphPlan
    package let statements: LinkStatementCache
    /// The writers of the entities' rows, by their indexes.
    package let writers: [RowWriter]
    package let joins: [JoinTableWriter?]
    private let keys: AppendedIdentifiers
    private let job: Int64
    private let listIndexes: ListIndexes
    /// Copies what batches have laid out; nil where that is nothing.
    let copier: ImageGraphCopier?
    /// The texts of defaults, by entity.
    private let defaultBytes: [UnsafeBufferPointer<UInt8>]
    /// What a nested object does to a stored one, by relationship.
    package let policies: [ConflictPolicy]
    /// Of the entities whose identifier is the row id, the highest one in the table.
    private let highestRowID: [OpaquePointer?]

    /// A batch while it is written.
    package struct Work {
        /// Of each row its row id, where it has no identifier.
        package var rowIDs: [Int64]
        /// Which rows are there, or are written later.
        package var isPresent: [Bool]
        /// Which records are left out.
        package var isLeftOut: [Bool]
        /// The highest row id of each entity whose identifier that is; nil for others.
        package var highest: [Int64?] = []
        package var outcome: Outcome

        package init(_ batch: borrowing RowBatch, _ changes: [EntityChanges]) {
            rowIDs = Array(repeating: 0, count: batch.rows.count)
            isPresent = Array(repeating: false, count: batch.rows.count)
            isLeftOut = Array(repeating: false, count: batch.graph.records.count)
            outcome = Outcome(changes: changes)
        }
    }

    /// A batch's values, and its cells, in which the row ids of objects around are filled in.
    package typealias Values = (RowValues, cells: UnsafeMutableBufferPointer<Cell>)

    /// - Parameter keyed: the indexes of the entities whose records' own rows are laid out; nil where batches have nothing laid
    ///   out.
    package init(_ database: Database, plan: GraphPlan, job: Int64, keyed: Set<Int32>?) throws {
        self.plan = plan
        statements = try LinkStatementCache(database)
        writers = try plan.nodes.map { node in
            let constraints = try TableConstraints(of: node.plan.entity, database)
            return try RowWriter(database, plan: node.plan, constraints: constraints)
        }
        defaultBytes = plan.nodes.map { .copy(of: $0.plan.defaultBytes) }
        let connection = statements.connection
        joins = try plan.layout.relationships.indices.map { relationship in
            guard plan.layout.relationships[relationship].shape == .join else { return nil }
            return try JoinTableWriter(connection, relationship, plan.layout)
        }
        policies = plan.layout.relationships.map(\.description.onConflict)
        highestRowID = try plan.nodes.map { node in
            let (entity, table) = (node.plan.entity, node.plan.entity.table)
            // In a table that others have made it may be a column like others.
            guard let attribute = StoreSchema.rowIDAttribute(of: entity),
                try StoredTable(table, database).rowIDColumn
                    == entity.attributes[attribute].column.asciiLowercased
            else { return nil }
            return try connection.prepare("SELECT max(rowid) FROM \(table.quotedIdentifier)")
        }
        keys = try AppendedIdentifiers(database, plan, job: job)
        self.job = job
        listIndexes = try ListIndexes(database, plan.layout)
        copier = try keyed.map { try ImageGraphCopier(database, plan, keyed: $0) }
    }

    deinit {
        for bytes in defaultBytes { bytes.deallocate() }
        for statement in highestRowID { sqlite3_finalize(statement) }
    }

    /// Appends the records of a batch.
    ///
    /// - Parameter changes: those of the batch so far, by entity.
    /// - Returns: nil where a record is not of a new object, or its links do more than add to what is there; nothing is
    ///   changed then.
    /// - Throws: `DatabaseError` when SQLite fails.
    package func append(
        _ batch: borrowing RowBatch,
        _ image: DatabaseImage?,
        _ found: LateRejects,
        _ cache: inout AppendCache,
        _ changes: [EntityChanges]
    ) throws -> Outcome? {
        guard batch.graph.records.allSatisfy(\.isAppendable) else { return nil }
        try statements.run("SAVEPOINT import_batch")
        var cells = batch.cells
        let outcome = try withValues(of: batch, &cells, found) { values in
            var work = Work(batch, changes)
            return try write(batch, image, values, &cache, &work) ? work.outcome : nil
        }
        if outcome == nil { try statements.run("ROLLBACK TO import_batch") }
        try statements.run("RELEASE import_batch")
        return outcome
    }

    /// - Returns: whether all records are of new objects, or left out.
    private func write(
        _ batch: borrowing RowBatch,
        _ image: DatabaseImage?,
        _ values: Values,
        _ cache: inout AppendCache,
        _ work: inout Work
    ) throws -> Bool {
        try keys.prepare(&cache.identifiers)
        try listIndexes.begin()
        if let copier {
            try copier.prepare()
            if let image, try !copier.copy(image, &work.outcome.changes) { return false }
        }
        work.highest = try highestRowIDs()
        guard try writeIdentified(batch, values.0, &cache, &work) else { return false }
        // Rows that are laid out know nothing of records that are left out.
        if image != nil, work.isLeftOut.contains(true) { return false }
        for (entity, count) in batch.graph.repeated.enumerated() {
            work.outcome.changes[entity].nested.nested += count
            work.outcome.changes[entity].nested.unchanged += count
        }
        let records = batch.graph.records.indices
        guard try writePositional(records, batch, values, &work),
            try writeLinks(records, batch, values.0, &work, looksForLinks: false)
        else { return false }
        try listIndexes.end(job: job)
        return true
    }

    func highestRowIDs() throws -> [Int64?] {
        try highestRowID.map { statement in
            guard let statement else { return nil }
            defer { sqlite3_reset(statement) }
            guard sqlite3_step(statement) == SQLITE_ROW else { throw statements.connection.lastError }
            return sqlite3_column_type(statement, 0) == SQLITE_NULL ? .min : sqlite3_column_int64(statement, 0)
        }
    }

    /// Lends the cells of a batch, which may be changed meanwhile.
    func withValues<Result>(
        of batch: borrowing RowBatch,
        _ cells: inout [Cell],
        _ found: LateRejects,
        _ body: (Values) throws -> Result
    ) rethrows -> Result {
        try cells.withUnsafeMutableBufferPointer { buffer in
            try found.chunkBytes.withUnsafeBufferPointer { chunk in
                try batch.bytes.withUnsafeBufferPointer { own in
                    let values = RowValues(cells: UnsafeBufferPointer(buffer), chunk: chunk, own: own)
                    return try body((values, buffer))
                }
            }
        }
    }

    /// The same values with an entity's defaults.
    package func values(_ values: RowValues, of entity: Int) -> RowValues {
        RowValues(cells: values.cells, chunk: values.chunk, own: values.own, defaults: defaultBytes[entity])
    }

    // MARK: Objects with identifiers

    /// Writes the rows of objects that have identifiers, in the order of the records.
    ///
    /// - Returns: whether all records are of new objects, or left out.
    private func writeIdentified(
        _ batch: borrowing RowBatch,
        _ values: RowValues,
        _ cache: inout AppendCache,
        _ work: inout Work
    ) throws -> Bool {
        for record in batch.graph.records.indices {
            let rows = batch.rows(of: record)
            // Mostly nothing can be wrong any more.
            let mayFail = rows.contains { batch.rows[$0].insertReject >= 0 }
            if mayFail { try statements.run("SAVEPOINT import_record") }
            let before = mayFail ? work.outcome.changes : []
            let deferred = mayFail ? cache.identifiers.map { $0 != nil } : []
            var errors: [ImportModel.RecordError] = []
            for row in rows {
                let parent = Int(batch.rows[row].parent)
                if parent >= 0, !work.isPresent[parent] { continue }
                if batch.rows[row].isLaidOut {
                    work.isPresent[row] = true
                    work.outcome.changes[Int(batch.rows[row].entity)]
                        .insert(batch.cells[batch.graph.nested[row].keyCell].integerValue)
                    continue
                }
                guard batch.graph.nested[row].keyCell >= 0 else {
                    work.isPresent[row] = true
                    continue
                }
                let effect = try write(row, batch, values, &cache, &work.highest)
                switch effect {
                case .updated, .unchanged, .inserted:
                    if parent < 0 { guard case .inserted = effect else { return false } }
                    work.isPresent[row] = true
                case .ignored: if parent < 0 { work.isLeftOut[record] = true }
                case .incomplete, .waiting: errors += batch.insertRejects[Int(batch.rows[row].insertReject)].errors
                case .duplicate, .refused: return false
                }
                count(effect, of: row, batch, &work.outcome)
            }
            guard mayFail else { continue }
            if !errors.isEmpty {
                try statements.run("ROLLBACK TO import_record")
                try keys.restore(deferred, cache.identifiers)
                for row in rows { cache.digests.forget(batch.graph.nested[row].digest) }
                work.outcome.changes = before
                work.outcome.refused.append((record, errors))
                work.isLeftOut[record] = true
            }
            try statements.run("RELEASE import_record")
        }
        return true
    }

    @inline(__always)
    private func write(
        _ row: Int,
        _ batch: borrowing RowBatch,
        _ values: RowValues,
        _ cache: inout AppendCache,
        _ highest: inout [Int64?]
    ) throws -> RowWriter.Effect {
        let (own, nested) = (batch.rows[row], batch.graph.nested[row])
        let entity = Int(own.entity)
        let (writer, values) = (writers[entity], self.values(values, of: entity))
        if own.parent >= 0 {
            let policy = policies[nested.relationship]
            if policy == .merge || policy == .replace, cache.digests.remember(nested.digest) { return .unchanged }
            if writer.onConflict != policy { writer.onConflict = policy }
        } else if writer.onConflict != plan.onConflict {
            writer.onConflict = plan.onConflict
        }
        if cache.identifiers[entity] != nil {
            let width = writer.identifierWidth
            let key = UnsafeBufferPointer(rebasing: values.cells[nested.keyCell..<nested.keyCell + width])
            let isComplete = own.insertReject < 0
            if try keys.isNew(entity, key, values, isComplete: isComplete, &cache.identifiers) {
                guard isComplete else { return .incomplete }
                return try writer.append(row, values, batch).map { .inserted(rowID: $0) } ?? .duplicate
            }
        }
        return try lookUp(row, writer, batch, values, &highest)
    }

    /// Writes a row whose object may be there.
    @inline(__always)
    package func lookUp(
        _ row: Int,
        _ writer: RowWriter,
        _ batch: borrowing RowBatch,
        _ values: RowValues,
        _ highest: inout [Int64?]
    ) throws -> RowWriter.Effect {
        let entity = Int(batch.rows[row].entity)
        guard batch.rows[row].insertReject < 0, let last = highest[entity] else {
            return try writer.write(row, values, batch)
        }
        // What is beyond the last one is new.
        let key = values.cells[batch.graph.nested[row].keyCell]
        guard key.tag == .integer, key.integerValue > last else { return try writer.write(row, values, batch) }
        guard let rowID = try writer.append(row, values, batch) else { return .duplicate }
        highest[entity] = rowID
        return .inserted(rowID: rowID)
    }

    package func count(_ effect: RowWriter.Effect, of row: Int, _ batch: borrowing RowBatch, _ outcome: inout Outcome) {
        let (entity, isNested) = (Int(batch.rows[row].entity), batch.rows[row].parent >= 0)
        switch effect {
        case .inserted(let rowID): outcome.changes[entity].count(.inserted, rowID, isNested: isNested)
        case .updated(let rowID): outcome.changes[entity].count(.updated, rowID, isNested: isNested)
        case .unchanged: outcome.changes[entity].count(.unchanged, isNested: isNested)
        case .ignored: outcome.changes[entity].count(.ignored, isNested: isNested)
        case .duplicate, .incomplete, .waiting, .refused: break
        }
    }
}
