import ImportModel
import ImportSQLite

/// The statements that read and write a store's objects.
enum PatchSQL {
    /// That columns are what is bound, storage class and bytes; the first part may use an index, whatever its collation is.
    static func matches(_ columns: [String], from first: Int = 1) -> String {
        TrackedTable.matches(columns, from: first)
    }

    private static func table(_ name: String) -> String { "main.\(name.quotedIdentifier)" }

    private static func list(_ columns: [String]) -> String { columns.map(\.quotedIdentifier).joined(separator: ", ") }

    // MARK: Objects

    static func select(_ columns: [String], of table: String, by identifier: [String]) -> String {
        "SELECT \(list(columns)) FROM \(self.table(table)) WHERE \(matches(identifier))"
    }

    static func insert(_ entity: PatchedEntity, _ columns: [Int]) -> String {
        insert(entity.table, columns.map { entity.columns[$0] }, entity.conflictClause)
    }

    static func insert(_ table: String, _ columns: [String], _ clause: ConflictClause = .abort) -> String {
        guard !columns.isEmpty else { return "INSERT INTO \(self.table(table)) DEFAULT VALUES" }
        let marks = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        // Whatever the table says is to be done in a conflict, another row must not go.
        return "INSERT OR \(clause.rawValue) INTO \(self.table(table)) (\(list(columns))) VALUES (\(marks))"
    }

    static func update(_ entity: PatchedEntity, _ columns: [Int]) -> String {
        let set = columns.enumerated().map { "\(entity.columns[$1].quotedIdentifier) = ?\($0 + 1)" }
        let update = "UPDATE OR \(entity.conflictClause.rawValue) \(table(entity.table))"
        return "\(update) SET \(set.joined(separator: ", ")) WHERE "
            + matches(entity.identifierColumns, from: columns.count + 1)
    }

    static func update(_ entity: PatchedEntity, column: String) -> String {
        "UPDATE OR ABORT \(table(entity.table)) SET \(column.quotedIdentifier) = ?1 WHERE "
            + matches(entity.identifierColumns, from: 2)
    }

    static func delete(_ entity: PatchedEntity) -> String {
        "DELETE FROM \(table(entity.table)) WHERE \(matches(entity.identifierColumns))"
    }

    /// The identifiers of the objects that an object owns.
    static func owned(_ child: PatchedEntity, _ owned: PatchedEntity.Owned, position: String? = nil) -> String {
        let order = position.map { " ORDER BY \($0.quotedIdentifier) IS NULL, \($0.quotedIdentifier)" } ?? ""
        return "SELECT \(list(child.identifierColumns)) FROM \(table(child.table)) WHERE "
            + matches(owned.columns) + order
    }

    /// Whether a row of another table refers to an object.
    static func refers(_ referring: StoredForeignKey, to entity: PatchedEntity) -> String {
        "SELECT 1 \(references(referring, to: entity)) LIMIT 1"
    }

    /// The identifiers of the objects of another table that refer to an object.
    static func referring(_ referring: StoredForeignKey, _ child: PatchedEntity, to entity: PatchedEntity) -> String {
        let columns = child.identifierColumns.map { "child.\($0.quotedIdentifier)" }.joined(separator: ", ")
        return "SELECT \(columns) \(references(referring, to: entity))"
    }

    private static func references(_ referring: StoredForeignKey, to entity: PatchedEntity) -> String {
        let pairs = zip(referring.parentColumns, referring.columns).map {
            "parent.\($0.quotedIdentifier) = child.\($1.quotedIdentifier)"
        }
        // What refers to itself goes with itself.
        let other =
            referring.isSameTable
            ? " AND NOT ("
                + entity.identifierColumns.map {
                    "child.\($0.quotedIdentifier) IS parent.\($0.quotedIdentifier)"
                }.joined(separator: " AND ") + ")" : ""
        let key = entity.identifierColumns.enumerated().map { place, column in
            let (name, mark) = ("parent.\(column.quotedIdentifier)", "?\(place + 1)")
            return "\(name) = \(mark) AND \(name) = \(mark) COLLATE BINARY AND typeof(\(name)) = typeof(\(mark))"
        }
        return "FROM \(table(entity.table)) AS parent, \(table(referring.table)) AS child WHERE "
            + (key + pairs).joined(separator: " AND ") + other
    }

    // MARK: Links

    static func link(_ join: ComparedSchema.Join) -> String {
        "SELECT 1 FROM \(table(join.table)) WHERE \(matches(join.columns + join.destinationColumns))"
    }

    static func links(_ join: ComparedSchema.Join, position: String) -> String {
        "SELECT \(list(join.destinationColumns)) FROM \(table(join.table)) WHERE \(matches(join.columns)) "
            + "ORDER BY \(position.quotedIdentifier) IS NULL, \(position.quotedIdentifier)"
    }

    static func unlink(_ join: ComparedSchema.Join) -> String {
        "DELETE FROM \(table(join.table)) WHERE \(matches(join.columns + join.destinationColumns))"
    }

    static func reorder(_ join: ComparedSchema.Join, position: String) -> String {
        "UPDATE OR ABORT \(table(join.table)) SET \(position.quotedIdentifier) = ?1 WHERE "
            + matches(join.columns + join.destinationColumns, from: 2)
    }

    // MARK: Parts without identifier

    /// The rows that are parts of an owner: the key of each, then its columns.
    static func values(_ child: PatchedEntity, _ owned: PatchedEntity.Owned) -> String {
        let columns = [child.rowKey] + child.columns
        let position = owned.position.map { " ORDER BY \($0.quotedIdentifier) IS NULL, \($0.quotedIdentifier)" } ?? ""
        return "SELECT \(list(columns)) FROM \(table(child.table)) WHERE \(matches(owned.columns))\(position)"
    }

    static func deleteValues(_ child: PatchedEntity, _ owned: PatchedEntity.Owned) -> String {
        "DELETE FROM \(table(child.table)) WHERE \(matches(owned.columns))"
    }
}
