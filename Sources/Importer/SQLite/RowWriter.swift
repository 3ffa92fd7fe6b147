import Foundation
import GRDB
import GRDBSQLite
import ImportModel

/// Writes the rows of one entity with statements of its own: those in a batch's image all at once, the others bound and
/// stepped through SQLite's C functions (`sqlite3_bind_*`, `sqlite3_step`).
///
/// Belongs to one connection; used inside of its transactions only.
final class RowWriter {
    /// What became of a row.
    enum Effect {
        case inserted(rowID: Int64)
        case updated(rowID: Int64)
        case unchanged
        /// Left out, as the object is there already.
        case ignored
        /// Not written: the object is there already, and must not be.
        case duplicate
        /// Not written: there is no such object yet, and the record lacks something that one must have.
        case incomplete
        /// Not written: the table has constraints of its own that the row breaks.
        case refused(TableConstraints.Refusal)
    }

    private let connection: OpaquePointer
    private let entity: EntityDescription
    private let plan: EntityPlan
    private let identifier: [Int]
    /// The masks of the rows written, while rows with the same identifier are made one only at the end.
    ///
    /// nil where each row is looked up before it is written.
    var presence: PresenceRuns?
    let constraints: TableConstraints
    /// The current row's cell of each attribute; -1 where the record does not mention it.
    private var places: [Int]
    private var insert: OpaquePointer?
    /// Where nothing has to be asked about a row, all of a batch are copied at once.
    private var copyRows: OpaquePointer?
    /// Whether it copies rows as they are, which takes a table whose columns are the attributes.
    private var copiesAll = false
    private var lastRowID: OpaquePointer?
    private var select: OpaquePointer?
    /// The object with a certain row id, where objects are not looked up by that anyway.
    private var selectRow: OpaquePointer?
    /// `select` or `selectRow`, whichever is on the object that was found last.
    private var found: OpaquePointer?
    /// The row id of the object that was found last, and whether the one before it was right before it.
    private var lastFound: Int64 = 0
    private var isInOrder = true
    /// Updates by the attributes that they set.
    private var updates: [[Int]: OpaquePointer] = [:]

    /// Prepares the statements on `database`'s connection, which has an `AttachedImage` if rows are in images.
    init(_ database: Database, plan: EntityPlan, constraints: TableConstraints) throws {
        guard let connection = database.sqliteConnection else {
            throw ImportError(.software, "the store's connection is closed")
        }
        self.connection = connection
        entity = plan.entity
        self.plan = plan
        identifier = plan.identifier
        self.constraints = constraints
        places = Array(repeating: -1, count: entity.attributes.count)
        let columns = entity.attributes.map { $0.column.quotedIdentifier }
        let places = (1...max(1, columns.count)).map { "?\($0)" }
        let table = entity.table.quotedIdentifier
        // The statement's policy goes before those of constraints (`ON CONFLICT REPLACE`): no row gives way silently.
        let into = "INSERT OR ABORT INTO \(table) (\(columns.joined(separator: ", ")))"
        insert = try prepare("\(into) VALUES (\(places.joined(separator: ", ")))")
        if plan.laysOutRows {
            let image = "\(AttachedImage.name).\(RowImageSchema.table(plan.index))"
            copiesAll = try Self.hasJust(entity, database)
            copyRows = try prepare(
                copiesAll
                    ? "INSERT OR ABORT INTO main.\(table) SELECT * FROM \(image)"
                    : "\(into) SELECT \(RowImageSchema.columns(plan).joined(separator: ", ")) FROM \(image)"
            )
            lastRowID = try prepare("SELECT coalesce(max(rowid), 0) FROM \(table)")
        }
        if !identifier.isEmpty {
            let keys = identifier.enumerated().map { "\(columns[$1]) = ?\($0 + 1)" }
            // The row id in the identifier's place: a result has no more columns than a table (`SQLITE_MAX_COLUMN`).
            var results = columns
            results[identifier[0]] = "rowid"
            select = try prepare(
                "SELECT \(results.joined(separator: ", ")) FROM \(table) WHERE \(keys.joined(separator: " AND "))"
            )
            if StoreSchema.rowIDAttribute(of: entity) == nil, !constraints.mayCollate {
                selectRow = try prepare("SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE rowid = ?1")
            }
        }
    }

