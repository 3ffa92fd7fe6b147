import ImportModel

/// What an object says of its relationships beyond its own columns, and the objects that are nested in it.
extension GraphDecoder {
    /// An element of a list, or the value of a to-one.
    private struct Element {
        let token: Int
        /// The token of its key, where the collection is an object; else -1.
        let key: Int
        /// Its index in the JSON, from 0.
        let place: Int
        /// Its index among those that are linked.
        var index = 0
        /// True if it is an object that has, or may have, a row of its own.
        var isObject = false
        /// Its target in the batch; -1 for none.
        var target = -1
    }

    /// States a relationship of an object whose row is there, and takes what is nested in it.
    package func state(
        _ relationship: GraphPlan.Relationship,
        _ value: Value,
        of row: Int,
        _ node: Int,
        _ owner: Owner?,
        _ input: RecordDecoder.Input,
        into batch: inout RowBatch
    ) {
        if relationship.side == .own {
            return stateOwn(relationship, value, of: row, node, input, into: &batch)
        }
        var (value, elements, isEmptied, list) = (value, [Element](), false, input.root)
        if let null = value.null(input) {
            checkNull(relationship, node, null, input)
            value = keepsAtNull(relationship) ? .missing : .null(null)
        }
        switch value {
        case .missing:
            // An object that is taken as a whole has no links but those that it states, and that to the object around it.
            let isPositional = owner?.relationship.isPositional == true
            let onConflict = owner?.relationship.description.onConflict ?? plan.nodes[node].plan.onConflict
            guard isPositional || onConflict == .replace, owner?.relationship.inverse != relationship.index,
                !relationship.description.from.isEmpty
            else { return }
            isEmptied = true
        case .null(let token):
            list = token
            isEmptied = true
        case .parts(let tokens):
            guard let cells = key(of: relationship, tokens, at: path(of: relationship, in: node), node, input, &batch)
            else { return }
            let isNamed = !relationship.namesIdentifier
            let path = path(of: relationship, in: node)
            checkIsMet(relationship, cells, isNamed: isNamed, node, at: path, tokens[0], input, batch)
            checkIsIdentified(row, node, input, batch)
            return link(relationship, row, [cells], into: &batch)
        case .members(let token):
            list = token
            guard input.tokens[token].kind == .object else { return wrongKind(relationship, node, token, input) }
            elements = members(of: token, input)
        case .token(let token):
            list = token
            let kind = self.kind(of: token, input)
            if kind == .null {
                checkNull(relationship, node, token, input)
                isEmptied = true
            } else if relationship.description.isToMany {
                if kind == .array {
                    elements = self.elements(of: token, input)
                } else {
                    guard kind == .object, let found = listed(in: token, relationship, node, input) else {
                        return wrongKind(relationship, node, token, input)
                    }
                    elements = found
                }
            } else {
                guard kind != .array else { return wrongKind(relationship, node, token, input) }
                elements = [Element(token: token, key: -1, place: -1)]
            }
        }
        if isEmptied, relationship.description.list == .union {
            // A list without elements would add none, and leave those that are there.
            isAppendable = false
            let none = GraphBatch.emptied
            batch.graph.operations.append(.links(relationship: relationship.index, row: row, targets: none))
            return
        }
        link(relationship, &elements, of: isEmptied ? nil : list, row, node, input, into: &batch)
    }

    /// A to-one in the object's own columns, which are set: what is nested in it is left.
    private func stateOwn(
        _ relationship: GraphPlan.Relationship,
        _ value: Value,
        of row: Int,
        _ node: Int,
        _ input: RecordDecoder.Input,
        into batch: inout RowBatch
    ) {
        switch value {
        case .missing, .null, .members: return
        case .parts: batch.graph.operations.append(.reference(entity: relationship.destination))
        case .token(let token):
            let kind = self.kind(of: token, input)
            if kind == .null || kind == .array { return }
            let isObject = kind == .object || plan.nodes[relationship.destination].plan.elementSlot >= 0
            let own = Owner(row: row, node: node, relationship: relationship, index: 0, key: -1, place: -1)
            if !isObject
                || nestedKey(of: token, -1, relationship.destination, owner: nil, input, &batch)?.isBare == true
            {
                batch.graph.operations.append(.reference(entity: relationship.destination))
                return
            }
            within(path(of: relationship, in: node), index: -1) {
                let child = take(
                    input.nested(at: token, key: -1),
                    entity: relationship.destination,
                    owner: own,
                    into: &batch
                )
                if child >= 0, batch.graph.nested[child].keyCell < 0 {
                    isAppendable = false
                    batch.graph.operations.append(.refers(relationship: relationship.index, row: row, to: child))
                }
            }
        }
    }

