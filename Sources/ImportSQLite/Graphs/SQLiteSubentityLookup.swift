import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// Knows of which entities stored objects are, where a table has those of several.
///
/// Belongs to one connection; used inside of its transactions only.
package final class SQLiteSubentityLookup: SubentityLookup {
    private let layout: ModelLayout
    private let statements: LinkStatementCache
    /// Why the last object could not be looked up.
    package var failure: (any Error)?

    package init(_ layout: ModelLayout, _ statements: LinkStatementCache) {
        self.layout = layout
        self.statements = statements
    }

    package func storedEntity(of entity: Int, _ key: [Cell], _ values: RowValues) -> Int? {
        do {
            return try storedEntity(of: entity, RowKey(key, values))
        } catch {
            failure = error
            return nil
        }
    }

    /// The entity of a stored object; nil where there is none.
    package func storedEntity(of entity: Int, _ key: RowKey) throws -> Int? {
        let columns = layout.key(of: entity).map(\.name.quotedIdentifier)
        return try storedEntity(of: entity, where: columns.map { "\($0) = ?" }.joined(separator: " AND "), .key(key))
    }

    private func storedEntity(of entity: Int, where condition: String, _ value: LinkStatementCache.Parameter) throws
        -> Int?
    {
        guard let column = layout.entityColumn(of: entity) else { return nil }
        let table = layout.table(of: entity).quotedIdentifier
        var kind: Int?
        try statements.run("SELECT \(column.quotedIdentifier) FROM \(table) WHERE \(condition)", [value]) {
            guard let text = sqlite3_column_text($0, 0) else { return }
            kind = layout.hierarchy.index(of: String(cString: text))
        }
        return kind
    }

    /// Makes a stored element of a list an empty one of another entity.
    ///
    /// - Returns: whether it was of another.
    package func change(_ rowID: Int64, to entity: Int) throws -> Bool {
        guard let column = layout.entityColumn(of: entity),
            try storedEntity(of: entity, where: "rowid = ?", .number(rowID)) != entity
        else { return false }
        let table = layout.table(of: entity)
        let attributes = layout.tables.first { $0.name == table }?.columns.filter { $0.role == .attribute } ?? []
        let sets = attributes.map { "\($0.name.quotedIdentifier) = NULL" } + ["\(column.quotedIdentifier) = ?"]
        try statements.run(
            "UPDATE \(table.quotedIdentifier) SET \(sets.joined(separator: ", ")) WHERE rowid = ?",
            [.text(layout.entities[entity].name), .number(rowID)]
        )
        return true
    }
}
