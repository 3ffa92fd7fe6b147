import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// Writes records of entities that relate to one another: each record's rows and links, all of them or none.
///
/// It does what a record says in the order in which it is said, so that the store is what one record after another makes of
/// it. Belongs to one connection; used inside of its transactions only.
package final class GraphWriter {
    /// What became of the rows of the record at hand.
    package struct Outcome {
        package enum Effect {
            case inserted, updated, unchanged, ignored
        }

        /// By the row's index in the batch.
        package var effects: [Int: Effect] = [:]
        package var rowIDs: [Int: Int64] = [:]
        /// Rows whose links have changed, or those of whose lists without identifiers.
        package var relinked: Set<Int> = []
        /// Rows of other objects that were changed: entity and row id.
        package var updated: [(entity: Int, rowID: Int64)] = []
        package var deleted: [(entity: Int, rowID: Int64)] = []
        /// The entities of rows that were there for references to them alone, and are objects now.
        package var filled: [Int] = []
        /// References without more than an identifier, by entity.
        package var linked: [Int: Int64] = [:]
        package var ledger: [(kind: LedgerKind, entity: Int, attribute: String)] = []
        package var errors: [ImportModel.RecordError] = []
        /// Stored rows of elements without identifier, by the owner's row and the relationship, and by their index.
        package var elements: [ListKey: [Int: Int64]] = [:]
        /// The row that has stated a list of elements without identifier last, by the relationship and the owner's key: an object
        /// may be nested in itself.
        var lastLists: [OwnerKey: Int] = [:]
        /// Of rows that are known by their row ids alone, the position in the list of a join table.
        var joinPositions: [Int: Int64] = [:]
        /// The positions of the elements of a list that adds to the stored one.
        package var positions: [ListKey: [Int64]] = [:]
        /// The lists that have named objects last, whose own rows refer to what has them.
        var claims: [ClaimKey: Claim] = [:]
        /// True if a stored object is of another entity than its own, so that the record is decoded again.
        package var isContradicted = false

        /// True if something else than its own row has changed an object.
        func hasUpdated(_ rowID: Int64, _ layout: ModelLayout, _ entity: Int) -> Bool {
            updated.contains { $0.rowID == rowID && layout.home(of: $0.entity) == layout.home(of: entity) }
        }

        /// True if the record has an object in another list than its owner's since.
        func hasClaimed(_ key: RowKey, _ form: LinkStatements, from owner: RowKey) -> Bool {
            guard !claims.isEmpty, let claim = claims[ClaimKey(owner: form.owner, key: key)] else { return false }
            return claim.source != owner || claim.row < 0
        }
    }

    /// A list of the record at hand.
    package struct ListKey: Hashable {
        package let row: Int
        package let relationship: Int
    }

    /// An object that a list may have, by the relationship that owns the columns.
    struct ClaimKey: Hashable {
        let owner: Int
        let key: RowKey
    }

    /// What a list says of an object.
    struct Claim {
        /// The object whose list it is, and its row's index in the batch; -1 where a later list of it leaves the object out,
        /// and where the object itself has named it since.
        let source: RowKey
        let row: Int
        /// The first of the cells that refer to it; -1 for none.
        var cell = -1
        var position: Int64?
    }

    /// A list of an object, whichever row of the record states it.
    struct OwnerKey: Hashable {
        let relationship: Int
        let key: RowKey
    }

    package let plan: GraphPlan
    package let layout: ModelLayout
    /// Decodes records whose objects are what stored ones are.
    package let secondPass: SecondPassDecoder
    package let subentities: SQLiteSubentityLookup
    package let statements: LinkStatementCache
    package let links: LinkWriter
    package let dangling: DanglingReferences
    private let database: Database
    package let stubs: StubRows
    private var writers: [Int: RowWriter] = [:]
    package var outcome = Outcome()
    /// The cells of the batch at hand, with those filled in that are known only now.
    package var cells: [Cell] = []
    /// The source of the batch at hand, by its index in the job.
    package var source = 0
    /// The errors of values that became null in records that were decoded here.
    package var errors = ErrorCounts()
    /// The rows that the records of the batch at hand are about; nil where nobody asks for them.
    package var retained: RetainedRows?

    package init(_ database: Database, plan: GraphPlan, job: Int64, options: JobOptions) throws {
        self.database = database
        self.plan = plan
        layout = plan.layout
        statements = try LinkStatementCache(database)
        links = LinkWriter(layout, statements, job: job)
        dangling = DanglingReferences(job: job)
        subentities = SQLiteSubentityLookup(layout, statements)
        stubs = StubRows(layout, statements)
        secondPass = SecondPassDecoder(plan: plan, options: options, subentities: subentities)
    }

    private func writer(of entity: Int) throws -> RowWriter {
        if let writer = writers[entity] { return writer }
        let plan = plan.nodes[entity].plan
        let constraints = try TableConstraints(of: plan.entity, database)
        let writer = try RowWriter(database, plan: plan, constraints: constraints)
        writers[entity] = writer
        return writer
    }

    /// Writes the records of a batch.
    ///
    /// A savepoint for each record costs about half of the time. So those that are not expected to fail have one together, and are
    /// written once more where one fails after all.
    ///
    /// - Parameters:
    ///   - appender: appends the records between that are of new objects; nil where none can be.
    ///   - changes: gets what is changed, by entity.
    /// - Returns: the records that turn out to be rejects, by their index, and their errors.
    package func write(
        _ batch: borrowing RowBatch,
        _ found: LateRejects,
        appending appender: GraphAppender?,
        _ changes: inout [EntityChanges],
        _ ledger: inout LedgerCounts
    ) throws -> [(record: Int, errors: [ImportModel.RecordError])] {
        defer { cells = [] }
        let before = (changes, ledger, retained)
        try statements.run("SAVEPOINT import_batch")
        let isCareful = mayAlwaysFail
        let runs = isCareful || !links.named.isEmpty ? nil : appender.map { GraphAppender.Runs($0, batch) }
        var refused = try write(batch, found, runs, &changes, &ledger, isCareful: isCareful)
        if refused == nil {
            try statements.run("ROLLBACK TO import_batch")
            (changes, ledger, retained) = before
            refused = try write(batch, found, nil, &changes, &ledger, isCareful: true)
        }
        try statements.run("RELEASE import_batch")
        return refused ?? []
    }

    /// - Parameters:
    ///   - runs: appends records of new objects.
    ///   - isCareful: whether each record has a savepoint.
    /// - Returns: the records that turn out to be rejects; nil where one without a savepoint cannot be written.
    private func write(
        _ batch: borrowing RowBatch,
        _ found: LateRejects,
        _ runs: GraphAppender.Runs?,
        _ changes: inout [EntityChanges],
        _ ledger: inout LedgerCounts,
        isCareful: Bool
    ) throws -> [(record: Int, errors: [ImportModel.RecordError])]? {
        cells = batch.cells
        links.forget()
        stubs.forget()
        errors = ErrorCounts()
        try links.prepareLookups()
        let refusals = try unresolvedTargets(in: batch)
        var refused: [(record: Int, errors: [ImportModel.RecordError])] = []
        var next = 0
        while next < batch.graph.records.count {
            if let runs {
                guard let end = try runs.append(from: next, batch, found, &changes) else { return nil }
                next = end
                guard next < batch.graph.records.count else { break }
            }
            let index = next
            next += 1
            outcome = Outcome()
            if let targets = refusals[batch.rows[batch.graph.records[index].row].ordinal] {
                refused.append((index, try self.errors(of: index, targets, batch, found)))
                continue
            }
            let mayFail = isCareful || batch.graph.records[index].isOpen || lacksSomething(index, batch)
            if mayFail { try statements.run("SAVEPOINT import_record") }
            if !batch.graph.records[index].isOpen { try write(index, batch, found) }
            if !mayFail, outcome.isContradicted || !outcome.errors.isEmpty { return nil }
            if batch.graph.records[index].isOpen || outcome.isContradicted {
                try statements.run("ROLLBACK TO import_record")
                try writeOpen(index, batch, found, &changes, &ledger)
            } else if outcome.errors.isEmpty {
                count(batch, &changes, &ledger)
            }
            guard mayFail else { continue }
            if !outcome.errors.isEmpty {
                try statements.run("ROLLBACK TO import_record")
                refused.append((index, outcome.errors))
            }
            try statements.run("RELEASE import_record")
        }
        return refused
    }

    /// True if records are expected to fail, as only the stored objects tell what becomes of them.
    private var mayAlwaysFail: Bool {
        plan.onConflict == .error || plan.nodes.contains(where: \.isShared)
            || layout.relationships.contains { $0.description.onConflict == .error }
    }

    /// True if a record lacks what a new object needs.
    private func lacksSomething(_ record: Int, _ batch: borrowing RowBatch) -> Bool {
        guard !batch.insertRejects.isEmpty else { return false }
        return batch.rows[batch.rows(of: record)].contains { $0.insertReject >= 0 }
    }

    package func write(_ record: Int, _ batch: borrowing RowBatch, _ found: LateRejects) throws {
        for place in batch.graph.records[record].operations {
            switch batch.graph.operations[place] {
            case .row(let row):
                try write(row: row, record, batch, found)
                if outcome.isContradicted { return }
                // What a record says that is left out is left out with it.
                if outcome.effects[row] == .ignored, batch.rows[row].parent < 0 { return }
            case .links(let relationship, let row, let targets):
                guard let effect = outcome.effects[row], effect != .ignored else { continue }
                let isNew = effect == .inserted
                if !isNew, layout.relationships[relationship].description.owner == .local { continue }
                try found.withValues(of: batch, cells) { values in
                    let key = self.key(of: row, batch, values)
                    // Where elements may say themselves whose they are, one may have done so before.
                    var isNew = isNew && !isStatedByElements(relationship)
                    if links.form(of: relationship).isPositional {
                        // An object that is nested in itself may have the list already.
                        let owner = OwnerKey(relationship: relationship, key: key)
                        if outcome.lastLists.updateValue(row, forKey: owner) != nil { isNew = false }
                    }
                    let list = try list(of: relationship, targets, batch, values)
                    links.isEmptying = targets == GraphBatch.emptied
                    defer { links.isEmptying = false }
                    try links.set(list, of: relationship, row: row, key: key, isNew: isNew, &outcome)
                    claim(list, of: relationship, row: row, key: key, batch)
                    try noteReferences(list, of: relationship, from: key, ordinal: batch.rows[row].ordinal)
                }
                shiftPositions(relationship, row, targets, batch)
            case .names(let relationship, let row, let valueCell):
                guard let effect = outcome.effects[row], effect != .ignored, let rowID = outcome.rowIDs[row] else {
                    continue
                }
                let description = layout.relationships[relationship].description
                if effect != .inserted, description.owner == .local { continue }
                try found.withValues(of: batch, cells) { values in
                    let named = RowKey(cells[valueCell..<valueCell + description.by.count], values)
                    let key = self.key(of: row, batch, values)
                    let entity = Int(batch.rows[row].entity)
                    try links.name(relationship, named, row: row, rowID: rowID, of: entity, key: key, &outcome)
                    let target = LinkWriter.Target(key: nil, row: -1, values: named)
                    try noteReferences([target], of: relationship, from: key, ordinal: batch.rows[row].ordinal)
                }
            case .refers(let relationship, let row, let other):
                guard let own = outcome.rowIDs[row], let target = outcome.rowIDs[other] else { continue }
                try links.refer(relationship, from: own, to: target)
            case .joins(let relationship, let row, let other):
                guard let effect = outcome.effects[row], effect != .ignored, let target = outcome.rowIDs[other] else {
                    continue
                }
                let isNew = try found.withValues(of: batch, cells) { values in
                    let key = self.key(of: row, batch, values)
                    let owner = OwnerKey(relationship: relationship, key: key)
                    if let last = outcome.lastLists[owner], last != row {
                        // The same list has been stated again since, further in.
                        try links.dropElement(target, of: relationship, &outcome)
                        return false
                    }
                    return try links.join(relationship, key, to: target, at: outcome.joinPositions[other] ?? 0)
                }
                if isNew { outcome.relinked.insert(row) }
            case .reference(let entity): outcome.linked[entity, default: 0] += 1
            }
        }
    }

    /// The values by which a row of the record at hand is referred to.
    package func key(of row: Int, _ batch: borrowing RowBatch, _ values: RowValues) -> RowKey {
        let cell = batch.graph.nested[row].keyCell
        guard cell >= 0 else { return RowKey(rowID: outcome.rowIDs[row] ?? 0) }
        let width = plan.nodes[Int(batch.rows[row].entity)].plan.identifier.count
        return RowKey(cells[cell..<cell + width], values)
    }

    /// A list that adds to the stored one goes on after it, and leaves what is there where it is.
    private func shiftPositions(
        _ relationship: Int,
        _ row: Int,
        _ targets: Range<Int>,
        _ batch: borrowing RowBatch
    ) {
        guard let positions = outcome.positions[ListKey(row: row, relationship: relationship)] else { return }
        for (target, position) in zip(targets, positions) where batch.graph.targets[target].row >= 0 {
            let cell = batch.graph.nested[batch.graph.targets[target].row].positionCell
            if cell >= 0 { cells[cell] = .integer(position) }
        }
    }

    // MARK: Rows

    private func write(row: Int, _ record: Int, _ batch: borrowing RowBatch, _ found: LateRejects) throws {
        let (own, nested) = (batch.rows[row], batch.graph.nested[row])
        let parent = Int(own.parent)
        if parent >= 0 {
            guard let effect = outcome.effects[parent], effect != .ignored else { return }
            if nested.referenceCell >= 0, batch.graph.nested[parent].keyCell < 0 {
                cells[nested.referenceCell] = .integer(outcome.rowIDs[parent] ?? 0)
            }
        }
        let entity = Int(own.entity)
        if isPlaceKept(row, batch, found) {
            outcome.effects[row] = .ignored
            return
        }
        followClaim(of: row, batch, found)
        let writer = try writer(of: entity)
        let relationship = nested.relationship < 0 ? nil : layout.relationships[nested.relationship]
        writer.onConflict = relationship?.description.onConflict ?? plan.nodes[entity].plan.onConflict
        writer.unchanged = keepLinks(of: row, batch)
        let left = try keepReferred(of: row, writer, batch, found)
        try found.withValues(of: batch, cells, defaults: plan.nodes[entity].plan) { values in
            if plan.nodes[entity].isShared {
                let stored = try subentities.storedEntity(of: entity, key(of: row, batch, values))
                if let stored, stored != entity, !mayBecome(entity, stored) {
                    outcome.isContradicted = true
                    return
                }
            }
            if parent >= 0, links.form(of: nested.relationship).isPositional {
                let owner = OwnerKey(relationship: nested.relationship, key: key(of: parent, batch, values))
                // The same list has been stated again since, further in.
                if let last = outcome.lastLists[owner], last != parent { return }
            }
            if let stored = storedElement(nested, parent) {
                outcome.rowIDs[row] = stored
                outcome.effects[row] = .unchanged
                if try subentities.change(stored, to: entity) {
                    outcome.effects[row] = .updated
                    outcome.relinked.insert(parent)
                }
                try links.release(
                    partnersOf: row,
                    entity,
                    batch,
                    cells,
                    values,
                    plan,
                    keeping: [],
                    stored: stored,
                    &outcome
                )
                switch try writer.overwrite(stored, with: row, values, batch) {
                case .updated:
                    outcome.effects[row] = .updated
                    outcome.relinked.insert(parent)
                case .refused(let refusal):
                    let offset = batch.places[record].byteOffset
                    outcome.errors.append(found.error(refusal, plan.nodes[entity].plan, byteOffset: offset))
                default: break
                }
                try noteReferences(of: row, batch, values)
                return
            }
            let unsaid = unsaidLinks(of: row, batch)
            // Of a row that is there for references alone, all is new.
            let stub = try takeStub(of: entity, key(of: row, batch, values))
            if stub != nil {
                guard own.insertReject < 0 else {
                    outcome.errors += batch.insertRejects[Int(own.insertReject)].errors
                    return
                }
                (writer.onConflict, writer.unchanged) = (.replace, unsaid)
            }
            writer.fillsStub = stub != nil
            // What is left out takes no partner from another.
            let ignores = writer.onConflict == .ignore
            let isAsked = ignores || !writer.unchanged.isEmpty || !unsaid.isEmpty
            let isStored = try isAsked && isStored(entity, key(of: row, batch, values))
            let isNew = stub != nil || !isStored
            let kept = isNew ? unsaid : writer.unchanged
            if !ignores || !isStored {
                try links.release(partnersOf: row, entity, batch, cells, values, plan, keeping: kept, &outcome)
            }
            switch try writer.write(row, values, batch) {
            case .inserted(let rowID):
                (outcome.effects[row], outcome.rowIDs[row]) = (.inserted, rowID)
                if parent >= 0, plan.nodes[entity].plan.identifier.isEmpty { outcome.relinked.insert(parent) }
                let key = self.key(of: row, batch, values)
                try links.takeAwayLost(from: row, entity, key: key, &outcome)
                try links.applyWaiting(
                    for: rowID,
                    entity,
                    key: key,
                    isStated: { states($0, row, batch, leaving: unsaid) },
                    &outcome
                )
                try links.referBack(rowID, entity, key: key)
            case .updated(let rowID): (outcome.effects[row], outcome.rowIDs[row]) = (.updated, rowID)
            case .unchanged: (outcome.effects[row], outcome.rowIDs[row]) = (.unchanged, writer.lastRowID)
            case .ignored: (outcome.effects[row], outcome.rowIDs[row]) = (.ignored, writer.lastRowID)
            case .duplicate:
                let offset = batch.places[record].identifierOffset
                outcome.errors.append(plan.nodes[entity].plan.duplicateError(at: offset))
            case .refused(let refusal):
                let offset = batch.places[record].byteOffset
                outcome.errors.append(found.error(refusal, plan.nodes[entity].plan, byteOffset: offset))
            case .incomplete, .waiting: outcome.errors += batch.insertRejects[Int(own.insertReject)].errors
            }
            if let stub { try fill(stub, with: row, entity) }
            noteOwnStatements(of: row, keeping: kept, batch, values)
            try settleNames(of: row, entity, leaving: isNew ? unsaid : [], batch, values)
            try noteReferences(of: row, batch, values)
        }
        guard outcome.effects[row] == .updated || outcome.effects[row] == .inserted else { return }
        for referred in left { try links.loosen(referred.rowID, of: referred.relationship) }
    }

    /// The stored row that an element without identifier overwrites; nil where it is new.
    func storedElement(_ nested: GraphBatch.Nested, _ parent: Int) -> Int64? {
        guard parent >= 0 else { return nil }
        let list = outcome.elements[ListKey(row: parent, relationship: nested.relationship)]
        return list?[nested.position]
    }

    /// True if what a list leads to may say itself whose it is.
    private func isStatedByElements(_ relationship: Int) -> Bool {
        guard let inverse = layout.relationships[relationship].inverse else { return false }
        return !layout.relationships[inverse].description.from.isEmpty
    }

    // MARK: Counts

    package func count(
        _ batch: borrowing RowBatch,
        _ changes: inout [EntityChanges],
        _ ledger: inout LedgerCounts
    ) {
        for row in outcome.effects.keys.sorted() {
            guard let first = outcome.effects[row] else { continue }
            let entity = Int(batch.rows[row].entity)
            let rowID = outcome.rowIDs[row] ?? 0
            if retained != nil, outcome.rowIDs[row] != nil { retained?.add(rowID, of: entity) }
            let isNested = batch.rows[row].parent >= 0
            // What is nested in a record may change the record's own object after its row was written.
            let isChanged = outcome.relinked.contains(row) || !isNested && outcome.hasUpdated(rowID, layout, entity)
            let effect = first == .unchanged && isChanged ? .updated : first
            changes[entity].count(effect, rowID, isNested: isNested)
        }
        outcome.count(&changes)
        for entity in outcome.filled { changes[entity].nested.stubs -= 1 }
        for (entity, count) in outcome.linked {
            changes[entity].nested.nested += count
            changes[entity].nested.linked += count
        }
        for entry in outcome.ledger { ledger.add(entry.kind, entity: Int32(entry.entity), attribute: entry.attribute) }
    }
}

