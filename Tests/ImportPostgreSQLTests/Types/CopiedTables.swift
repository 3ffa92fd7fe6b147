import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

/// A database of a test's own, in which tables are made and filled.
struct CopiedTables {
    let database: PGDatabase
    let connection: PGConnection

    init() throws {
        database = try PGDatabase()
        connection = try database.connect()
    }

    /// Runs SQL without the code under test.
    @discardableResult
    func query(_ sql: String) throws -> [[String?]] { try database.query(sql) }

    /// Makes an entity's table, or makes it fit.
    @discardableResult
    func prepare(_ entity: EntityDescription) throws -> Bool {
        try connection.transaction { try PGTables.prepare(entity, connection, label: "here") }
    }

    /// Copies rows, as an import does.
    ///
    /// - Returns: what the server has said against it; nil where it has taken them.
    func copy(_ rows: ChunkRows) throws -> PGError? {
        do {
            let count = try connection.transaction { try connection.copy(rows.statement) { try rows.write(to: &$0) } }
            #expect(count == Int64(rows.count))
            return nil
        } catch let failure as PGError {
            return failure
        }
    }

    /// Names and types of a table's columns.
    func columns(of table: String) throws -> [String] {
        try query(
            """
            SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute
            WHERE attrelid = '\(table)'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
            """
        ).compactMap { $0[0] }
    }
}
