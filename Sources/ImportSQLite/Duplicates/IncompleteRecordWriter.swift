import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// Keeps the records of an entity that lack what a new object must have, until the identifiers are settled.
///
/// Belongs to one connection; used inside of its transactions only.
final class IncompleteRecordWriter {
    private let connection: OpaquePointer
    private let job: StoredJob
    private let plan: EntityPlan
    private let insert: OpaquePointer?

    /// Prepares the statement.
    init(_ database: Database, job: StoredJob, plan: EntityPlan) throws {
        self.connection = try database.handle
        self.job = job
        self.plan = plan
        insert = try connection.prepare("INSERT INTO main._import_incomplete VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
    }

    deinit { sqlite3_finalize(insert) }

    /// Keeps a record.
    ///
    /// - Parameters:
    ///   - index: that of its row in the batch.
    ///   - chunk: the bytes of the chunk that the batch was decoded from.
    ///   - source: its source's index in the job.
    ///   - lastRowID: the row id of the last row of its table that came before it.
    /// - Throws: `DatabaseError` when SQLite fails.
    func keep(
        _ index: Int,
        of batch: borrowing RowBatch,
        chunk: [UInt8],
        source: Int,
        after lastRowID: Int64
    ) throws {
        let reject = batch.insertRejects[Int(batch.rows[index].insertReject)]
        let content = IncompleteRecord.encode(batch.rows[index], of: batch, plan, chunk: chunk)
        let numbers = [
            job.id, Int64(plan.index), reject.ordinal, lastRowID, Int64(source), reject.byteOffset, reject.length,
        ]
        for (place, number) in numbers.enumerated() { sqlite3_bind_int64(insert, Int32(place + 1), number) }
        if let key = reject.key {
            sqlite3_bind_text(insert, 8, key, Int32(clamping: key.utf8.count), SQLiteDestructor.copied)
        } else {
            sqlite3_bind_null(insert, 8)
        }
        let code = content.withUnsafeBytes { content in
            reject.bytes.withUnsafeBytes { record in
                sqlite3_bind_blob(insert, 9, content.baseAddress, Int32(clamping: content.count), nil)
                sqlite3_bind_blob(insert, 10, record.baseAddress, Int32(clamping: record.count), nil)
                defer { sqlite3_reset(insert) }
                return sqlite3_step(insert)
            }
        }
        guard code == SQLITE_DONE else { throw connection.lastError }
    }
}
