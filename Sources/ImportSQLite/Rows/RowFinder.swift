import Foundation
import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// Finds the stored object that has a record's identifier, and compares it with the record.
///
/// Belongs to one connection; used inside of its transactions only.
final class RowFinder {
    private let statements: TableStatements
    private let plan: EntityPlan
    private let identifier: [Int]
    private var select: OpaquePointer?
    /// The object with a certain row id, where objects are not looked up by that anyway.
    private var selectRow: OpaquePointer?
    /// `select` or `selectRow`, whichever is on the object that was found last.
    private var found: OpaquePointer?
    /// Statements that compare an attribute's column with a value.
    private var comparing: [Int: OpaquePointer] = [:]
    /// The row id of the object that was found last, and whether the one before it was right before it.
    private var lastFound: Int64 = 0
    private var isInOrder = true

    /// - Parameter plan: of an entity that has an identifier.
    init(_ statements: TableStatements, _ plan: EntityPlan) throws {
        self.statements = statements
        self.plan = plan
        identifier = plan.identifier
        let entity = statements.entity
        let columns = entity.attributes.map(\.column.quotedIdentifier)
        let table = entity.table.quotedIdentifier
        let keys = identifier.enumerated().map { "\(columns[$1]) = ?\($0 + 1)" }
        // The row id in the identifier's place: a result has no more columns than a table (`SQLITE_MAX_COLUMN`).
        var results = columns
        results[identifier[0]] = statements.constraints.hasRowID ? "rowid" : "NULL"
        select = try statements.connection.prepare(
            "SELECT \(results.joined(separator: ", ")) FROM \(table) WHERE \(keys.joined(separator: " AND "))"
        )
        if StoreSchema.rowIDAttribute(of: entity) == nil, statements.constraints.hasRowID,
            !statements.constraints.mayCollate
        {
            selectRow = try statements.connection.prepare(
                "SELECT \(columns.joined(separator: ", ")) FROM \(table) WHERE rowid = ?1"
            )
        }
    }

    deinit {
        sqlite3_finalize(select)
        sqlite3_finalize(selectRow)
        for statement in comparing.values { sqlite3_finalize(statement) }
    }

    /// Lets go of the object that was found.
    func reset() { sqlite3_reset(found) }

    /// The row with the same identifier, on which `found` stays until `reset`.
    ///
    /// Where the last two objects were next to each other, this one is looked for next to them first: what is imported
    /// again comes in the order in which it came, and the index would be searched up and down for it.
    /// - Parameter places: the record's cell of each attribute; -1 where it does not mention it.
    func find(_ values: RowValues, _ places: [Int]) throws -> Int64? {
        if isInOrder, selectRow != nil {
            isInOrder = try isNext(values, places)
            if isInOrder { return lastFound }
        }
        try bindKey(values, places, to: select, at: 1)
        guard try stepToRow(select) else { return nil }
        let rowID = sqlite3_column_int64(select, Int32(identifier[0]))
        isInOrder = rowID == lastFound &+ 1
        lastFound = rowID
        return rowID
    }

    /// Goes to the row with a row id; `found` stays on it until `reset`.
    ///
    /// - Returns: whether it is there.
    func find(rowID: Int64) throws -> Bool {
        guard selectRow != nil else { throw ImportError(.fault, "\(plan.entity.table): rows are not found by row id") }
        sqlite3_bind_int64(selectRow, 1, rowID)
        return try stepToRow(selectRow)
    }

    /// True if the object next to the last one has the identifier, byte for byte; then `found` is on it.
    private func isNext(_ values: RowValues, _ places: [Int]) throws -> Bool {
        sqlite3_bind_int64(selectRow, 1, lastFound &+ 1)
        guard try stepToRow(selectRow) else { return false }
        for attribute in identifier {
            let (cell, values) = key(attribute, values, places)
            // Nothing equals null.
            guard cell.tag != .null, isEqual(cell, values, at: Int32(attribute)) else {
                sqlite3_reset(selectRow)
                return false
            }
        }
        lastFound &+= 1
        return true
    }

    /// Binds what the record is looked up by, from a parameter on.
    func bindKey(_ values: RowValues, _ places: [Int], to statement: OpaquePointer?, at first: Int) throws {
        for (place, attribute) in identifier.enumerated() {
            let (cell, values) = key(attribute, values, places)
            let code = values.bind(cell, to: statement, at: Int32(first + place))
            if code != SQLITE_OK { throw statements.error(code) }
        }
    }

    /// What the record is looked up by: one that does not mention it is inserted with its default.
    @inline(__always)
    private func key(_ attribute: Int, _ values: RowValues, _ places: [Int]) -> (Cell, RowValues) {
        places[attribute] >= 0
            ? (values.cells[places[attribute]], values) : (plan.defaults[attribute], values.absent)
    }

    /// True if a column of an object has what its affinity makes of a value.
    ///
    /// - Parameters:
    ///   - rowID: the object's; where there are none, it is the one with the record's identifier.
    ///   - record: the record's cells.
    func hasStored(
        _ cell: Cell,
        _ values: RowValues,
        as attribute: Int,
        in rowID: Int64,
        _ record: RowValues,
        _ places: [Int]
    ) throws -> Bool {
        let entity = statements.entity
        func column(_ attribute: Int) -> String { entity.attributes[attribute].column.quotedIdentifier }
        let hasRowID = statements.constraints.hasRowID
        if comparing[attribute] == nil {
            let keys = hasRowID ? ["rowid"] : identifier.map(column)
            let row = keys.enumerated().map { "\($1) = ?\($0 + 2)" }.joined(separator: " AND ")
            comparing[attribute] = try statements.connection.prepare(
                "SELECT \(column(attribute)) COLLATE BINARY IS ?1 FROM \(entity.table.quotedIdentifier) WHERE \(row)"
            )
        }
        let statement = comparing[attribute]
        let code = values.bind(cell, to: statement, at: 1)
        if code != SQLITE_OK { throw statements.error(code) }
        if hasRowID {
            sqlite3_bind_int64(statement, 2, rowID)
        } else {
            try bindKey(record, places, to: statement, at: 2)
        }
        defer { sqlite3_reset(statement) }
        return sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int(statement, 0) != 0
    }

    /// True if there is a row, on which `found` is now; else the statement is reset.
    private func stepToRow(_ statement: OpaquePointer?) throws -> Bool {
        let code = sqlite3_step(statement)
        found = statement
        if code == SQLITE_ROW { return true }
        sqlite3_reset(statement)
        guard code == SQLITE_DONE else { throw statements.error(code) }
        return false
    }

    /// True if the object that was found has just this value in a column.
    func isEqual(_ cell: Cell, _ values: RowValues, at column: Int32) -> Bool {
        let type = sqlite3_column_type(found, column)
        switch cell.tag {
        case .null: return type == SQLITE_NULL
        case .integer: return type == SQLITE_INTEGER && sqlite3_column_int64(found, column) == cell.integerValue
        case .real: return type == SQLITE_FLOAT && sqlite3_column_double(found, column) == cell.realValue
        case .chunkText, .batchText, .generatedText:
            guard type == SQLITE_TEXT else { return false }
            return isEqual(values.text(cell), sqlite3_column_text(found, column), column)
        case .batchBlob, .generatedBlob:
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
}
