import ImportModel

/// Turns records of entities that relate to one another into rows by a shorter way than `GraphDecoder`, as most records allow.
///
/// What it makes of a record is what `GraphDecoder` makes of it. It leaves those to that one that have an error, lack something,
/// or are unusual in another way. Made and used by one worker.
final class ShortGraphDecoder {
    /// The object around a nested one.
    struct Around {
        /// The index of its row in the batch.
        let row: Int
        let relationship: ShortGraphPlan.Relationship
        /// The index of the nested object in its list, from 0.
        let index: Int
    }

    private let plan: ShortGraphPlan
    private let isLossless: Bool
    private let decoders: UnsafeMutablePointer<RecordDecoder>
    private let digester = StatementDigester()
    /// The values of the relationships of the objects at hand, by their tokens; -1 for none.
    private var values: [Int32] = []
    private var children: [Int32] = []
    // Of the record at hand:
    private var notes: [(node: Int32, note: RecordMarks.Note)] = []
    private var changes: [(kind: LedgerKind, node: Int32, attribute: String)] = []
    private var isAppendable = true

    /// - Returns: nil where no record of the model can be decoded so.
    init?(_ plan: GraphPlan, options: JobOptions) {
        guard let plan = ShortGraphPlan(plan) else { return nil }
        self.plan = plan
        isLossless = options.isLossless
        decoders = .allocate(capacity: plan.nodes.count)
        for (index, node) in plan.nodes.enumerated() {
            let decoder = RecordDecoder(plan: node.plan, onError: .reject, isLossless: options.isLossless)
            (decoders + index).initialize(to: decoder)
        }
    }

    deinit {
        decoders.deinitialize(count: plan.nodes.count)
        decoders.deallocate()
    }

    /// Adds what was noted of the records taken so far to the batch's ledger.
    func flush(into batch: inout RowBatch) {
        for index in plan.nodes.indices { decoders[index].flush(into: &batch) }
    }

    /// Appends the rows of a record of an entity to `batch`.
    ///
    /// - Returns: whether it could; otherwise the batch is as it was.
    func decode(_ input: RecordDecoder.Input, entity: Int, into batch: inout RowBatch) -> Bool {
        notes.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        isAppendable = plan.isAppendable
        let before = BatchEndings(batch)
        let row = take(input.root, input, entity, nil, &batch)
        guard row >= 0 else {
            before.restore(&batch)
            return false
        }
        for change in changes { batch.ledger.add(change.kind, entity: change.node, attribute: change.attribute) }
        for (node, note) in notes { count(note, of: Int(node)) }
        batch.places.append(decoders[entity].place(input))
        let statements = before.statements..<batch.graph.statements.count
        batch.graph.records.append(
            GraphBatch.Record(row: row, statements: statements, isAppendable: isAppendable)
        )
        return true
    }

    private func count(_ note: RecordMarks.Note, of node: Int) {
        let counts = decoders[node].marks.noteCounts
        var bits = note.notes.rawValue
        while bits != 0 {
            counts[Int(note.attribute) * CoercionNotes.count + bits.trailingZeroBitCount] += 1
            bits &= bits - 1
        }
    }

    // MARK: Objects

