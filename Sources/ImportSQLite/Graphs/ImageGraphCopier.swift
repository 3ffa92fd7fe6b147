import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// Inserts the objects and links that a batch has laid out, all at once.
///
/// What is known by its row id alone is referred to by its number in the batch there: the row ids that the batch begins with are
/// added. Belongs to one connection, which has an `AttachedDatabaseImage`; used inside of its transactions only.
final class ImageGraphCopier {
    /// A table of objects or links.
    private struct Table {
        /// The index of its entity, or after those the one of its links.
        let index: Int32
        let copy: OpaquePointer?
        /// The entity whose first row id each number in a reference needs, by its index; -1 for none.
        let numbered: Int
        let isOfLinks: Bool
        /// True if its rows' identifiers are their row ids.
        let isKeyed: Bool
        /// The entity, where rows are copied as they are: its table's columns are the attributes.
        let whole: EntityDescription?
    }

    private let database: Database
    private let connection: OpaquePointer
    private let plan: GraphPlan
    private var tables: [Table] = []
    /// Of each entity that has no identifier, its highest row id.
    private var lastRowID: [OpaquePointer?] = []
    /// The row ids that the rows of the batch at hand begin with.
    private var firstRowIDs: [Int64]

    /// - Parameter keyed: the indexes of the entities that are laid out with their identifiers as row ids.
    init(_ database: Database, _ plan: GraphPlan, keyed: Set<Int32>) throws {
        let connection = try database.handle
        self.database = database
        self.connection = connection
        self.plan = plan
        firstRowIDs = Array(repeating: 0, count: plan.nodes.count)
        for (index, node) in plan.nodes.enumerated() {
            let name = "main.\(node.plan.entity.table.quotedIdentifier)"
            let isKeyed = keyed.contains(Int32(index))
            let isNumbered = node.plan.identifier.isEmpty
            lastRowID.append(
                isNumbered ? try connection.prepare("SELECT coalesce(max(rowid), 0) FROM \(name)") : nil
            )
            if isNumbered || isKeyed { try tables.append(table(of: index, node, isKeyed: isKeyed)) }
        }
        let entities = plan.nodes.count
        for (place, links) in LinkTable.all(of: plan.layout).enumerated() {
            let index = Int32(entities + place)
            // SQLite copies rows as they are where the columns are the same, and none is a key.
            let stored = try StoredTable(links.table, database).columns.map(\.name)
            let values = stored == links.columns ? nil : links.columns.indices.map { "c\($0)" }
            let copy = try connection.prepare(
                AttachedDatabaseImage.insertion(of: index, into: links.table, links.columns, values)
            )
            tables.append(Table(index: index, copy: copy, numbered: -1, isOfLinks: true, isKeyed: false, whole: nil))
        }
    }

    deinit {
        for table in tables { sqlite3_finalize(table.copy) }
        for statement in lastRowID { sqlite3_finalize(statement) }
    }

    private func table(of index: Int, _ node: GraphPlan.Node, isKeyed: Bool) throws -> Table {
        let layout = plan.layout
        // The object around of one without identifier is the only one that it refers to by a row id.
        let numbered = node.rows.references.first { owner, _ in
            layout.relationships[owner].shape != .source
                && layout.hierarchy.identifier(of: layout.target(of: owner)).isEmpty
        }
        let attributes = node.plan.entity.attributes
        let values = attributes.indices.map { numbered?.value.contains($0) == true ? "c\($0) + ?1" : "c\($0)" }
        // SQLite copies rows as they are where the columns are the same.
        let isWhole = try numbered == nil && ImageRowCopier.hasJust(node.plan.entity, database)
        let copy = try connection.prepare(
            AttachedDatabaseImage.insertion(
                of: Int32(index),
                into: node.plan.entity.table,
                attributes.map(\.column),
                isWhole ? nil : values
            )
        )
        return Table(
            index: Int32(index),
            copy: copy,
            numbered: numbered.map { layout.target(of: $0.key) } ?? -1,
            isOfLinks: false,
            isKeyed: isKeyed,
            whole: isWhole ? node.plan.entity : nil
        )
    }

    /// Finds out which row ids a batch begins with.
    func prepare() throws {
        for (entity, statement) in lastRowID.enumerated() {
            guard let statement else { continue }
            let code = sqlite3_step(statement)
            firstRowIDs[entity] = sqlite3_column_int64(statement, 0) &+ 1
            sqlite3_reset(statement)
            guard code == SQLITE_ROW else { throw connection.lastError }
        }
    }

    /// The row id of the batch's first row of an entity that has no identifier.
    func firstRowID(of entity: Int) -> Int64 { firstRowIDs[entity] }

    /// Inserts the rows of a batch that are laid out.
    ///
    /// - Parameter changes: gets what that inserts, by entity; but for records' own rows.
    /// - Returns: whether all are there: a table may have such a row, or refuse one. Some may be there nevertheless.
    /// - Throws: `LayoutInvalidated` where rows do not follow one another; `DatabaseError` when SQLite fails.
    func copy(_ image: DatabaseImage, _ changes: inout [EntityChanges]) throws -> Bool {
        for table in tables {
            let count = Int64(image.rows(of: table.index))
            guard count > 0 else { continue }
            if table.numbered >= 0 { sqlite3_bind_int64(table.copy, 1, firstRowIDs[table.numbered] - 1) }
            let code = sqlite3_step(table.copy)
            sqlite3_reset(table.copy)
            // Another program may have changed the table before this transaction: SQLite has then prepared the statement again.
            if let entity = table.whole, sqlite3_stmt_status(table.copy, SQLITE_STMTSTATUS_REPREPARE, 1) > 0,
                try !ImageRowCopier.hasJust(entity, database)
            {
                throw LayoutInvalidated(entity: table.index)
            }
            if code & 0xFF == SQLITE_CONSTRAINT { return false }
            guard code == SQLITE_DONE else { throw connection.lastError }
            guard Int64(sqlite3_changes(connection)) == count else {
                throw ImportError(.fault, "the rows of a batch were not all written")
            }
            if table.isKeyed {
                guard sqlite3_last_insert_rowid(connection) == image.lastRowID(of: table.index) else { return false }
                continue
            }
            guard !table.isOfLinks else { continue }
            let entity = Int(table.index)
            let first = firstRowIDs[entity]
            guard sqlite3_last_insert_rowid(connection) == first &+ count &- 1 else {
                throw LayoutInvalidated(entity: table.index)
            }
            changes[entity].insert(first...first + count - 1)
            changes[entity].nested.nested += count
            changes[entity].nested.inserted += count
        }
        return true
    }
}
