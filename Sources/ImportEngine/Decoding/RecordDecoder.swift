import ImportModel
import ImportSources

/// Turns the records of one entity into rows.
///
/// The entity drives: each attribute looks its value up in the record, and what the record does not mention is left
/// alone. Made and used by one worker.
package struct RecordDecoder {
    /// One record as it is handed to `decode`.
    package struct Input {
        /// The record's line of its chunk, and the tokens that were made from it.
        package let line: ByteView
        package let tokens: UnsafeBufferPointer<RecordTape.Token>
        /// Where the line begins in the chunk's bytes.
        package let lineOffset: Int
        /// The source's index in the job, from 0.
        package let source: Int
        /// The source position of the line's first byte.
        package let byteOffset: Int64
        /// The record's number in the job.
        package let ordinal: Int64
        /// The token of the record's value; of its innermost key, or -1.
        package private(set) var root: Int
        package private(set) var recordKey: Int
        /// How many keys the record's line has before it; none for a value within the record.
        package private(set) var keys: Int
        /// How many bytes of the line precede those that the source has in one piece.
        package let prefix: Int

        /// A record whose line has this number of keys before it.
        package init(
            line: ByteView,
            tokens: UnsafeBufferPointer<RecordTape.Token>,
            lineOffset: Int,
            source: Int,
            byteOffset: Int64,
            ordinal: Int64,
            keys: Int = 0,
            prefix: Int = 0
        ) {
            self.line = line
            self.tokens = tokens
            self.lineOffset = lineOffset
            self.source = source
            self.byteOffset = byteOffset
            self.ordinal = ordinal
            self.keys = keys
            self.prefix = prefix
            root = 2 * keys
            recordKey = 2 * keys - 1
        }

        /// The same record at a value within it.
        package func nested(at token: Int, key: Int) -> Input {
            var nested = self
            (nested.root, nested.recordKey, nested.keys) = (token, key, token == root ? keys : 0)
            return nested
        }

        /// The path of a key within its object, of which a long one has the first bytes.
        func path(ofKey key: Int) -> String {
            let name = tokens[key].json(in: line).text.utf8.prefix(200)
            return AttributePath(keys: [String(decoding: name, as: UTF8.self)]).description
        }

        /// True if a token may be an object of Extended JSON: its first key begins with `$`, or with an escape.
        @inline(__always)
        func mayBeExtended(_ token: Int) -> Bool {
            guard tokens[token].kind == .object, Int(tokens[token].next) > token &+ 1 else { return false }
            let key = tokens[token &+ 1]
            return key.hasEscapes || key.length > 0 && line[Int(key.start)] == UInt8(ascii: "$")
        }

        /// The chunk's bytes up to the line's end.
        package var chunk: UnsafeBufferPointer<UInt8> {
            UnsafeBufferPointer(start: line.base - lineOffset, count: lineOffset + line.count)
        }
    }

    /// Where a record was that is tried again.
    package struct Origin: Sendable {
        /// The source's index in the job that rejected it, from 0.
        package let source: Int
        /// The record's first byte in the source.
        package let byteOffset: Int64
    }

    /// What is around a nested object, as far as its attributes read it.
    struct OwnerContext {
        /// What it does to a stored object.
        let onConflict: ConflictPolicy
        /// True if it may lack its identifier, as its index tells it apart.
        let isPositional: Bool
        /// Its index in its list, from 0.
        let index: Int
        /// By the slots that read them, attributes of the object around.
        let values: [Int: Cell]
    }

    package let plan: EntityPlan
    let trie: KeyPathTrie
    package let scratch: RecordScratch
    /// Makes the values of generated attributes.
    package let identifiers: IdentifierGenerator
    package var generation: UInt32 = 0
    var keyScratch: [UInt8] = []
    package let onError: ErrorPolicy
    package let isLossless: Bool
    /// True if a second key of a record for one attribute is counted: the model is inferred.
    let countsOtherKeys: Bool
    /// True if values are taken out of the objects of Extended JSON.
    let unwraps: Bool
    /// By attribute, the texts that are null; empty where none are.
    let nullTexts: [Set<[UInt8]>]
    /// True if most values need no more than a look.
    let takesShortcuts: Bool
    package var errors: [RecordError] = []
    /// The attributes that become null instead; of each of the other errors the record is rejected.
    package var nulled: [Int] = []
    /// What the record at hand lost or changed, and at or below which node; counted unless decoding makes it a reject.
    package var changes: [(kind: LedgerKind, attribute: String, node: Int)] = []
    /// How many of `scratch.notes` are the record's at hand.
    var noteCount = 0
    /// Where the record at hand has something that is neither an object nor null above attributes: its tokens and nodes.
    var covers: [(token: Int, node: Int)] = []
    /// What an inserted object would need and the record lacks; it may be merged into one that has it.
    package var insertErrors: [RecordError] = []
    /// The keys that the record at hand had in its collections, in a retry, the innermost first: they are beside it there.
    package var retriedKeys: [String] = []
    /// Where the record at hand was before, in a retry.
    ///
    /// What is made for it is made of that: records of several repair files would else be taken for the same.
    package var origin: Origin?
    /// Stands for the token of one of `retriedKeys`, which is not on the tape.
    static let retriedKeyToken = -2
    /// Stand for the index in a list, and for an attribute of the object around, of a nested object.
    static let indexToken = -3
    static let parentToken = -4
    /// What nested objects have of that; nil for a record itself.
    var ownerContext: OwnerContext?
    /// The names of the columns of rows, where they had a header row.
    private(set) var columns: [String]?
    /// The nodes that read the columns of rows.
    private(set) var columnNodes: [Int]

    /// - Parameter onError: what a value does that does not fit, where that is not what the job's options say.
    package init(plan: EntityPlan, _ options: JobOptions, onError: ErrorPolicy? = nil) {
        self.plan = plan
        trie = plan.trie
        columnNodes = plan.columnNodes
        self.onError = onError ?? options.onError
        isLossless = options.isLossless
        countsOtherKeys = options.model == nil && plan.slots.contains { $0.count > 1 }
        unwraps = options.reading == .found
        let texts = NullTexts(options.nullTexts)
        nullTexts =
            texts.isEmpty
            ? [] : plan.entity.attributes.map { texts.texts(named: [$0.name] + $0.from.map(\.description)) }
        takesShortcuts = !options.isLossless && texts.isEmpty
        scratch = RecordScratch(plan)
        identifiers = IdentifierGenerator(entity: plan.entity)
    }

    /// Appends the record's row to `batch`, or a reject with all of its errors.
    ///
    /// - Parameter layout: where rows go that are laid out; nil for none.
    package mutating func decode(_ input: Input, into batch: inout RowBatch, laidOutIn layout: DatabaseImage?) {
        let isNoObject = find(input)
        appendRow(input, isNoObject: isNoObject, to: &batch, layout)
    }

    /// Finds the values of the record, and forgets all that was noted of the one before.
    ///
    /// - Returns: whether it is something else than an object where the entity asks for one.
    @inline(__always)
    package mutating func find(_ input: Input) -> Bool {
        generation &+= 1
        if generation == 0 {
            // After four billion records those of the first ones would count again.
            scratch.reset()
            generation = 1
        }
        // Mostly they are empty.
        if !errors.isEmpty { errors.removeAll(keepingCapacity: true) }
        if !nulled.isEmpty { nulled.removeAll(keepingCapacity: true) }
        if !insertErrors.isEmpty { insertErrors.removeAll(keepingCapacity: true) }
        if !changes.isEmpty { changes.removeAll(keepingCapacity: true) }
        noteCount = 0
        if !covers.isEmpty { covers.removeAll(keepingCapacity: true) }
        let root = input.tokens[input.root]
        if plan.recordSlot >= 0 { fill(plan.recordSlot, input.root) }
        if plan.recordKeySlot >= 0, input.recordKey >= 0 { fill(plan.recordKeySlot, input.recordKey) }
        if !plan.outerKeySlots.isEmpty || !retriedKeys.isEmpty { fillKeys(input) }
        if root.kind == .object, plan.elementSlot < 0 || extended(input.root, input) == nil {
            walk(input.root, node: 0, isCovered: plan.recordSlot >= 0, input: input)
            return false
        }
        if plan.elementSlot >= 0 {
            fill(plan.elementSlot, input.root)
            return false
        }
        if root.kind == .array, columns != nil || !columnNodes.isEmpty { return walkRow(input) }
        guard plan.recordSlot >= 0 else {
            errors.append(error(.notAnObject, at: "", expected: "object", found: root.kind.name, input.root, input))
            return true
        }
        cover(0, by: input.root, isRead: true, input)
        return false
    }

    /// Says how the columns of the rows that come next are called; nil for rows without a header row.
    package mutating func name(columns: [String]?) {
        guard columns != self.columns else { return }
        self.columns = columns
        columnNodes = columns.map { trie.nodes(ofColumns: $0) } ?? plan.columnNodes
    }

    /// The value of Extended JSON that an object is; nil where it is none, or where objects stay what they are.
    ///
    /// For rare tokens: it reads the object's bytes.
    @inline(never)
    package func extended(_ token: Int, _ input: Input) -> ExtendedJSON? {
        guard unwraps, input.tokens[token].kind == .object else { return nil }
        return ExtendedJSON(input.tokens[token].bytes(in: input.line))
    }

    /// Fills the slots of keys further out than the record's own, and of all that are beside it in a retry.
    private mutating func fillKeys(_ input: Input) {
        for (slot, level) in plan.outerKeySlots where level < input.keys { fill(slot, input.recordKey - 2 * level) }
        for (slot, level) in plan.outerKeySlots + [(plan.recordKeySlot, 0)] where slot >= 0 && level < retriedKeys.count
        {
            fill(slot, Self.retriedKeyToken)
        }
    }

    /// Says which reject is decoded next, in a retry; nil for records of an import.
    package mutating func retry(_ record: RetriedRecords.Record?) {
        retriedKeys = record?.keys ?? []
        origin = record?.origin
    }

    @inline(__always)
    package func fill(_ slot: Int, _ token: Int) {
        scratch.slots[slot] = RecordScratch.Slot(generation: generation, token: Int32(truncatingIfNeeded: token))
    }

    /// What the record has for an attribute: the first of its slots that is filled, and by which token; -1 for none.
    ///
    /// A slot that is only covered counts where no other one is filled.
    package func token(of attribute: Int) -> (token: Int, slot: Int) {
        var found = (token: -1, slot: -1)
        for slot in plan.slots[attribute] where scratch.slots[slot].generation == generation {
            let token = Int(scratch.slots[slot].token)
            if token >= Self.retriedKeyToken { return (token, slot) }
            if found.slot < 0 { found = (token, slot) }
        }
        return found
    }

    /// Adds what was noted of the records taken so far to the batch's ledger.
    package mutating func flush(into batch: inout RowBatch) {
        let counts = scratch.noteCounts
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
