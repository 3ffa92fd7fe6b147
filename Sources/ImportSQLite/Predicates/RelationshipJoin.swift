import ImportEngine
import ImportModel
import ImportSources

/// How the rows of an entity are linked to those that one of its relationships leads to, in SQL.
package struct RelationshipJoin: Sendable {
    /// Where the link is kept.
    private enum Form: Sendable {
        /// The row has the key of what it leads to.
        case reference
        /// What it leads to has the row's key.
        case inverse(position: String?)
        /// A table of its own has both keys.
        case join(table: String, own: [String], other: [String], position: String?)
    }

    package let name: String
    package let isToMany: Bool
    package let destination: StoredGraph.Entity
    /// The columns of a row by whose values its destinations are found.
    package let source: [String]
    /// The tables that the link and its destinations are in, in lower case.
    package let tables: Set<BytewiseString>
    /// The key of the destination: the attribute of each column that it has, nil where another row's key is a part of it.
    package let key: [AttributeDescription?]
    private let form: Form
    /// The columns by whose values the destinations are found, in their own table.
    private let target: [String]

    /// - Parameter relationship: its index in the layout of the graph.
    /// - Returns: nil where the store does not have what it needs.
    package init?(_ relationship: Int, of entity: StoredGraph.Entity, in graph: StoredGraph) {
        guard let layout = graph.layout, let index = entity.index else { return nil }
        let placement = layout.relationships[relationship]
        guard let destination = graph.entity(at: placement.destination) else { return nil }
        name = placement.description.name
        isToMany = placement.description.isToMany
        self.destination = destination
        key = layout.key(of: placement.destination).map { column in
            column.role == .attribute ? destination.description.attribute(inColumn: column.name) : nil
        }
        let isOwner = placement.owner == relationship
        let (ownTable, otherTable) = (layout.table(of: index), layout.table(of: placement.destination))
        var tables: Set<BytewiseString> = [ExistingEntity.folded(otherTable)]
        switch placement.shape {
        case .join:
            let join = layout.join(of: relationship)
            let (own, other) = isOwner ? (join.source, join.destination) : (join.destination, join.source)
            let position = isOwner ? join.position : join.inversePosition
            let names = (own + other).map(\.name) + [position].compactMap { $0 }
            guard graph.has(names, of: join.table) else { return nil }
            source = layout.keyColumns(of: placement.entity)
            form = .join(
                table: join.table.quotedIdentifier,
                own: own.map(\.name.quotedIdentifier),
                other: other.map(\.name.quotedIdentifier),
                position: position?.quotedIdentifier
            )
            target = layout.keyColumns(of: placement.destination)
            tables.insert(ExistingEntity.folded(join.table))
        case .source, .oneToMany, .oneToOne, .ownedDestination:
            let references = layout.references(of: relationship)
            if isOwner && placement.shape != .ownedDestination {
                guard graph.has(references.map(\.name), of: ownTable) else { return nil }
                source = references.map(\.name.quotedIdentifier)
                form = .reference
                target = layout.keyColumns(of: placement.destination)
            } else {
                let position = layout.positionColumn(of: relationship)
                let names = references.map(\.name) + [position].compactMap { $0 }
                guard graph.has(names, of: otherTable) else { return nil }
                source = layout.keyColumns(of: placement.entity)
                form = .inverse(position: position?.quotedIdentifier)
                target = references.map(\.name.quotedIdentifier)
            }
        }
        self.tables = tables
    }

    // MARK: Statements

    /// The destinations as a table with a condition, for a to-one.
    ///
    /// - Parameters:
    ///   - alias: what the destination is called, quoted.
    ///   - values: what `source` has.
    package func target(as alias: String, where values: [String]) -> (table: String, condition: String) {
        let table = "\(destination.description.table.quotedIdentifier) AS \(alias)"
        return (table, Self.equal(target, of: alias, to: values))
    }

    /// How many destinations a row has, as a value.
    package func count(as alias: String, where values: [String]) -> String {
        let counted: (table: String, condition: String) =
            switch form {
            case .reference, .inverse: target(as: alias, where: values)
            case .join(let table, let own, _, _): ("\(table) AS \(alias)", Self.equal(own, of: alias, to: values))
            }
        return "(SELECT count(*) FROM \(counted.table) WHERE \(counted.condition))"
    }

    /// The statement that reads the destinations of a row, in their order, whose `source` is bound.
    ///
    /// - Parameters:
    ///   - columns: what is read of each; `keyCount` more follow.
    ///   - number: tells it apart from other statements that are read at the same time.
    package func selection(of columns: [String], number: Int) -> String {
        let alias = "\"@\(number)\""
        let link = "\"@\(number) link\""
        let marks = source.map { _ in "?" }
        let wanted = columns.map { "\(alias).\($0)" }
        switch form {
        case .reference, .inverse:
            let target = target(as: alias, where: marks)
            let list = wanted.joined(separator: ", ")
            let sql = "SELECT \(list) FROM \(target.table) WHERE \(target.condition)"
            guard case .inverse(let position) = form else { return sql + " LIMIT 1" }
            let order = Self.order(position.map { "\(alias).\($0)" }, then: ["\(alias).rowid"])
            return sql + order + (isToMany ? "" : " LIMIT 1")
        case .join(let table, let own, let other, let position):
            let others = other.map { "\(link).\($0)" }
            let pairs = zip(target, others).map { "\(alias).\($0) = \($1)" }.joined(separator: " AND ")
            let list = (wanted + others).joined(separator: ", ")
            let sql =
                "SELECT \(list) FROM \(table) AS \(link) LEFT JOIN \(destination.description.table.quotedIdentifier) "
                + "AS \(alias) ON \(pairs) WHERE \(Self.equal(own, of: link, to: marks))"
            return sql + Self.order(position.map { "\(link).\($0)" }, then: others)
        }
    }

    /// How many columns of a selection are the key of each destination, there or not.
    package var keyCount: Int {
        if case .join(_, _, let other, _) = form { return other.count }
        return 0
    }

    /// How many links there are, as a value; nil where others than those of the entity's objects may be among them.
    ///
    /// - Parameters:
    ///   - entity: the one whose relationship it is.
    ///   - isOwn: whether it is declared there, and not inherited.
    package func countOfAll(of entity: FetchedEntity, isOwn: Bool) -> SQLFragment? {
        switch form {
        case .reference:
            let table = entity.description.table.quotedIdentifier
            let links = SQLFragment("SELECT count(\(source[0])) FROM \(table)")
            return entity.condition.map { links + SQLFragment(" WHERE ") + $0 } ?? links
        case .inverse:
            let table = destination.description.table.quotedIdentifier
            return isOwn ? SQLFragment("SELECT count(\(target[0])) FROM \(table)") : nil
        case .join(let table, _, _, _): return isOwn ? SQLFragment("SELECT count(*) FROM \(table)") : nil
        }
    }

    /// True if a row has the key of its destination.
    package var isReference: Bool {
        if case .reference = form { return true }
        return false
    }

    private static func equal(_ columns: [String], of alias: String, to values: [String]) -> String {
        zip(columns, values).map { "\(alias).\($0) = \($1)" }.joined(separator: " AND ")
    }

    /// Those that no list gave an index come last.
    private static func order(_ position: String?, then others: [String]) -> String {
        let first = position.map { ["\($0) IS NULL", $0] } ?? []
        return " ORDER BY " + (first + others).joined(separator: ", ")
    }
}

extension EntityDescription {
    fileprivate func attribute(inColumn name: String) -> AttributeDescription? {
        attributes.first { ExistingEntity.folded($0.column) == ExistingEntity.folded(name) }
    }
}
