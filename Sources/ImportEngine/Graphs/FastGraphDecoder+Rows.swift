import ImportModel
import ImportSources

/// The row of an object, as cells or laid out.
extension FastGraphDecoder {
    /// Lays out the row of a nested object whose cells its decoder has.
    ///
    /// - Returns: whether it is there.
    func layOut(
        _ node: FastGraphPlan.Node,
        _ decoder: UnsafeMutablePointer<RecordDecoder>,
        _ count: Int,
        _ owner: Owner,
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch
    ) -> Bool {
        guard let layout else { return false }
        let (cells, presence) = (decoder.pointee.scratch.cells, decoder.pointee.scratch.presence)
        var count = count
        func add(_ cell: Cell, _ attribute: Int) {
            cells[count] = cell
            presence[attribute >> 6] |= 1 << UInt64(attribute & 63)
            count += 1
        }
        for reference in node.references where reference.owner == owner.relationship.owner {
            for (offset, attribute) in reference.range.enumerated() {
                let isNumber = owner.keyCell < 0
                add(isNumber ? .integer(Int64(owner.number)) : batch.cells[owner.keyCell + offset], attribute)
            }
            if reference.position >= 0 { add(.integer(Int64(owner.index)), reference.position) }
        }
        return append(UnsafeMutableBufferPointer(rebasing: cells[..<count]), presence, node.index, input, batch, layout)
    }

    /// What an object that is nested says of itself.
    package enum RowStatus {
        /// What the last one of the same object in the batch has said: it needs no row.
        case repeated(keyCell: Int, key: UInt64)
        case new(RowDigest)
        /// It has no identifier, or does something else to a stored object.
        case unusual
    }

