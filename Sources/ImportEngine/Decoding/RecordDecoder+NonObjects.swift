import ImportModel

/// What is above attributes on their paths and is not an object: it covers all of them.
extension RecordDecoder {
    /// What is in a slot for the token that covers it, below `parentToken`; of that, the token again.
    @inline(__always)
    static func covered(_ token: Int) -> Int { parentToken &- 1 &- token }

    /// Fills the slots below a node whose value is null, a scalar or an array: the record says that there is nothing.
    ///
    /// - Parameter isRead: whether an attribute reads the value itself, so that nothing of it is lost.
    @inline(never)
    mutating func cover(_ node: Int, by value: Int, isRead: Bool, _ input: Input) {
        let token = Int32(truncatingIfNeeded: Self.covered(value))
        for below in trie.subtree(node).dropFirst() {
            let slot = trie.nodes.slot(below)
            if slot >= 0 { scratch.slots[slot] = RecordScratch.Slot(generation: generation, token: token) }
        }
        guard input.tokens[value].kind != .null else { return }
        covers.append((value, node))
        guard !isRead else { return }
        if unwraps, input.tokens[value].kind == .array, Int(input.tokens[value].next) == value + 1 {
            return changes.append((.emptyContainer, trie.path(node), node))
        }
        changes.append((.notAnObject, trie.path(node), node))
        // With nulls instead of what does not fit, there they are.
        if isLossless, onError != .null { noteNoObject(value, input) }
    }

    /// The cell of an attribute whose slot holds no token of its own: it is covered, or reads one of `retriedKeys`.
    @inline(never)
    mutating func rareCell(
        _ attribute: Int,
        token: Int,
        slot: Int,
        input: Input,
        batch: inout RowBatch
    ) -> Cell {
        if token == Self.retriedKeyToken { return keyCell(attribute, slot: slot, input: input, batch: &batch) }
        if token == Self.indexToken { return indexCell(attribute, input: input, batch: &batch) }
        if token == Self.parentToken { return parentCell(slot) }
        let index = Self.covered(token)
        if input.tokens[index].kind != .null, !plan.attributes[attribute].isOptional,
            !plan.attributes[attribute].isGenerated
        {
            noteNoObject(index, input)
            return .null
        }
        return nullCell(attribute, slot: slot, index, input, &batch)
    }

    /// One error for a value, however many attributes it covers.
    private mutating func noteNoObject(_ value: Int, _ input: Input) {
        guard let node = covers.last(where: { $0.token == value })?.node else { return }
        let path = trie.path(node)
        guard !errors.contains(where: { $0.code == .notAnObject && $0.keyPath == path }) else { return }
        let found = input.tokens[value].kind.name
        errors.append(error(.notAnObject, at: path, expected: "object", found: found, value, input))
    }
}
