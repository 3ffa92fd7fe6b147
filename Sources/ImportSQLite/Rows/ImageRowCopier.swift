import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// Inserts the rows of one entity that are in a batch's image, all at once.
///
/// Belongs to one connection, which has an `AttachedDatabaseImage`; used inside of its transactions only.
final class ImageRowCopier {
    private let statements: TableStatements
    private let plan: EntityPlan
    private var copyRows: OpaquePointer?
    private var lastRowID: OpaquePointer?
    /// True if it copies rows as they are, which takes a table whose columns are the attributes.
    private let copiesAll: Bool

    init(_ database: Database, _ statements: TableStatements, _ plan: EntityPlan) throws {
        self.statements = statements
        self.plan = plan
        let entity = statements.entity
        let table = "main.\(entity.table.quotedIdentifier)"
        copiesAll = try Self.hasJust(entity, database)
        let columns = entity.attributes.map(\.column)
        copyRows = try statements.connection.prepare(
            AttachedDatabaseImage.insertion(
                of: plan.index,
                into: entity.table,
                columns,
                copiesAll ? nil : DatabaseImageSchema.columns(plan)
            )
        )
        lastRowID = try statements.connection.prepare("SELECT coalesce(max(rowid), 0) FROM \(table)")
    }

    deinit {
        sqlite3_finalize(copyRows)
        sqlite3_finalize(lastRowID)
    }

    /// True if the table's columns are the entity's attributes, in name, order and type: SQLite copies rows as they are
    /// then.
    static func hasJust(_ entity: EntityDescription, _ database: Database) throws -> Bool {
        let columns = try StoredTable(entity.table, database).columns
        guard columns.count == entity.attributes.count else { return false }
        return zip(columns, entity.attributes).allSatisfy { column, attribute in
            column.name.asciiLowercased == attribute.column.asciiLowercased && !column.isComputed
                && column.affinity == DeclaredType.Affinity(declared: attribute.declaredType)
        }
    }

    /// Inserts the rows of a batch that are in its image.
    ///
    /// - Parameter count: how many these are, from 1.
    /// - Returns: their row ids, in the rows' order.
    /// - Throws: `LayoutInvalidated` where they must not follow one another or no longer fit the table; `DatabaseError` when
    ///   SQLite fails.
    func copy(_ count: Int64, _ database: Database) throws -> ClosedRange<Int64> {
        guard let first = try nextRowID(count) else { throw LayoutInvalidated(entity: plan.index) }
        let (connection, entity) = (statements.connection, statements.entity)
        let code = sqlite3_step(copyRows)
        sqlite3_reset(copyRows)
        let failure = code == SQLITE_DONE ? nil : statements.error(code)
        if let full = statements.fullness(code) { throw full }
        // Nothing can be asked any more where SQLite has ended the transaction, as it may when the disk is full.
        if let failure, sqlite3_get_autocommit(connection) != 0 { throw failure }
        // Rows are copied column by column, whatever the names are, and another program may have changed the table before this
        // transaction: SQLite has then prepared the statement again in it.
        let mayDiffer = failure != nil || sqlite3_stmt_status(copyRows, SQLITE_STMTSTATUS_REPREPARE, 1) > 0
        if copiesAll, mayDiffer, try !Self.hasJust(entity, database) { throw LayoutInvalidated(entity: plan.index) }
        if let failure { throw failure }
        let last = first + count - 1
        guard Int64(sqlite3_changes(connection)) == count, sqlite3_last_insert_rowid(connection) == last else {
            throw ImportError(.fault, "\(entity.table): the new rows do not follow one another")
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
        guard code == SQLITE_ROW else { throw statements.error(code) }
        let last = sqlite3_column_int64(lastRowID, 0)
        return last > Int64.max - count ? nil : last + 1
    }
}
