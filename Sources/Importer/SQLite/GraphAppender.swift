import GRDB
import GRDBSQLite
import ImportModel

/// Appends records of new objects to tables that were empty when the job began: nothing is looked up but identifiers.
///
/// It does what `GraphWriter` would do with them, with fewer questions: a new object has no links yet. The indexes that only
/// links need are not there meanwhile. Belongs to one connection; used inside of its transactions only.
final class GraphAppender {
    /// What became of the records of a batch.
    struct Outcome {
        var changes: [EntityChanges]
        /// Records that turned out to be rejects, by their index in the batch, with their errors.
        var refused: [(record: Int, errors: [ImportModel.RecordError])] = []
    }

    private let plan: GraphPlan
    private let statements: GraphStatements
    /// The writers of the entities' rows, by their indexes.
    private let writers: [RowWriter]
    private let joins: [JoinWriter?]
    /// Copies what batches have laid out; nil where that is nothing.
    private let copier: GraphCopier?
    /// The texts of defaults, by entity.
    private let defaultBytes: [UnsafeMutableBufferPointer<UInt8>]
    /// Of each row of the batch at hand its row id, where it has no identifier.
    private var rowIDs: [Int64] = []
    /// The cells of the batch at hand, while they are lent.
    private var cells = UnsafeMutableBufferPointer<Cell>(start: nil, count: 0)
    /// Which records of the batch at hand are left out.
    private var isLeftOut: [Bool] = []
    /// Which rows of the batch at hand are there, or are written later.
    private var isTaken: [Bool] = []

