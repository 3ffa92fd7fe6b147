import ImportModel
import ImportSources

/// Knows of which entities stored objects are.
package protocol SubentityLookup: AnyObject {
    /// The entity of a stored object, by its index in the model; nil where there is none.
    ///
    /// - Parameters:
    ///   - entity: one in whose table it would be.
    ///   - key: its identifier.
    func storedEntity(of entity: Int, _ key: [Cell], _ values: RowValues) -> Int?
}

/// Of which entity an object is: what it names, what is stored, or what is asked for.
extension GraphDecoder {
    /// An object's identifier, and the entity in whose table it is.
    struct SubentityKey: Hashable {
        let home: Int
        let key: EncodedKey
    }

    /// The entity of an object.
    ///
    /// - Returns: nil where there is none, which is an error, or where it is not known yet.
    package func objectEntity(
        of entity: Int,
        _ owner: Owner?,
        _ input: RecordDecoder.Input,
        into batch: inout RowBatch
    ) -> Int? {
        let chosen = chosen(of: entity, input)
        if owner == nil, plan.nodes[chosen].leavesOut, let value = subentityValue(of: chosen, input),
            plan.nodes[chosen].subentities[value.name] == .some(nil)
        {
            leftOutBy = value.path
            return nil
        }
        var node = chosen
        if plan.nodes[entity].isShared {
            if storedEntities == nil, plan.nodes[chosen].isOpen {
                isOpen = true
                return nil
            }
            if storedEntities != nil, let cells = identifier(of: entity, owner, input, &batch) {
                if let stored = storedEntity(of: entity, cells, input, batch) {
                    guard let merged = merged(stored, chosen, asked: entity) else {
                        wrongEntity(entity, chosen, stored, input)
                        return nil
                    }
                    node = merged
                }
                let home = plan.layout.home(of: entity)
                decided[SubentityKey(home: home, key: EncodedKey(cells, batch.bytes, input))] = node
            }
        }
        guard plan.nodes[node].isAbstract else {
            if !plan.nodes[node].subentities.isEmpty { countUnknownSubentity(of: node, input) }
            return node
        }
        error(
            .abstractEntity,
            entity,
            at: "",
            expected: "an object that says which subentity of \(plan.nodes[node].plan.entity.name) it is",
            found: "object",
            input.root,
            input
        )
        return nil
    }

    /// Counts a value that leads to no subentity, and that no attribute has.
    private func countUnknownSubentity(of entity: Int, _ input: RecordDecoder.Input) {
        let node = plan.nodes[entity]
        guard !node.isNamedByKey, let (slot, token) = subentityToken(of: entity, input),
            input.tokens[token].kind != .null
        else { return }
        let isKnown = text(of: token, input).map { node.subentities[BytewiseString($0)] != nil } ?? false
        guard !isKnown, !node.plan.slots.contains(where: { $0.contains(slot) }) else { return }
        note(.unknownKey, entity, node.plan.slotPaths[slot])
    }

    /// What a stored object is with what is said of it; nil where that contradicts it.
    private func merged(_ stored: Int, _ chosen: Int, asked: Int) -> Int? {
        let hierarchy = plan.layout.hierarchy
        let lineage = hierarchy.chain(of: stored)
        if lineage.contains(asked), chosen == asked || lineage.contains(chosen) { return stored }
        // Nothing has said yet what a stub is.
        let mayBeStub = plan.layout.relationships.contains {
            $0.description.unresolved == .stub && plan.layout.home(of: $0.destination) == plan.layout.home(of: asked)
        }
        return mayBeStub && hierarchy.chain(of: chosen).contains(stored) ? chosen : nil
    }

    private func wrongEntity(_ entity: Int, _ chosen: Int, _ stored: Int, _ input: RecordDecoder.Input) {
        error(
            .wrongEntity,
            entity,
            at: "",
            expected: plan.nodes[chosen].plan.entity.name,
            found: "stored \(plan.nodes[stored].plan.entity.name)",
            input.root,
            input
        )
    }