    deinit {
        sqlite3_finalize(insert)
        sqlite3_finalize(copyRows)
        sqlite3_finalize(lastRowID)
        sqlite3_finalize(select)
        sqlite3_finalize(selectRow)
        for statement in updates.values { sqlite3_finalize(statement) }
    }

    /// Whether the table's columns are the entity's attributes, in name, order and type: SQLite copies rows as they are
    /// then.
    static func hasJust(_ entity: EntityDescription, _ database: Database) throws -> Bool {
        let columns = try StoredColumn.all(of: entity.table, database)
        guard columns.count == entity.attributes.count else { return false }
        return zip(columns, entity.attributes).allSatisfy { column, attribute in
            column.name.asciiLowercased == attribute.column.asciiLowercased && !column.isComputed
                && column.affinity == StoredColumn.Affinity(declared: attribute.declaredType)
        }
    }

    private func prepare(_ sql: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(
            connection,
            sql,
            -1,
            UInt32(bitPattern: SQLITE_PREPARE_PERSISTENT),
            &statement,
            nil
        )
        guard code == SQLITE_OK else { throw error(code) }
        return statement
    }

    private func error(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)))
    }

    /// Writes the rows of a batch that are this entity's and not in its image.
    ///
    /// - Parameters:
    ///   - chunkBytes: the bytes of the chunk that the batch was decoded from.
    ///   - settle: called before a row that needs to know which objects there are, while `presence` is gathered; to set
    ///     it to nil when that is known.
    ///   - body: told what became of each row, with its index in the batch.
    /// - Throws: `DatabaseError` when SQLite fails.
    func write(
        _ batch: borrowing RowBatch,
        chunkBytes: [UInt8],
        settle: () throws -> Void,
        _ body: (Int, Effect) throws -> Void
    ) throws {
        try chunkBytes.withUnsafeBufferPointer { chunk in
            try batch.bytes.withUnsafeBufferPointer { own in
                try batch.cells.withUnsafeBufferPointer { cells in
                    try plan.defaultBytes.withUnsafeBufferPointer { defaults in
                        let values = RowValues(cells: cells, chunk: chunk, own: own, defaults: defaults)
                        for index in batch.rows.indices
                        where batch.rows[index].entity == plan.index && !batch.rows[index].isLaidOut {
                            try body(index, try write(batch.rows[index], values, batch, settle))
                        }
                    }
                }
            }
        }
    }

    @inline(__always)
    private func write(
        _ row: RowBatch.Row,
        _ values: RowValues,
        _ batch: borrowing RowBatch,
        _ settle: () throws -> Void
    ) throws -> Effect {
        if presence != nil {
            if row.unmet < 0 {
                if let refusal = try insertRow(values, row, batch) { return .refused(refusal) }
                let rowID = sqlite3_last_insert_rowid(connection)
                presence?.add(mask(of: row, in: batch), rowID: rowID)
                return .inserted(rowID: rowID)
            }
            try settle()
        }
        if !identifier.isEmpty {
            place(row, in: batch)
            if let rowID = try find(values) {
                switch plan.onConflict {
                case .merge, .replace: return try merge(values, into: rowID)
                case .ignore, .error:
                    sqlite3_reset(found)
                    return plan.onConflict == .ignore ? .ignored : .duplicate
                }
            }
        }
        guard row.unmet < 0 else { return .incomplete }
        if let refusal = try insertRow(values, row, batch) { return .refused(refusal) }
        return .inserted(rowID: sqlite3_last_insert_rowid(connection))
    }

    /// The row's presence mask, without the values that were made for it: they never replace others.
    @inline(__always)
    private func mask(of row: RowBatch.Row, in batch: borrowing RowBatch) -> ArraySlice<UInt64> {
        let width = (plan.attributes.count + 63) / 64
        var mask = batch.presence[row.firstPresenceWord..<row.firstPresenceWord + width]
        guard plan.hasGenerated else { return mask }
        place(row, in: batch)
        for attribute in places.indices where plan.attributes[attribute].isGenerated && places[attribute] >= 0 {
            guard batch.cells[places[attribute]].tag == .generatedText else { continue }
            mask[mask.startIndex + attribute >> 6] &= ~(1 << UInt64(attribute & 63))
        }
        return mask
    }

    /// Finds the row's cells by the bits of its presence mask.
    private func place(_ row: RowBatch.Row, in batch: borrowing RowBatch) {
        var next = row.firstCell
        for attribute in 0..<places.count {
            if batch.isPresent(attribute, in: row) {
                places[attribute] = next
                next += 1
            } else {
                places[attribute] = -1
            }
        }
    }

    // MARK: All at once

    /// Inserts the rows of a batch that are in its image.
    ///
    /// - Returns: their row ids, in the rows' order; nil where it has none of this entity's.
    /// - Throws: `UnusableLayout` where they have to be looked up, must not follow one another, or no longer fit the
    ///   table; `DatabaseError` when SQLite fails.
    func copy(_ image: RowImage, of batch: borrowing RowBatch, _ database: Database) throws -> ClosedRange<Int64>? {
        let count = Int64(image.rows(of: plan.index))
        guard count > 0 else { return nil }
        guard identifier.isEmpty || presence != nil, let first = try nextRowID(count) else {
            throw UnusableLayout(entity: plan.index)
        }
        let code = sqlite3_step(copyRows)
        sqlite3_reset(copyRows)
        let failure = code == SQLITE_DONE ? nil : error(code)
        if let full = fullness(code) { throw full }
        // Nothing can be asked any more where SQLite has ended the transaction, as it may when the disk is full.
        if let failure, sqlite3_get_autocommit(connection) != 0 { throw failure }
        // Rows are copied column by column, whatever the names are, and another program may have changed the table before this
        // transaction: SQLite has then prepared the statement again in it.
        let mayDiffer = failure != nil || sqlite3_stmt_status(copyRows, SQLITE_STMTSTATUS_REPREPARE, 1) > 0
        if copiesAll, mayDiffer, try !Self.hasJust(entity, database) { throw UnusableLayout(entity: plan.index) }
        if let failure { throw failure }
        let last = first + count - 1
        guard Int64(sqlite3_changes(connection)) == count, sqlite3_last_insert_rowid(connection) == last else {
            throw ImportError(.software, "\(entity.table): the new rows do not follow one another")
        }
        if presence != nil {
            let width = (plan.attributes.count + 63) / 64
            var rowID = first
            for row in batch.rows where row.isLaidOut && row.entity == plan.index {
                let word = row.firstPresenceWord
                presence?.add(batch.presence[word..<word + width], rowID: rowID)
                rowID += 1
            }
        }
        return first...last
    }

    /// The row id that the next row gets, if `count` of them follow one another: SQLite gives one more than the largest
    /// (<https://www.sqlite.org/autoinc.html>).
    ///
    /// - Returns: nil where this many are not left.
    private func nextRowID(_ count: Int64) throws -> Int64? {
        let code = sqlite3_step(lastRowID)
        defer { sqlite3_reset(lastRowID) }
        guard code == SQLITE_ROW else { throw error(code) }
        let last = sqlite3_column_int64(lastRowID, 0)
        return last > Int64.max - count ? nil : last + 1
    }

    // MARK: Binding

    @inline(__always)
    private func bind(_ cell: Cell, _ values: RowValues, to statement: OpaquePointer?, at place: Int32) throws {
        let code = values.bind(cell, to: statement, at: place)
        if code != SQLITE_OK { throw error(code) }
    }

    /// Inserts a row: the cells that it has, and defaults in between.
    ///
    /// - Returns: why the table refuses it; nil if it is there.
    private func insertRow(
        _ values: RowValues,
        _ row: RowBatch.Row,
        _ batch: borrowing RowBatch
    ) throws -> TableConstraints.Refusal? {
        // Local, as each access to a class's property is checked.
        let insert = insert
        let plan = plan
        let absent = values.absent
        var next = row.firstCell
        for attribute in 0..<plan.attributes.count {
            let place = Int32(truncatingIfNeeded: attribute + 1)
            if batch.isPresent(attribute, in: row) {
                try bind(values.cells[next], values, to: insert, at: place)
                next += 1
            } else {
                try bind(plan.defaults[attribute], absent, to: insert, at: place)
            }
        }
        return try run(insert)
    }

    /// Writes a row by a statement that is bound.
    ///
    /// - Returns: why the table refuses it, and then nothing is changed; nil if it is written.
    @inline(__always)
    private func run(_ statement: OpaquePointer?) throws -> TableConstraints.Refusal? {
        if constraints.hasTriggers { return try runBesideTriggers(statement) }
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        return code == SQLITE_DONE ? nil : try refusal(code)
    }

    /// A trigger may end its statement and keep what it has done (`RAISE(FAIL)`), pass the row over (`RAISE(IGNORE)`), or
    /// end the transaction (`RAISE(ROLLBACK)`).
    private func runBesideTriggers(_ statement: OpaquePointer?) throws -> TableConstraints.Refusal? {
        try execute("SAVEPOINT import_row")
        let code = sqlite3_step(statement)
        sqlite3_reset(statement)
        guard sqlite3_get_autocommit(connection) == 0 else {
            // SQLite ends it by itself when the disk is full or fails.
            if let full = fullness(code) { throw full }
            guard code & 0xFF == SQLITE_CONSTRAINT || code == SQLITE_DONE else { throw error(code) }
            throw ImportError(
                .cannotCreate,
                "\(entity.table): a trigger ends the whole transaction: \(String(cString: sqlite3_errmsg(connection)))",
                advice: "Make it RAISE(ABORT, …), which refuses one record, then resume."
            )
        }
        let isWritten = code == SQLITE_DONE && sqlite3_changes(connection) > 0
        var refusal: TableConstraints.Refusal?
        if !isWritten {
            refusal = code == SQLITE_DONE ? TableConstraints.leftOut : try self.refusal(code)
            try execute("ROLLBACK TO import_row")
        }
        try execute("RELEASE import_row")
        return refusal
    }

    /// Why SQLite calls the store full where the disk is not.
    private func fullness(_ code: Int32) -> ImportError? {
        code & 0xFF == SQLITE_FULL ? ImportError(usedUpRowIDsOf: entity.table, connection) : nil
    }

    private func execute(_ sql: String) throws {
        let code = sqlite3_exec(connection, sql, nil, nil, nil)
        if code != SQLITE_OK { throw error(code) }
    }

    /// Why a statement has failed.
    ///
    /// - Throws: `DatabaseError` where that is anything but the row.
    private func refusal(_ code: Int32) throws -> TableConstraints.Refusal {
        let error = error(code)
        if let full = fullness(code) { throw full }
        guard constraints.canRefuse,
            let refusal = constraints.refusal(error.extendedResultCode, message: error.message ?? "", of: entity)
        else { throw error }
        return refusal
    }

    // MARK: Merging

    /// The row with the same identifier, on which `found` stays until `merge` is done with it.
    ///
    /// Where the last two objects were next to each other, this one is looked for next to them first: what is imported
    /// again comes in the order in which it came, and the index would be searched up and down for it.
    private func find(_ values: RowValues) throws -> Int64? {
        if isInOrder, selectRow != nil {
            isInOrder = try isNext(values)
            if isInOrder { return lastFound }
        }
        for (place, attribute) in identifier.enumerated() {
            let (cell, values) = key(attribute, values)
            try bind(cell, values, to: select, at: Int32(place + 1))
        }
        guard try stepToRow(select) else { return nil }
        let rowID = sqlite3_column_int64(select, Int32(identifier[0]))
        isInOrder = rowID == lastFound &+ 1
        lastFound = rowID
        return rowID
    }

    /// Whether the object next to the last one has the identifier, byte for byte; then `found` is on it.
    private func isNext(_ values: RowValues) throws -> Bool {
        sqlite3_bind_int64(selectRow, 1, lastFound &+ 1)
        guard try stepToRow(selectRow) else { return false }
        for attribute in identifier {
            let (cell, values) = key(attribute, values)
            // Nothing equals null.
            guard cell.tag != .null, isEqual(cell, values, at: Int32(attribute)) else {
                sqlite3_reset(selectRow)
                return false
            }
        }
        lastFound &+= 1
        return true
    }

    /// What the record is looked up by: one that does not mention it is inserted with its default.
    @inline(__always)
    private func key(_ attribute: Int, _ values: RowValues) -> (Cell, RowValues) {
        places[attribute] >= 0
            ? (values.cells[places[attribute]], values) : (plan.defaults[attribute], values.absent)
    }

    /// Whether there is a row, on which `found` is now; else the statement is reset.
    private func stepToRow(_ statement: OpaquePointer?) throws -> Bool {
        let code = sqlite3_step(statement)
        found = statement
        if code == SQLITE_ROW { return true }
        sqlite3_reset(statement)
        guard code == SQLITE_DONE else { throw error(code) }
        return false
    }

    /// Sets what the record mentions and the stored object has otherwise; under `replace` also what it does not mention.
    private func merge(_ values: RowValues, into rowID: Int64) throws -> Effect {
        let plan = plan
        let absent = values.absent
        var changed: [Int] = []
        // Where the first part of the identifier should be is the row id; it is the same as it is.
        for attribute in 0..<places.count where !plan.isLocal[attribute] && attribute != identifier[0] {
            guard let (cell, values) = newValue(of: attribute, values, absent) else { continue }
            // A made value is for objects that are inserted, and changes none that is there.
            if cell.tag == .generatedText { continue }
            if !isEqual(cell, values, at: Int32(attribute)) { changed.append(attribute) }
        }
        sqlite3_reset(found)
        guard !changed.isEmpty else { return .unchanged }
        let statement = try update(setting: changed)
        for (place, attribute) in changed.enumerated() {
            guard let (cell, values) = newValue(of: attribute, values, absent) else { continue }
            try bind(cell, values, to: statement, at: Int32(place + 1))
        }
        sqlite3_bind_int64(statement, Int32(changed.count + 1), rowID)
        return try run(statement).map { .refused($0) } ?? .updated(rowID: rowID)
    }

    /// What the current row sets an attribute of a stored object to; nil to leave it alone.
    @inline(__always)
    private func newValue(of attribute: Int, _ values: RowValues, _ absent: RowValues) -> (Cell, RowValues)? {
        if places[attribute] >= 0 { return (values.cells[places[attribute]], values) }
        return plan.onConflict == .replace ? (plan.defaults[attribute], absent) : nil
    }

    /// Whether `found` has just this value in a column.
    private func isEqual(_ cell: Cell, _ values: RowValues, at column: Int32) -> Bool {
        let type = sqlite3_column_type(found, column)
        switch cell.tag {
        case .null: return type == SQLITE_NULL
        case .integer: return type == SQLITE_INTEGER && sqlite3_column_int64(found, column) == cell.integerValue
        case .real: return type == SQLITE_FLOAT && sqlite3_column_double(found, column) == cell.realValue
        case .chunkText, .batchText, .generatedText:
            guard type == SQLITE_TEXT else { return false }
            return isEqual(values.text(cell), sqlite3_column_text(found, column), column)
        case .batchBlob:
            guard type == SQLITE_BLOB else { return false }
            return isEqual(values.text(cell), sqlite3_column_blob(found, column), column)
        }
    }

    @inline(__always)
    private func isEqual(_ bytes: UnsafeRawBufferPointer, _ stored: UnsafeRawPointer?, _ column: Int32) -> Bool {
        guard Int(sqlite3_column_bytes(found, column)) == bytes.count else { return false }
        guard let stored, let own = bytes.baseAddress else { return bytes.isEmpty }
        return memcmp(stored, own, bytes.count) == 0
    }

    private func update(setting attributes: [Int]) throws -> OpaquePointer? {
        if let statement = updates[attributes] { return statement }
        if updates.count >= 64 {
            // Records that each change other attributes must not pile statements up.
            for statement in updates.values { sqlite3_finalize(statement) }
            updates.removeAll()
        }
        let sets = attributes.enumerated().map { "\(entity.attributes[$1].column.quotedIdentifier) = ?\($0 + 1)" }
        let statement = try prepare(
            "UPDATE OR ABORT \(entity.table.quotedIdentifier) SET \(sets.joined(separator: ", ")) "
                + "WHERE rowid = ?\(attributes.count + 1)"
        )
        updates[attributes] = statement
        return statement
    }
}

extension String {
    /// The name as an SQL identifier (<https://www.sqlite.org/lang_keywords.html>): in quotes, inner quotes doubled.
    var quotedIdentifier: String {
        "\"" + replacing("\"", with: "\"\"") + "\""
    }
}
