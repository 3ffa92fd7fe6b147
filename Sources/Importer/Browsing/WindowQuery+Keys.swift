import GRDB
import ImportModel
import ImportSQLite
import ImportSources

extension WindowQuery {
    /// The position of a record that is there.
    ///
    /// - Throws: `ImportError` with `.optionInvalid` where it is not.
    func key(of rowID: Int64, _ database: Database) throws -> RecordKey {
        let columns = ["rowid"] + order.terms.map(\.column)
        let statement = SQLFragment(
            "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE rowid = ?",
            [.integer(rowID)]
        )
        let rows = try RawRowCursor(database, statement)
        defer { rows.reset() }
        guard let row = try rows.next() else { throw ImportError(.optionInvalid, "there is no record \(rowID)") }
        return RecordKey(row, columns: 1..<columns.count)
    }
}
