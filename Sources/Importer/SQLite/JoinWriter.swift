import GRDB
import GRDBSQLite
import ImportModel

/// Adds links to a join table, by cells of a batch.
///
/// Belongs to one connection; used inside of its transactions only.
final class JoinWriter {
    private let connection: OpaquePointer
    private let insert: OpaquePointer?
    /// How many columns refer to the object that states the links, and to the other one.
    private let ownWidth: Int
    private let otherWidth: Int
    private let hasPosition: Bool

    /// - Parameter relationship: the one that states the links, by its index in the layout.
    init(_ connection: OpaquePointer, _ relationship: Int, _ layout: ModelLayout) throws {
        self.connection = connection
        let form = GraphLinkForm(relationship, layout)
        ownWidth = layout.key(of: form.entity).count
        otherWidth = layout.key(of: form.destination).count
        hasPosition = form.hasPosition
        insert = try connection.prepare(form.insertLink)
    }

    deinit {
        sqlite3_finalize(insert)
    }

    /// Adds a link.
    ///
    /// - Parameters:
    ///   - own: the first of the cells by which the object that states it is referred to; -1 where that is its row id.
    ///   - other: the same of the object that it leads to, which has an identifier.
    ///   - position: its index in the list.
    /// - Returns: whether there is one: what is not identified in full cannot be linked.
    func add(_ own: Int, _ rowID: Int64, _ other: Int, at position: Int64, _ values: RowValues) throws -> Bool {
        var parameter: Int32 = 1
        if own < 0 {
            try check(sqlite3_bind_int64(insert, parameter, rowID))
            parameter += 1
        } else {
            guard try bind(values.cells[own..<own + ownWidth], at: &parameter, values) else { return false }
        }
        guard try bind(values.cells[other..<other + otherWidth], at: &parameter, values) else { return false }
        if hasPosition { try check(sqlite3_bind_int64(insert, parameter, position)) }
        let code = sqlite3_step(insert)
        sqlite3_reset(insert)
        guard code == SQLITE_DONE else { throw connection.lastError }
        return true
    }

    /// - Returns: whether none of the cells is null.
    private func bind(_ cells: Slice<UnsafeBufferPointer<Cell>>, at parameter: inout Int32, _ values: RowValues) throws
        -> Bool
    {
        for cell in cells {
            if cell.tag == .null { return false }
            try check(values.bind(cell, to: insert, at: parameter))
            parameter += 1
        }
        return true
    }

    private func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw connection.lastError }
    }
}
