import GRDB
import ImportEngine
import ImportSQLite

import struct ImportSources.Record

extension Record {
    /// Takes a row whose first column is the row id, then the attributes' values, then what related objects are found by.
    ///
    /// - Parameter database: what these are read from, in the row's own transaction.
    init(_ row: StoredRow, _ contents: RecordProjection, _ database: Database) throws {
        let count = contents.attributes.count
        var values = (0..<count).map { row.stored(at: $0 + 1) }
        var source = count + 1
        for objects in contents.related {
            var bytes: [UInt8] = []
            try objects.append(of: row, at: source, to: &bytes, database)
            source += objects.sources.count
            let isNull = bytes.elementsEqual("null".utf8)
            values.append(isNull ? .null : .text(String(decoding: bytes, as: UTF8.self)))
        }
        self.init(rowID: row.integer(at: 0), values: values)
    }
}
