import ImportModel

/// Objects that several lists of one record have: the last one counts, whichever has the object itself.
extension GraphWriter {
    /// Whether the links of a relationship are in columns of objects that have identifiers.
    private func isClaiming(_ relationship: Int) -> Bool {
        let placement = layout.relationships[relationship]
        return [.oneToMany, .oneToOne].contains(placement.shape) && placement.owner != relationship
    }

    /// Notes which objects a list has.
    func claim(_ list: [GraphLinks.Target], of relationship: Int, row: Int) {
        guard isClaiming(relationship) else { return }
        let owner = layout.relationships[relationship].owner
        let first = outcome.firstPositions[ListKey(row: row, relationship: relationship)] ?? 0
        for (index, target) in list.enumerated() {
            guard let key = target.key else { continue }
            outcome.claims[ClaimKey(owner: owner, key: key)] = (row, first + Int64(index))
        }
    }

    /// Lets a nested object refer to the object whose list has named it last.
    func followClaim(of row: Int, _ batch: borrowing RowBatch, _ found: LateRejects) {
        let nested = batch.graph.nested[row]
        guard nested.relationship >= 0, nested.referenceCell >= 0, nested.keyCell >= 0, isClaiming(nested.relationship)
        else { return }
        let owner = layout.relationships[nested.relationship].owner
        let key = found.withValues(of: batch, cells) { self.key(of: row, batch, $0) }
        guard let claim = outcome.claims[ClaimKey(owner: owner, key: key)], claim.row != Int(batch.rows[row].parent) else {
            return
        }
        let source = batch.graph.nested[claim.row].keyCell
        guard source >= 0 else { return }
        for offset in layout.references(of: owner).indices {
            cells[nested.referenceCell + offset] = cells[source + offset]
        }
        if nested.positionCell >= 0 { cells[nested.positionCell] = .integer(claim.position) }
    }
}
