import Foundation
import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// The records of an entity that lack what a new object must have, and wait until the identifiers are settled.
///
/// Each is then merged into its object, just as if it had been looked up as it came, or is a reject where that came later or
/// never. Until then it counts as a record that has left its object as it is.
final class IncompleteRecordQueue {
    private static let table = "_import_incomplete"

    private let database: Database
    private let job: StoredJob
    private let plan: EntityPlan
    private let writer: RowWriter
    private let rejects: RejectTable
    /// The row of the record at hand.
    private var batch = RowBatch()
    private var errors = ErrorCounts()
    private var errorSource = 0

    /// - Returns: nil where none wait.
    init?(_ database: Database, job: StoredJob, plan: EntityPlan) throws {
        self.database = database
        self.job = job
        self.plan = plan
        rejects = RejectTable(of: job)
        let query = "SELECT 1 FROM \(Self.table) WHERE job = ? AND entity = ?"
        guard try database.exists(query, [job.id, plan.index]) else { return nil }
        try BookkeepingSchema.make([RejectTable.name], database)
        writer = try RowWriter(database, plan: plan, constraints: TableConstraints(of: plan.entity, database))
    }

    /// Makes the identifiers of those that wait known to `merge`, for tables that have objects in several rows.
    func prepareMerging() throws {
        let names = plan.identifier.indices.map { "key_\($0)" }
        let columns = zip(names, plan.identifier).map { "\($0) \(plan.entity.attributes[$1].declaredType)" }
        try database.execute(
            sql: """
                DROP TABLE IF EXISTS temp._import_waiting;
                CREATE TEMPORARY TABLE _import_waiting (\(columns.joined(separator: ", ")), last_rowid, ordinal)
                """
        )
        let values = (1...plan.identifier.count + 2).map { "?\($0)" }.joined(separator: ", ")
        let insert = try writer.statements.connection.prepare("INSERT INTO temp._import_waiting VALUES (\(values))")
        defer { sqlite3_finalize(insert) }
        try forEach { ordinal, lastRowID in
            let width = Int32(plan.identifier.count)
            sqlite3_bind_int64(insert, width + 1, lastRowID)
            sqlite3_bind_int64(insert, width + 2, ordinal)
            let code = batch.withValues { values in
                for (index, attribute) in plan.identifier.enumerated() {
                    let code = values.bind(
                        batch.cells[batch.cell(of: attribute, in: batch.rows[0])],
                        to: insert,
                        at: Int32(index + 1)
                    )
                    if code != SQLITE_OK { return code }
                }
                defer { sqlite3_reset(insert) }
                return sqlite3_step(insert)
            }
            guard code == SQLITE_DONE else { throw writer.statements.error(code) }
        }
        let key = (names + ["last_rowid", "ordinal"]).joined(separator: ", ")
        try database.execute(sql: "CREATE INDEX temp._import_waiting_key ON _import_waiting (\(key))")
    }

