import ImportModel
import Importer

/// Finds out which records are accepted where what becomes of an object depends on the records before: it takes one after the
/// other.
///
/// An object of a table of several entities is of the one that its first record has made it, so that a later one that says
/// nothing of that is of it, too, and one that says otherwise is a reject, as is one that lacks what a new object needs. All chunks
/// are decoded once more for that, in order: what workers have staged stays, unless it is of a reject, and records that they could
/// not decode are staged now.
///
/// Objects that are there already may be left out, with all that is nested in them, or make a reject of their record: those of
/// records by `--on-conflict`, nested ones by what their relationships say.
final class SubentityReplay {
    private let task: ChunkWorker.Task
    private let model: PGModel
    private let statements: RelationshipStatements
    private let connection: PGConnection
    private let tables: RelationshipTables
    private let known: ObjectCache
    private let decoder: ChunkDecoder
    private let secondPass: SecondPassDecoder
    private let stager: RelationshipStager
    private let counts: PGCounts
    /// The rows of records that are accepted without these.
    private var skipped: ChunkRows
    /// nil where no reference makes a reject of its record.
    private let dangling: DanglingReferenceErrors?
    private var rows: [ChunkRows]
    /// The records of the chunk at hand that workers have staged, and that are rejects now.
    private var taken: [Int64] = []
    private(set) var changes: Changes

    /// What has become of records, by entity.
    struct Changes {
        /// How many more were read, and were rejects, than is counted; and references without more than an identifier.
        var read: [Int64]
        var rejected: [Int64]
        var linked: [Int64]
        /// Records that are left out, and nested objects.
        var ignored: [Int64]
        var skipped: [Int64]
    }

    /// - Parameter connection: in the transaction that all is done in.
    init(
        _ task: ChunkWorker.Task,
        _ model: PGModel,
        _ statements: RelationshipStatements,
        _ connection: PGConnection
    ) throws {
        self.task = task
        self.model = model
        self.statements = statements
        self.connection = connection
        tables = statements.tables
        decoder = task.decoder(model)
        known = try ObjectCache(statements, task.job.options, connection)
        secondPass = SecondPassDecoder(plan: statements.tables.graph, options: task.job.options, subentities: known)
        stager = RelationshipStager(statements.tables, isSerial: false) { [tables = statements.tables] in
            try tables.rowIDs(of: $0, connection)
        }
        rows = try stager.makeRows(task.job)
        counts = PGCounts(job: task.job, plans: model.plans)
        dangling =
            try tables.graph.rejectsUnresolved
            ? DanglingReferenceErrors(statements, task.job.options, subentities: known, connection) : nil
        let none = Array(repeating: Int64(0), count: model.plans.count)
        changes = Changes(read: none, rejected: none, linked: none, ignored: none, skipped: none)
        skipped = try RelationshipStagingTables.skipped.rows(task.job.options)
        _ = try connection.execute(RelationshipStagingTables.skippedCreation)
    }

    /// True if a record's objects may be others than a worker has seen.
    static func isNeeded(_ statements: RelationshipStatements, _ connection: PGConnection) throws -> Bool {
        if statements.tables.takesInOrder { return true }
        guard !statements.tables.shared.isEmpty else { return false }
        if statements.tables.graph.rejectsUnresolved {
            let noted = "SELECT EXISTS (SELECT FROM \(RelationshipStatements.danglingTable))"
            if try connection.execute(noted).first?.bool(0) == true { return true }
        }
        for question in statements.askingForSubentities {
            if try connection.execute(question).first?.bool(0) == true { return true }
        }
        return false
    }

    // MARK: Chunks

    /// Takes all records in order: stages those that were left, and takes what rejects say out of the staging tables.
    func find() throws {
        var number = 0
        let chunks = ChunkTable(job: task.job.id)
        while let entry = try chunks.entry(after: number, connection, label: task.store.label) {
            try take(entry)
            number = entry.number
        }
        for statement in statements.removingRejects + statements.removingSkipped {
            _ = try connection.execute(statement)
        }
    }