    /// Appends the rows of an object and of all that is nested in it.
    ///
    /// - Parameters:
    ///   - token: its own.
    ///   - around: the object that it is nested in; nil for a record's own.
    /// - Returns: the index of its row in the batch; -1 where it is for the long way.
    private func take(
        _ token: Int,
        _ input: RecordDecoder.Input,
        _ entity: Int,
        _ around: Around?,
        _ batch: inout RowBatch
    ) -> Int {
        let node = plan.nodes[entity]
        let input = around == nil ? input : input.nested(at: token, key: -1)
        let decoder = decoders + entity
        if decoder.pointee.find(input) { return -1 }
        let firstValue = values.count
        defer { values.removeLast(values.count - firstValue) }
        for relationship in node.relationships {
            let value = value(of: relationship, decoder)
            guard value != Self.unusual else { return -1 }
            values.append(value)
        }
        let count = decoder.pointee.fillCells(input, isNoObject: false, &batch)
        guard decoder.pointee.errors.isEmpty, decoder.pointee.unmet.isEmpty else { return -1 }
        for change in decoder.pointee.changes { changes.append((change.kind, node.index, change.attribute)) }
        for index in 0..<decoder.pointee.noteCount { notes.append((node.index, decoder.pointee.marks.notes[index])) }
        let row = append(node, decoder, count, firstValue, around, input, &batch)
        guard row >= 0 else { return -1 }
        for (place, relationship) in node.relationships.enumerated() {
            let value = Int(values[firstValue + place])
            let isDone =
                relationship.side == .own
                ? takeOwn(relationship, value, row, node, input, &batch)
                : takeList(relationship, value, row, node, around, input, &batch)
            guard isDone else { return -1 }
        }
        if around != nil, node.hasIdentifier { addDigest(of: row, node, input, &batch) }
        return row
    }

    private static let missing: Int32 = -1
    private static let unusual: Int32 = -2

    /// The token of what an object has for a relationship, `missing` or `unusual`.
    private func value(of relationship: ShortGraphPlan.Relationship, _ decoder: UnsafeMutablePointer<RecordDecoder>)
        -> Int32
    {
        let (slots, generation) = (decoder.pointee.marks.slots, decoder.pointee.generation)
        for slot in relationship.slots where slots[slot].generation == generation {
            return slots[slot].token >= 0 ? slots[slot].token : Self.unusual
        }
        return Self.missing
    }

