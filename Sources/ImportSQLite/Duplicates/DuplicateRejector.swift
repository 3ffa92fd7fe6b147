import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Makes rejects of the records whose identifier an earlier row has, under `ConflictPolicy.error`, just as if each had
/// been looked up as it came.
///
/// Nothing here grows with their number: they are noted in a temporary table, as their bytes are read in source order,
/// whichever entities they are of.
final class DuplicateRejector {
    private let database: Database
    private let job: StoredJob
    private let sources: SourceRecordReader?
    private var plans: [Int: EntityPlan] = [:]

    /// - Parameter sources: where their bytes are read again; nil where they cannot be.
    init(_ database: Database, job: StoredJob, sources: SourceRecordReader?) {
        self.database = database
        self.job = job
        self.sources = sources
    }

    /// Removes the rows of an entity that have an earlier one's identifier, and notes where their records are.
    ///
    /// - Parameter changes: gets the rows that are gone, and that their records are rejects.
    func removeRows(of plan: EntityPlan, _ changes: inout EntityChanges) throws {
        guard sources != nil else {
            throw ImportError(
                .jobUnfinished,
                "\(plan.entity.table): an interrupted import has records with the same identifier, and must "
                    + "reject them first",
                advice: "Finish it with \(call: .resuming()), then \(.sameAgain)."
            )
        }
        if plans.isEmpty {
            try database.execute(
                sql: """
                    CREATE TEMPORARY TABLE _import_duplicate (
                        ordinal INTEGER PRIMARY KEY, entity, row_id, source, first_byte, head, key_length, length, identifier
                    )
                    """
            )
        }
        let position = Int(plan.index)
        plans[position] = plan
        let table = plan.entity.table.quotedIdentifier
        let keys = plan.identifier.map { plan.entity.attributes[$0].column.quotedIdentifier }.joined(separator: ", ")
        let later = try Int64.fetchCursor(
            database,
            sql: """
                SELECT row_id FROM (
                    SELECT rowid AS row_id, row_number() OVER (PARTITION BY \(keys) ORDER BY rowid) AS place
                    FROM \(table)
                ) WHERE place > 1 ORDER BY row_id
                """
        )
        let note = try database.makeStatement(sql: "INSERT INTO _import_duplicate VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        var positions = RecordPositionCursor(database: database, job: job.id, entity: position)
        while let rowID = try later.next() {
            guard let (place, source) = try positions.position(of: rowID) else {
                throw ImportError(strayRow: rowID, in: plan.entity.table)
            }
            try note.execute(arguments: [
                place.ordinal, position, rowID, source, place.firstByte, Data(place.head), place.keyLength,
                place.length, place.identifierOffset,
            ])
            changes.delete(rowID)
            changes.rejected += 1
        }
        try database.execute(
            sql: "DELETE FROM \(table) WHERE rowid IN (SELECT row_id FROM _import_duplicate WHERE entity = ?)",
            arguments: [position]
        )
    }

    /// Writes the rejects of all rows that were removed.
    ///
    /// - Throws: `ImportError` when a source cannot be read again or is not what was imported.
    func writeRejects() throws {
        guard let sources, !plans.isEmpty else { return }
        try BookkeepingSchema.make([RejectTable.name], database)
        let table = RejectTable(of: job)
        var groups = try ErrorGroupTable(database, job: job.id)
        var errors = ErrorCounts()
        var source = 0
        let rows = try Row.fetchCursor(database, sql: "SELECT * FROM _import_duplicate ORDER BY ordinal")
        while let row = try rows.next() {
            guard let plan = plans[row["entity"]] else { continue }
            if row["source"] != source {
                try groups.add(errors, source: source, isLimited: false, database)
                errors.removeAll()
                source = row["source"]
            }
            let (firstByte, keyLength, length): (Int64, Int64, Int64) = (
                row["first_byte"], row["key_length"], row["length"]
            )
            guard keyLength >= 0, length >= 0 else {
                throw ImportError(strayRow: row["row_id"], in: plan.entity.table)
            }
            let bytes = try sources.bytes(of: source, at: firstByte, count: keyLength &+ length, database)
            let reject = self.reject(row, plan, bytes, keyLength: Int(keyLength))
            for error in reject.errors { errors.add(error, ordinal: reject.ordinal) }
            try table.insert(reject, entity: plan.entity.name, source: source, database)
        }
        try sources.finish()
        try groups.add(errors, source: source, isLimited: false, database)
        try database.execute(sql: "DROP TABLE temp._import_duplicate")
    }

    private func reject(_ row: Row, _ plan: EntityPlan, _ bytes: [UInt8], keyLength: Int) -> RowBatch.Reject {
        // As in a chunk, line breaks between tokens are spaces; nowhere else does a record that is JSON have any.
        let record = bytes.dropFirst(keyLength).map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        var line = [UInt8](row["head"] as Data)
        if line.isEmpty, keyLength > 0 { line = [UInt8(ascii: "{")] }
        line += bytes.prefix(keyLength)
        return RowBatch.Reject(
            entity: plan.index,
            ordinal: row["ordinal"],
            byteOffset: row["first_byte"] as Int64 + Int64(keyLength),
            length: Int64(record.count),
            errors: [plan.duplicateError(at: row["identifier"])],
            bytes: record,
            key: RecordKeys.text(of: line.withUnsafeBufferPointer { KeyedRecordLine.keys(in: ByteView($0)) })
        )
    }
}

/// Finds the positions of rows whose row ids ascend.
private struct RecordPositionCursor {
    let database: Database
    let job: Int64
    let entity: Int
    var firstRowID: Int64 = 0
    var positions: [RecordPositions.Position] = []
    var source = 0

    mutating func position(of rowID: Int64) throws -> (position: RecordPositions.Position, source: Int)? {
        if !positions.indices.contains(Int(rowID &- firstRowID)) {
            let statement = try database.cachedStatement(
                sql: """
                    SELECT first_rowid, source, places FROM _import_place WHERE job = ? AND entity = ? AND first_rowid <= ?
                    ORDER BY first_rowid DESC LIMIT 1
                    """
            )
            guard let found = try Row.fetchOne(statement, arguments: [job, entity, rowID]) else { return nil }
            let row = BookkeepingRow(found, of: "_import_place", database)
            (firstRowID, source) = (try row.rowID("first_rowid"), try row.index("source"))
            positions = RecordPositions.positions(in: try row.bytes("places"))
        }
        let index = Int(rowID &- firstRowID)
        return positions.indices.contains(index) ? (positions[index], source) : nil
    }
}