extension GraphWriter.Outcome {
    /// Counts objects that have changed, or are gone, by what others say.
    func count(_ changes: inout [EntityChanges]) {
        for (entity, rowID) in updated { changes[entity].touch(rowID) }
        for (entity, rowID) in deleted {
            changes[entity].delete(rowID)
            changes[entity].nested.deleted += 1
        }
    }
}

extension EntityChanges {
    /// Counts an object whose row was written.
    mutating func count(_ effect: GraphWriter.Outcome.Effect, _ rowID: Int64 = 0, isNested: Bool) {
        if isNested { nested.nested += 1 }
        switch effect {
        case .inserted:
            insert(rowID)
            if isNested { nested.inserted += 1 }
        case .updated:
            update(rowID)
            if isNested { nested.updated += 1 }
        case .unchanged: if isNested { nested.unchanged += 1 } else { unchanged += 1 }
        case .ignored: if isNested { nested.ignored += 1 } else { ignored += 1 }
        }
    }
}

extension LateRejects {
    /// Lends a batch's cells as values.
    ///
    /// - Parameters:
    ///   - cells: the batch's, or others of the same number.
    ///   - plan: of the entity whose defaults they get.
    func withValues<Result>(
        of batch: borrowing RowBatch,
        _ cells: [Cell],
        defaults plan: EntityPlan? = nil,
        _ body: (RowValues) throws -> Result
    ) rethrows -> Result {
        try batch.withValues(chunk: chunkBytes, cells: cells, defaults: plan?.defaultBytes ?? [], body)
    }
}
