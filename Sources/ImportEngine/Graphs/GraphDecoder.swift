import ImportModel
import ImportSources

/// Turns records of entities that relate to one another into rows and what they say of one another.
///
/// An object's own row comes before those nested in it, depth first in the order of the model's relationships. One error
/// anywhere in a record makes a reject of all of it. Made and used by one worker.
package final class GraphDecoder {
    /// The object around a nested one.
    package struct Owner {
        /// The index of its row in the batch, and its entity.
        package let row: Int
        package let node: Int
        package let relationship: GraphPlan.Relationship
        /// The index of the nested object in its list, from 0.
        package let index: Int
        /// The token of the nested object's key, where the collection is an object; else -1.
        package let key: Int
        /// Its index in the JSON, from 0; -1 for a to-one.
        package let place: Int

        package var isInList: Bool { place >= 0 }
    }

    /// What a record has for a relationship.
    package enum Value {
        case missing
        /// Null, or something above it on its path that is no object.
        case null(Int)
        case token(Int)
        case members(Int)
        case parts([Int])
    }

    /// A step on the way to the object at hand, for errors.
    private struct Step {
        let path: String
        let index: Int
    }

    package let plan: GraphPlan
    package let onError: ErrorPolicy
    package let isLossless: Bool
    /// True if null leaves the list of what an object owns as it is, as a missing key does.
    private let keepsListsAtNull: Bool
    var decoders: [RecordDecoder]
    let digester = RowDigester()
    private var path: [Step] = []
    // Of the record at hand:
    package var errors: [RecordError] = []
    /// True if its links only add to what is there, provided that its own object is new.
    package var isAppendable = true
    /// The errors of values that become null instead, with their entity and attribute.
    private var nulled: [(entity: Int, attribute: String, error: RecordError)] = []
    private var changes: [(kind: LedgerKind, entity: Int, attribute: String)] = []
    private var notes: [(entity: Int, note: RecordScratch.Note)] = []
    /// True if it has objects that are what stored ones are, and these are not known.
    package var isOpen = false
    /// What the record at hand is left out by; nil for none that is.
    var leftOutBy: String?
    /// The objects of the record whose entities are decided, by their identifiers.
    var decided: [SubentityKey: Int] = [:]
    /// Knows of which entities stored objects are; nil while the objects before are not stored yet.
    let storedEntities: (any SubentityLookup)?
    /// True if the cells of a reference, an identifier or other attributes, lead to nothing when the job ends.
    ///
    /// nil where none makes a reject of its record.
    package var isDangling: ((Int, [Cell], _ isNamed: Bool, RecordDecoder.Input, [UInt8]) -> Bool)?
    /// What the next record is, in a retry.
    private var retried: RetriedRecords.Record?

    /// - Parameter storedEntities: knows what stored objects are; without it, records that need it are left to be decoded when they
    ///   are written.
    package init(plan: GraphPlan, options: JobOptions, storedEntities: (any SubentityLookup)? = nil) {
        self.plan = plan
        self.storedEntities = storedEntities
        onError = options.onError
        isLossless = options.isLossless
        keepsListsAtNull = options.mirror != nil
        decoders = plan.nodes.map {
            RecordDecoder(plan: $0.plan, options)
        }
    }

    /// The kind of a token: of a value of Extended JSON that of the value, not that of its object.
    package func kind(of token: Int, _ input: RecordDecoder.Input) -> JSONKind {
        guard let value = decoders[0].extended(token, input) else { return input.tokens[token].kind }
        return value.kind == .null ? .null : .string
    }

    /// Says how the columns of rows of an entity are called.
    package func name(columns: [String]?, of entity: Int) { decoders[entity].name(columns: columns) }

    /// Says which reject is decoded next, in a retry; nil for records of an import.
    package func retry(_ record: RetriedRecords.Record?) {
        retried = record
        for index in decoders.indices { decoders[index].retry(record) }
    }

    /// True if a null leaves what a relationship leads to as it is.
    func keepsAtNull(_ relationship: GraphPlan.Relationship) -> Bool {
        keepsListsAtNull && plan.layout.relationships[relationship.index].isOwnedList
    }

    /// Adds what was noted of the records taken so far to the batch's ledger.
    package func flush(into batch: inout RowBatch) {
        for index in decoders.indices { decoders[index].flush(into: &batch) }
    }

    /// Appends the rows of a record of an entity to `batch`, or a reject with all of its errors.
    package func decode(_ input: RecordDecoder.Input, entity: Int, into batch: inout RowBatch) {
        errors.removeAll(keepingCapacity: true)
        nulled.removeAll(keepingCapacity: true)
        changes.removeAll(keepingCapacity: true)
        notes.removeAll(keepingCapacity: true)
        path.removeAll(keepingCapacity: true)
        isAppendable = plan.isAppendable
        decided.removeAll(keepingCapacity: true)
        isOpen = false
        leftOutBy = nil
        let savepoint = BatchSavepoint(batch)
        let row = batch.rows.count
        take(input, entity: entity, owner: nil, into: &batch)
        if let leftOutBy {
            savepoint.restore(&batch)
            batch.ignored[entity] += 1
            return batch.ledger.add(.leftOut, entity: Int32(entity), attribute: leftOutBy)
        }
        if isOpen {
            savepoint.restore(&batch)
            return leaveOpen(input, entity: entity, into: &batch)
        }
        guard errors.isEmpty else {
            savepoint.restore(&batch)
            let name = plan.nodes[entity].plan.entity.name
            let all = (errors + nulled.map(\.error)).map { $0.of(name) }.sorted { $0.byteOffset < $1.byteOffset }
            batch.reject(decoders[entity].reject(input, errors: all))
            return
        }
        count(input, entity, into: &batch)
        append(
            GraphBatch.Record(
                row: row,
                operations: savepoint.operations..<batch.graph.operations.count,
                isAppendable: isAppendable
            ),
            entity,
            input,
            &batch
        )
    }

    /// Appends a record that is decoded when it is written: its row says no more than which one it is.
    private func leaveOpen(_ input: RecordDecoder.Input, entity: Int, into batch: inout RowBatch) {
        _ = decoders[entity].find(input)
        let row = NewRow(
            firstCell: batch.cells.count,
            presence: Array(repeating: 0, count: decoders[entity].scratch.presence.count)
        )
        let index = append(row, GraphBatch.Nested(relationship: -1), parent: -1, entity, [], input, &batch)
        let end = batch.graph.operations.count
        append(
            GraphBatch.Record(row: index, operations: end..<end, isAppendable: false, isOpen: true),
            entity,
            input,
            &batch
        )
    }

    private func append(
        _ record: GraphBatch.Record,
        _ entity: Int,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) {
        batch.places.append(decoders[entity].place(input))
        if let retried { batch.graph.retried.append(retried) }
        batch.graph.records.append(record)
    }

    private func count(_ input: RecordDecoder.Input, _ record: Int, into batch: inout RowBatch) {
        let name = plan.nodes[record].plan.entity.name
        for change in changes {
            batch.ledger.add(change.kind, entity: Int32(change.entity), attribute: change.attribute)
        }
        for (entity, note) in notes { decoders[entity].scratch.count(note) }
        for (entity, attribute, error) in nulled {
            batch.count([error.of(name)], nulled: [attribute], entity: Int32(entity), ordinal: input.ordinal)
        }
    }

    // MARK: Notes

    /// Counts something that is not lost with the record.
    package func note(_ kind: LedgerKind, _ entity: Int, _ attribute: String) {
        changes.append((kind, entity, attribute))
    }

    /// The key path of something at a path within the object at hand.
    package func keyPath(_ own: String) -> String {
        var text = ""
        for step in path {
            append(step.path, to: &text)
            if step.index >= 0 { text += "[\(step.index)]" }
        }
        append(own, to: &text)
        return text
    }

    private func append(_ path: String, to text: inout String) {
        // An element that is no object is where its list has it.
        if path == AttributePath.element.description || path.isEmpty { return }
        text += text.isEmpty || path.hasPrefix("[") ? path : "." + path
    }

    package func error(
        _ code: CoercionError.Code,
        _ node: Int,
        at own: String,
        expected: String,
        found: String,
        _ token: Int,
        _ input: RecordDecoder.Input
    ) {
        let path = keyPath(own)
        errors.append(
            decoders[node].error(code, at: path, expected: expected, found: found, token, input)
        )
    }

    /// Notes that a reference leads to nothing, where that makes a reject of the record.
    func checkIsMet(
        _ relationship: GraphPlan.Relationship,
        _ cells: [Cell],
        isNamed: Bool,
        _ node: Int,
        at own: String,
        _ token: Int,
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch
    ) {
        guard let isDangling, isDangling(relationship.index, cells, isNamed, input, batch.bytes) else { return }
        error(
            .unresolved,
            node,
            at: own,
            expected: "existing \(relationship.description.destination)",
            found: "reference to a missing object",
            token,
            input
        )
    }

    /// Does something with the path of a nested object.
    package func within(_ path: String, index: Int, _ body: () -> Void) {
        self.path.append(Step(path: path, index: index))
        body()
        self.path.removeLast()
    }

    // MARK: Objects

    /// Appends the rows of an object and of all that is nested in it.
    ///
    /// - Returns: the index of its own row in the batch; -1 where it has none, as there is an error.
    @discardableResult
    package func take(
        _ input: RecordDecoder.Input,
        entity: Int,
        owner: Owner?,
        into batch: inout RowBatch
    ) -> Int {
        guard let node = objectEntity(of: entity, owner, input, into: &batch) else { return -1 }
        let isNoObject = find(input, node, owner, batch)
        let stated = plan.nodes[node].relationships.map { found($0, in: node) }
        let count = decoders[node].fillCells(input, isNoObject: isNoObject, &batch)
        collect(node)
        let row = append(count, node, chosen: node != entity, stated, owner, input, into: &batch)
        for (relationship, value) in stated {
            state(relationship, value, of: row, node, owner, input, into: &batch)
        }
        return row
    }

    private func find(
        _ input: RecordDecoder.Input,
        _ node: Int,
        _ owner: Owner?,
        _ batch: borrowing RowBatch
    ) -> Bool {
        guard let owner else {
            decoders[node].ownerContext = nil
            return decoders[node].find(input)
        }
        let entityPlan = plan.nodes[node].plan
        var values: [Int: Cell] = [:]
        for (slot, attribute) in entityPlan.parentSlots {
            values[slot] = cell(of: attribute, inRow: owner.row, node: owner.node, batch)
        }
        decoders[node].ownerContext = RecordDecoder.OwnerContext(
            onConflict: owner.relationship.description.onConflict,
            isPositional: owner.relationship.isIdentifiedByPosition,
            index: max(0, owner.place),
            values: values
        )
        let isNoObject = decoders[node].find(input)
        if entityPlan.indexSlot >= 0, owner.isInList {
            decoders[node].fill(entityPlan.indexSlot, RecordDecoder.indexToken)
        }
        for slot in values.keys { decoders[node].fill(slot, RecordDecoder.parentToken) }
        return isNoObject
    }

    /// The cell of an attribute of a row; nil where its record does not mention it.
    private func cell(of attribute: String, inRow row: Int, node: Int, _ batch: borrowing RowBatch) -> Cell? {
        let attributes = plan.nodes[node].plan.entity.attributes
        guard let place = attributes.firstIndex(where: { BytewiseString($0.name) == BytewiseString(attribute) }) else {
            return nil
        }
        let row = batch.rows[row]
        return batch.isPresent(place, in: row) ? batch.cells[batch.cell(of: place, in: row)] : nil
    }

    /// Moves what a decoder has noted of the object at hand to the record.
    private func collect(_ node: Int) {
        let prefix = !path.isEmpty
        let attributes = plan.nodes[node].plan.entity.attributes
        var nulls = decoders[node].nulled[...]
        if !decoders[node].errors.isEmpty {
            let isNulled = decoders[node].errors.count == nulls.count
            for error in decoders[node].errors {
                let error = prefix ? error.moved(to: keyPath(error.keyPath)) : error
                if isNulled, let attribute = nulls.popFirst() {
                    nulled.append((node, attributes[attribute].name, error))
                } else {
                    errors.append(error)
                }
            }
        }
        if prefix {
            decoders[node].insertErrors = decoders[node].insertErrors.map { $0.moved(to: keyPath($0.keyPath)) }
        }
        for change in decoders[node].changes { changes.append((change.kind, node, change.attribute)) }
        for index in 0..<decoders[node].noteCount { notes.append((node, decoders[node].scratch.notes[index])) }
    }

    /// What an object has for a relationship, and the relationship with the slot that has it.
    package func found(_ relationship: GraphPlan.Relationship, in node: Int) -> (GraphPlan.Relationship, Value) {
        var found = relationship
        for source in relationship.sources {
            switch source {
            case .value(let slot), .members(let slot):
                guard let value = decoders[node].value(inSlot: slot) else { continue }
                found.slot = slot
                if case .members = source, case .token(let token) = value { return (found, .members(token)) }
                return (found, value)
            case .identifier(let slots):
                let values = slots.map { decoders[node].value(inSlot: $0) }
                guard let place = values.firstIndex(where: { $0 != nil }), let first = values[place] else { continue }
                found.slot = slots[place]
                let tokens = values.map { value in
                    if case .token(let token)? = value { return token }
                    return -1
                }
                return (found, tokens.allSatisfy { $0 < 0 } ? first : .parts(tokens))
            }
        }
        return (found, .missing)
    }
}

extension RecordDecoder {
    /// The token that fills a slot of the record at hand; nil where none does.
    package func token(inSlot slot: Int) -> Int? {
        guard scratch.slots[slot].generation == generation else { return nil }
        let token = Int(scratch.slots[slot].token)
        return token >= 0 ? token : nil
    }

    /// What fills a slot of the record at hand; nil where nothing does.
    fileprivate func value(inSlot slot: Int) -> GraphDecoder.Value? {
        guard scratch.slots[slot].generation == generation else { return nil }
        let token = Int(scratch.slots[slot].token)
        // What covers it is no object: there is nothing.
        return token >= 0 ? .token(token) : .null(Self.covered(token))
    }
}

extension RecordError {
    /// The same error by the name of the entity whose record it is in, which its key path begins with.
    package func of(_ entity: String) -> RecordError {
        var error = self
        error.entity = entity
        return error
    }

    /// The same error at another key path.
    fileprivate func moved(to path: String) -> RecordError {
        var error = self
        error.keyPath = path
        return error
    }
}
