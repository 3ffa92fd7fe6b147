import GRDB
import ImportEngine
import ImportModel
import ImportSQLite

/// A table whose rows are brought back, as the store has it now.
package struct UndoTable {
    let tracked: TrackedTable
    /// Its entity's name, or its own where it is none's.
    package let entity: String
    /// All columns that have values of their own now.
    package let columns: [String]
    /// Of each column the name of its attribute.
    package let names: [String]
    /// Of each column that the log has its index among `columns`.
    let logged: [Int]
    /// The indexes of the columns that an object is called by; empty where that is the row id.
    package let identifier: [Int]
    /// The indexes of the columns by which a row is found whatever its row id is.
    package let identity: [Int]
    /// The indexes of columns that an index makes unique.
    package let unique: Set<Int>
    /// Its foreign keys.
    package let references: [StoredForeignKey]
    /// The foreign keys that lead to it.
    let referring: [StoredForeignKey]
    /// The statement that reads a row's cells, by its key.
    ///
    /// A query has as many columns as a table may have, at most.
    let byKey: String
    /// The statement that deletes a row, by its key.
    package let delete: String
    /// The statement that reads a row's key, by the columns that identify it, or by all that the log has.
    let keyByIdentity: String

    package var name: String { tracked.name }

    /// - Parameters:
    ///   - tracked: with the columns that the log has.
    ///   - foreignKeys: of all tables.
    package init(
        _ tracked: TrackedTable,
        _ side: ComparedSchema,
        _ foreignKeys: [StoredForeignKey],
        _ database: Database
    ) throws {
        self.tracked = tracked
        let columns = try StoredTable(tracked.name, database).ownColumns.map(\.name)
        let folded = columns.map(ExistingEntity.folded)
        func places(_ names: [String]) -> [Int] {
            names.compactMap { name in folded.firstIndex(of: ExistingEntity.folded(name)) }
        }
        let table = ExistingEntity.folded(tracked.name)
        let stored = side.entities.first { ExistingEntity.folded($0.table) == table }
        entity = stored?.name ?? tracked.name
        self.columns = columns
        var names = columns
        for attribute in (stored?.attributes ?? []) + (stored?.identifier ?? []) {
            for place in places([attribute.column]) { names[place] = attribute.name }
        }
        self.names = names
        logged = places(tracked.columns)
        identity = places(tracked.identity)
        let own = places(stored?.identifier.map(\.column) ?? [])
        identifier = own.isEmpty ? identity : own
        unique = Set(places(try StoredTable(tracked.name, database).keys.joined().map(\.name)))
        references = foreignKeys.filter { ExistingEntity.folded($0.table) == table }
        referring = foreignKeys.filter { ExistingEntity.folded($0.parent) == table }
        let from = Self.from(tracked)
        byKey = "SELECT \(columns.map(\.quotedIdentifier).joined(separator: ", ")) FROM \(from) WHERE \(tracked.hasKey)"
        delete = "DELETE FROM \(from) WHERE \(tracked.hasKey)"
        let key = tracked.key.map(\.quotedIdentifier).joined(separator: ", ")
        keyByIdentity =
            "SELECT \(key) FROM \(from) WHERE \(Self.matches(identity.isEmpty ? logged : identity, of: columns, areUnique: !identity.isEmpty)) LIMIT 1"
    }

    package func place(of column: String) -> Int? {
        columns.firstIndex { ExistingEntity.folded($0) == ExistingEntity.folded(column) }
    }

    /// What an object is called.
    ///
    /// - Parameter cells: of all columns.
    package func reference(_ cells: [StoredValue], _ key: RowKey) -> ObjectReference {
        guard !identifier.isEmpty else {
            return ObjectReference(zip(tracked.key, key.values ?? []).map { NamedValue($0, $1) })
        }
        return ObjectReference(identifier.map { NamedValue(names[$0], cells[$0]) })
    }

    /// The cells of all columns, where the log has some: the others are as they are now, or null.
    func widened(_ cells: [StoredValue], _ now: [StoredValue]?) -> [StoredValue] {
        var all = now ?? columns.map { _ in .null }
        for (place, value) in zip(logged, cells) { all[place] = value }
        return all
    }

    // MARK: Statements

    private static func from(_ tracked: TrackedTable) -> String { "main.\(tracked.name.quotedIdentifier)" }

    private var from: String { Self.from(tracked) }

    /// That a row has the values that are bound.
    private static func matches(_ places: [Int], of columns: [String], areUnique: Bool) -> String {
        guard !areUnique else { return TrackedTable.matches(places.map { columns[$0] }) }
        let conditions = places.enumerated().map { place, column in
            let (name, mark) = (columns[column].quotedIdentifier, "?\(place + 1)")
            return "\(name) IS \(mark) AND \(name) IS \(mark) COLLATE BINARY AND typeof(\(name)) = typeof(\(mark))"
        }
        // An expression may be 1000 deep (`SQLITE_MAX_EXPR_DEPTH`).
        let groups = stride(from: 0, to: conditions.count, by: 100).map { first in
            "(\(conditions[first..<min(first + 100, conditions.count)].joined(separator: " AND ")))"
        }
        return groups.joined(separator: " AND ")
    }

    /// The row ids of a range.
    var inRange: String {
        let key = tracked.key[0].quotedIdentifier
        return "SELECT \(key) FROM \(from) WHERE \(key) BETWEEN ?1 AND ?2 ORDER BY \(key)"
    }

    /// Its parameters are the key, then the values.
    ///
    /// Nothing runs beside it but the triggers of the undo's own log, so it need not be able to take back what they have done.
    package func update(_ places: [Int]) -> String {
        let set = places.enumerated().map { "\(columns[$1].quotedIdentifier) = ?\($0 + tracked.key.count + 1)" }
        return "UPDATE OR \(ConflictClause.fail.rawValue) \(from) SET \(set.joined(separator: ", ")) "
            + "WHERE \(tracked.hasKey)"
    }

    /// - Parameter hasRowID: whether the first parameter is the row id.
    package func insert(_ places: [Int], hasRowID: Bool) -> String {
        let names = (hasRowID ? [tracked.key[0]] : []) + places.map { columns[$0] }
        guard !names.isEmpty else { return "INSERT INTO \(from) DEFAULT VALUES" }
        let marks = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let list = names.map(\.quotedIdentifier).joined(separator: ", ")
        return "INSERT OR \(ConflictClause.fail.rawValue) INTO \(from) (\(list)) VALUES (\(marks))"
    }
}
