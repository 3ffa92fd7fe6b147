import ImportEngine
import ImportModel

/// To-ones in an object's own columns that lead to objects without identifier: what the object says of one overwrites the one
/// that it has, as an element of a list does.
extension GraphWriter {
    /// What a stored object refers to, before its row is written.
    struct Referred {
        let relationship: Int
        let rowID: Int64
    }

    /// Keeps in place what a row says of such objects, where it is stored, or where the list of one waits for it.
    ///
    /// - Parameter writer: the one that is about to write it.
    /// - Returns: those that it refers to no longer.
    func keepReferred(
        of row: Int,
        _ writer: RowWriter,
        _ batch: borrowing RowBatch,
        _ found: LateRejects
    ) throws -> [Referred] {
        let own = batch.rows[row]
        let node = plan.nodes[Int(own.entity)]
        guard !node.referredByRowID.isEmpty else { return [] }
        let stored = try storedRow(row, batch, found)
        if stored == nil, batch.graph.nested[row].keyCell < 0 { return [] }
        var left: [Referred] = []
        // What a list around it says is not its own statement.
        let nested = batch.graph.nested[row]
        let around = nested.referenceCell < 0 ? -1 : layout.relationships[nested.relationship].owner
        for (relationship, attribute) in node.referredByRowID
        where relationship != around && !writer.unchanged.contains(attribute) {
            let isPresent = batch.isPresent(attribute, in: own)
            guard isPresent || (stored != nil && writer.onConflict == .replace),
                let rowID = try stored.map({ try links.referred(relationship, from: $0) })
                    ?? awaiting(row, relationship, batch, found)
            else { continue }
            let next = row + 1
            let isNested = batch.rows[next...].prefix { $0.parent >= 0 }.indices.contains {
                Int(batch.rows[$0].parent) == row && batch.graph.nested[$0].relationship == relationship
            }
            guard isPresent, isNested else {
                left.append(Referred(relationship: relationship, rowID: rowID))
                continue
            }
            cells[batch.cell(of: attribute, in: own)] = .integer(rowID)
            outcome.elements[ListKey(row: row, relationship: relationship)] = [0: rowID]
        }
        return left
    }

    /// The row id of the object whose list waits for the object of a row.
    private func awaiting(
        _ row: Int,
        _ relationship: Int,
        _ batch: borrowing RowBatch,
        _ found: LateRejects
    ) throws -> Int64? {
        guard let inverse = layout.relationships[relationship].inverse else { return nil }
        return try found.withValues(of: batch, cells) { values in
            try links.awaiting(inverse, key(of: row, batch, values))
        }
    }

    /// The row id of a row's object, where it is stored.
    private func storedRow(_ row: Int, _ batch: borrowing RowBatch, _ found: LateRejects) throws -> Int64? {
        guard batch.graph.nested[row].keyCell >= 0 else {
            return storedElement(batch.graph.nested[row], Int(batch.rows[row].parent))
        }
        return try found.withValues(of: batch, cells) { values in
            try self.rowID(of: Int(batch.rows[row].entity), key(of: row, batch, values))
        }
    }
}
