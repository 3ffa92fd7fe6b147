import ImportModel

/// The row of an object: its attributes' cells, and those of the columns in which it refers to others.
extension GraphDecoder {
    /// Appends the row of the object whose cells its decoder has.
    ///
    /// - Parameters:
    ///   - chosen: whether it names its subentity.
    ///   - stated: its relationships, and what it has for them.
    /// - Returns: its index in the batch.
    package func append(
        _ count: Int,
        _ node: Int,
        chosen: Bool,
        _ stated: [(relationship: GraphPlan.Relationship, value: Value)],
        _ owner: Owner?,
        _ input: RecordDecoder.Input,
        into batch: inout RowBatch
    ) -> Int {
        let scratch = decoders[node].scratch
        var lacks = decoders[node].insertErrors
        var row = NewRow(firstCell: batch.cells.count, presence: Array(scratch.presence))
        batch.cells.append(contentsOf: UnsafeMutableBufferPointer(rebasing: scratch.cells[..<count]))
        var nested = GraphBatch.Nested(relationship: owner?.relationship.index ?? -1)
        nested.position = owner?.index ?? 0
        let rows = plan.nodes[node].rows
        var named: [Named] = []
        if chosen, let column = rows.entityColumn {
            let name = Array(plan.nodes[node].plan.entity.name.utf8)
            batch.bytes += name
            row.add(.text(.batchText, offset: batch.bytes.count - name.count, length: name.count), column, &batch)
        }
        for (holder, range) in rows.references.sorted(by: { $0.value.lowerBound < $1.value.lowerBound }) {
            let own = stated.first { $0.relationship.owner == holder && $0.relationship.side == .own }
            let isAround = owner.map { $0.relationship.side == .other && $0.relationship.owner == holder } == true
            let cells = own.flatMap { relationship, value in
                reference(
                    relationship,
                    value,
                    node,
                    owner,
                    isAround,
                    &lacks,
                    &named,
                    input,
                    &batch
                )
            }
            if let cells {
                if case (_, .missing)? = own { batch.graph.unsaid.append(batch.cells.count) }
                for (attribute, cell) in zip(range, cells) { row.add(cell, attribute, &batch) }
            } else if isAround, let owner {
                nested.referenceCell = batch.cells.count
                let key = batch.graph.nested[owner.row].keyCell
                for (offset, attribute) in range.enumerated() {
                    row.add(key < 0 ? .null : batch.cells[key + offset], attribute, &batch)
                }
            }
            guard isAround, let owner, let position = rows.positions[holder] else { continue }
            if let cells, !isKey(cells, ofRow: owner.row, batch, input) {
                // It says that it belongs to another object, whose list it is not in.
                row.add(.null, position, &batch)
            } else {
                nested.positionCell = batch.cells.count
                row.add(.integer(Int64(nested.position)), position, &batch)
            }
        }
        if plan.nodes[node].needsKey { nested.keyCell = appendKey(of: node, row, &batch) }
        let index = append(row, nested, parent: owner?.row ?? -1, node, lacks, input, &batch)
        for name in named {
            isAppendable = false
            let operation = GraphBatch.LinkOperation.names(
                relationship: name.relationship,
                row: index,
                valueCell: batch.cells.count
            )
            batch.graph.operations.append(operation)
            batch.cells += name.values
        }
        return index
    }

    /// A to-one of an object at hand that values of other attributes than the identifier's name.
    package struct Named {
        package let relationship: Int
        package let values: [Cell]
    }

    /// True if a row is referred to by these cells.
    private func isKey(
        _ cells: [Cell],
        ofRow row: Int,
        _ batch: borrowing RowBatch,
        _ input: RecordDecoder.Input
    ) -> Bool {
        let key = batch.graph.nested[row].keyCell
        guard key >= 0 else { return false }
        return EncodedKey(cells, batch.bytes, input)
            == EncodedKey(batch.cells[key..<key + cells.count], batch.bytes, input)
    }

    /// A row as it is put together.
    package struct NewRow {
        package let firstCell: Int
        package var presence: [UInt64]

        package mutating func add(_ cell: Cell, _ attribute: Int, _ batch: inout RowBatch) {
            batch.cells.append(cell)
            presence[attribute >> 6] |= 1 << UInt64(attribute & 63)
        }
    }