    private func elements(of array: Int, _ input: RecordDecoder.Input) -> [Element] {
        var elements: [Element] = []
        var token = array + 1
        while token < Int(input.tokens[array].next) {
            elements.append(Element(token: token, key: -1, place: elements.count))
            token = Int(input.tokens[token].next)
        }
        return elements
    }

    /// The elements of a list that is written as an object; nil for any other object.
    ///
    /// They are its values under numbers from 0, in any order, or itself as the only one; none where it is empty.
    private func listed(
        in object: Int,
        _ relationship: GraphPlan.Relationship,
        _ node: Int,
        _ input: RecordDecoder.Input
    ) -> [Element]? {
        guard decoders[0].unwraps else { return nil }
        let members = members(of: object, input)
        if members.isEmpty {
            note(.emptyContainer, node, relationship.description.name)
            return []
        }
        func key(_ member: Element) -> ByteView { input.tokens[member.key].bytes(in: input.line) }
        let isNumbered = members.allSatisfy { ListIndex.isOne(key($0).buffer) }
        let trie = decoders[relationship.destination].trie
        guard isNumbered || members.contains(where: { trie.child(of: 0, key: key($0)) >= 0 }) else { return nil }
        note(.wrapped, node, relationship.description.name)
        return isNumbered
            ? members.map { Element(token: $0.token, key: -1, place: $0.place) }
            : [Element(token: object, key: -1, place: 0)]
    }

    private func members(of object: Int, _ input: RecordDecoder.Input) -> [Element] {
        var elements: [Element] = []
        var key = object + 1
        while key < Int(input.tokens[object].next) {
            elements.append(Element(token: key + 1, key: key, place: elements.count))
            key = Int(input.tokens[key + 1].next)
        }
        return elements
    }

    /// The links of an object to those that identifiers name.
    private func link(
        _ relationship: GraphPlan.Relationship,
        _ row: Int,
        _ keys: [[Cell]],
        into batch: inout RowBatch
    ) {
        let first = batch.graph.targets.count
        for key in keys {
            let target = GraphBatch.Target(
                keyCell: batch.cells.count,
                row: -1,
                isNamed: !relationship.namesIdentifier
            )
            batch.graph.targets.append(target)
            batch.cells += key
        }
        let targets = first..<batch.graph.targets.count
        noteLinks(relationship, of: row, batch)
        batch.graph.operations.append(.links(relationship: relationship.index, row: row, targets: targets))
        for _ in keys { batch.graph.operations.append(.reference(entity: relationship.destination)) }
    }

