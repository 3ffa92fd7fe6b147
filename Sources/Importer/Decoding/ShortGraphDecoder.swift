import ImportModel

/// Turns records of entities that relate to one another into rows by a shorter way than `GraphDecoder`, as most records allow.
///
/// What it makes of a record is what `GraphDecoder` makes of it. It leaves those to that one that have an error, lack something,
/// or are unusual in another way. Nested objects without identifier, and links, are laid out where a batch has a layout. Made
/// and used by one worker.
struct ShortGraphDecoder<Layout: RowLayout> {
    /// The object around a nested one.
    struct Around {
        /// The index of its row in the batch; where it is laid out, that of the record's own.
        let row: Int
        /// The first of the cells by which it is referred to; -1 where that is its row id.
        let keyCell: Int
        /// Its number among the rows of its entity in the batch, from 1, where it has no identifier.
        let number: Int32
        let relationship: ShortGraphPlan.Relationship
        /// The index of the nested object in its list, from 0.
        let index: Int
    }

    /// An object that has rows.
    private struct Taken {
        /// The index of its row in the batch; where it is laid out, that of the record's own.
        var row: Int
        /// The first of the cells by which it is referred to; -1 where that is its row id.
        var keyCell = -1
        /// Its number among the rows of its entity in the batch, from 1, where it has no identifier.
        var number: Int32 = 0
        var isLaidOut = false
    }