    /// Merges those into an object that came after one of its rows and before the next one.
    ///
    /// - Parameters:
    ///   - object: the row id of the object.
    ///   - rows: the row ids of the two rows; the object has the identifier of both.
    func merge(into object: Int64, between rows: Range<Int64>, _ changes: inout EntityChanges) throws {
        let keys = plan.identifier.enumerated().map { index, attribute in
            "waiting.key_\(index) = object.\(plan.entity.attributes[attribute].column.quotedIdentifier)"
        }
        let ordinals = try Int64.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT waiting.ordinal
                    FROM \(plan.entity.table.quotedIdentifier) AS object CROSS JOIN temp._import_waiting AS waiting
                    WHERE object.rowid = ? AND \(keys.joined(separator: " AND "))
                        AND waiting.last_rowid >= ? AND waiting.last_rowid < ?
                    ORDER BY waiting.ordinal
                    """
            ),
            arguments: [object, rows.lowerBound, rows.upperBound]
        )
        for ordinal in ordinals {
            try merge(ordinal, into: object, &changes)
            try database.cachedStatement(sql: "DELETE FROM \(Self.table) WHERE job = ? AND entity = ? AND ordinal = ?")
                .execute(arguments: [job.id, plan.index, ordinal])
        }
    }

    /// Merges what is left into the objects that came before it, and makes rejects of the rest; the table has its index.
    ///
    /// - Parameter changes: gets what is changed by it, and what the records came to.
    func settle(_ changes: inout EntityChanges, _ groups: inout ErrorGroupTable) throws {
        let cacheSize = try StoreConnection.makeRoomForLookups(database)
        defer { try? database.execute(sql: "PRAGMA cache_size = \(cacheSize)") }
        try database.execute(
            sql: """
                DROP TABLE IF EXISTS temp._import_found;
                CREATE TEMPORARY TABLE _import_found (object, ordinal, PRIMARY KEY (object, ordinal)) WITHOUT ROWID
                """
        )
        let note = try database.makeStatement(sql: "INSERT INTO temp._import_found VALUES (?, ?)")
        try forEach { ordinal, lastRowID in
            if let object = try writer.find(batch, notAfter: lastRowID) {
                try note.execute(arguments: [object, ordinal])
            } else {
                changes.rejected += 1
                changes.countWaiting(-1, plan.onConflict)
                try reject(ordinal, &groups)
            }
        }
        // In the order of the rows, as a page that is written twice in a transaction costs several times as much.
        let found = try Row.fetchCursor(database, sql: "SELECT object, ordinal FROM temp._import_found ORDER BY 1, 2")
        while let next = try found.next() { try merge(next[1], into: next[0], &changes) }
        try groups.add(errors, source: errorSource, database)
        errors.removeAll()
        if try database.hasTable("_import_ledger") {
            try database.execute(
                sql: "DELETE FROM _import_ledger WHERE job = ? AND kind = ? AND count = 0 AND NOT is_error",
                arguments: [job.id, LedgerKind.nulled.rawValue]
            )
        }
        try database.execute(
            sql: "DROP TABLE IF EXISTS temp._import_waiting; DROP TABLE IF EXISTS temp._import_found"
        )
    }

    /// Goes over all of them in their order, each of them in `batch`.
    ///
    /// - Parameter body: gets a record's ordinal, and the row id of the last row that came before it.
    private func forEach(_ body: (Int64, Int64) throws -> Void) throws {
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT ordinal, last_rowid, content FROM \(Self.table) WHERE job = ? AND entity = ? ORDER BY ordinal",
            arguments: [job.id, plan.index]
        )
        while let next = try rows.next() {
            let row = BookkeepingRow(next, of: Self.table, database)
            try decode(row)
            try body(row.number("ordinal"), row.rowID("last_rowid"))
        }
    }

    private func row(_ ordinal: Int64, _ columns: String) throws -> BookkeepingRow? {
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns) FROM \(Self.table) WHERE job = ? AND entity = ? AND ordinal = ?"
        )
        return try Row.fetchOne(statement, arguments: [job.id, plan.index, ordinal])
            .map { BookkeepingRow($0, of: Self.table, database) }
    }

    private func decode(_ row: BookkeepingRow) throws {
        guard try IncompleteRecord.decode(row.bytes("content"), plan, into: &batch) else { throw row.damage("content") }
    }

    /// Merges a record into its object, and corrects what it counts as.
    private func merge(_ ordinal: Int64, into object: Int64, _ changes: inout EntityChanges) throws {
        guard let row = try row(ordinal, "content") else { return }
        try decode(row)
        guard case .updated(let rowID) = try writer.merge(batch, into: object) else { return }
        changes.update(rowID)
        changes.countWaiting(-1, plan.onConflict)
    }

    /// Makes a reject of a record; the errors of values that are null instead are counted already.
    private func reject(_ ordinal: Int64, _ groups: inout ErrorGroupTable) throws {
        guard let row = try row(ordinal, "*") else { return }
        let byteOffset = try row.number("byte_offset")
        guard let errors = try IncompleteRecord.errors(row.bytes("content"), plan, byteOffset: byteOffset) else {
            throw row.damage("content")
        }
        let reject = RowBatch.Reject(
            entity: plan.index,
            ordinal: ordinal,
            byteOffset: byteOffset,
            length: try row.number("length"),
            errors: errors.all,
            bytes: try row.bytes("record"),
            key: try row.optionalText("record_key")
        )
        let (source, entity) = (try row.index("source"), plan.entity.name)
        try rejects.insert(reject, entity: entity, source: source, database)
        if source != errorSource {
            try groups.add(self.errors, source: errorSource, database)
            self.errors.removeAll()
            errorSource = source
        }
        for error in reject.errors.dropFirst(errors.nulled.count) { self.errors.add(error, ordinal: ordinal) }
        for attribute in errors.nulled {
            try database.cachedStatement(
                sql: """
                    UPDATE _import_ledger SET count = count - 1
                    WHERE job = ? AND entity = ? AND attribute = ? AND kind = ? AND NOT is_error
                    """
            ).execute(arguments: [job.id, entity, attribute, LedgerKind.nulled.rawValue])
        }
    }
}

extension EntityChanges {
    /// Counts records that wait for the identifiers to be settled, as such that leave their object as it is.
    package mutating func countWaiting(_ records: Int64, _ policy: ConflictPolicy) {
        if policy == .ignore { ignored += records } else { unchanged += records }
    }
}