    /// Finds out whether the batch has said last what the object says whose cells its decoder has.
    package mutating func rowStatus(
        _ node: FastGraphPlan.Node,
        _ decoder: UnsafeMutablePointer<RecordDecoder>,
        _ count: Int,
        _ owner: Owner,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> RowStatus {
        let policy = owner.relationship.onConflict
        guard policy == .merge || policy == .replace else { return .unusual }
        let (cells, presence, key) = (decoder.pointee.scratch.cells, decoder.pointee.scratch.presence, storage.cells)
        for (place, attribute) in node.identifier.enumerated() {
            guard presence[attribute >> 6] & (1 << UInt64(attribute & 63)) != 0 else { return .unusual }
            var cell = (presence[attribute >> 6] & (1 << UInt64(attribute & 63) - 1)).nonzeroBitCount
            for word in 0..<attribute >> 6 { cell += presence[word].nonzeroBitCount }
            guard cells[cell].tag != .null else { return .unusual }
            key[place] = cells[cell]
        }
        let digest = batch.bytes.withUnsafeBufferPointer { own in
            digester.digest(
                UnsafeBufferPointer(rebasing: cells[..<count]),
                key: UnsafeBufferPointer(rebasing: key[..<node.identifier.count]),
                presence: UnsafeBufferPointer(presence),
                entity: node.index,
                policy,
                chunk: input.chunk,
                own: own
            )
        }
        guard recentRows.remember(digest) else { return .new(digest) }
        repeatedEntities.append(node.index)
        for place in node.identifier.indices { batch.cells.append(key[place]) }
        return .repeated(keyCell: batch.cells.count - node.identifier.count, key: digest.key)
    }

    /// Lays out a record's own row, whose identifier is its row id, once all of its cells are there.
    func layOut(_ index: Int, _ input: RecordDecoder.Input, _ batch: inout RowBatch, _ layout: DatabaseImage) {
        let row = batch.rows[index]
        let presence = storage.rowPresence
        for word in 0..<nodes[Int(row.entity)].presenceWords {
            presence[word] = batch.presence[row.firstPresenceWord + word]
        }
        let isTaken = batch.bytes.withUnsafeBufferPointer { own in
            batch.cells.withUnsafeBufferPointer { cells in
                let cells = UnsafeBufferPointer(rebasing: cells[row.firstCell...])
                let values = RowValues(cells: cells, chunk: input.chunk, own: own)
                return layout.append(values, presence: presence, entity: row.entity)
            }
        }
        guard isTaken else { return }
        batch.rows[index] = RowBatch.Row(
            entity: row.entity,
            parent: row.parent,
            ordinal: row.ordinal,
            firstCell: -1,
            firstPresenceWord: row.firstPresenceWord,
            insertReject: row.insertReject
        )
    }

    package func append(
        _ cells: UnsafeMutableBufferPointer<Cell>,
        _ presence: UnsafeMutableBufferPointer<UInt64>,
        _ table: Int32,
        _ input: RecordDecoder.Input,
        _ batch: borrowing RowBatch,
        _ layout: DatabaseImage
    ) -> Bool {
        batch.bytes.withUnsafeBufferPointer { own in
            let values = RowValues(cells: UnsafeBufferPointer(cells), chunk: input.chunk, own: own)
            return layout.append(values, presence: presence, entity: table)
        }
    }

    /// Appends the row of the object whose cells its decoder has.
    ///
    /// - Returns: whether it is there; otherwise it is for the long way.
    package func append(
        _ node: FastGraphPlan.Node,
        _ decoder: UnsafeMutablePointer<RecordDecoder>,
        _ count: Int,
        _ firstValue: Int,
        _ owner: Owner?,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Bool {
        let scratch = decoder.pointee.scratch
        let firstCell = batch.cells.count
        let firstWord = batch.presence.count
        batch.cells.append(contentsOf: UnsafeMutableBufferPointer(rebasing: scratch.cells[..<count]))
        for word in scratch.presence { batch.presence.append(word) }
        func add(_ cell: Cell, _ attribute: Int) {
            batch.cells.append(cell)
            batch.presence[firstWord + attribute >> 6] |= 1 << UInt64(attribute & 63)
        }
        var nested = GraphBatch.Nested(relationship: owner?.relationship.index ?? -1)
        nested.position = owner?.index ?? 0
        for reference in node.references {
            let isAround =
                owner.map { $0.relationship.side == .other && $0.relationship.owner == reference.owner } == true
            if isAround, let owner {
                // What it says itself of the object around is for the long way.
                if reference.own >= 0, values[firstValue + reference.own] != missing { return false }
                nested.referenceCell = batch.cells.count
                let key = owner.keyCell
                if owner.isLaidOut { nested.aroundNumber = owner.number }
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
                let onConflict = owner?.relationship.onConflict ?? node.onConflict
                let isCleared = onConflict == .replace && relationship.isReplaced
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
                if nodes[relationship.destination].elementSlot >= 0 {
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
                parent: Int32(owner?.row ?? -1),
                ordinal: input.ordinal,
                firstCell: firstCell,
                firstPresenceWord: firstWord,
                insertReject: -1
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
        // A batch with a layout is of new objects only: their rows say it all.
        if layout == nil { batch.graph.operations.append(.row(row)) }
        return true
    }

    /// The cell of an attribute of a row; nil where its record does not mention it.
    package func cell(of attribute: Int, _ row: RowBatch.Row, _ batch: borrowing RowBatch) -> Cell? {
        guard batch.isPresent(attribute, in: row) else { return nil }
        return batch.cells[batch.cell(of: attribute, in: row)]
    }

    /// The cell of a scalar that names an object, where that takes no more than a look.
    func plainKey(
        _ relationship: FastGraphPlan.Relationship,
        _ token: RecordTape.Token,
        _ input: RecordDecoder.Input
    ) -> Cell? {
        guard relationship.named >= 0, !isLossless else { return nil }
        let attribute = plan.plans[relationship.destination].attributes[relationship.named]
        let cell = (decoders + relationship.destination).pointee.plainCell(token, attribute, input)
        return cell.flatMap { $0.tag == .null ? nil : $0 }
    }
}