    /// The links of an object to the elements of a list, and those of them that are objects.
    ///
    /// - Parameter list: the token of what has the elements; nil where there is none, whose elements nobody counts.
    private func link(
        _ relationship: GraphPlan.Relationship,
        _ elements: inout [Element],
        of list: Int?,
        _ row: Int,
        _ node: Int,
        _ input: RecordDecoder.Input,
        into batch: inout RowBatch
    ) {
        if !elements.isEmpty { checkIsIdentified(row, node, input, batch) }
        let path = path(of: relationship, in: node)
        let destination = plan.nodes[relationship.destination].plan
        let first = batch.graph.targets.count
        var (knownKeys, knownNames) = (ListKeySet(), ListKeySet())
        var references = 0
        // Elements that are errors are elements all the same.
        var wrong = 0
        for place in elements.indices {
            let kind = self.kind(of: elements[place].token, input)
            let isElement = destination.elementSlot >= 0
            if kind == .null, elements[place].place >= 0 {
                nullElement(relationship, node, path, elements[place].place, elements[place].token, input)
                continue
            }
            elements[place].index = batch.graph.targets.count - first
            elements[place].isObject = kind == .object || isElement
            if kind == .array, !isElement {
                within(path, index: elements[place].place) {
                    error(
                        .wrongKind,
                        node,
                        at: "",
                        expected: relationship.description.destination,
                        found: "array",
                        elements[place].token,
                        input
                    )
                }
                wrong += 1
                continue
            }
            var cells: [Cell]?
            if elements[place].isObject {
                guard !relationship.isPositional else {
                    elements[place].target = batch.graph.targets.count
                    batch.graph.targets.append(GraphBatch.Target(keyCell: -1, row: -1))
                    continue
                }
                let owner = owner(of: elements[place], relationship, row, node)
                let (token, key) = (elements[place].token, elements[place].key)
                let found = nestedKey(of: token, key, relationship.destination, owner: owner, input, &batch)
                cells = found?.cells
                if found?.isBare == true {
                    elements[place].isObject = false
                    references += 1
                }
                if found == nil, relationship.isIdentifiedByPosition {
                    isAppendable = false
                    elements[place].target = batch.graph.targets.count
                    batch.graph.targets.append(GraphBatch.Target(keyCell: -1, row: -1))
                    continue
                }
            } else {
                within(path, index: elements[place].place) {
                    cells = key(of: relationship, [elements[place].token], at: "", node, input, &batch)
                        .map { whole($0, of: relationship, in: row, batch) }
                }
                references += 1
            }
            guard let cells else {
                wrong += 1
                continue
            }
            let isNamed = !elements[place].isObject && kind != .object && !relationship.namesIdentifier
            if isDangling != nil {
                let key = elements[place].key
                within(path + (key >= 0 ? member(key, input) : ""), index: key >= 0 ? -1 : elements[place].place) {
                    checkIsMet(relationship, cells, isNamed: isNamed, node, at: "", elements[place].token, input, batch)
                }
            }
            let index = elements[place].index
            let known =
                isNamed
                ? knownNames.index(of: cells, index, batch, input) : knownKeys.index(of: cells, index, batch, input)
            if let known {
                // It is linked where it is first.
                elements[place].index = known
                note(.duplicateLink, node, relationship.description.name)
                continue
            }
            elements[place].target = batch.graph.targets.count
            if isNamed {
                knownNames.add(batch.cells.count, cells.count, index: index)
            } else {
                knownKeys.add(batch.cells.count, cells.count, index: index)
            }
            batch.graph.targets.append(GraphBatch.Target(keyCell: batch.cells.count, row: -1, isNamed: isNamed))
            batch.cells += cells
        }
        let targets = first..<batch.graph.targets.count
        if let list { checkCount(targets.count + wrong, of: relationship, node, path, list, input) }
        noteLinks(relationship, of: row, batch)
        batch.graph.operations.append(.links(relationship: relationship.index, row: row, targets: targets))
        for _ in 0..<references { batch.graph.operations.append(.reference(entity: relationship.destination)) }
        for element in elements where element.isObject {
            take(element, of: relationship, path, row, node, input, into: &batch)
        }
    }

    /// What belongs to an object refers to it by its identifier: one that is told by its index must have that all the same.
    private func checkIsIdentified(
        _ row: Int,
        _ node: Int,
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch
    ) {
        let key = batch.graph.nested[row].keyCell
        guard key >= 0 else { return }
        let plan = plan.nodes[node].plan
        for (offset, attribute) in plan.identifier.enumerated()
        where attribute < plan.replacedCount && batch.cells[key + offset].tag == .null {
            let path = plan.slotPaths[plan.slots[attribute].first ?? 0]
            // It is said once, however many lists there are, and what is wrong is not missing.
            guard !errors.contains(where: { $0.keyPath == keyPath(path) }) else { continue }
            let expected = plan.attributes[attribute].type.rawValue
            error(.missingValue, node, at: path, expected: expected, found: "nothing", input.root, input)
        }
    }

