import GRDBSQLite
import ImportEngine

extension RowValues {
    /// Binds a cell (`sqlite3_bind_*`); a text stays where it is (`SQLITE_STATIC`), so the statement is reset before
    /// the bytes go.
    ///
    /// - Returns: SQLite's result code.
    @inline(__always)
    package func bind(_ cell: Cell, to statement: OpaquePointer?, at parameter: Int32) -> Int32 {
        switch cell.tag {
        case .null: return sqlite3_bind_null(statement, parameter)
        case .integer: return sqlite3_bind_int64(statement, parameter, cell.integerValue)
        case .real: return sqlite3_bind_double(statement, parameter, cell.realValue)
        case .batchBlob, .generatedBlob:
            let (address, count) = place(of: cell)
            return sqlite3_bind_blob(statement, parameter, address, count, nil)
        case .chunkText, .batchText, .generatedText:
            let (address, count) = place(of: cell)
            return sqlite3_bind_text(statement, parameter, address.assumingMemoryBound(to: CChar.self), count, nil)
        }
    }

    /// Where a text or blob is; an empty one needs an address too, as a null pointer would stand for NULL.
    ///
    /// SQLite takes none that is longer than it can say (`SQLITE_TOOBIG`).
    @inline(__always)
    private func place(of cell: Cell) -> (address: UnsafeRawPointer, count: Int32) {
        let bytes = text(cell)
        return (bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!, Int32(clamping: bytes.count))
    }
}