    private func take(_ entry: ChunkEntry) throws {
        var refused = try Set(
            connection.execute(
                "SELECT ordinal FROM _import_reject WHERE job = $1 AND chunk = $2",
                [.integer(task.job.id), .integer(Int64(entry.number))]
            ).map { try $0.integer(0) }
        )
        try RetryTable(of: task.job).map { try refused.formUnion($0.passedOver(in: entry.ordinals, connection)) }
        let danglingOrdinals =
            try dangling == nil
            ? []
            : Set(
                connection.execute(
                    "SELECT ordinal FROM \(RelationshipStatements.danglingTable) WHERE ordinal BETWEEN $1 AND $2",
                    [.integer(entry.ordinals.lowerBound), .integer(entry.ordinals.upperBound - 1)]
                ).map { try $0.integer(0) }
            )
        var tally = PGCounts.Tally(entities: model.plans.count)
        for index in rows.indices { rows[index].begin() }
        skipped.begin()
        taken.removeAll(keepingCapacity: true)
        try task.forEachBatch(of: entry, model.plans, decoder, connection) { batch, late in
            let records = batch.graph.records.indices.filter {
                !refused.contains(batch.rows[batch.graph.records[$0].row].ordinal)
            }
            known.isAsking = true
            for index in records {
                if batch.graph.records[index].isOpen {
                    let own = try secondPass.decode(index, batch, late, source: entry.source)
                    for record in own.graph.records { ask(record, own, late) }
                } else {
                    ask(batch.graph.records[index], batch, late)
                }
            }
            known.isAsking = false
            try known.lookUp()
            let refused = Set(
                records.filter { danglingOrdinals.contains(batch.rows[batch.graph.records[$0].row].ordinal) }
            )
            try dangling?.find(refused.sorted(), batch, late, source: entry.source)
            for index in records {
                try take(index, isDangling: refused.contains(index), batch, late, entry, &tally)
            }
        }
        try write(entry, &tally)
    }

    private func write(_ entry: ChunkEntry, _ tally: inout PGCounts.Tally) throws {
        if !tally.rejects.isEmpty, task.job.options.onError == .stop {
            try LateRejectFinder.stop(at: tally.rejects, of: entry, task)
        }
        for rows in rows + [skipped] where rows.count > 0 {
            _ = try connection.copy(rows.statement) { try rows.write(to: &$0) }
        }
        if !taken.isEmpty {
            _ = try connection.execute(
                "INSERT INTO \(RelationshipStatements.verdictTable) SELECT unnest(string_to_array($1, ',')::bigint[])",
                [.text(taken.map(String.init).joined(separator: ","))]
            )
        }
        for reject in tally.rejects { changes.rejected[Int(reject.entity)] += 1 }
        for entity in tally.linked.indices { changes.linked[entity] += tally.linked[entity] }
        try counts.writeLedger(tally, of: entry, connection)
        let place = try RelationshipRejects.nextPlace(of: task.job.id, in: entry, connection)
        try counts.writeRejects(tally, of: entry, place: place, connection)
        try known.flush()
    }

    // MARK: Records

    /// The rows of a record with what they are known by.
    private func forEachRow(
        of record: GraphBatch.Record,
        _ batch: borrowing RowBatch,
        _ late: LateRejects,
        _ body: (_ row: Int, _ child: Int, ObjectCache.Key?, _ cells: [Cell], RowValues) -> Bool
    ) {
        batch.cells.withUnsafeBufferPointer { cells in
            late.chunkBytes.withUnsafeBufferPointer { chunk in
                batch.bytes.withUnsafeBufferPointer { own in
                    let values = RowValues(cells: cells, chunk: chunk, own: own, defaults: own)
                    for (child, operation) in batch.graph.operations[record.operations].enumerated() {
                        guard case .row(let row) = operation else { continue }
                        let (entity, cell) = (Int(batch.rows[row].entity), batch.graph.nested[row].keyCell)
                        let width = tables.graph.plans[entity].identifier.count
                        let key = cell < 0 ? [] : Array(cells[cell..<cell + width])
                        let known = key.isEmpty ? nil : self.known.key(of: entity, key, values)
                        guard body(row, child, known, key, values) else { return }
                    }
                }
            }
        }
    }

