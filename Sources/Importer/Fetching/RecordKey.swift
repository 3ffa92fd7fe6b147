import ImportSQLite

/// A record's position in a sorted whole: its values of what is sorted by, and its row id.
///
/// It is a position also when the record was deleted or has moved.
struct RecordKey: Sendable, Hashable {
    /// In the order of what is sorted by.
    let values: [RawArgument]
    let rowID: Int64

    init(values: [RawArgument], rowID: Int64) {
        self.values = values
        self.rowID = rowID
    }

    /// Takes the values out of a row whose first column is the row id.
    ///
    /// - Parameter columns: where they are in the row.
    init(_ row: StoredRow, columns: Range<Int>) {
        values = columns.map { RawArgument(row.value(at: $0)) }
        rowID = row.integer(at: 0)
    }
}
