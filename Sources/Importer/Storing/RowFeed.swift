import GRDB
import GRDBSQLite
import ImportModel

/// One entity's rows of a batch as a virtual table that SQLite reads them from
/// (<https://www.sqlite.org/vtab.html>).
///
/// `INSERT … SELECT` from it writes all of them with one statement, which asks for each value when it needs it. Binding
/// them and stepping once for each row takes SQLite nearly twice as long. The table is the connection's own and in no
/// schema ("eponymous-only").
final class RowFeed {
    /// What is being read.
    fileprivate struct Rows {
        let rows: UnsafeBufferPointer<RowBatch.Row>
        let presence: UnsafeBufferPointer<UInt64>
        let entity: Int32
        let values: RowValues
        /// The cells of the attributes that a record does not mention.
        let defaults: UnsafeBufferPointer<Cell>
    }

    /// What the module's functions find: on the heap, as SQLite keeps its address until the connection closes.
    fileprivate final class Source {
        /// Its columns, in the order of the entity's attributes.
        let columns: [String]
        /// nil but while `withRows` is at work.
        var rows: Rows?
        /// How many rows were read when the last reader came to the end.
        var rowsRead = 0

        init(columns: [String]) {
            self.columns = columns
        }
    }

    /// The table's name in SQL.
    let name: String
    /// Its columns, in the order of the entity's attributes.
    var columns: [String] { source.columns }
    private let source: Source

    /// Makes the table known to a connection (`sqlite3_create_module_v2`).
    ///
    /// - Parameters:
    ///   - connection: an open connection.
    ///   - plan: the entity; one feed for each of a connection.
    /// - Throws: `DatabaseError`.
    init(_ connection: OpaquePointer, plan: EntityPlan) throws {
        name = "_import_rows_\(plan.index)"
        source = Source(columns: plan.attributes.indices.map { "c\($0)" })
        // SQLite releases it, also where it fails.
        let code = sqlite3_create_module_v2(
            connection,
            name,
            RowFeedModule.functions,
            Unmanaged.passRetained(source).toOpaque()
        ) { source in
            guard let source else { return }
            Unmanaged<Source>.fromOpaque(source).release()
        }
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// Lets the table have rows while `body` reads it.
    ///
    /// - Parameters:
    ///   - rows: the ones to read, those of `entity` among them.
    ///   - presence: the batch's presence masks.
    ///   - values: the batch's cells and bytes.
    ///   - plan: the entity's plan.
    /// - Returns: how many rows were read.
    func withRows(
        _ rows: ArraySlice<RowBatch.Row>,
        presence: [UInt64],
        values: RowValues,
        plan: EntityPlan,
        _ body: () throws -> Void
    ) rethrows -> Int {
        try rows.withUnsafeBufferPointer { rows in
            try presence.withUnsafeBufferPointer { presence in
                try plan.defaults.withUnsafeBufferPointer { defaults in
                    source.rows = Rows(
                        rows: rows,
                        presence: presence,
                        entity: plan.index,
                        values: values,
                        defaults: defaults
                    )
                    source.rowsRead = 0
                    defer { source.rows = nil }
                    try body()
                    return source.rowsRead
                }
            }
        }
    }
}

/// A place in the rows, as SQLite holds it: a `sqlite3_vtab_cursor` with what is ours behind it.
private struct RowCursor {
    var base = sqlite3_vtab_cursor()
    let source: Unmanaged<RowFeed.Source>
    let rows: RowFeed.Rows
    /// The row at hand.
    private(set) var index = -1
    /// The attribute that is read next, and the place of its cell if it has one.
    private var attribute = 0
    private var cell = 0
    private var rowsRead = 0

    init(_ source: Unmanaged<RowFeed.Source>, _ rows: RowFeed.Rows) {
        self.source = source
        self.rows = rows
    }

    @inline(__always)
    var isAtEnd: Bool { index >= rows.rows.count }

    mutating func start() {
        index = -1
        rowsRead = 0
        advance()
    }