    private func identifier(
        of entity: Int,
        _ owner: Owner?,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> [Cell]? {
        let key = owner?.key ?? input.recordKey
        return nestedKey(of: input.root, key, entity, owner: owner, input, &batch)?.cells
    }

    /// The entity of an object that is stored, or that the record at hand has already.
    private func storedEntity(
        of entity: Int,
        _ cells: [Cell],
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch
    ) -> Int? {
        let key = SubentityKey(home: plan.layout.home(of: entity), key: EncodedKey(cells, batch.bytes, input))
        if let decided = decided[key] { return decided }
        return batch.bytes.withUnsafeBufferPointer { own in
            cells.withUnsafeBufferPointer { buffer in
                let values = RowValues(cells: buffer, chunk: input.chunk, own: own, defaults: own)
                return storedEntities?.storedEntity(of: entity, cells, values)
            }
        }
    }

    /// The subentity that an object names, each asked in turn, or else the entity that is asked for.
    private func chosen(of entity: Int, _ input: RecordDecoder.Input) -> Int {
        var subentity = entity
        // Each is below the one before.
        while let next = self.subentity(of: subentity, input), next != subentity { subentity = next }
        return subentity
    }

    private func subentity(of entity: Int, _ input: RecordDecoder.Input) -> Int? {
        guard let value = subentityValue(of: entity, input),
            let found = plan.nodes[entity].subentities[value.name] ?? nil,
            plan.layout.hierarchy.chain(of: found).contains(entity)
        else { return nil }
        return found
    }

    /// What names an object's subentity, and where it is.
    private func subentityValue(of entity: Int, _ input: RecordDecoder.Input) -> (name: BytewiseString, path: String)? {
        let node = plan.nodes[entity]
        guard !node.subentities.isEmpty else { return nil }
        guard node.isNamedByKey else {
            guard let (slot, token) = subentityToken(of: entity, input), let name = text(of: token, input) else {
                return nil
            }
            return (BytewiseString(name), node.plan.slotPaths[slot])
        }
        guard input.tokens[input.root].kind == .object else { return nil }
        var key = input.root + 1
        while key < Int(input.tokens[input.root].next) {
            if let name = text(of: key, input).map({ BytewiseString($0) }), node.subentities[name] != nil {
                return (name, "*")
            }
            key = Int(input.tokens[key + 1].next)
        }
        return nil
    }

    /// The first value of an object that may name its subentity, and its slot.
    private func subentityToken(of entity: Int, _ input: RecordDecoder.Input) -> (slot: Int, token: Int)? {
        decoders[entity].ownerContext = nil
        _ = decoders[entity].find(input)
        for slot in plan.nodes[entity].subentitySlots {
            if let token = decoders[entity].token(inSlot: slot) { return (slot, token) }
        }
        return nil
    }

    private func text(of token: Int, _ input: RecordDecoder.Input) -> String? {
        let json = input.tokens[token].json(in: input.line)
        return switch json.kind {
        case .object, .array, .null: nil
        case .string, .number, .boolean: json.text
        }
    }

    /// True if a nested object is no more than a reference: it has its identifier only, and its entity requires more.
    ///
    /// - Parameter cells: its identifier.
    package func isReference(
        _ entity: Int,
        _ cells: [Cell],
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch
    ) -> Bool {
        guard input.tokens[input.root].kind == .object else { return false }
        var node = entity
        if plan.nodes[entity].isShared {
            node = chosen(of: entity, input)
            if storedEntities == nil {
                // It is decoded again if what is stored matters.
                isOpen = isOpen || plan.nodes[node].isOpen
            } else if let stored = storedEntity(of: entity, cells, input, batch) {
                node = merged(stored, node, asked: entity) ?? node
            }
        }
        guard plan.nodes[node].requiresMore else { return false }
        _ = decoders[node].find(input)
        let entityPlan = plan.nodes[node].plan
        for attribute in 0..<plan.nodes[node].rows.attributeCount
        where !entityPlan.identifier.contains(attribute) && decoders[node].token(of: attribute).slot >= 0 {
            return false
        }
        return plan.nodes[node].relationships.allSatisfy { relationship in
            if case .missing = found(relationship, in: node).1 { return true }
            return false
        }
    }
}
