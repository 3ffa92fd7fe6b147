import ImportModel

/// The row of a record whose values have found their slots.
extension RecordDecoder {
    /// Appends the row of the values that fill the slots, or a reject.
    ///
    /// - Parameter isNoObject: whether the record is something else; it lacks everything then, and that it is none says
    ///   it all.
    package mutating func appendRow(
        _ input: Input,
        isNoObject: Bool,
        to batch: inout RowBatch,
        _ layout: DatabaseImage?
    ) {
        let firstByte = batch.bytes.count
        let count = fillCells(input, isNoObject: isNoObject, &batch)
        if countsOtherKeys { noteOtherKeys(input) }
        guard errors.count == nulled.count else {
            batch.bytes.removeLast(batch.bytes.count - firstByte)
            batch.reject(reject(input, errors: errors + insertErrors))
            return
        }
        if !changes.isEmpty { countChanges(&batch) }
        for index in 0..<noteCount { scratch.count(scratch.notes[index]) }
        if !insertErrors.isEmpty {
            batch.keep(reject(input, errors: errors + insertErrors, nulled: nulledNames))
        } else if !errors.isEmpty {
            batch.count(errors, nulled: nulledNames, entity: plan.index, ordinal: input.ordinal)
        }
        if plan.keepsPlaces { batch.places.append(place(input)) }
        let isLaidOut = plan.laysOutRows && layOut(count, input, batch, layout)
        batch.rows.append(
            RowBatch.Row(
                entity: plan.index,
                parent: -1,
                ordinal: input.ordinal,
                firstCell: isLaidOut ? -1 : batch.cells.count,
                firstPresenceWord: batch.presence.count,
                insertReject: insertErrors.isEmpty ? -1 : Int32(batch.insertRejects.count - 1)
            )
        )
        if isLaidOut {
            if batch.bytes.count > firstByte { batch.bytes.removeLast(batch.bytes.count - firstByte) }
        } else {
            batch.cells.append(contentsOf: UnsafeMutableBufferPointer(rebasing: scratch.cells[..<count]))
        }
        let presence = scratch.presence
        if presence.count == 1 {
            // One by one is several times as fast as all together.
            batch.presence.append(presence[0])
        } else {
            batch.presence.append(contentsOf: presence)
        }
    }

    /// Makes the cells of the values that fill the slots, and their presence mask.
    ///
    /// - Returns: how many cells there are.
    @inline(__always)
    mutating func fillCells(_ input: Input, isNoObject: Bool, _ batch: inout RowBatch) -> Int {
        let (cells, presence) = (scratch.cells, scratch.presence)
        let (tokens, attributes, slots) = (input.tokens, plan.attributes, scratch.slots)
        let (generation, takesShortcuts) = (generation, takesShortcuts)
        var count = 0
        for word in presence.indices { presence[word] = 0 }
        for attribute in attributes.indices {
            var slot = Int(attributes[attribute].firstSlot)
            var token = slots[slot].generation == generation ? Int(slots[slot].token) : -1
            if token < 0, attributes[attribute].hasMoreSlots {
                (token, slot) = self.token(of: attribute)
            }
            let cell: Cell
            if token >= 0 {
                let value = tokens[token]
                if takesShortcuts, let plain = plainCell(value, attributes[attribute], input) {
                    cell = plain
                } else {
                    cell = self.cell(attribute, token: token, slot: slot, input: input, batch: &batch)
                }
            } else if token <= Self.retriedKeyToken {
                cell = rareCell(attribute, token: token, slot: slot, input: input, batch: &batch)
            } else if attributes[attribute].isGenerated, !isNoObject {
                cell = generatedCell(attribute, input, &batch.bytes)
            } else {
                if attributes[attribute].isRequired, !isNoObject { missing(attribute, input) }
                continue
            }
            cells[count] = cell
            count &+= 1
            presence[attribute >> 6] |= 1 << UInt64(attribute & 63)
        }
        return count
    }

    /// Notes the keys of the record whose attribute has the value of a nearer one.
    @inline(never)
    private mutating func noteOtherKeys(_ input: Input) {
        for slots in plan.slots where slots.count > 1 {
            for slot in slots.filter({ scratch.slots[$0].generation == generation }).dropFirst() {
                let path = plan.slotPaths[slot]
                changes.append((.duplicateKey, path, 0))
                guard isLossless else { continue }
                let token = Int(scratch.slots[slot].token)
                // Of an object that is null, a part has no token.
                let place = token >= 0 ? token : input.root
                errors.append(
                    error(.lossy, at: path, expected: "one key", found: "a second key of its column", place, input)
                )
            }
        }
    }

    /// Lays out the row at hand.
    ///
    /// - Returns: whether it is there; its presence mask is then that of what the record mentions.
    @inline(__always)
    private func layOut(
        _ count: Int,
        _ input: Input,
        _ batch: borrowing RowBatch,
        _ layout: DatabaseImage?
    ) -> Bool {
        guard let layout else { return false }
        guard insertErrors.isEmpty else {
            if !plan.keepsIncomplete { layout.close(plan.index) }
            return false
        }
        let (cells, presence) = (scratch.cells, scratch.presence)
        let isTaken = batch.bytes.withUnsafeBufferPointer { own in
            let values = RowValues(
                cells: UnsafeBufferPointer(rebasing: cells[..<count]),
                chunk: input.chunk,
                own: own
            )
            return layout.append(values, presence: presence, entity: plan.index)
        }
        if isTaken, plan.hasGenerated { forgetGenerated() }
        return isTaken
    }

    /// Takes what was made for the row at hand out of its presence mask: it never replaces other values.
    private func forgetGenerated() {
        var next = 0
        for attribute in plan.attributes.indices
        where scratch.presence[attribute >> 6] & (1 << UInt64(attribute & 63)) != 0 {
            if scratch.cells[next].isGenerated {
                scratch.presence[attribute >> 6] &= ~(1 << UInt64(attribute & 63))
            }
            next += 1
        }
    }

    var nulledNames: [String] { nulled.map { plan.entity.attributes[$0].name } }

    private mutating func missing(_ attribute: Int, _ input: Input) {
        let error = plan.missing(attribute, byteOffset: position(of: input.root, input))
        // Merged into a stored object, or left out for it, a record may lack what is not part of the identifier.
        let onConflict = ownerContext?.onConflict ?? plan.onConflict
        let isAlwaysWhole = plan.identifier.isEmpty || [.replace, .error].contains(onConflict)
        if isAlwaysWhole || plan.identifier.contains(attribute) {
            if ownerContext?.isPositional == true, plan.identifier.contains(attribute) { return }
            errors.append(error)
        } else {
            insertErrors.append(error)
        }
    }

    private func countChanges(_ batch: inout RowBatch) {
        for change in changes { batch.ledger.add(change.kind, entity: plan.index, attribute: change.attribute) }
    }
}