    private let plan: ShortGraphPlan
    private let isLossless: Bool
    private let memory: DecoderMemory
    private let decoders: UnsafeMutablePointer<RecordDecoder>
    /// Where rows go that are laid out; nil for none.
    var layout: Layout?
    /// How many rows of each entity without identifier the batch has.
    private var numbers: [Int32]
    /// The same before the record at hand.
    private var numbersBefore: [Int32]
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
        memory = DecoderMemory(
            plan.nodes.map { RecordDecoder(plan: $0.plan, onError: .reject, isLossless: options.isLossless) }
        )
        decoders = memory.decoders
        numbers = Array(repeating: 0, count: plan.nodes.count)
        numbersBefore = numbers
    }

    /// The tables of a layout that its rows may go into.
    var tables: [Int32] {
        plan.nodes.filter(\.isLaidOut).map(\.index)
            + plan.nodes.flatMap(\.relationships).map(\.linkTable).filter { $0 >= 0 }
    }

    /// Begins a batch.
    ///
    /// - Parameter layout: where its rows go that are laid out; nil for none.
    mutating func begin(_ layout: Layout?) {
        self.layout = layout
        for index in numbers.indices { numbers[index] = 0 }
    }

    /// Takes note of rows that the long way has appended: none that come after them are laid out.
    mutating func note(_ rows: Range<Int>, of batch: borrowing RowBatch) {
        for row in rows where batch.graph.nested[row].keyCell < 0 { numbers[Int(batch.rows[row].entity)] += 1 }
        if let layout { for table in tables { layout.close(table) } }
        layout = nil
    }

    /// Adds what was noted of the records taken so far to the batch's ledger.
    mutating func flush(into batch: inout RowBatch) {
        for index in plan.nodes.indices { decoders[index].flush(into: &batch) }
    }

    /// Appends the rows of a record of an entity to `batch`.
    ///
    /// - Returns: whether it could; otherwise the batch is as it was.
    mutating func decode(_ input: RecordDecoder.Input, entity: Int, into batch: inout RowBatch) -> Bool {
        notes.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        isAppendable = plan.isAppendable
        let before = BatchEndings(batch)
        layout?.mark()
        for index in numbers.indices { numbersBefore[index] = numbers[index] }
        guard let taken = take(input.root, input, entity, nil, &batch) else {
            before.restore(&batch)
            layout?.goBack()
            for index in numbers.indices { numbers[index] = numbersBefore[index] }
            return false
        }
        for change in changes { batch.ledger.add(change.kind, entity: change.node, attribute: change.attribute) }
        for (node, note) in notes { count(note, of: Int(node)) }
        batch.places.append(decoders[entity].place(input))
        let statements = before.statements..<batch.graph.statements.count
        batch.graph.records.append(
            GraphBatch.Record(row: taken.row, statements: statements, isAppendable: isAppendable)
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
    /// - Returns: nil where it is for the long way.
    private mutating func take(
        _ token: Int,
        _ input: RecordDecoder.Input,
        _ entity: Int,
        _ around: Around?,
        _ batch: inout RowBatch
    ) -> Taken? {
        let node = plan.nodes[entity]
        let input = around == nil ? input : input.nested(at: token, key: -1)
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
        guard decoder.pointee.errors.isEmpty, decoder.pointee.unmet.isEmpty else { return nil }
        for change in decoder.pointee.changes { changes.append((change.kind, node.index, change.attribute)) }
        for index in 0..<decoder.pointee.noteCount { notes.append((node.index, decoder.pointee.marks.notes[index])) }
        var taken = Taken(row: -1)
        if !node.hasIdentifier {
            numbers[entity] += 1
            taken.number = numbers[entity]
        }
        if let around, node.isLaidOut, layOut(node, decoder, count, around, input, batch) {
            batch.bytes.removeLast(batch.bytes.count - firstByte)
            (taken.row, taken.isLaidOut) = (around.row, true)
        } else {
            guard append(node, decoder, count, firstValue, around, input, &batch) else { return nil }
            taken.row = batch.rows.count - 1
            taken.keyCell = batch.graph.nested[taken.row].keyCell
        }
        for (place, relationship) in node.relationships.enumerated() {
            let value = Int(values[firstValue + place])
            let isDone =
                relationship.side == .own
                ? takeOwn(relationship, value, taken, node, input, &batch)
                : takeList(relationship, value, taken, node, around, input, &batch)
            guard isDone else { return nil }
        }
        if around != nil, node.hasIdentifier { addDigest(of: taken.row, node, input, &batch) }
        return taken
    }

    /// Stand for the token of a value that is not there, and of one that is for the long way.
    private var missing: Int32 { -1 }
    private var unusual: Int32 { -2 }

    /// Lays out the row of a nested object whose cells its decoder has.
    ///
    /// - Parameter count: how many cells it has.
    /// - Returns: whether it is there.
    private func layOut(
        _ node: ShortGraphPlan.Node,
        _ decoder: UnsafeMutablePointer<RecordDecoder>,
        _ count: Int,
        _ around: Around,
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch
    ) -> Bool {
        guard let layout else { return false }
        let (cells, presence) = (decoder.pointee.marks.cells, decoder.pointee.marks.presence)
        var count = count
        func add(_ cell: Cell, _ attribute: Int) {
            cells[count] = cell
            presence[attribute >> 6] |= 1 << UInt64(attribute & 63)
            count += 1
        }
        for reference in node.references where reference.owner == around.relationship.owner {
            for (offset, attribute) in reference.range.enumerated() {
                let isNumber = around.keyCell < 0
                add(isNumber ? .integer(Int64(around.number)) : batch.cells[around.keyCell + offset], attribute)
            }
            if reference.position >= 0 { add(.integer(Int64(around.index)), reference.position) }
        }
        return append(UnsafeMutableBufferPointer(rebasing: cells[..<count]), presence, node.index, input, batch, layout)
    }

    private func append(
        _ cells: UnsafeMutableBufferPointer<Cell>,
        _ presence: UnsafeMutableBufferPointer<UInt64>,
        _ table: Int32,
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch,
        _ layout: Layout
    ) -> Bool {
        batch.bytes.withUnsafeBufferPointer { own in
            let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
            let values = RowValues(cells: UnsafeBufferPointer(cells), chunk: input.chunk, own: own, defaults: none)
            return layout.append(values, presence: presence, entity: table)
        }
    }

    /// The token of what an object has for a relationship, `missing` or `unusual`.
    private func value(of relationship: ShortGraphPlan.Relationship, _ decoder: UnsafeMutablePointer<RecordDecoder>)
        -> Int32
    {
        let (slots, generation) = (decoder.pointee.marks.slots, decoder.pointee.generation)
        for slot in relationship.slots where slots[slot].generation == generation {
            return slots[slot].token >= 0 ? slots[slot].token : unusual
        }
        return missing
    }

    /// Appends the row of the object whose cells its decoder has.
    ///
    /// - Returns: whether it is there; otherwise it is for the long way.
    private func append(
        _ node: ShortGraphPlan.Node,
        _ decoder: UnsafeMutablePointer<RecordDecoder>,
        _ count: Int,
        _ firstValue: Int,
        _ around: Around?,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Bool {
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
                if reference.own >= 0, values[firstValue + reference.own] != missing { return false }
                nested.referenceCell = batch.cells.count
                let key = around.keyCell
                if key < 0 { nested.aroundNumber = around.number }
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
            if value == missing {
                let isCleared = around == nil && node.plan.onConflict == .replace && relationship.isReplaced
                if relationship.isRequired || isCleared { return false }
                continue
            }
            let token = input.tokens[Int(value)]
            switch token.kind {
            case .null:
                guard relationship.isOptional else { return false }
                for attribute in reference.range { add(.null, attribute) }
            case .array: return false
            case .object:
                // Its cells are those of the object's identifier, once that is there.
                for attribute in reference.range { add(.null, attribute) }
            case .string, .number, .boolean:
                if plan.nodes[relationship.destination].plan.elementSlot >= 0 {
                    for attribute in reference.range { add(.null, attribute) }
                } else {
                    guard let cell = plainKey(relationship, token, input), reference.range.count == 1 else {
                        return false
                    }
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
                guard let cell = cell(of: attribute, batch.rows[row], batch), cell.tag != .null else { return false }
                batch.cells.append(cell)
            }
        }
        batch.graph.nested.append(nested)
        batch.graph.statements.append(.row(row))
        return true
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
    private mutating func takeOwn(
        _ relationship: ShortGraphPlan.Relationship,
        _ value: Int,
        _ taken: Taken,
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
        guard destination.hasIdentifier else { return false }
        guard let child = take(value, input, relationship.destination, around(taken, relationship, 0), &batch),
            let reference = node.references.first(where: { $0.owner == relationship.owner })
        else { return false }
        let row = batch.rows[taken.row]
        var cell = row.firstCell
        for attribute in 0..<reference.range.lowerBound where batch.isPresent(attribute, in: row) { cell += 1 }
        for offset in 0..<reference.range.count { batch.cells[cell + offset] = batch.cells[child.keyCell + offset] }
        return true
    }

    private func around(_ taken: Taken, _ relationship: ShortGraphPlan.Relationship, _ index: Int) -> Around {
        Around(
            row: taken.row,
            keyCell: taken.keyCell,
            number: taken.number,
            relationship: relationship,
            index: index
        )
    }

    /// The links of an object to the elements of a list, and those of them that are objects.
    private mutating func takeList(
        _ relationship: ShortGraphPlan.Relationship,
        _ value: Int,
        _ taken: Taken,
        _ node: ShortGraphPlan.Node,
        _ around: Around?,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Bool {
        if value < 0 {
            // An object that is taken as a whole has no links but those that it states.
            let isWhole = around?.relationship.isPositional == true || around == nil && node.plan.onConflict == .replace
            if !isWhole || !relationship.isReplaced || layout != nil { return true }
        }
        guard relationship.isAppendable, relationship.isToMany || relationship.isPositional else { return false }
        if around != nil, node.hasIdentifier { return false }
        if value < 0 {
            let targets = batch.graph.targets.count..<batch.graph.targets.count
            let links = GraphBatch.Statement.links(relationship: relationship.index, row: taken.row, targets: targets)
            batch.graph.statements.append(links)
            return relationship.counts.contains(0)
        }
        switch input.tokens[value].kind {
        case .null: guard relationship.isOptional else { return false }
        case .array: guard relationship.isToMany else { return false }
        case .object: if relationship.isToMany { return false }
        case .string, .number, .boolean: return false
        }
        // A batch with a layout is of new objects only: their rows say it all.
        let isLaidOut = layout != nil && (relationship.isPositional || taken.keyCell >= 0)
        let statement = batch.graph.statements.count
        if !isLaidOut {
            batch.graph.statements.append(.links(relationship: relationship.index, row: taken.row, targets: 0..<0))
        }
        let first = children.count
        defer { children.removeLast(children.count - first) }
        guard takeElements(relationship, value, taken, first, input, &batch),
            relationship.counts.contains(children.count - first)
        else { return false }
        if isLaidOut { return relationship.isPositional || layOutLinks(relationship, taken, first, input, batch) }
        let firstTarget = batch.graph.targets.count
        for child in children[first...] {
            let keyCell = relationship.isPositional ? -1 : batch.graph.nested[Int(child)].keyCell
            batch.graph.targets.append(GraphBatch.Target(keyCell: keyCell, row: Int(child)))
        }
        let targets = firstTarget..<batch.graph.targets.count
        batch.graph.statements[statement] = .links(relationship: relationship.index, row: taken.row, targets: targets)
        return true
    }

    /// Lays out the links of an object to those whose rows are in `children`.
    private func layOutLinks(
        _ relationship: ShortGraphPlan.Relationship,
        _ taken: Taken,
        _ first: Int,
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch
    ) -> Bool {
        guard let layout else { return false }
        let (cells, presence) = (memory.cells, memory.presence)
        var position: Int64 = 0
        for child in children[first...] {
            var count = 0
            func add(_ cell: Cell) {
                cells[count] = cell
                count += 1
            }
            let owner = Int(batch.rows[taken.row].entity)
            for offset in plan.nodes[owner].identifier.indices { add(batch.cells[taken.keyCell + offset]) }
            let other = batch.graph.nested[Int(child)].keyCell
            for offset in plan.nodes[relationship.destination].identifier.indices { add(batch.cells[other + offset]) }
            if relationship.hasPosition { add(.integer(position)) }
            let link = UnsafeMutableBufferPointer(rebasing: cells[..<count])
            guard append(link, presence, relationship.linkTable, input, batch, layout) else { return false }
            position += 1
        }
        return true
    }

    /// The elements of a list; `children` gets the rows of those that are linked.
    private mutating func takeElements(
        _ relationship: ShortGraphPlan.Relationship,
        _ list: Int,
        _ taken: Taken,
        _ first: Int,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Bool {
        let destination = relationship.destination
        if input.tokens[list].kind == .object {
            guard let child = take(list, input, destination, around(taken, relationship, 0), &batch) else {
                return false
            }
            children.append(Int32(child.row))
            return true
        }
        guard input.tokens[list].kind == .array else { return true }
        let isElement = plan.nodes[destination].plan.elementSlot >= 0
        let owner = batch.rows[taken.row].entity
        let end = Int(input.tokens[list].next)
        var token = list + 1
        while token < end {
            let next = Int(input.tokens[token].next)
            switch input.tokens[token].kind {
            case .null:
                if isLossless || taken.isLaidOut { return false }
                changes.append((.nullElement, owner, relationship.name))
                token = next
                continue
            case .object: break
            case .array, .string, .number, .boolean: guard isElement else { return false }
            }
            let around = around(taken, relationship, children.count - first)
            guard let child = take(token, input, destination, around, &batch) else { return false }
            if !relationship.isPositional, isLinked(child.row, first, relationship, input, batch) {
                changes.append((.duplicateLink, owner, relationship.name))
            } else {
                children.append(Int32(child.row))
                // Comparing each with all others is for few of them.
                if !relationship.isPositional, children.count - first > 64 { return false }
            }
            token = next
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

/// The decoders of a graph's entities, and room for the cells of a link, where nothing has to be checked to change them.
///
/// Used by one worker.
private final class DecoderMemory {
    let decoders: UnsafeMutablePointer<RecordDecoder>
    let cells: UnsafeMutableBufferPointer<Cell>
    /// All bits are set.
    let presence: UnsafeMutableBufferPointer<UInt64>
    private let count: Int

    init(_ decoders: [RecordDecoder]) {
        count = decoders.count
        self.decoders = .allocate(capacity: decoders.count)
        for (index, decoder) in decoders.enumerated() { (self.decoders + index).initialize(to: decoder) }
        // Two identifiers and a position.
        let most = 2 * (decoders.map(\.plan.identifier.count).max() ?? 0) + 1
        cells = .allocate(capacity: most)
        cells.initialize(repeating: .null)
        presence = .allocate(capacity: (most + 63) / 64)
        presence.initialize(repeating: .max)
    }

    deinit {
        decoders.deinitialize(count: count)
        decoders.deallocate()
        cells.deallocate()
        presence.deallocate()
    }
}