    package func append(
        _ row: NewRow,
        _ nested: GraphBatch.Nested,
        parent: Int,
        _ node: Int,
        _ lacks: [RecordError],
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> Int {
        if !lacks.isEmpty {
            batch.insertRejects.append(
                RowBatch.Reject(
                    entity: plan.nodes[node].plan.index,
                    ordinal: input.ordinal,
                    byteOffset: 0,
                    length: 0,
                    errors: lacks,
                    bytes: []
                )
            )
        }
        batch.rows.append(
            RowBatch.Row(
                entity: plan.nodes[node].plan.index,
                parent: Int32(parent),
                ordinal: input.ordinal,
                firstCell: row.firstCell,
                firstPresenceWord: batch.presence.count,
                insertReject: lacks.isEmpty ? -1 : Int32(batch.insertRejects.count - 1)
            )
        )
        batch.presence += row.presence
        batch.graph.nested.append(nested)
        if parent >= 0, nested.keyCell >= 0 {
            let row = batch.rows.count - 1
            let policy = plan.layout.relationships[nested.relationship].description.onConflict
            let plan = plan.nodes[node].plan
            let digest = digester.digest(
                of: row,
                in: batch,
                keyWidth: plan.identifier.count,
                presenceWords: (plan.attributes.count + 63) / 64,
                policy,
                input
            )
            batch.graph.nested[row].digest = digest
        }
        batch.graph.operations.append(.row(batch.rows.count - 1))
        return batch.rows.count - 1
    }

    /// Appends copies of the cells by which a row is referred to.
    ///
    /// - Returns: the index of the first.
    private func appendKey(of node: Int, _ row: NewRow, _ batch: inout RowBatch) -> Int {
        let plan = plan.nodes[node].plan
        let cells = plan.identifier.map { attribute -> Cell in
            var next = row.firstCell
            func isPresent(_ attribute: Int) -> Bool {
                row.presence[attribute >> 6] & (1 << UInt64(attribute & 63)) != 0
            }
            guard isPresent(attribute) else { return defaultCell(of: attribute, plan, &batch.bytes) }
            for other in 0..<attribute where isPresent(other) { next += 1 }
            return batch.cells[next]
        }
        batch.cells += cells
        return batch.cells.count - cells.count
    }

    /// An attribute's default, its text among the batch's.
    private func defaultCell(of attribute: Int, _ plan: EntityPlan, _ bytes: inout [UInt8]) -> Cell {
        let cell = plan.defaults[attribute]
        switch cell.tag {
        case .null, .integer, .real: return cell
        case .chunkText, .batchText, .batchBlob, .generatedText, .generatedBlob:
            let offset = bytes.count
            bytes += plan.defaultBytes[cell.textOffset..<cell.textOffset + cell.textLength]
            return .text(cell.tag, offset: offset, length: cell.textLength)
        }
    }

    // MARK: References

    /// The cells of a to-one that is in the object's own columns.
    ///
    /// - Parameter isAround: whether the object around states it, too.
    /// - Returns: nil to leave it as it is.
    private func reference(
        _ relationship: GraphPlan.Relationship,
        _ value: Value,
        _ node: Int,
        _ owner: Owner?,
        _ isAround: Bool,
        _ lacks: inout [RecordError],
        _ named: inout [Named],
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> [Cell]? {
        let width = plan.nodes[node].rows.references[relationship.owner]?.count ?? 1
        let nulls = Array(repeating: Cell.null, count: width)
        let path = self.path(of: relationship, in: node)
        func scalars(_ tokens: [Int]) -> [Cell]? {
            guard let cells = key(of: relationship, tokens, at: path, node, input, &batch) else { return nulls }
            let isNamed = !relationship.namesIdentifier
            checkIsMet(relationship, cells, isNamed: isNamed, node, at: path, tokens[0], input, batch)
            if relationship.namesIdentifier { return cells }
            // Its own columns are set when it is known which object that is.
            named.append(Named(relationship: relationship.index, values: cells))
            return nil
        }
        func nested(_ token: Int) -> [Cell] {
            guard let key = nestedKey(of: token, -1, relationship.destination, owner: nil, input, &batch) else {
                return nulls
            }
            checkIsMet(relationship, key.cells, isNamed: false, node, at: path, token, input, batch)
            return key.cells
        }
        switch value {
        case .missing:
            let onConflict = owner?.relationship.description.onConflict ?? plan.nodes[node].plan.onConflict
            // What it is nested in says it.
            let isAround = isAround || owner?.relationship.inverse == relationship.index
            if relationship.isRequired, !isAround {
                let error = decoders[node].error(
                    .missingValue,
                    at: keyPath(path),
                    expected: relationship.description.destination,
                    found: "nothing",
                    input.root,
                    input
                )
                let isAlwaysWhole =
                    plan.nodes[node].plan.identifier.isEmpty || [.replace, .error].contains(onConflict)
                if isAlwaysWhole { errors.append(error) } else { lacks.append(error) }
            }
            let isCleared = onConflict == .replace && !isAround
            return isCleared && !relationship.description.from.isEmpty ? nulls : nil
        case .null(let token):
            checkNull(relationship, node, token, input)
            return nulls
        case .parts(let tokens): return scalars(tokens)
        case .members(let token):
            wrongKind(relationship, node, token, input)
            return nulls
        case .token(let token):
            switch kind(of: token, input) {
            case .null:
                checkNull(relationship, node, token, input)
                return nulls
            case .array:
                wrongKind(relationship, node, token, input)
                return nulls
            case .object:
                return nested(token)
            case .string, .number, .boolean:
                if plan.nodes[relationship.destination].plan.elementSlot >= 0 {
                    return nested(token)
                }
                return scalars([token])
            }
        }
    }

    /// The key path of a relationship within its object: that of its value, or of its first source.
    package func path(of relationship: GraphPlan.Relationship, in node: Int) -> String {
        if relationship.slot >= 0 { return plan.nodes[node].plan.slotPaths[relationship.slot] }
        return relationship.sources.first.map { plan.nodes[node].plan.slotPaths[$0.slot] }
            ?? relationship.description.name
    }

    /// Notes that a relationship is null, where it must not be.
    func checkNull(_ relationship: GraphPlan.Relationship, _ node: Int, _ token: Int, _ input: RecordDecoder.Input) {
        guard !relationship.description.isOptional else { return }
        error(
            .unexpectedNull,
            node,
            at: path(of: relationship, in: node),
            expected: relationship.description.destination,
            found: "null",
            token,
            input
        )
    }

    func wrongKind(_ relationship: GraphPlan.Relationship, _ node: Int, _ token: Int, _ input: RecordDecoder.Input) {
        let destination = relationship.description.destination
        error(
            .wrongKind,
            node,
            at: path(of: relationship, in: node),
            expected: relationship.description.isToMany ? "an array of \(destination)" : destination,
            found: input.tokens[token].kind.name,
            token,
            input
        )
    }

    /// The cells of an identifier that scalars name.
    ///
    /// - Returns: nil where one does not fit, which is an error.
    package func key(
        of relationship: GraphPlan.Relationship,
        _ tokens: [Int],
        at path: String,
        _ node: Int,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> [Cell]? {
        let destination = plan.nodes[relationship.destination].plan
        let name = relationship.description.name
        let around = aroundCount(in: relationship)
        let isWhole = !relationship.namesIdentifier || relationship.named.count + around == destination.identifier.count
        guard tokens.count == relationship.named.count, isWhole, !tokens.isEmpty else {
            let count = relationship.namesIdentifier ? destination.identifier.count : relationship.named.count
            error(
                .wrongKind,
                node,
                at: path,
                expected: "\(destination.entity.name), which is identified by \(count) values",
                found: input.tokens[tokens.first ?? input.root].kind.name,
                tokens.first ?? input.root,
                input
            )
            return nil
        }
        var cells: [Cell] = []
        for (token, attribute) in zip(tokens, relationship.named) {
            guard token >= 0, input.tokens[token].kind != .null else {
                let type = destination.attributes[attribute].type.rawValue
                error(.missingValue, node, at: path, expected: type, found: "nothing", input.root, input)
                return nil
            }
            do {
                cells.append(try coerce(token, destination, attribute, node, name, input, &batch))
            } catch {
                let coercion = error as? CoercionError
                self.error(
                    coercion?.code ?? .wrongKind,
                    node,
                    at: path,
                    expected: coercion?.expected ?? "",
                    found: coercion?.found ?? "",
                    token,
                    input
                )
                return nil
            }
        }
        return cells
    }

    /// How many parts of the identifier of what a relationship leads to are the object around it.
    private func aroundCount(in relationship: GraphPlan.Relationship) -> Int {
        guard relationship.side == .other,
            let reference = plan.nodes[relationship.destination].rows.references[relationship.owner]
        else { return 0 }
        return plan.nodes[relationship.destination].plan.identifier.filter { reference.contains($0) }.count
    }

    /// The cells of an identifier of which scalars name all but the object around.
    package func whole(
        _ named: [Cell],
        of relationship: GraphPlan.Relationship,
        in row: Int,
        _ batch: borrowing RowBatch
    ) -> [Cell] {
        guard relationship.namesIdentifier, aroundCount(in: relationship) > 0,
            let reference = plan.nodes[relationship.destination].rows.references[relationship.owner]
        else { return named }
        var rest = named[...]
        let key = batch.graph.nested[row].keyCell
        return plan.nodes[relationship.destination].plan.identifier.map { attribute in
            guard reference.contains(attribute) else { return rest.popFirst() ?? .null }
            return key < 0 ? .null : batch.cells[key + attribute - reference.lowerBound]
        }
    }

    /// The cell of a value that names an attribute of another entity.
    private func coerce(
        _ token: Int,
        _ destination: EntityPlan,
        _ attribute: Int,
        _ node: Int,
        _ name: String,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) throws -> Cell {
        var notes: CoercionNotes = []
        let json = input.tokens[token].json(in: input.line)
        let coercion = destination.coercions[attribute]
        let value =
            if let extended = decoders[node].extended(token, input), coercion.takes(extended) {
                try coercion.coerce(extended, scratch: &batch.bytes, notes: &notes)
            } else {
                try coercion.coerce(json, scratch: &batch.bytes, notes: &notes)
            }
        for kind in notes.ledgerKinds {
            if isLossless, kind.isLoss {
                let type = destination.attributes[attribute].type.rawValue
                throw CoercionError(code: .lossy, expected: type, found: json.kind.name)
            }
            note(kind, node, name)
        }
        switch value {
        case .null: return .null
        case .integer(let number): return .integer(number)
        case .real(let number): return .real(number)
        case .verbatim(let text):
            return .text(.chunkText, offset: input.lineOffset + (text.base - input.line.base), length: text.count)
        case .scratch(let range): return .text(.batchText, offset: range.lowerBound, length: range.count)
        case .blob(let range): return .text(.batchBlob, offset: range.lowerBound, length: range.count)
        }
    }

    /// The identifier of a nested object, before its row is there.
    ///
    /// - Parameter key: the token of its key, where the collection is an object; else -1.
    /// - Returns: its cells, and whether the object has nothing else; nil where it has none, or an incomplete one, which is an
    ///   error once its row is decoded.
    func nestedKey(
        of token: Int,
        _ key: Int,
        _ entity: Int,
        owner: Owner?,
        _ input: RecordDecoder.Input,
        _ batch: inout RowBatch
    ) -> (cells: [Cell], isBare: Bool)? {
        let plan = plan.nodes[entity].plan
        guard !plan.identifier.isEmpty else { return nil }
        let own = input.nested(at: token, key: key)
        let index = max(0, owner?.place ?? 0)
        decoders[entity].ownerContext = RecordDecoder.OwnerContext(
            onConflict: .merge,
            isPositional: false,
            index: index,
            values: [:]
        )
        guard !decoders[entity].find(own) else { return nil }
        if plan.indexSlot >= 0, owner?.isInList == true {
            decoders[entity].fill(plan.indexSlot, RecordDecoder.indexToken)
        }
        let reference = owner.flatMap { self.plan.nodes[entity].rows.references[$0.relationship.owner] }
        var cells: [Cell] = []
        for attribute in plan.identifier {
            if let owner, let reference, reference.contains(attribute) {
                let key = batch.graph.nested[owner.row].keyCell
                cells.append(key < 0 ? .null : batch.cells[key + attribute - reference.lowerBound])
                continue
            }
            let (found, slot) = decoders[entity].token(of: attribute)
            if found == RecordDecoder.indexToken {
                cells.append(.integer(Int64(index)))
            } else if found >= 0, own.tokens[found].kind != .null {
                let errors = decoders[entity].errors.count
                cells.append(decoders[entity].cell(attribute, token: found, slot: slot, input: own, batch: &batch))
                guard decoders[entity].errors.count == errors else { return nil }
            } else if plan.attributes[attribute].isGenerated {
                cells.append(decoders[entity].generatedCell(attribute, own, &batch.bytes))
            } else if found == -1, plan.defaults[attribute].tag != .null {
                cells.append(defaultCell(of: attribute, plan, &batch.bytes))
            } else {
                return nil
            }
        }
        return (cells, isReference(entity, cells, own, batch))
    }
}
