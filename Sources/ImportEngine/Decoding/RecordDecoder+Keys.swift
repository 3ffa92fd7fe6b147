import ImportModel
import ImportSources

/// Which of the record's values are an attribute's: its keys are walked once, and each finds its slot.
extension RecordDecoder {
    /// Notes which tokens fill the slots below a node.
    mutating func walk(_ object: Int, node: Int, isCovered: Bool, input: Input) {
        // Pointers of their own: each look at a property of a class would else count its reference.
        let (tokens, nodes, seen, slots) = (input.tokens, trie.nodes, scratch.seen, scratch.slots)
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
                slots[slot] = RecordScratch.Slot(generation: generation, token: Int32(truncatingIfNeeded: value))
            }
            if nodes.hasChildren(child) {
                descend(value, node: child, isCovered: isCovered, input: input)
            }
        }
    }

    /// Goes on with the value of a key that leads to others.
    mutating func descend(_ value: Int, node: Int, isCovered: Bool, input: Input) {
        let isRead = isCovered || trie.nodes.slot(node) >= 0
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
        guard key.hasEscapes else { return trie.child(of: node, key: key.bytes(in: input.line)) }
        keyScratch.removeAll(keepingCapacity: true)
        _ = JSONUnescaper.append(key.bytes(in: input.line), to: &keyScratch)
        return keyScratch.withUnsafeBufferPointer { trie.child(of: node, key: ByteView($0)) }
    }

    /// A key that is repeated: the last value counts, and nothing of the first one's subtree stays.
    @inline(never)
    private mutating func takeBack(_ child: Int, before value: Int, input: Input) {
        let subtree = trie.subtree(child)
        changes.removeAll { $0.kind != .duplicateKey && subtree.contains($0.node) }
        changes.append((.duplicateKey, trie.path(child), child))
        if isLossless { noteRepetition(of: child, value, input: input) }
        for node in subtree {
            scratch.seen[node] = 0
            let slot = trie.nodes.slot(node)
            if slot >= 0 { scratch.slots[slot].generation = 0 }
        }
    }

    /// Where a value may lose nothing, a key that is repeated is an error: that of the attribute that reads it, if one
    /// does, and else the record's.
    private mutating func noteRepetition(of child: Int, _ value: Int, input: Input) {
        let slot = trie.nodes.slot(child)
        if slot >= 0 {
            scratch.repeated[slot] = generation
        } else {
            let (path, found) = (trie.path(child), Self.repeatedKey)
            errors.append(error(.lossy, at: path, expected: "object", found: found, value, input))
        }
    }

    /// Notes which values of a row, a record that is an array, fill the slots: its columns are read as keys.
    ///
    /// - Returns: whether it is no row, as it has more or fewer values than there are columns.
    @inline(never)
    mutating func walkRow(_ input: Input) -> Bool {
        let tokens = input.tokens
        var values: [Int] = []
        var value = input.root + 1
        while value < Int(tokens[input.root].next) {
            values.append(value)
            value = Int(tokens[value].next)
        }
        if let columns, columns.count != values.count {
            let (expected, found) = ("\(columns.count)", "\(values.count)")
            errors.append(error(.wrongColumnCount, at: "", expected: expected, found: found, input.root, input))
            return true
        }
        let isCovered = plan.recordSlot >= 0
        for (column, value) in values.enumerated() {
            let node = column < columnNodes.count ? columnNodes[column] : -1
            guard node >= 0 else {
                let name = columns?[column] ?? RowColumns.name(column)
                if !isCovered { changes.append((.unknownKey, AttributePath(keys: [name]).description, 0)) }
                continue
            }
            scratch.seen[node] = generation
            let slot = trie.nodes.slot(node)
            if slot >= 0 { fill(slot, value) }
            if trie.nodes.hasChildren(node) { descend(value, node: node, isCovered: isCovered, input: input) }
        }
        return false
    }

    static let repeatedKey = "key given twice"

    private mutating func countUnknown(
        _ key: Int,
        in node: Int,
        input: Input
    ) {
        let own = input.path(ofKey: key)
        let path = node == 0 ? own : trie.path(node) + (own.hasPrefix("[") ? own : "." + own)
        changes.append((.unknownKey, path, node))
    }
}
