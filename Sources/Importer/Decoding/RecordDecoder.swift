import ImportModel

/// Turns the records of one entity into rows.
///
/// The entity drives: each attribute looks its value up in the record, and what the record does not mention is left
/// alone. Made and used by one worker.
struct RecordDecoder {
    /// One record as it is handed to `decode`.
    struct Input {
        /// The record's line of its chunk, and the tokens that were made from it.
        let line: ByteView
        let tokens: UnsafeBufferPointer<RecordTape.Token>
        /// Where the line begins in the chunk's bytes.
        let lineOffset: Int
        /// The source's index in the job, from 0.
        let source: Int
        /// The source position of the line's first byte.
        let byteOffset: Int64
        /// The record's number in the job.
        let ordinal: Int64
        /// The token of the record's value; of a keyed record's key, or -1.
        let root: Int
        let recordKey: Int

        /// The chunk's bytes up to the line's end.
        var chunk: UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(start: line.base - lineOffset, count: lineOffset + line.count)
        }
    }

    /// Where a record was that is tried again.
    struct Origin: Sendable {
        /// The source's index in the job that rejected it, from 0.
        let source: Int
        /// The record's first byte in the source.
        let byteOffset: Int64
    }

    let plan: EntityPlan
    let tree: KeyTree
    let marks: RecordMarks
    /// Makes the values of generated attributes.
    let identifiers: IdentifierGenerator
    var generation: UInt32 = 0
    private var keyScratch: [UInt8] = []
    let onError: ErrorPolicy
    let isLossless: Bool
    var errors: [RecordError] = []
    /// The attributes that become null instead; of each of the other errors the record is rejected.
    var nulled: [Int] = []
    /// What the record at hand lost or changed, and at or below which node; counted unless decoding makes it a reject.
    var changes: [(kind: LedgerKind, attribute: String, node: Int)] = []
    /// How many of `marks.notes` are the record's at hand.
    var noteCount = 0
    /// Where the record at hand has something that is neither an object nor null above attributes: its tokens and nodes.
    var covers: [(token: Int, node: Int)] = []
    private var unmet: [RecordError] = []
    /// The key that the record at hand had in its collection, in a retry: it is beside the record there.
    var retriedKey: [UInt8]?
    /// Where the record at hand was before, in a retry.
    ///
    /// What is made for it is made of that: records of several repair files would else be taken for the same.
    var origin: Origin?
    /// Stands for the token of `retriedKey`, which is not on the tape.
    static let retriedKeyToken = -2

    /// - Parameters:
    ///   - onError: what a value does that does not fit.
    ///   - isLossless: whether a value does not fit that loses something.
    init(plan: EntityPlan, onError: ErrorPolicy, isLossless: Bool) {
        self.plan = plan
        tree = plan.tree
        self.onError = onError
        self.isLossless = isLossless
        marks = RecordMarks(plan)
        identifiers = IdentifierGenerator(entity: plan.entity)
    }

    /// Appends the record's row to `batch`, or a reject with all of its errors.
    ///
    /// - Parameter layout: where rows go that are laid out; nil for none.
    mutating func decode(_ input: Input, into batch: inout RowBatch, laidOutIn layout: (some RowLayout)?) {
        generation &+= 1
        if generation == 0 {
            // After four billion records the marks of the first ones would count again.
            marks.reset()
            generation = 1
        }
        // Mostly they are empty.
        if !errors.isEmpty { errors.removeAll(keepingCapacity: true) }
        if !nulled.isEmpty { nulled.removeAll(keepingCapacity: true) }
        if !unmet.isEmpty { unmet.removeAll(keepingCapacity: true) }
        if !changes.isEmpty { changes.removeAll(keepingCapacity: true) }
        noteCount = 0
        if !covers.isEmpty { covers.removeAll(keepingCapacity: true) }
        let root = input.tokens[input.root]
        if plan.recordSlot >= 0 { fill(plan.recordSlot, input.root) }
        if plan.recordKeySlot >= 0, input.recordKey >= 0 { fill(plan.recordKeySlot, input.recordKey) }
        if plan.recordKeySlot >= 0, retriedKey != nil { fill(plan.recordKeySlot, Self.retriedKeyToken) }
        let isNoObject = root.kind != .object && plan.recordSlot < 0
        if root.kind == .object {
            walk(input.root, node: 0, isCovered: plan.recordSlot >= 0, input: input)
        } else if isNoObject {
            errors.append(error(.notAnObject, at: "", expected: "object", found: root.kind.name, input.root, input))
        } else {
            cover(0, by: input.root, isRead: true, input)
        }
        appendRow(input, isNoObject: isNoObject, to: &batch, layout)
    }

    @inline(__always)
    private func fill(_ slot: Int, _ token: Int) {
        marks.slots[slot] = RecordMarks.Slot(generation: generation, token: Int32(truncatingIfNeeded: token))
    }

    // MARK: Keys

    /// Notes which tokens fill the slots below a node.
    private mutating func walk(_ object: Int, node: Int, isCovered: Bool, input: Input) {
        // Pointers of their own: each look at a property of a class would else count its reference.
        let (tokens, nodes, seen, slots) = (input.tokens, tree.nodes, marks.seen, marks.slots)
        let generation = generation
        var index = object &+ 1
        let end = Int(tokens[object].next)
        // Records of a kind have their keys in the same order, which is mostly that of the model.
        var guess = node &+ 1
        let last = nodes.end(of: node)
        while index < end {
            let key = tokens[index]
            let value = index &+ 1
            index = Int(tokens[value].next)
            var child = guess
            if key.hasEscapes || guess == last || !nodes.matches(guess, key.bytes(in: input.line)) {
                child = self.child(of: node, key: key, input: input)
                guard child >= 0 else {
                    if !isCovered { countUnknown(value &- 1, in: node, input: input) }
                    continue
                }
            }
            guess = nodes.end(of: child)
            if seen[child] == generation { takeBack(child, before: value, input: input) }
            seen[child] = generation
            let slot = nodes.slot(child)
            if slot >= 0 {
                slots[slot] = RecordMarks.Slot(generation: generation, token: Int32(truncatingIfNeeded: value))
            }
            if nodes.hasChildren(child) {
                descend(value, node: child, isCovered: isCovered, input: input)
            }
        }
    }

    /// Goes on with the value of a key that leads to others.
    private mutating func descend(_ value: Int, node: Int, isCovered: Bool, input: Input) {
        let isRead = isCovered || tree.nodes.slot(node) >= 0
        if input.tokens[value].kind == .object {
            walk(value, node: node, isCovered: isRead, input: input)
        } else {
            cover(node, by: value, isRead: isRead, input)
        }
    }

    /// The child with this key, or -1.
    ///
    /// Not inlined, as it is for keys that are not the next one.
    @inline(never)
    private mutating func child(of node: Int, key: RecordTape.Token, input: Input) -> Int {
        guard key.hasEscapes else { return tree.child(of: node, key: key.bytes(in: input.line)) }
        keyScratch.removeAll(keepingCapacity: true)
        _ = Unescaping.append(key.bytes(in: input.line), to: &keyScratch)
        return keyScratch.withUnsafeBufferPointer { tree.child(of: node, key: ByteView($0)) }
    }

    /// A key that is repeated: the last value counts, and nothing of the first one's subtree stays.
    @inline(never)
    private mutating func takeBack(_ child: Int, before value: Int, input: Input) {
        let subtree = tree.subtree(child)
        changes.removeAll { $0.kind != .duplicateKey && subtree.contains($0.node) }
        changes.append((.duplicateKey, tree.path(child), child))
        if isLossless { noteRepetition(of: child, value, input: input) }
        for node in subtree {
            marks.seen[node] = 0
            let slot = tree.nodes.slot(node)
            if slot >= 0 { marks.slots[slot].generation = 0 }
        }
    }

    /// Where a value may lose nothing, a key that is repeated is an error: that of the attribute that reads it, if one
    /// does, and else the record's.
    private mutating func noteRepetition(of child: Int, _ value: Int, input: Input) {
        let slot = tree.nodes.slot(child)
        if slot >= 0 {
            marks.repeated[slot] = generation
        } else {
            let (path, found) = (tree.path(child), Self.repeatedKey)
            errors.append(error(.lossy, at: path, expected: "object", found: found, value, input))
        }
    }

    static let repeatedKey = "key given twice"

    private mutating func countUnknown(
        _ key: Int,
        in node: Int,
        input: Input
    ) {
        var text: [UInt8] = []
        let token = input.tokens[key].json(in: input.line)
        if token.hasEscapes {
            _ = Unescaping.append(token.bytes, to: &text)
        } else {
            text += token.bytes.buffer
        }
        let name = String(decoding: text.prefix(200), as: UTF8.self)
        let own = AttributePath(keys: [name]).description
        let path = node == 0 ? own : tree.path(node) + (own.hasPrefix("[") ? own : "." + own)
        changes.append((.unknownKey, path, node))
    }

    // MARK: Attributes

    /// What the record has for an attribute: the first of its slots that is filled, and by which token; -1 for none.
    ///
    /// A slot that is only covered counts where no other one is filled.
    func token(of attribute: Int) -> (token: Int, slot: Int) {
        var found = (token: -1, slot: -1)
        for slot in plan.slots[attribute] where marks.slots[slot].generation == generation {
            let token = Int(marks.slots[slot].token)
            if token >= Self.retriedKeyToken { return (token, slot) }
            if found.slot < 0 { found = (token, slot) }
        }
        return found
    }

    /// - Parameter isNoObject: whether the record is something else; it lacks everything then, and that it is none says
    ///   it all.
    private mutating func appendRow(
        _ input: Input,
        isNoObject: Bool,
        to batch: inout RowBatch,
        _ layout: (some RowLayout)?
    ) {
        let firstByte = batch.bytes.count
        let (cells, presence) = (marks.cells, marks.presence)
        let (tokens, attributes, slots) = (input.tokens, plan.attributes, marks.slots)
        let (generation, isLossless) = (generation, isLossless)
        var count = 0
        for word in presence.indices { presence[word] = 0 }
        for attribute in attributes.indices {
            var slot = Int(attributes[attribute].firstSlot)
            var token = slots[slot].generation == generation ? Int(slots[slot].token) : -1
            if token < 0, attributes[attribute].hasMoreSlots {
                (token, slot) = self.token(of: attribute)
            }
            let cell: Cell
            if token >= 0 {
                let value = tokens[token]
                if !isLossless, let plain = plainCell(value, attributes[attribute], input) {
                    cell = plain
                } else {
                    cell = self.cell(attribute, token: token, slot: slot, input: input, batch: &batch)
                }
            } else if token <= Self.retriedKeyToken {
                cell = rareCell(attribute, token: token, slot: slot, input: input, batch: &batch)
            } else if attributes[attribute].isGenerated, !isNoObject {
                cell = generatedCell(attribute, input, &batch.bytes)
            } else {
                if attributes[attribute].isRequired, !isNoObject { missing(attribute, input) }
                continue
            }
            cells[count] = cell
            count &+= 1
            presence[attribute >> 6] |= 1 << UInt64(attribute & 63)
        }
        guard errors.count == nulled.count else {
            batch.bytes.removeLast(batch.bytes.count - firstByte)
            batch.reject(reject(input, errors: errors + unmet))
            return
        }
        if !changes.isEmpty { countChanges(&batch) }
        if noteCount > 0 { countNotes() }
        if !unmet.isEmpty {
            batch.unmet.append(reject(input, errors: errors + unmet, nulled: nulledNames))
        } else if !errors.isEmpty {
            batch.count(errors, nulled: nulledNames, entity: plan.index, ordinal: input.ordinal)
        }
        if plan.keepsPlaces { batch.places.append(place(input)) }
        let isLaidOut = plan.laysOutRows && layOut(count, input, batch, layout)
        batch.rows.append(
            RowBatch.Row(
                entity: plan.index,
                parent: -1,
                ordinal: input.ordinal,
                firstCell: isLaidOut ? -1 : batch.cells.count,
                firstPresenceWord: batch.presence.count,
                unmet: unmet.isEmpty ? -1 : Int32(batch.unmet.count - 1)
            )
        )
        if isLaidOut {
            if batch.bytes.count > firstByte { batch.bytes.removeLast(batch.bytes.count - firstByte) }
        } else {
            batch.cells.append(contentsOf: UnsafeMutableBufferPointer(rebasing: cells[..<count]))
        }
        if presence.count == 1 {
            // One by one is several times as fast as all together.
            batch.presence.append(presence[0])
        } else {
            batch.presence.append(contentsOf: presence)
        }
    }

    /// Lays out the row at hand.
    ///
    /// - Parameter count: how many cells it has.
    /// - Returns: whether it is there; its presence mask is then that of what the record mentions.
    @inline(__always)
    private func layOut(
        _ count: Int,
        _ input: Input,
        _ batch: borrowing RowBatch,
        _ layout: (some RowLayout)?
    ) -> Bool {
        guard let layout else { return false }
        guard unmet.isEmpty else {
            layout.close(plan.index)
            return false
        }
        let (cells, presence) = (marks.cells, marks.presence)
        let isTaken = batch.bytes.withUnsafeBufferPointer { own in
            let values = RowValues(
                cells: UnsafeBufferPointer(rebasing: cells[..<count]),
                chunk: input.chunk,
                own: own,
                defaults: UnsafeBufferPointer(start: nil, count: 0)
            )
            return layout.append(values, presence: presence, entity: plan.index)
        }
        if isTaken, plan.hasGenerated { forgetGenerated() }
        return isTaken
    }

    /// Takes what was made for the row at hand out of its presence mask: it never replaces other values.
    private func forgetGenerated() {
        var next = 0
        for attribute in plan.attributes.indices
        where marks.presence[attribute >> 6] & (1 << UInt64(attribute & 63)) != 0 {
            if marks.cells[next].tag == .generatedText {
                marks.presence[attribute >> 6] &= ~(1 << UInt64(attribute & 63))
            }
            next += 1
        }
    }

    var nulledNames: [String] { nulled.map { plan.entity.attributes[$0].name } }

    private mutating func missing(_ attribute: Int, _ input: Input) {
        let error = error(
            .missingValue,
            at: plan.slotPaths[plan.slots[attribute].first ?? 0],
            expected: plan.attributes[attribute].type.rawValue,
            found: "nothing",
            input.root,
            input
        )
        // Merged into a stored object, or left out for it, a record may lack what is not part of the identifier.
        let isAlwaysWhole = plan.identifier.isEmpty || [.replace, .error].contains(plan.onConflict)
        if isAlwaysWhole || plan.identifier.contains(attribute) {
            errors.append(error)
        } else {
            unmet.append(error)
        }
    }

    private func countChanges(_ batch: inout RowBatch) {
        for change in changes { batch.ledger.add(change.kind, entity: plan.index, attribute: change.attribute) }
    }

    @inline(__always)
    private func countNotes() {
        let (notes, counts) = (marks.notes, marks.noteCounts)
        for index in 0..<noteCount {
            let first = Int(notes[index].attribute) &* CoercionNotes.count
            var bits = notes[index].notes.rawValue
            while bits != 0 {
                counts[first &+ bits.trailingZeroBitCount] &+= 1
                bits &= bits &- 1
            }
        }
    }

    /// Adds what was noted of the records taken so far to the batch's ledger.
    mutating func flush(into batch: inout RowBatch) {
        let counts = marks.noteCounts
        for place in counts.indices where counts[place] > 0 {
            let (attribute, bit) = place.quotientAndRemainder(dividingBy: CoercionNotes.count)
            for kind in CoercionNotes(rawValue: 1 << UInt16(bit)).ledgerKinds {
                let name = plan.entity.attributes[attribute].name
                batch.ledger.add(kind, entity: plan.index, attribute: name, count: counts[place])
            }
            counts[place] = 0
        }
    }
}