    private func ask(_ record: GraphBatch.Record, _ batch: borrowing RowBatch, _ late: LateRejects) {
        forEachRow(of: record, batch, late) { _, _, key, cells, values in
            if let key { known.ask(key, cells, values) }
            return true
        }
    }

    /// What the objects before make of a record.
    private struct Outcome {
        var errors: [ImportModel.RecordError] = []
        /// True if an object of it is of another entity than it says.
        var isContradicted = false
        /// True if its own object is there already, so that it is left out.
        var isLeftOut = false
        /// Its statements that are left out as their objects are there, or are nested in such; and the entities of the former.
        var skipped: [Int] = []
        var skippedEntities: [Int] = []
        /// What its objects are then.
        var made: [ObjectCache.Key: Int] = [:]
    }

    /// What a row does whose object is there already.
    private func policy(_ nested: GraphBatch.Nested) -> ConflictPolicy {
        nested.relationship < 0
            ? tables.graph.onConflict : tables.layout.relationships[nested.relationship].description.onConflict
    }

    /// - Parameter identifierOffset: where the record's identifier is in the source.
    private func outcome(
        of record: GraphBatch.Record,
        _ batch: borrowing RowBatch,
        _ late: LateRejects,
        identifierOffset: Int64
    ) -> Outcome {
        var outcome = Outcome()
        // What is nested in an object that cannot be is not looked at.
        var lacking: Set<Int> = []
        var skipped: Set<Int> = []
        // A copy, as a closure cannot borrow it.
        let (rows, nested, insertRejects, presence) = (
            batch.rows, batch.graph.nested, batch.insertRejects, batch.presence
        )
        forEachRow(of: record, batch, late) { index, child, key, _, _ in
            let row = rows[index]
            if row.parent >= 0, skipped.contains(Int(row.parent)) {
                skipped.insert(index)
                outcome.skipped.append(child)
                return true
            }
            if row.parent >= 0, lacking.contains(Int(row.parent)) {
                lacking.insert(index)
                return true
            }
            guard let key else { return true }
            let entity = Int(row.entity)
            let before = known[key]
            let known = outcome.made[key] ?? before?.entity
            if let known, known != entity, tables.layout.isShared(entity), !mayBecome(entity, known) {
                outcome.isContradicted = true
                return false
            }
            let isThere = outcome.made[key] != nil || before.map { !$0.isStub } == true
            switch policy(nested[index]) {
            case .ignore where isThere:
                outcome.isLeftOut = row.parent < 0
                skipped.insert(index)
                outcome.skipped.append(child)
                outcome.skippedEntities.append(entity)
                return !outcome.isLeftOut
            case .error where isThere:
                outcome.errors.append(model.plans[entity].duplicateError(at: identifierOffset))
                lacking.insert(index)
                return true
            case .merge, .replace, .ignore, .error: break
            }
            if row.insertReject >= 0, !isThere {
                outcome.errors += insertRejects[Int(row.insertReject)].errors
                lacking.insert(index)
                return true
            }
            // Only where it names its entity is a stored one made one of that.
            let column = tables.graph.nodes[entity].rows.entityColumn
            let isNamed = column.map { presence[row.firstPresenceWord + $0 >> 6] & 1 << UInt64($0 & 63) != 0 } == true
            outcome.made[key] = isThere && !isNamed ? known ?? entity : entity
            return true
        }
        return outcome
    }

    /// True if a stored object may turn out to be one of a subentity: nothing has said yet what a stub is.
    private func mayBecome(_ entity: Int, _ stored: Int) -> Bool {
        tables.layout.hierarchy.chain(of: entity).contains(stored)
            && tables.layout.relationships.contains {
                $0.description.unresolved == .stub && tables.home(of: $0.destination) == tables.home(of: entity)
            }
    }