    /// Appends the row of the object whose cells its decoder has.
    ///
    /// - Returns: its index in the batch; -1 where it is for the long way.
    private func append(
        _ node: ShortGraphPlan.Node,
        _ decoder: UnsafeMutablePointer<RecordDecoder>,
        _ count: Int,
        _ firstValue: Int,
        _ around: Around?,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Int {
        let marks = decoder.pointee.marks
        let firstCell = batch.cells.count
        let firstWord = batch.presence.count
        batch.cells.append(contentsOf: UnsafeMutableBufferPointer(rebasing: marks.cells[..<count]))
        for word in marks.presence { batch.presence.append(word) }
        func add(_ cell: Cell, _ attribute: Int) {
            batch.cells.append(cell)
            batch.presence[firstWord + attribute >> 6] |= 1 << UInt64(attribute & 63)
        }
        var nested = GraphBatch.Nested(relationship: around?.relationship.index ?? -1)
        nested.position = around?.index ?? 0
        for reference in node.references {
            let isAround =
                around.map { $0.relationship.side == .other && $0.relationship.owner == reference.owner } == true
            if isAround, let around {
                // What it says itself of the object around is for the long way.
                if reference.own >= 0, values[firstValue + reference.own] != Self.missing { return -1 }
                nested.referenceCell = batch.cells.count
                let key = batch.graph.nested[around.row].keyCell
                for (offset, attribute) in reference.range.enumerated() {
                    add(key < 0 ? .null : batch.cells[key + offset], attribute)
                }
                guard reference.position >= 0 else { continue }
                nested.positionCell = batch.cells.count
                add(.integer(Int64(nested.position)), reference.position)
                continue
            }
            guard reference.own >= 0 else { continue }
            let relationship = node.relationships[reference.own]
            let value = values[firstValue + reference.own]
            if value == Self.missing {
                let onConflict = around?.relationship.onConflict ?? node.plan.onConflict
                let isCleared = onConflict == .replace && relationship.isReplaced
                if relationship.isRequired || isCleared { return -1 }
                continue
            }
            let token = input.tokens[Int(value)]
            switch token.kind {
            case .null:
                guard relationship.isOptional else { return -1 }
                for attribute in reference.range { add(.null, attribute) }
            case .array: return -1
            case .object:
                // Its cells are those of the object's identifier, once that is there.
                for attribute in reference.range { add(.null, attribute) }
            case .string, .number, .boolean:
                if plan.nodes[relationship.destination].plan.elementSlot >= 0 {
                    for attribute in reference.range { add(.null, attribute) }
                } else {
                    guard let cell = plainKey(relationship, token, input), reference.range.count == 1 else { return -1 }
                    add(cell, reference.range.lowerBound)
                }
            }
        }
        let row = batch.rows.count
        batch.rows.append(
            RowBatch.Row(
                entity: node.index,
                parent: Int32(around?.row ?? -1),
                ordinal: input.ordinal,
                firstCell: firstCell,
                firstPresenceWord: firstWord,
                unmet: -1
            )
        )
        if node.hasIdentifier {
            nested.keyCell = batch.cells.count
            for attribute in node.identifier {
                guard let cell = cell(of: attribute, batch.rows[row], batch), cell.tag != .null else { return -1 }
                batch.cells.append(cell)
            }
        }
        batch.graph.nested.append(nested)
        batch.graph.statements.append(.row(row))
        return row
    }

    /// The cell of an attribute of a row; nil where its record does not mention it.
    private func cell(of attribute: Int, _ row: RowBatch.Row, _ batch: borrowing RowBatch) -> Cell? {
        guard batch.isPresent(attribute, in: row) else { return nil }
        var next = row.firstCell
        for other in 0..<attribute where batch.isPresent(other, in: row) { next += 1 }
        return batch.cells[next]
    }

    /// The cell of a scalar that names an object, where that takes no more than a look.
    private func plainKey(
        _ relationship: ShortGraphPlan.Relationship,
        _ token: RecordTape.Token,
        _ input: RecordDecoder.Input
    ) -> Cell? {
        guard relationship.named >= 0, !isLossless else { return nil }
        let attribute = plan.nodes[relationship.destination].plan.attributes[relationship.named]
        let cell = (decoders + relationship.destination).pointee.plainCell(token, attribute, input)
        return cell.flatMap { $0.tag == .null ? nil : $0 }
    }

    private func addDigest(
        of index: Int,
        _ node: ShortGraphPlan.Node,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) {
        let (row, keyCell) = (batch.rows[index], batch.graph.nested[index].keyCell)
        let words = (node.plan.attributes.count + 63) / 64
        batch.graph.nested[index].digest = batch.bytes.withUnsafeBufferPointer { own in
            batch.cells.withUnsafeBufferPointer { cells in
                let defaults = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
                let values = RowValues(cells: cells, chunk: input.chunk, own: own, defaults: defaults)
                return digester.digest(
                    of: row.entity,
                    key: UnsafeBufferPointer(rebasing: cells[keyCell..<keyCell + node.identifier.count]),
                    presence: batch.presence[row.firstPresenceWord..<row.firstPresenceWord + words],
                    cells: UnsafeBufferPointer(rebasing: cells[row.firstCell..<keyCell]),
                    values
                )
            }
        }
    }

    // MARK: Relationships

    /// The object of a to-one that is in the object's own columns.
    private func takeOwn(
        _ relationship: ShortGraphPlan.Relationship,
        _ value: Int,
        _ row: Int,
        _ node: ShortGraphPlan.Node,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Bool {
        guard value >= 0, input.tokens[value].kind != .null else { return true }
        let destination = plan.nodes[relationship.destination]
        guard input.tokens[value].kind == .object || destination.plan.elementSlot >= 0 else {
            batch.graph.statements.append(.reference(entity: relationship.destination))
            return true
        }
        let around = Around(row: row, relationship: relationship, index: 0)
        let child = take(value, input, relationship.destination, around, &batch)
        guard child >= 0, destination.hasIdentifier,
            let reference = node.references.first(where: { $0.owner == relationship.owner })
        else { return false }
        var cell = batch.rows[row].firstCell
        for attribute in 0..<reference.range.lowerBound where batch.isPresent(attribute, in: batch.rows[row]) {
            cell += 1
        }
        let key = batch.graph.nested[child].keyCell
        for offset in 0..<reference.range.count { batch.cells[cell + offset] = batch.cells[key + offset] }
        return true
    }

    /// The links of an object to the elements of a list, and those of them that are objects.
    private func takeList(
        _ relationship: ShortGraphPlan.Relationship,
        _ value: Int,
        _ row: Int,
        _ node: ShortGraphPlan.Node,
        _ around: Around?,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Bool {
        if value < 0 {
            // An object that is taken as a whole has no links but those that it states.
            let onConflict = around?.relationship.onConflict ?? node.plan.onConflict
            let isWhole = around?.relationship.isPositional == true || onConflict == .replace
            return !isWhole || !relationship.isReplaced
        }
        guard relationship.isAppendable, relationship.isToMany || relationship.isPositional else { return false }
        if around != nil, node.hasIdentifier { return false }
        switch input.tokens[value].kind {
        case .null: guard relationship.isOptional else { return false }
        case .array: guard relationship.isToMany else { return false }
        case .object: if relationship.isToMany { return false }
        case .string, .number, .boolean: return false
        }
        let statement = batch.graph.statements.count
        batch.graph.statements.append(.links(relationship: relationship.index, row: row, targets: 0..<0))
        let first = children.count
        defer { children.removeLast(children.count - first) }
        guard takeElements(relationship, value, row, first, input, &batch) else { return false }
        let firstTarget = batch.graph.targets.count
        for child in children[first...] {
            let keyCell = relationship.isPositional ? -1 : batch.graph.nested[Int(child)].keyCell
            batch.graph.targets.append(GraphBatch.Target(keyCell: keyCell, row: Int(child)))
        }
        let targets = firstTarget..<batch.graph.targets.count
        guard relationship.counts.contains(targets.count) else { return false }
        batch.graph.statements[statement] = .links(relationship: relationship.index, row: row, targets: targets)
        return true
    }

    /// The elements of a list; `children` gets the rows of those that are linked.
    private func takeElements(
        _ relationship: ShortGraphPlan.Relationship,
        _ list: Int,
        _ row: Int,
        _ first: Int,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Bool {
        if input.tokens[list].kind == .object {
            let around = Around(row: row, relationship: relationship, index: 0)
            let child = take(list, input, relationship.destination, around, &batch)
            if child >= 0 { children.append(Int32(child)) }
            return child >= 0
        }
        guard input.tokens[list].kind == .array else { return true }
        let isElement = plan.nodes[relationship.destination].plan.elementSlot >= 0
        let end = Int(input.tokens[list].next)
        var token = list + 1
        while token < end {
            switch input.tokens[token].kind {
            case .null:
                if isLossless { return false }
                changes.append((.nullElement, plan.nodes[Int(batch.rows[row].entity)].index, relationship.name))
                token = Int(input.tokens[token].next)
                continue
            case .object: break
            case .array, .string, .number, .boolean: guard isElement else { return false }
            }
            let around = Around(row: row, relationship: relationship, index: children.count - first)
            let child = take(token, input, relationship.destination, around, &batch)
            guard child >= 0 else { return false }
            if !relationship.isPositional, isLinked(child, first, relationship, input, batch) {
                changes.append((.duplicateLink, plan.nodes[Int(batch.rows[row].entity)].index, relationship.name))
            } else {
                children.append(Int32(child))
                // Comparing each with all others is for few of them.
                if !relationship.isPositional, children.count - first > 64 { return false }
            }
            token = Int(input.tokens[token].next)
        }
        return true
    }

    /// Whether an element of the list has the same identifier already.
    private func isLinked(
        _ child: Int,
        _ first: Int,
        _ relationship: ShortGraphPlan.Relationship,
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch
    ) -> Bool {
        let own = batch.graph.nested[child].digest.key
        let width = plan.nodes[relationship.destination].identifier.count
        func key(_ row: Int) -> KeyBytes {
            let cell = batch.graph.nested[row].keyCell
            return KeyBytes(batch.cells[cell..<cell + width], batch.bytes, input)
        }
        for other in children[first...] where batch.graph.nested[Int(other)].digest.key == own {
            if key(Int(other)) == key(child) { return true }
        }
        return false
    }
}
