import ImportModel

/// What is nested in an object, and its links.
extension FastGraphDecoder {
    /// The object of a to-one that is in the object's own columns.
    mutating func takeOwn(
        _ relationship: FastGraphPlan.Relationship,
        _ value: Int,
        _ accepted: AcceptedObject,
        _ node: FastGraphPlan.Node,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Bool {
        guard value >= 0, input.tokens[value].kind != .null else { return true }
        let destination = nodes[relationship.destination]
        guard input.tokens[value].kind == .object || destination.elementSlot >= 0 else {
            batch.graph.operations.append(.reference(entity: relationship.destination))
            return true
        }
        guard destination.hasIdentifier else { return false }
        guard let child = take(value, input, relationship.destination, owner(accepted, relationship, 0), &batch),
            let reference = node.references.first(where: { $0.owner == relationship.owner })
        else { return false }
        let cell = batch.cell(of: reference.range.lowerBound, in: batch.rows[accepted.row])
        for offset in 0..<reference.range.count { batch.cells[cell + offset] = batch.cells[child.keyCell + offset] }
        return true
    }

    package func owner(_ accepted: AcceptedObject, _ relationship: FastGraphPlan.Relationship, _ index: Int) -> Owner {
        Owner(
            row: accepted.row,
            keyCell: accepted.keyCell,
            number: accepted.number,
            isLaidOut: accepted.isLaidOut,
            relationship: relationship,
            index: index
        )
    }

    /// The links of an object to the elements of a list, and those of them that are objects.
    mutating func takeList(
        _ relationship: FastGraphPlan.Relationship,
        _ value: Int,
        _ accepted: AcceptedObject,
        _ node: FastGraphPlan.Node,
        _ owner: Owner?,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Bool {
        if value < 0 {
            // An object that is taken as a whole has no links but those that it states.
            let onConflict = owner?.relationship.onConflict ?? node.onConflict
            let isWhole = owner?.relationship.isPositional == true || onConflict == .replace
            if !isWhole || !relationship.isReplaced || layout != nil { return true }
        }
        guard relationship.isAppendable, relationship.isToMany || relationship.isPositional else { return false }
        if owner != nil, node.hasIdentifier { return false }
        if value < 0 {
            let targets = GraphBatch.emptied
            let links = GraphBatch.LinkOperation.links(
                relationship: relationship.index,
                row: accepted.row,
                targets: targets
            )
            batch.graph.operations.append(links)
            return relationship.counts.contains(0)
        }
        switch input.tokens[value].kind {
        case .null: guard relationship.isOptional, !keepsListsAtNull || !relationship.isOwnedList else { return false }
        case .array: guard relationship.isToMany else { return false }
        case .object: if relationship.isToMany { return false }
        case .string, .number, .boolean: return false
        }
        // A batch with a layout is of new objects only: their rows say it all.
        let isLaidOut = layout != nil && (relationship.isPositional || accepted.keyCell >= 0)
        let operation = batch.graph.operations.count
        if !isLaidOut {
            batch.graph.operations.append(.links(relationship: relationship.index, row: accepted.row, targets: 0..<0))
        }
        let first = children.count
        defer { children.removeLast(children.count - first) }
        guard takeElements(relationship, value, accepted, first, input, &batch),
            relationship.counts.contains(children.count - first)
        else { return false }
        if isLaidOut { return relationship.isPositional || layOutLinks(relationship, accepted, first, input, batch) }
        let firstTarget = batch.graph.targets.count
        for child in children[first...] {
            let keyCell = relationship.isPositional ? -1 : Int(child.keyCell)
            batch.graph.targets.append(GraphBatch.Target(keyCell: keyCell, row: Int(child.row)))
        }
        let isEmptied = input.tokens[value].kind == .null
        let targets = isEmptied ? GraphBatch.emptied : firstTarget..<batch.graph.targets.count
        batch.graph.operations[operation] = .links(
            relationship: relationship.index,
            row: accepted.row,
            targets: targets
        )
        return true
    }

    /// Lays out the links of an object to those that are in `children`.
    func layOutLinks(
        _ relationship: FastGraphPlan.Relationship,
        _ accepted: AcceptedObject,
        _ first: Int,
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch
    ) -> Bool {
        guard let layout else { return false }
        let (cells, presence) = (storage.cells, storage.presence)
        var position: Int64 = 0
        for child in children[first...] {
            var count = 0
            func add(_ cell: Cell) {
                cells[count] = cell
                count += 1
            }
            let ownerEntity = Int(batch.rows[accepted.row].entity)
            for offset in nodes[ownerEntity].identifier.indices { add(batch.cells[accepted.keyCell + offset]) }
            let other = Int(child.keyCell)
            for offset in nodes[relationship.destination].identifier.indices { add(batch.cells[other + offset]) }
            if relationship.hasPosition { add(.integer(position)) }
            let link = UnsafeMutableBufferPointer(rebasing: cells[..<count])
            guard append(link, presence, relationship.linkTable, input, batch, layout) else { return false }
            position += 1
        }
        return true
    }

    /// The elements of a list; `children` gets those that are linked.
    mutating func takeElements(
        _ relationship: FastGraphPlan.Relationship,
        _ list: Int,
        _ accepted: AcceptedObject,
        _ first: Int,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Bool {
        let destination = relationship.destination
        if input.tokens[list].kind == .object {
            guard let child = take(list, input, destination, owner(accepted, relationship, 0), &batch) else {
                return false
            }
            children.append(Child(row: Int32(child.row), keyCell: Int32(child.keyCell), key: child.key))
            return true
        }
        guard input.tokens[list].kind == .array else { return true }
        let isElement = nodes[destination].elementSlot >= 0
        let ownerEntity = batch.rows[accepted.row].entity
        let end = Int(input.tokens[list].next)
        var token = list + 1
        while token < end {
            let next = Int(input.tokens[token].next)
            switch input.tokens[token].kind {
            case .null:
                if isLossless || accepted.isLaidOut { return false }
                changes.append((.nullElement, ownerEntity, plan.names[relationship.index]))
                token = next
                continue
            case .object: break
            case .array, .string, .number, .boolean: guard isElement else { return false }
            }
            let owner = owner(accepted, relationship, children.count - first)
            guard let child = take(token, input, destination, owner, &batch) else { return false }
            if !relationship.isPositional, isLinked(child, first, relationship, input, batch) {
                changes.append((.duplicateLink, ownerEntity, plan.names[relationship.index]))
            } else {
                children.append(Child(row: Int32(child.row), keyCell: Int32(child.keyCell), key: child.key))
                // Comparing each with all others is for few of them.
                if !relationship.isPositional, children.count - first > 64 { return false }
            }
            token = next
        }
        return true
    }

    /// True if an element of the list has the same identifier already.
    package func isLinked(
        _ child: AcceptedObject,
        _ first: Int,
        _ relationship: FastGraphPlan.Relationship,
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch
    ) -> Bool {
        let width = nodes[relationship.destination].identifier.count
        func key(_ cell: Int) -> EncodedKey { EncodedKey(batch.cells[cell..<cell + width], batch.bytes, input) }
        for other in children[first...] where other.key == child.key {
            if key(Int(other.keyCell)) == key(child.keyCell) { return true }
        }
        return false
    }
}
