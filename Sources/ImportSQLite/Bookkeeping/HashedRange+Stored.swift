import GRDB
import ImportSources

extension HashedRange {
    /// That of a row of `_import_chunk`.
    package init(_ row: BookkeepingRow) throws {
        self.init(
            firstByte: try row.number("first_byte"),
            endByte: try row.number("end_byte"),
            hash: try row.text("source_hash")
        )
        guard endByte >= firstByte else { throw row.damage("end_byte") }
    }
}
