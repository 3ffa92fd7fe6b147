import ImportEngine

/// Which row of a table comes last before a record of a batch that has no row: rows that are laid out are written before all
/// others, whatever came between them.
///
/// Belongs to the writing of one batch and one entity; its records are asked for in their order.
struct PrecedingRowTracker {
    /// The row ids of the batch's rows that are laid out; nil where none is.
    var laidOutRowIDs: ClosedRange<Int64>?
    private let entity: Int32
    /// How many of the batch's rows were looked at, and how many of these are the entity's and laid out.
    private var (passed, laidOut): (Int, Int64) = (0, 0)
    private var before: Int64??

    init(_ entity: Int32) {
        self.entity = entity
    }

    /// The row id of the last row before a record; nil where the table has none.
    ///
    /// - Parameters:
    ///   - index: that of the record's row in the batch.
    ///   - last: the row id of the last row of the batch that was written; nil where none was.
    ///   - lastOfTable: the same of the table.
    mutating func lastRowID(
        before index: Int,
        _ batch: borrowing RowBatch,
        last: Int64?,
        lastOfTable: () throws -> Int64?
    ) rethrows -> Int64? {
        guard let laidOutRowIDs else {
            if let last { return last }
            if before == nil { before = .some(try lastOfTable()) }
            return before ?? nil
        }
        for row in batch.rows[passed..<index] where row.isLaidOut && row.entity == entity { laidOut += 1 }
        passed = index
        let next = laidOutRowIDs.lowerBound + laidOut
        if next > laidOutRowIDs.upperBound { return last }
        return next > 1 ? next - 1 : nil
    }
}
