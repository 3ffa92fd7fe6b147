import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// Adds links to a join table, by cells of a batch.
///
/// Belongs to one connection; used inside of its transactions only.
package final class JoinTableWriter {
    private let connection: OpaquePointer
    private let insert: OpaquePointer?
    private let search: OpaquePointer?
    /// How many columns refer to the object that states the links, and to the other one.
    private let ownWidth: Int
    private let otherWidth: Int
    private let hasPosition: Bool

    /// - Parameter relationship: the one that states the links, by its index in the layout.
    package init(_ connection: OpaquePointer, _ relationship: Int, _ layout: ModelLayout) throws {
        self.connection = connection
        let form = LinkStatements(relationship, layout)
        ownWidth = layout.key(of: form.entity).count
        otherWidth = layout.key(of: form.destination).count
        hasPosition = form.hasPosition
        insert = try connection.prepare(form.insertLink)
        search = try connection.prepare(form.selectLink)
    }

    deinit {
        sqlite3_finalize(insert)
        sqlite3_finalize(search)
    }

    /// Adds a link.
    ///
    /// - Parameters:
    ///   - own: the first of the cells by which the object that states it is referred to; -1 where that is its row id.
    ///   - other: the same of the object that it leads to, which has an identifier.
    ///   - position: its index in the list.
    /// - Returns: whether there is one: what is not identified in full cannot be linked.
    package func add(_ own: Int, _ rowID: Int64, _ other: Int, at position: Int64, _ values: RowValues) throws -> Bool {
        var parameter: Int32 = 1
        guard try bind(own, rowID, to: insert, at: &parameter, values),
            try bind(values.cells[other..<other + otherWidth], to: insert, at: &parameter, values)
        else { return false }
        if hasPosition { try check(sqlite3_bind_int64(insert, parameter, position)) }
        let code = sqlite3_step(insert)
        sqlite3_reset(insert)
        guard code == SQLITE_DONE else { throw connection.lastError }
        return true
    }

    /// True if an object has any links.
    ///
    /// - Parameter own: the first of the cells by which it is referred to; -1 where that is its row id.
    func hasAny(_ own: Int, _ rowID: Int64, _ values: RowValues) throws -> Bool {
        var parameter: Int32 = 1
        guard try bind(own, rowID, to: search, at: &parameter, values) else { return false }
        let code = sqlite3_step(search)
        sqlite3_reset(search)
        guard code == SQLITE_ROW || code == SQLITE_DONE else { throw connection.lastError }
        return code == SQLITE_ROW
    }

    /// Binds that by which the object is referred to that states the links.
    ///
    /// - Returns: whether it is identified in full.
    private func bind(
        _ own: Int,
        _ rowID: Int64,
        to statement: OpaquePointer?,
        at parameter: inout Int32,
        _ values: RowValues
    ) throws -> Bool {
        guard own < 0 else {
            return try bind(values.cells[own..<own + ownWidth], to: statement, at: &parameter, values)
        }
        try check(sqlite3_bind_int64(statement, parameter, rowID))
        parameter += 1
        return true
    }

    /// - Returns: whether none of the cells is null.
    private func bind(
        _ cells: Slice<UnsafeBufferPointer<Cell>>,
        to statement: OpaquePointer?,
        at parameter: inout Int32,
        _ values: RowValues
    ) throws -> Bool {
        for cell in cells {
            if cell.tag == .null { return false }
            try check(values.bind(cell, to: statement, at: parameter))
            parameter += 1
        }
        return true
    }

    private func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw connection.lastError }
    }
}
