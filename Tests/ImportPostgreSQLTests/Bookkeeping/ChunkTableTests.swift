import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportPostgreSQL

@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct ChunkTableTests {
    /// What is kept of chunks in these states when their job is resumed, and which rows are left.
    private func resumed(_ states: String) throws -> (kept: Int64, left: [Int64]) {
        let database = try PGDatabase()
        let connection = try database.connect()
        defer { connection.close() }
        try BookkeepingSchema.prepare(connection, label: "test")
        try connection.execute(
            """
            INSERT INTO _import_job (token, state, options, chunk_directory, host, fingerprint)
            VALUES ('t', 'running', '{}', '/c', 'h', 'f')
            """
        )
        for (index, state) in states.enumerated() {
            try connection.execute(
                """
                INSERT INTO _import_chunk (
                    job, number, source, first_byte, end_byte, source_hash, first_ordinal, records, entry, state
                ) VALUES (1, $1, 0, 0, 0, '', 1, 1, '{}', $2)
                """,
                [.integer(Int64(index + 1)), .text(state == "d" ? "done" : "sealed")]
            )
        }
        let kept = try connection.transaction { try ChunkTable(job: 1).removeAfterLastKept(connection) }
        let left = try connection.execute("SELECT number FROM _import_chunk ORDER BY number").map { try $0.integer(0) }
        return (kept, left)
    }

    @Test func chunksAfterTheLastOneThatIsDoneAreCutAgain() throws {
        let some = try resumed("ddss")
        #expect(some.kept == 2 && some.left == [1, 2])
        let none = try resumed("ss")
        #expect(none.kept == 0 && none.left.isEmpty)
        let all = try resumed("ddd")
        #expect(all.kept == 3 && all.left == [1, 2, 3])
    }

    @Test func chunksStayWhereALaterOneIsDone() throws {
        let found = try resumed("dsds")
        #expect(found.kept == 4 && found.left == [1, 2, 3, 4])
    }
}