    private func take(
        _ index: Int,
        isDangling: Bool,
        _ batch: borrowing RowBatch,
        _ late: LateRejects,
        _ entry: ChunkEntry,
        _ tally: inout PGCounts.Tally
    ) throws {
        let record = batch.graph.records[index]
        let (row, place) = (batch.rows[record.row], batch.places[index])
        func reject(_ errors: [ImportModel.RecordError], _ batch: borrowing RowBatch) {
            tally.rejectLate(late.reject(row, place, errors))
            takeBack(batch)
        }
        func takeBack(_ batch: borrowing RowBatch) {
            guard !record.isOpen else { return }
            taken.append(row.ordinal)
            for case .reference(let entity) in batch.graph.operations[record.operations] { tally.linked[entity] -= 1 }
        }
        // Whose identifier it is, is said as well.
        func told(_ error: ImportModel.RecordError) -> ImportModel.RecordError {
            error.code == .duplicateIdentifier ? error : error.of(name)
        }
        let name = model.plans[Int(row.entity)].entity.name
        if isDangling, let dangling {
            return reject(try dangling.errors(of: index, batch, late, source: entry.source).map { $0.of(name) }, batch)
        }
        var found = Outcome(isContradicted: record.isOpen)
        if !record.isOpen {
            found = outcome(of: record, batch, late, identifierOffset: place.identifierOffset)
            guard found.isContradicted else {
                if !found.errors.isEmpty { return reject(found.errors.map(told), batch) }
                if found.isLeftOut {
                    takeBack(batch)
                    changes.ignored[Int(row.entity)] += 1
                    return
                }
                return keep(found, record, batch, late)
            }
        }
        var own = try secondPass.decode(index, batch, late, source: entry.source)
        if let failure = known.failure { throw failure }
        if let rejected = own.rejects.first { return reject(rejected.errors, batch) }
        guard record.isOpen, let decoded = own.graph.records.first else {
            throw ImportError(.fault, "a record is of another entity than it says, and is none")
        }
        ask(decoded, own, late)
        try known.lookUp()
        let identifierOffset = own.places.first?.identifierOffset ?? place.identifierOffset
        found = outcome(of: decoded, own, late, identifierOffset: identifierOffset)
        if !found.errors.isEmpty { return reject(found.errors.map(told), batch) }
        func countRead() {
            tally.add(own)
            changes.read[Int(row.entity)] -= 1
            changes.read[Int(own.rows[decoded.row].entity)] += 1
        }
        if found.isLeftOut {
            countRead()
            changes.ignored[Int(own.rows[decoded.row].entity)] += 1
            return
        }
        try stager.number(&own)
        let staged = try decoder.bytes.withUnsafeBufferPointer { try stager.add(decoded, own, $0, &rows) }
        switch staged {
        case .staged(let linked): for entity in linked { tally.linked[entity] += 1 }
        case .refused(let fault, let entity):
            return reject([rows[entity].error(fault, byteOffset: place.byteOffset).of(name)], batch)
        }
        countRead()
        keep(found, decoded, own, late)
    }

    /// Notes what the objects of a record that is accepted are from now on.
    private func keep(
        _ found: Outcome,
        _ record: GraphBatch.Record,
        _ batch: borrowing RowBatch,
        _ late: LateRejects
    ) {
        forEachRow(of: record, batch, late) { _, _, key, cells, values in
            if let key, let entity = found.made[key] { known.make(key, of: entity, cells, values) }
            return true
        }
        let ordinal = batch.rows[record.row].ordinal
        for child in found.skipped {
            _ = skipped.append(ChunkRows.numbers(ordinal, Int64(child)), [], CellSource(chunk: nil, own: nil))
        }
        for entity in found.skippedEntities { changes.skipped[entity] += 1 }
    }
}