    /// - Parameter laysOutRows: whether batches have nested objects and links laid out.
    init(_ database: Database, plan: GraphPlan, laysOutRows: Bool) throws {
        self.plan = plan
        statements = try GraphStatements(database)
        writers = try plan.nodes.map { node in
            let constraints = try TableConstraints(of: node.plan.entity, database)
            return try RowWriter(database, plan: node.plan, constraints: constraints)
        }
        defaultBytes = plan.nodes.map { node in
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: node.plan.defaultBytes.count)
            _ = bytes.initialize(from: node.plan.defaultBytes)
            return bytes
        }
        let connection = statements.connection
        joins = try plan.layout.relationships.indices.map { relationship in
            guard plan.layout.relationships[relationship].shape == .join else { return nil }
            return try JoinWriter(connection, relationship, plan.layout)
        }
        copier = laysOutRows ? try GraphCopier(database, plan) : nil
    }

    deinit {
        for bytes in defaultBytes { bytes.deallocate() }
    }

    /// Appends the records of a batch.
    ///
    /// - Parameters:
    ///   - memory: what nested objects have said last.
    ///   - changes: those of the batch so far, by entity.
    /// - Returns: nil where a record is not of a new object, or its links do more than add to what is there; nothing is
    ///   changed then.
    /// - Throws: `DatabaseError` when SQLite fails.
    func append(
        _ batch: borrowing RowBatch,
        _ image: RowImage?,
        _ found: LateRejects,
        _ memory: inout StatementMemory,
        _ changes: [EntityChanges]
    ) throws -> Outcome? {
        guard batch.graph.records.allSatisfy(\.isAppendable) else { return nil }
        rowIDs = Array(repeating: 0, count: batch.rows.count)
        isLeftOut = Array(repeating: false, count: batch.graph.records.count)
        isTaken = Array(repeating: false, count: batch.rows.count)
        var outcome = Outcome(changes: changes)
        try statements.run("SAVEPOINT import_batch")
        let isDone = try withValues(of: batch, found) { values in
            guard try writeIdentified(batch, values, &memory, &outcome) else { return false }
            // Rows that are laid out know nothing of records that are left out.
            if image != nil, isLeftOut.contains(true) { return false }
            if let copier {
                try copier.prepare()
                if let image { try copier.copy(image, &outcome.changes) }
            }
            return try writePositional(batch, values, &outcome) && writeLinks(batch, values, &outcome)
        }
        if !isDone { try statements.run("ROLLBACK TO import_batch") }
        try statements.run("RELEASE import_batch")
        return isDone ? outcome : nil
    }

    /// Lends the cells of the batch at hand, which may be changed meanwhile.
    private func withValues<Result>(
        of batch: borrowing RowBatch,
        _ found: LateRejects,
        _ body: (RowValues) throws -> Result
    ) rethrows -> Result {
        // The row ids of objects around are filled in.
        var cells = batch.cells
        return try cells.withUnsafeMutableBufferPointer { buffer in
            self.cells = buffer
            defer { self.cells = UnsafeMutableBufferPointer(start: nil, count: 0) }
            return try found.chunkBytes.withUnsafeBufferPointer { chunk in
                try batch.bytes.withUnsafeBufferPointer { own in
                    let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
                    return try body(
                        RowValues(cells: UnsafeBufferPointer(buffer), chunk: chunk, own: own, defaults: none)
                    )
                }
            }
        }
    }

    /// The rows of a record: its own, then those of nested objects.
    private func rows(of record: Int, _ batch: borrowing RowBatch) -> Range<Int> {
        let next = record + 1
        let end = next < batch.graph.records.count ? batch.graph.records[next].row : batch.rows.count
        return batch.graph.records[record].row..<end
    }

    /// The same values with an entity's defaults.
    private func values(_ values: RowValues, of entity: Int) -> RowValues {
        let defaults = UnsafeBufferPointer(defaultBytes[entity])
        return RowValues(cells: values.cells, chunk: values.chunk, own: values.own, defaults: defaults)
    }

    // MARK: Objects with identifiers

    /// Writes the rows of objects that have identifiers, in the order of the records.
    ///
    /// - Returns: whether all records are of new objects, or left out.
    private func writeIdentified(
        _ batch: borrowing RowBatch,
        _ values: RowValues,
        _ memory: inout StatementMemory,
        _ outcome: inout Outcome
    ) throws -> Bool {
        for record in batch.graph.records.indices {
            let rows = rows(of: record, batch)
            // Mostly nothing can be wrong any more.
            let mayFail = rows.contains { batch.rows[$0].unmet >= 0 }
            if mayFail { try statements.run("SAVEPOINT import_record") }
            let before = mayFail ? outcome.changes : []
            var errors: [ImportModel.RecordError] = []
            for row in rows {
                let parent = Int(batch.rows[row].parent)
                if parent >= 0, !isTaken[parent] { continue }
                guard batch.graph.nested[row].keyCell >= 0 else {
                    isTaken[row] = true
                    continue
                }
                let effect = try write(row, batch, values, &memory)
                switch effect {
                case .updated, .unchanged, .inserted:
                    if parent < 0 { guard case .inserted = effect else { return false } }
                    isTaken[row] = true
                case .ignored: if parent < 0 { isLeftOut[record] = true }
                case .incomplete: errors += batch.unmet[Int(batch.rows[row].unmet)].errors
                case .duplicate, .refused: return false
                }
                count(effect, of: row, batch, &outcome)
            }
            guard mayFail else { continue }
            if !errors.isEmpty {
                try statements.run("ROLLBACK TO import_record")
                for row in rows { memory.forget(batch.graph.nested[row].digest) }
                outcome.changes = before
                outcome.refused.append((record, errors))
                isLeftOut[record] = true
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
        _ memory: inout StatementMemory
    ) throws -> RowWriter.Effect {
        let (own, nested) = (batch.rows[row], batch.graph.nested[row])
        let (writer, values) = (writers[Int(own.entity)], self.values(values, of: Int(own.entity)))
        guard own.parent >= 0 else { return try writer.write(row, values, batch) }
        let relationship = plan.layout.relationships[nested.relationship]
        let policy = relationship.description.onConflict
        writer.onConflict = policy
        defer { writer.onConflict = plan.nodes[Int(own.entity)].plan.onConflict }
        if policy == .merge || policy == .replace, memory.remember(nested.digest) { return .unchanged }
        return try writer.write(row, values, batch)
    }

    private func count(_ effect: RowWriter.Effect, of row: Int, _ batch: borrowing RowBatch, _ outcome: inout Outcome) {
        let (entity, isNested) = (Int(batch.rows[row].entity), batch.rows[row].parent >= 0)
        if isNested { outcome.changes[entity].nested.nested += 1 }
        switch effect {
        case .inserted(let rowID):
            outcome.changes[entity].insert(rowID)
            if isNested { outcome.changes[entity].nested.inserted += 1 }
        case .updated(let rowID):
            outcome.changes[entity].update(rowID)
            if isNested { outcome.changes[entity].nested.updated += 1 }
        case .unchanged:
            if isNested {
                outcome.changes[entity].nested.unchanged += 1
            } else {
                outcome.changes[entity].unchanged += 1
            }
        case .ignored:
            if isNested { outcome.changes[entity].nested.ignored += 1 } else { outcome.changes[entity].ignored += 1 }
        case .duplicate, .incomplete, .refused: break
        }
    }

    // MARK: Objects without identifiers

    /// Appends the rows of objects that have no identifier.
    ///
    /// - Returns: whether all are there.
    private func writePositional(
        _ batch: borrowing RowBatch,
        _ values: RowValues,
        _ outcome: inout Outcome
    ) throws -> Bool {
        for record in batch.graph.records.indices where !isLeftOut[record] {
            for row in rows(of: record, batch) where isTaken[row] && batch.graph.nested[row].keyCell < 0 {
                let (own, nested) = (batch.rows[row], batch.graph.nested[row])
                let (entity, parent) = (Int(own.entity), Int(own.parent))
                if nested.referenceCell >= 0, nested.aroundNumber > 0, let copier {
                    let first = copier.firstRowID(of: plan.layout.target(of: nested.relationship))
                    cells[nested.referenceCell] = .integer(first + Int64(nested.aroundNumber) - 1)
                } else if parent >= 0, nested.referenceCell >= 0, batch.graph.nested[parent].keyCell < 0 {
                    cells[nested.referenceCell] = .integer(rowIDs[parent])
                }
                guard let rowID = try writers[entity].append(row, self.values(values, of: entity), batch) else {
                    return false
                }
                rowIDs[row] = rowID
                outcome.changes[entity].insert(rowID)
                guard parent >= 0 else { continue }
                outcome.changes[entity].nested.nested += 1
                outcome.changes[entity].nested.inserted += 1
            }
        }
        return true
    }

    // MARK: Links

    /// Adds the links of join tables, and counts references.
    ///
    /// - Returns: whether all are there.
    private func writeLinks(
        _ batch: borrowing RowBatch,
        _ values: RowValues,
        _ outcome: inout Outcome
    ) throws -> Bool {
        for record in batch.graph.records.indices where !isLeftOut[record] {
            for place in batch.graph.records[record].statements {
                switch batch.graph.statements[place] {
                case .row: break
                case .links(let relationship, let row, let targets):
                    guard isTaken[row], let join = joins[relationship] else { continue }
                    let key = batch.graph.nested[row].keyCell
                    var position: Int64 = 0
                    for target in targets {
                        let target = batch.graph.targets[target].keyCell
                        if try join.add(key, rowIDs[row], target, at: position, values) { position += 1 }
                    }
                case .reference(let entity):
                    outcome.changes[entity].nested.nested += 1
                    outcome.changes[entity].nested.linked += 1
                case .refers, .joins, .names: return false
                }
            }
        }
        return true
    }
}
