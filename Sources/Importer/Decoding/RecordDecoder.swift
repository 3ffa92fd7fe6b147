import ImportModel

/// Turns the records of one entity into rows.
///
/// The entity drives: each attribute looks its value up in the record, and what the record does not mention is left
/// alone. Made and used by one worker.
struct RecordDecoder {
    /// One record as it is handed to `decode`.
    struct Input {
        /// The bytes that the tape was made from: the record's line of its chunk.
        let line: ByteView
        /// Where the line begins in the chunk's bytes.
        let lineOffset: Int
        /// The source's place in the job, from 0.
        let source: Int
        /// The source position of the line's first byte.
        let byteOffset: Int64
        /// The record's number in the job.
        let ordinal: Int64
        /// The token of the record's value; of a keyed record's key, or -1.
        let root: Int
        let recordKey: Int
    }

    /// Where a record stood that is tried again.
    struct Origin: Sendable {
        /// The source's place in the job that rejected it, from 0.
        let source: Int
        /// The record's first byte in the source.
        let byteOffset: Int64
    }

    let plan: EntityPlan
    private let tree: KeyTree
    /// The token that fills each slot, as far as `filled` has the current generation.
    private var slotToken: [Int32]
    private var filled: [UInt32]
    /// The generation in which each node's key was last seen.
    private var seen: [UInt32]
    var generation: UInt32 = 0
    private var keyScratch: [UInt8] = []
    let onError: ErrorPolicy
    let isLossless: Bool
    var errors: [RecordError] = []
    /// The attributes that become null instead; of each of the other errors the record is rejected.
    var nulled: [Int] = []
    /// The generation in which a key that fills each slot was last seen again.
    var repeated: [UInt32]
    /// What the record at hand lost or changed; counted only when the record is taken.
    private var changes: [(kind: LedgerKind, attribute: String)] = []
    var notes: [(notes: CoercionNotes, attribute: Int)] = []
    /// Notes of the records taken since `flush`, by attribute and kind.
    private var noteCounts: [Int64]
    private var unmet: [RecordError] = []
    private let presenceWords: Int
    /// The key that the record at hand had in its collection, in a retry: it stands beside the record there.
    var retriedKey: [UInt8]?
    /// Where the record at hand stood before, in a retry.
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
        repeated = Array(repeating: 0, count: plan.slotCount)
        slotToken = Array(repeating: -1, count: plan.slotCount)
        filled = Array(repeating: 0, count: plan.slotCount)
        seen = Array(repeating: 0, count: plan.tree.count)
        noteCounts = Array(repeating: 0, count: plan.types.count * CoercionNotes.count)
        presenceWords = (plan.entity.attributes.count + 63) / 64
    }

    /// Appends the record's row to `batch`, or a reject with all of its errors.
    mutating func decode(_ input: Input, tape: borrowing RecordTape, into batch: inout RowBatch) {
        generation &+= 1
        if generation == 0 {
            // After four billion records the marks of the first ones would count again.
            filled = Array(repeating: 0, count: filled.count)
            repeated = Array(repeating: 0, count: repeated.count)
            seen = Array(repeating: 0, count: seen.count)
            generation = 1
        }
        errors.removeAll(keepingCapacity: true)
        nulled.removeAll(keepingCapacity: true)
        unmet.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        notes.removeAll(keepingCapacity: true)
        let root = tape.tokens[input.root]
        if plan.recordSlot >= 0 { fill(plan.recordSlot, input.root) }
        if plan.recordKeySlot >= 0, input.recordKey >= 0 { fill(plan.recordKeySlot, input.recordKey) }
        if plan.recordKeySlot >= 0, retriedKey != nil { fill(plan.recordKeySlot, Self.retriedKeyToken) }
        let isNoObject = root.kind != .object && plan.recordSlot < 0
        if root.kind == .object {
            walk(input.root, node: 0, isCovered: plan.recordSlot >= 0, input: input, tape: tape)
        } else if isNoObject {
            errors.append(
                error(.notAnObject, at: "", expected: "object", found: root.kind.name, input.root, input, tape)
            )
        }
        appendRow(input, isNoObject: isNoObject, tape: tape, to: &batch)
    }

    @inline(__always)
    private mutating func fill(_ slot: Int, _ token: Int) {
        slotToken[slot] = Int32(truncatingIfNeeded: token)
        filled[slot] = generation
    }

    // MARK: Keys

    private mutating func walk(
        _ object: Int,
        node: Int,
        isCovered: Bool,
        input: Input,
        tape: borrowing RecordTape
    ) {
        var index = object + 1
        let end = Int(tape.tokens[object].next)
        var guess = 0
        while index < end {
            let key = tape.tokens[index]
            let value = index + 1
            let child: Int
            if key.hasEscapes {
                keyScratch.removeAll(keepingCapacity: true)
                _ = Unescaping.append(tape.token(index, in: input.line).bytes, to: &keyScratch)
                child = keyScratch.withUnsafeBufferPointer { tree.child(of: node, key: ByteView($0), guess: &guess) }
            } else {
                let start = Int(key.start)
                child = tree.child(of: node, key: input.line[start..<start + Int(key.length)], guess: &guess)
            }
            if child >= 0 {
                take(value, as: child, isCovered: isCovered, input: input, tape: tape)
            } else if !isCovered {
                countUnknown(index, in: node, input: input, tape: tape)
            }
            index = Int(tape.tokens[value].next)
        }
    }

    @inline(__always)
    private mutating func take(
        _ value: Int,
        as child: Int,
        isCovered: Bool,
        input: Input,
        tape: borrowing RecordTape
    ) {
        if seen[child] == generation {
            // A key that stands twice: the last value counts, and nothing of the first one's subtree stays.
            changes.append((.duplicateKey, tree.path(child)))
            if isLossless { noteRepetition(of: child, value, input: input, tape: tape) }
            for node in tree.subtree(child) {
                seen[node] = 0
                let slot = tree.slot(node)
                if slot >= 0 { filled[slot] = 0 }
            }
        }
        seen[child] = generation
        let slot = tree.slot(child)
        if slot >= 0 { fill(slot, value) }
        guard tree.hasChildren(child) else { return }
        let kind = tape.tokens[value].kind
        if kind == .object {
            walk(
                value,
                node: child,
                isCovered: isCovered || slot >= 0,
                input: input,
                tape: tape
            )
        } else if kind != .null, slot < 0, !isCovered {
            changes.append((.unknownKey, tree.path(child)))
        }
    }

    /// Where a value may lose nothing, a key that stands twice is an error: that of the attribute that reads it, if one
    /// does, and else the record's.
    private mutating func noteRepetition(of child: Int, _ value: Int, input: Input, tape: borrowing RecordTape) {
        let slot = tree.slot(child)
        if slot >= 0 {
            repeated[slot] = generation
        } else {
            let (path, found) = (tree.path(child), Self.repeatedKey)
            errors.append(error(.lossy, at: path, expected: "object", found: found, value, input, tape))
        }
    }

    static let repeatedKey = "key given twice"

    private mutating func countUnknown(
        _ key: Int,
        in node: Int,
        input: Input,
        tape: borrowing RecordTape
    ) {
        var text: [UInt8] = []
        let token = tape.token(key, in: input.line)
        if token.hasEscapes {
            _ = Unescaping.append(token.bytes, to: &text)
        } else {
            text += token.bytes.buffer
        }
        let name = String(decoding: text.prefix(200), as: UTF8.self)
        let own = AttributePath(keys: [name]).description
        let path = node == 0 ? own : tree.path(node) + (own.hasPrefix("[") ? own : "." + own)
        changes.append((.unknownKey, path))
    }

    // MARK: Attributes

    @inline(__always)
    func token(of attribute: Int) -> (token: Int, slot: Int) {
        let first = plan.firstSlots[attribute]
        if filled[first] == generation { return (Int(slotToken[first]), first) }
        guard plan.hasMoreSlots[attribute] else { return (-1, -1) }
        for slot in plan.slots[attribute] where filled[slot] == generation { return (Int(slotToken[slot]), slot) }
        return (-1, -1)
    }

    /// - Parameter isNoObject: whether the record is something else; it lacks everything then, and that it is none says
    ///   it all.
    private mutating func appendRow(
        _ input: Input,
        isNoObject: Bool,
        tape: borrowing RecordTape,
        to batch: inout RowBatch
    ) {
        let firstCell = batch.cells.count
        let firstWord = batch.presence.count
        let firstByte = batch.bytes.count
        for _ in 0..<presenceWords { batch.presence.append(0) }
        for attribute in 0..<plan.types.count {
            let (token, slot) = token(of: attribute)
            if token == Self.retriedKeyToken {
                batch.presence[firstWord + attribute >> 6] |= 1 << UInt64(attribute & 63)
                batch.cells.append(keyCell(attribute, input: input, tape: tape, batch: &batch))
                continue
            }
            if token < 0 {
                if plan.generated[attribute], !isNoObject {
                    batch.presence[firstWord + attribute >> 6] |= 1 << UInt64(attribute & 63)
                    batch.cells.append(generatedCell(attribute, input, tape, &batch.bytes))
                } else if plan.required[attribute], !isNoObject {
                    missing(attribute, input, tape)
                }
                continue
            }
            batch.presence[firstWord + attribute >> 6] |= 1 << UInt64(attribute & 63)
            batch.cells.append(cell(attribute, token: token, slot: slot, input: input, tape: tape, batch: &batch))
        }
        guard errors.count == nulled.count else {
            batch.cells.removeLast(batch.cells.count - firstCell)
            batch.presence.removeLast(batch.presence.count - firstWord)
            batch.bytes.removeLast(batch.bytes.count - firstByte)
            batch.reject(reject(input, tape, errors: errors + unmet))
            return
        }
        countChanges(&batch)
        if !unmet.isEmpty {
            batch.unmet.append(reject(input, tape, errors: errors + unmet, nulled: nulledNames))
        } else if !errors.isEmpty {
            batch.count(errors, nulled: nulledNames, entity: plan.index, ordinal: input.ordinal)
        }
        if plan.keepsPlaces { batch.places.append(place(input, tape)) }
        batch.rows.append(
            RowBatch.Row(
                entity: plan.index,
                parent: -1,
                ordinal: input.ordinal,
                firstCell: firstCell,
                firstPresenceWord: firstWord,
                unmet: unmet.isEmpty ? -1 : Int32(batch.unmet.count - 1)
            )
        )
    }

    var nulledNames: [String] { nulled.map { plan.entity.attributes[$0].name } }

    private mutating func missing(_ attribute: Int, _ input: Input, _ tape: borrowing RecordTape) {
        let error = error(
            .missingValue,
            at: plan.slotPaths[plan.slots[attribute].first ?? 0],
            expected: plan.types[attribute].rawValue,
            found: "nothing",
            input.root,
            input,
            tape
        )
        // Merged into a stored object, or left out for it, a record may lack what is not part of the identifier.
        let isAlwaysWhole = plan.identifier.isEmpty || [.replace, .error].contains(plan.onConflict)
        if isAlwaysWhole || plan.identifier.contains(attribute) {
            errors.append(error)
        } else {
            unmet.append(error)
        }
    }

    private mutating func countChanges(_ batch: inout RowBatch) {
        for change in changes { batch.ledger.add(change.kind, entity: plan.index, attribute: change.attribute) }
        for (notes, attribute) in notes {
            for bit in 0..<CoercionNotes.count where notes.rawValue & (1 << UInt16(bit)) != 0 {
                noteCounts[attribute * CoercionNotes.count + bit] += 1
            }
        }
    }

    /// Adds what was noted of the records taken so far to the batch's ledger.
    mutating func flush(into batch: inout RowBatch) {
        for place in noteCounts.indices where noteCounts[place] > 0 {
            let (attribute, bit) = place.quotientAndRemainder(dividingBy: CoercionNotes.count)
            for kind in CoercionNotes(rawValue: 1 << UInt16(bit)).ledgerKinds {
                let name = plan.entity.attributes[attribute].name
                batch.ledger.add(kind, entity: plan.index, attribute: name, count: noteCounts[place])
            }
            noteCounts[place] = 0
        }
    }
}
