import GRDB
import ImportEngine
import ImportModel

/// The rejects of a store, by their numbers.
package protocol RejectLookup {
    /// - Returns: nil where there is none.
    func reject(_ number: Int64) throws -> RejectStatus?
    /// How long a reject's record was, and its bytes, or the first of them.
    func record(_ number: Int64) throws -> (length: Int64, bytes: [UInt8])?
}

/// What a store knows of a reject without its record.
package struct RejectStatus {
    package let job: Int64
    package let ordinal: Int64
    package let entity: String
    package let state: RejectState

    package init(job: Int64, ordinal: Int64, entity: String, state: RejectState) {
        self.job = job
        self.ordinal = ordinal
        self.entity = entity
        self.state = state
    }
}

/// The rejects of a SQLite store, as one transaction sees them.
struct SQLiteRejectLookup: RejectLookup {
    let database: Database

    func reject(_ number: Int64) throws -> RejectStatus? {
        try row(number, "SELECT job, ordinal, entity, state FROM _import_reject WHERE id = ?").map { row in
            RejectStatus(
                job: try row.number("job"),
                ordinal: try row.number("ordinal"),
                entity: try row.text("entity"),
                state: try row.choice("state")
            )
        }
    }

    func record(_ number: Int64) throws -> (length: Int64, bytes: [UInt8])? {
        try row(number, "SELECT length, record FROM _import_reject WHERE id = ?").map { row in
            (try row.number("length"), try row.bytes("record"))
        }
    }

    private func row(_ number: Int64, _ sql: String) throws -> BookkeepingRow? {
        guard try database.hasTable("_import_reject") else { return nil }
        return try Row.fetchOne(database.cachedStatement(sql: sql), arguments: [number])
            .map { BookkeepingRow($0, of: "_import_reject", database) }
    }
}
