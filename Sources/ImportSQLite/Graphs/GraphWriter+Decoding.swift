import ImportEngine
import ImportModel

/// Records that are decoded when they are written.
extension GraphWriter {
    /// Writes a record whose objects are what stored ones are: it is decoded now.
    package func writeOpen(
        _ index: Int,
        _ batch: borrowing RowBatch,
        _ found: LateRejects,
        _ changes: inout [EntityChanges],
        _ ledger: inout LedgerCounts
    ) throws {
        outcome = Outcome()
        let own = try decode(index, batch, found)
        if let reject = own.rejects.first {
            outcome.errors = reject.errors
            return
        }
        let kept = cells
        defer { cells = kept }
        cells = own.cells
        try write(0, own, found)
        guard outcome.errors.isEmpty else { return }
        count(own, &changes, &ledger)
        for (key, count) in zip(own.ledger.keys, own.ledger.counts) {
            ledger.add(key.kind, entity: key.entity, attribute: key.attribute.text, count: count)
        }
        errors.add(own.errors)
    }

    /// True if a stored object may turn out to be one of a subentity: nothing has said yet what a stub is.
    package func mayBecome(_ entity: Int, _ stored: Int) -> Bool {
        layout.hierarchy.chain(of: entity).contains(stored)
            && layout.relationships.contains {
                $0.description.unresolved == .stub && layout.home(of: $0.destination) == layout.home(of: entity)
            }
    }

    /// Decodes a record once more, knowing what is stored.
    ///
    /// - Returns: a batch of its rows, or of the reject that it is.
    package func decode(_ index: Int, _ batch: borrowing RowBatch, _ found: LateRejects) throws -> RowBatch {
        subentities.failure = nil
        let own = try secondPass.decode(index, batch, found, source: source)
        if let failure = subentities.failure { throw failure }
        return own
    }
}