    @inline(__always)
    mutating func advance() {
        repeat { index += 1 } while !isAtEnd && rows.rows[index].entity != rows.entity
        rewind()
        if isAtEnd { source.takeUnretainedValue().rowsRead = rowsRead } else { rowsRead += 1 }
    }

    @inline(__always)
    private mutating func rewind() {
        attribute = 0
        cell = isAtEnd ? 0 : rows.rows[index].firstCell
    }

    @inline(__always)
    private var isPresent: Bool {
        let word = rows.rows[index].firstPresenceWord + attribute >> 6
        return rows.presence[word] & (1 << UInt64(attribute & 63)) != 0
    }

    /// Tells SQLite a value of the row at hand; they are asked for in their order.
    @inline(__always)
    mutating func result(_ column: Int, _ context: OpaquePointer?) {
        if column < attribute { rewind() }
        while attribute < column {
            if isPresent { cell += 1 }
            attribute += 1
        }
        if isPresent {
            rows.values.result(rows.values.cells[cell], context)
            cell += 1
        } else {
            rows.values.absent.result(rows.defaults[column], context)
        }
        attribute += 1
    }
}

/// The functions of the virtual tables' module (`sqlite3_module`).
private enum RowFeedModule {
    /// A `sqlite3_vtab` with what is ours behind it.
    struct Table {
        var base = sqlite3_vtab()
        let source: Unmanaged<RowFeed.Source>
    }

    /// A cursor as `xOpen` has made it: SQLite hands out no others, and never none.
    @inline(__always)
    static func own(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> UnsafeMutablePointer<RowCursor> {
        UnsafeMutableRawPointer(cursor!).assumingMemoryBound(to: RowCursor.self)
    }

    // Written once, before the first connection reads it.
    nonisolated(unsafe) static let functions: UnsafePointer<sqlite3_module> = {
        // Without xCreate there is nothing to create in a schema.
        var module = sqlite3_module()
        module.xConnect = { connection, source, _, _, table, _ in
            guard let source, let table else { return SQLITE_MISUSE }
            let unmanaged = Unmanaged<RowFeed.Source>.fromOpaque(source)
            let columns = unmanaged.takeUnretainedValue().columns.joined(separator: ", ")
            let code = sqlite3_declare_vtab(connection, "CREATE TABLE rows (\(columns))")
            guard code == SQLITE_OK else { return code }
            let own = UnsafeMutablePointer<Table>.allocate(capacity: 1)
            own.initialize(to: Table(source: unmanaged))
            table.pointee = UnsafeMutableRawPointer(own).assumingMemoryBound(to: sqlite3_vtab.self)
            return SQLITE_OK
        }
        module.xDisconnect = { table in
            UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: Table.self).deallocate()
            return SQLITE_OK
        }
        module.xBestIndex = { _, info in
            info?.pointee.estimatedCost = 1
            return SQLITE_OK
        }
        module.xOpen = { table, cursor in
            guard let own = UnsafeMutableRawPointer(table)?.assumingMemoryBound(to: Table.self), let cursor,
                let rows = own.pointee.source.takeUnretainedValue().rows
            else { return SQLITE_MISUSE }
            let opened = UnsafeMutablePointer<RowCursor>.allocate(capacity: 1)
            opened.initialize(to: RowCursor(own.pointee.source, rows))
            cursor.pointee = UnsafeMutableRawPointer(opened).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
            return SQLITE_OK
        }
        module.xClose = { cursor in
            own(cursor).deallocate()
            return SQLITE_OK
        }
        module.xFilter = { cursor, _, _, _, _ in
            own(cursor).pointee.start()
            return SQLITE_OK
        }
        module.xNext = { cursor in
            own(cursor).pointee.advance()
            return SQLITE_OK
        }
        module.xEof = { cursor in
            own(cursor).pointee.isAtEnd ? 1 : 0
        }
        module.xColumn = { cursor, context, column in
            own(cursor).pointee.result(Int(column), context)
            return SQLITE_OK
        }
        module.xRowid = { cursor, rowID in
            rowID?.pointee = Int64(own(cursor).pointee.index)
            return SQLITE_OK
        }
        let memory = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
        memory.initialize(to: module)
        return UnsafePointer(memory)
    }()
}