    /// Notes whether links only add to what is there.
    private func noteLinks(_ relationship: GraphPlan.Relationship, of row: Int, _ batch: borrowing RowBatch) {
        // An object that is nested and has an identifier may be there already, with other links.
        let (isNested, hasKey) = (batch.graph.nested[row].relationship >= 0, batch.graph.nested[row].keyCell >= 0)
        if !relationship.isAppendable || isNested && hasKey { isAppendable = false }
    }

    private func take(
        _ element: Element,
        of relationship: GraphPlan.Relationship,
        _ path: String,
        _ row: Int,
        _ node: Int,
        _ input: RecordDecoder.Input,
        into batch: inout RowBatch
    ) {
        let owner = owner(of: element, relationship, row, node)
        var own = path
        if element.key >= 0 { own += member(element.key, input) }
        within(own, index: element.key >= 0 ? -1 : element.place) {
            let child = take(
                input.nested(at: element.token, key: element.key),
                entity: relationship.destination,
                owner: owner,
                into: &batch
            )
            guard child >= 0, element.target >= 0 else { return }
            batch.graph.targets[element.target].row = child
            if relationship.side == .join, batch.graph.nested[child].keyCell < 0 {
                isAppendable = false
                batch.graph.operations.append(.joins(relationship: relationship.index, row: row, to: child))
            }
        }
    }

    private func owner(of element: Element, _ relationship: GraphPlan.Relationship, _ row: Int, _ node: Int) -> Owner {
        Owner(
            row: row,
            node: node,
            relationship: relationship,
            index: element.index,
            key: element.key,
            place: element.place
        )
    }

    /// The key of a member, as it follows the path of its object.
    private func member(_ key: Int, _ input: RecordDecoder.Input) -> String {
        let path = input.path(ofKey: key)
        return path.hasPrefix("[") ? path : "." + path
    }

    private func nullElement(
        _ relationship: GraphPlan.Relationship,
        _ node: Int,
        _ path: String,
        _ place: Int,
        _ token: Int,
        _ input: RecordDecoder.Input
    ) {
        guard isLossless else { return note(.nullElement, node, relationship.description.name) }
        within(path, index: place) {
            error(
                .lossy,
                node,
                at: "",
                expected: relationship.description.destination,
                found: "null in a list",
                token,
                input
            )
        }
    }

    private func checkCount(
        _ count: Int,
        of relationship: GraphPlan.Relationship,
        _ node: Int,
        _ path: String,
        _ list: Int,
        _ input: RecordDecoder.Input
    ) {
        let found = count == 1 ? "1" : "\(count)"
        if let least = relationship.description.minimumCount, count < least {
            error(.tooFew, node, at: path, expected: "at least \(least)", found: found, list, input)
        }
        if let most = relationship.description.maximumCount, count > most {
            error(.tooMany, node, at: path, expected: "at most \(most)", found: found, list, input)
        }
    }
}

/// The identifiers that a list has named.
private struct ListKeySet {
    /// Where the cells of each are, and its index in the list; beyond `most` also by their bytes.
    private var places: [(cells: Range<Int>, index: Int)] = []
    private var known: [EncodedKey: Int] = [:]
    private static let most = 8

    mutating func add(_ firstCell: Int, _ count: Int, index: Int) {
        places.append((firstCell..<firstCell + count, index))
    }

    /// The index of an identifier; nil where it is none of them, and is added next.
    mutating func index(of cells: [Cell], _ next: Int, _ batch: borrowing RowBatch, _ input: RecordDecoder.Input)
        -> Int?
    {
        if places.isEmpty { return nil }
        let bytes = batch.bytes
        let own = EncodedKey(cells, bytes, input)
        if places.count <= Self.most {
            return places.first { EncodedKey(batch.cells[$0.cells], bytes, input) == own }?.index
        }
        if known.isEmpty {
            for place in places { known[EncodedKey(batch.cells[place.cells], bytes, input)] = place.index }
        }
        if let index = known[own] { return index }
        known[own] = next
        return nil
    }
}

extension GraphDecoder.Value {
    /// The token of a null that it is; nil for anything else.
    fileprivate func null(_ input: RecordDecoder.Input) -> Int? {
        switch self {
        case .null(let token): token
        case .token(let token), .members(let token): input.tokens[token].kind == .null ? token : nil
        case .missing, .parts: nil
        }
    }
}
