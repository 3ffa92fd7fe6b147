import GRDB
import GRDBSQLite
import ImportModel

/// Inserts the nested objects and links that a batch has laid out, all at once.
///
/// What is known by its row id alone is referred to by its number in the batch there: the row ids that the batch begins with are
/// added. Belongs to one connection, which has an `AttachedImage`; used inside of its transactions only.
final class GraphCopier {
    /// A table of objects or links.
    private struct Table {
        /// The index of its entity, or after those the one of its links.
        let index: Int32
        let copy: OpaquePointer?
        /// The entity whose first row id each number in a reference needs, by its index; -1 for none.
        let numbered: Int
        /// How many columns refer so.
        let parameters: Int
        let isOfLinks: Bool
    }

    private let connection: OpaquePointer
    private let plan: GraphPlan
    private var tables: [Table] = []
    /// Of each entity that has no identifier, its highest row id.
    private var lastRowID: [OpaquePointer?] = []
    /// The row ids that the rows of the batch at hand begin with.
    private var firstRowIDs: [Int64]

    init(_ database: Database, _ plan: GraphPlan) throws {
        guard let connection = database.sqliteConnection else {
            throw ImportError(.fault, "the store's connection is closed")
        }
        self.connection = connection
        self.plan = plan
        firstRowIDs = Array(repeating: 0, count: plan.nodes.count)
        for (index, node) in plan.nodes.enumerated() {
            guard node.plan.identifier.isEmpty else {
                lastRowID.append(nil)
                continue
            }
            let name = "main.\(node.plan.entity.table.quotedIdentifier)"
            lastRowID.append(try connection.prepare("SELECT coalesce(max(rowid), 0) FROM \(name)"))
            try tables.append(table(of: index, node, name))
        }
        let entities = plan.nodes.count
        for (place, links) in LinkTable.all(of: plan.layout).enumerated() {
            let columns = links.columns.map(\.quotedIdentifier).joined(separator: ", ")
            let values = links.columns.indices.map { "c\($0)" }.joined(separator: ", ")
            let index = Int32(entities + place)
            let copy = try connection.prepare(
                "INSERT OR ABORT INTO main.\(links.table.quotedIdentifier) (\(columns)) SELECT \(values) "
                    + "FROM \(AttachedImage.name).\(RowImageSchema.table(index))"
            )
            tables.append(Table(index: index, copy: copy, numbered: -1, parameters: 0, isOfLinks: true))
        }
    }

    deinit {
        for table in tables { sqlite3_finalize(table.copy) }
        for statement in lastRowID { sqlite3_finalize(statement) }
    }

    private func table(of index: Int, _ node: GraphPlan.Node, _ name: String) throws -> Table {
        let layout = plan.layout
        // The object around of one without identifier is the only one that it refers to by a row id.
        let numbered = node.rows.references.first { owner, _ in
            layout.relationships[owner].shape != .source
                && layout.hierarchy.identifier(of: layout.target(of: owner)).isEmpty
        }
        let attributes = node.plan.entity.attributes
        let image = "\(AttachedImage.name).\(RowImageSchema.table(Int32(index)))"
        let columns = attributes.map(\.column.quotedIdentifier).joined(separator: ", ")
        let values = attributes.indices.map { numbered?.value.contains($0) == true ? "c\($0) + ?1" : "c\($0)" }
        // SQLite copies rows as they are where the columns are the same.
        let isWhole = numbered == nil && layout.rowIDColumn(of: index) == nil
        let copy = try connection.prepare(
            isWhole
                ? "INSERT OR ABORT INTO \(name) SELECT * FROM \(image)"
                : "INSERT OR ABORT INTO \(name) (\(columns)) SELECT \(values.joined(separator: ", ")) FROM \(image)"
        )
        return Table(
            index: Int32(index),
            copy: copy,
            numbered: numbered.map { layout.target(of: $0.key) } ?? -1,
            parameters: numbered?.value.count ?? 0,
            isOfLinks: false
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
    /// - Parameter changes: gets what that inserts, by entity.
    /// - Throws: `UnusableLayout` where rows do not follow one another; `DatabaseError` when SQLite fails.
    func copy(_ image: RowImage, _ changes: inout [EntityChanges]) throws {
        for table in tables {
            let count = Int64(image.rows(of: table.index))
            guard count > 0 else { continue }
            if table.numbered >= 0 { sqlite3_bind_int64(table.copy, 1, firstRowIDs[table.numbered] - 1) }
            let code = sqlite3_step(table.copy)
            sqlite3_reset(table.copy)
            guard code == SQLITE_DONE else { throw connection.lastError }
            guard Int64(sqlite3_changes(connection)) == count else {
                throw ImportError(.fault, "the rows of a batch were not all written")
            }
            guard !table.isOfLinks else { continue }
            let entity = Int(table.index)
            let first = firstRowIDs[entity]
            guard sqlite3_last_insert_rowid(connection) == first &+ count &- 1 else {
                throw UnusableLayout(entity: table.index)
            }
            changes[entity].insert(first...first + count - 1)
            changes[entity].nested.nested += count
            changes[entity].nested.inserted += count
        }
    }
}
