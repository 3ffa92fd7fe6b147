import ImportModel
import ImportSources

/// Turns records of entities that relate to one another into rows by a shorter way than `GraphDecoder`, as most records allow.
///
/// What it makes of a record is what `GraphDecoder` makes of it. It leaves those to that one that have an error, lack something,
/// or are unusual in another way. Nested objects without identifier, and links, are laid out where a batch has a layout. Made
/// and used by one worker.
package struct FastGraphDecoder {
    /// The object around a nested one.
    package struct Owner {
        /// The index of its row in the batch; where it is laid out, that of the record's own.
        package let row: Int
        /// The first of the cells by which it is referred to; -1 where that is its row id.
        package let keyCell: Int
        /// Its number among the rows of its entity in the batch, from 1, where it has no identifier.
        package let number: Int32
        package let isLaidOut: Bool
        package let relationship: FastGraphPlan.Relationship
        /// The index of the nested object in its list, from 0.
        package let index: Int
    }

    /// An object that has rows.
    package struct AcceptedObject {
        /// The index of its row in the batch; where it is laid out, that of the record's own; -1 where it needs none.
        package var row: Int
        /// The first of the cells by which it is referred to; -1 where that is its row id.
        package var keyCell = -1
        /// Its number among the rows of its entity in the batch, from 1, where it has no identifier.
        package var number: Int32 = 0
        package var isLaidOut = false
        /// The digest of its identifier, where it is nested and has one.
        package var key: UInt64 = 0
    }

    /// An element of a list.
    package struct Child {
        /// The index of its row in the batch; -1 where it needs none.
        package let row: Int32
        /// The first of the cells by which it is referred to; -1 where that is its row id.
        package let keyCell: Int32
        /// The digest of its identifier.
        package let key: UInt64
    }

    package let plan: FastGraphPlan
    package let nodes: UnsafeBufferPointer<FastGraphPlan.Node>
    package let isLossless: Bool
    /// True if null leaves the list of what an object owns as it is, which is not decoded here.
    let keepsListsAtNull: Bool
    package let storage: GraphDecoderStorage
    let decoders: UnsafeMutablePointer<RecordDecoder>
    /// Where rows go that are laid out; nil for none.
    package var layout: DatabaseImage?
    /// How many rows of each entity without identifier the batch has.
    private var numbers: [Int32]
    /// The same before the record at hand.
    private var numbersBefore: [Int32]
    let digester = RowDigester()
    /// What the nested objects of the batch have said last, while it has a layout.
    package let recentRows = RecentRowCache()
    /// By entity, how many nested objects of the batch need no row, as they say what was said last.
    private var repeated: [Int64]
    /// The values of the relationships of the objects at hand, by their tokens; -1 for none.
    package var values: [Int32] = []
    package var children: [Child] = []
    // Of the record at hand:
    private var notes: [(node: Int32, note: RecordScratch.Note)] = []
    package var changes: [(kind: LedgerKind, node: Int32, attribute: String)] = []
    private var isAppendable = true
    /// The entities of its nested objects that need no row.
    var repeatedEntities: [Int32] = []

    /// - Returns: nil where no record of the model can be decoded so.
    package init?(_ plan: GraphPlan, options: JobOptions) {
        guard let plan = FastGraphPlan(plan) else { return nil }
        self.plan = plan
        nodes = plan.nodes
        isLossless = options.isLossless
        keepsListsAtNull = options.mirror != nil
        storage = GraphDecoderStorage(
            plan.plans.map { RecordDecoder(plan: $0, options, onError: .reject) }
        )
        decoders = storage.decoders
        numbers = Array(repeating: 0, count: plan.nodes.count)
        numbersBefore = numbers
        repeated = Array(repeating: 0, count: plan.nodes.count)
    }

    /// The tables of a layout that its rows may go into.
    package var tables: [Int32] {
        nodes.filter { $0.isLaidOut || $0.isLaidOutByKey }.map(\.index)
            + nodes.flatMap(\.relationships).map(\.linkTable).filter { $0 >= 0 }
    }

    /// Says how the columns of rows of an entity are called.
    package func name(columns: [String]?, of entity: Int) { decoders[entity].name(columns: columns) }

    /// Begins a batch.
    ///
    /// - Parameter layout: where its rows go that are laid out; nil for none.
    package mutating func begin(_ layout: DatabaseImage?) {
        self.layout = layout
        for index in numbers.indices { (numbers[index], repeated[index]) = (0, 0) }
        if layout != nil { recentRows.reset() }
    }

    /// Takes note of rows that the long way has appended: none that come after them are laid out.
    package mutating func note(_ rows: Range<Int>, of batch: borrowing RowBatch) {
        for row in rows where batch.graph.nested[row].keyCell < 0 { numbers[Int(batch.rows[row].entity)] += 1 }
        if let layout { for table in tables { layout.close(table) } }
        layout = nil
    }

    /// Adds what was noted of the records taken so far to the batch's ledger.
    package mutating func flush(into batch: inout RowBatch) {
        for index in nodes.indices { decoders[index].flush(into: &batch) }
        batch.graph.repeated = repeated
    }

    /// Appends the rows of a record of an entity to `batch`.
    ///
    /// - Returns: whether it could; otherwise the batch is as it was.
    package mutating func decode(_ input: RecordDecoder.Input, entity: Int, into batch: inout RowBatch) -> Bool {
        notes.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        repeatedEntities.removeAll(keepingCapacity: true)
        isAppendable = plan.isAppendable
        let savepoint = BatchSavepoint(batch)
        layout?.mark()
        for index in numbers.indices { numbersBefore[index] = numbers[index] }
        guard let accepted = take(input.root, input, entity, nil, &batch) else {
            savepoint.restore(&batch)
            layout?.goBack()
            if layout != nil { recentRows.reset() }
            for index in numbers.indices { numbers[index] = numbersBefore[index] }
            return false
        }
        for change in changes { batch.ledger.add(change.kind, entity: change.node, attribute: change.attribute) }
        for (node, note) in notes { decoders[Int(node)].scratch.count(note) }
        for entity in repeatedEntities { repeated[Int(entity)] += 1 }
        batch.places.append(decoders[entity].place(input))
        let operations = savepoint.operations..<batch.graph.operations.count
        batch.graph.records.append(
            GraphBatch.Record(row: accepted.row, operations: operations, isAppendable: isAppendable)
        )
        return true
    }

    // MARK: Objects

    /// Appends the rows of an object and of all that is nested in it.
    ///
    /// - Parameters:
    ///   - token: its own.
    ///   - owner: the object that it is nested in; nil for a record's own.
    /// - Returns: nil where it is for the long way.
    package mutating func take(
        _ token: Int,
        _ input: RecordDecoder.Input,
        _ entity: Int,
        _ owner: Owner?,
        _ batch: inout RowBatch
    ) -> AcceptedObject? {
        let node = nodes[entity]
        if owner != nil, input.mayBeExtended(token) { return nil }
        let input = owner == nil ? input : input.nested(at: token, key: -1)
        let decoder = decoders + entity
        if decoder.pointee.find(input) { return nil }
        let firstValue = values.count
        defer { values.removeLast(values.count - firstValue) }
        for relationship in node.relationships {
            let value = value(of: relationship, decoder)
            guard value != unusual else { return nil }
            values.append(value)
        }
        let firstByte = batch.bytes.count
        let count = decoder.pointee.fillCells(input, isNoObject: false, &batch)
        guard decoder.pointee.errors.isEmpty, decoder.pointee.insertErrors.isEmpty else { return nil }
        for change in decoder.pointee.changes { changes.append((change.kind, node.index, change.attribute)) }
        for index in 0..<decoder.pointee.noteCount { notes.append((node.index, decoder.pointee.scratch.notes[index])) }
        var accepted = AcceptedObject(row: -1)
        var digest: RowDigest?
        if let owner, node.isLeaf, layout != nil {
            switch rowStatus(node, decoder, count, owner, input, &batch) {
            case .repeated(let keyCell, let key):
                (accepted.keyCell, accepted.key) = (keyCell, key)
                return accepted
            case .new(let new): digest = new
            case .unusual: break
            }
        }
        if !node.hasIdentifier {
            numbers[entity] += 1
            accepted.number = numbers[entity]
        }
        if let owner, node.isLaidOut, layOut(node, decoder, count, owner, input, batch) {
            batch.bytes.removeLast(batch.bytes.count - firstByte)
            (accepted.row, accepted.isLaidOut) = (owner.row, true)
        } else {
            guard append(node, decoder, count, firstValue, owner, input, &batch) else { return nil }
            accepted.row = batch.rows.count - 1
            accepted.keyCell = batch.graph.nested[accepted.row].keyCell
        }
        for (place, relationship) in node.relationships.enumerated() {
            let value = Int(values[firstValue + place])
            let isDone =
                relationship.side == .own
                ? takeOwn(relationship, value, accepted, node, input, &batch)
                : takeList(relationship, value, accepted, node, owner, input, &batch)
            guard isDone else { return nil }
        }
        if let owner {
            if node.hasIdentifier {
                let policy = owner.relationship.onConflict
                let digest =
                    digest
                    ?? digester.digest(
                        of: accepted.row,
                        in: batch,
                        keyWidth: node.identifier.count,
                        presenceWords: node.presenceWords,
                        policy,
                        input
                    )
                batch.graph.nested[accepted.row].digest = digest
                accepted.key = digest.key
            }
        } else if let layout, node.isLaidOutByKey {
            layOut(accepted.row, input, &batch, layout)
        }
        return accepted
    }

    /// Stand for the token of a value that is not there, and of one that is for the long way.
    package var missing: Int32 { -1 }
    var unusual: Int32 { -2 }

    /// The token of what an object has for a relationship, `missing` or `unusual`.
    private func value(of relationship: FastGraphPlan.Relationship, _ decoder: UnsafeMutablePointer<RecordDecoder>)
        -> Int32
    {
        let (slots, generation) = (decoder.pointee.scratch.slots, decoder.pointee.generation)
        for slot in relationship.slots where slots[slot].generation == generation {
            return slots[slot].token >= 0 ? slots[slot].token : unusual
        }
        return missing
    }
}
