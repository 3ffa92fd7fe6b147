import ImportEngine
import ImportModel

/// References that make a reject of their record where they lead to nothing when the job ends.
extension GraphWriter {
    /// What makes rejects of a batch's records, by their ordinals.
    func unresolvedTargets(in batch: borrowing RowBatch) throws -> [Int64: DanglingTargets] {
        guard plan.rejectsUnresolved, let first = batch.graph.records.first, let last = batch.graph.records.last else {
            return [:]
        }
        return try dangling.targets(batch.rows[first.row].ordinal...batch.rows[last.row].ordinal, statements)
    }

    /// Keeps what a row's own columns refer to that is not there yet.
    func noteReferences(of row: Int, _ batch: borrowing RowBatch, _ values: RowValues) throws {
        guard plan.rejectsUnresolved, let effect = outcome.effects[row], effect != .ignored,
            let rowID = outcome.rowIDs[row]
        else { return }
        let own = batch.rows[row]
        let entity = Int(own.entity)
        for (owner, range) in plan.nodes[entity].rows.references {
            let placement = layout.relationships[owner]
            guard placement.description.unresolved == .reject, placement.hasReferences(owner),
                batch.isPresent(range.lowerBound, in: own)
            else { continue }
            let place = batch.cell(of: range.lowerBound, in: own)
            let target = RowKey(cells[place..<place + range.count], values)
            guard !target.hasNull, try !isStored(placement.destination, target) else { continue }
            let form = links.form(of: owner, in: entity)
            try dangling.note(
                form.name,
                table: form.table,
                holder: RowKey(rowID: rowID),
                target: target.bytes,
                ordinal: own.ordinal,
                statements
            )
        }
    }

    /// Keeps what a list, or a to-one that another row has, names that is not there yet.
    func noteReferences(
        _ list: [LinkWriter.Target],
        of relationship: Int,
        from key: RowKey,
        ordinal: Int64
    ) throws {
        let placement = layout.relationships[relationship]
        guard placement.description.unresolved == .reject, !key.hasNull else { return }
        for target in list {
            var bytes: [UInt8]
            if let values = target.values {
                bytes = [LinkWriter.mark] + values.bytes
            } else if let other = target.key, !other.hasNull, try !isStored(placement.destination, other) {
                bytes = other.bytes
            } else {
                continue
            }
            try dangling.note(
                links.form(of: relationship).name,
                table: "",
                holder: key,
                target: bytes,
                ordinal: ordinal,
                statements
            )
        }
    }

    /// The errors of a record that states what leads to nothing: it is decoded once more, to find where.
    package func errors(
        of record: Int,
        _ targets: DanglingTargets,
        _ batch: borrowing RowBatch,
        _ found: LateRejects
    ) throws -> [RecordError] {
        secondPass.isDangling = { [layout] relationship, cells, isNamed, values in
            let key = RowKey(cells, values)
            return targets.contains(
                isNamed ? [LinkWriter.mark] + key.bytes : key.bytes,
                of: layout.name(of: relationship)
            )
        }
        defer { secondPass.isDangling = nil }
        if let reject = try decode(record, batch, found).rejects.first { return reject.errors }
        let entity = layout.entities[Int(batch.rows[batch.graph.records[record].row].entity)].name
        return [.unresolved(in: entity, byteOffset: batch.places[record].byteOffset)]
    }
}
