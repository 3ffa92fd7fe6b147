import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// What foreign keys say when the rows of a log are back: what refers to rows that are gone goes by its delete rule.
struct UndoForeignKeys {
    private typealias Found = [UndoLogRowID: PatchConflict?]

    let schema: UndoSchema
    let statements: PatchStatements
    let options: PatchOptions

    /// A row that an undo has touched.
    private struct Row {
        let id: UndoLogRowID
        let table: UndoTable
        /// What it was when the undo began, and what it is; nil where it was or is not there.
        let old: [StoredValue]?
        let now: [StoredValue]?

        var reference: ObjectReference {
            table.reference(old ?? now ?? table.columns.map { _ in .null }, id.key)
        }

        /// The values of columns; nil where one is null, or the row is not there.
        func values(_ columns: [String], in cells: [StoredValue]?) -> [StoredValue]? {
            guard let cells else { return nil }
            let values = columns.compactMap { table.place(of: $0).map { cells[$0] } }
            return values.count == columns.count && !values.contains(.null) ? values : nil
        }
    }

    /// Looks at all rows that an undo has touched, and at those that go with them.
    ///
    /// - Returns: the rows that are to stay as they are, with what is in the way; nil where that is at their owner.
    func settle(
        _ log: UndoLog,
        _ counts: inout PatchCounts,
        isKept: (UndoLogRowID) -> Bool
    ) throws -> [UndoLogRowID: PatchConflict?] {
        guard schema.tables.contains(where: { !$0.references.isEmpty || !$0.referring.isEmpty }) else { return [:] }
        var found: Found = [:]
        var isDone = false
        while !isDone {
            isDone = true
            try log.forEachTouched { touched, before, now in
                guard let place = schema.place(of: touched.table.name) else { return }
                let row = Row(
                    id: UndoLogRowID(place: place, key: touched.key),
                    table: schema.tables[place],
                    old: before.flatMap { RowKey(bytes: $0).values },
                    now: now.flatMap { RowKey(bytes: $0).values }
                )
                try checkReferences(of: row, &found)
                try checkOwner(of: row, isKept, &found)
                if try leave(row, &found, &counts) { isDone = false }
            }
            if !found.isEmpty { break }
        }
        return found
    }

    // MARK: What a row refers to

    private func checkReferences(of row: Row, _ found: inout Found) throws {
        for key in row.table.references {
            guard let values = row.values(key.columns, in: row.now), values != row.values(key.columns, in: row.old),
                try !statements.exists(Self.parent(key), values)
            else { continue }
            let attribute = row.table.place(of: key.columns[0]).map { row.table.names[$0] }
            found[row.id] = conflict(.constraint, row, attribute)
        }
    }

    /// A row that is deleted stays where the one that owns it does.
    private func checkOwner(of row: Row, _ isKept: (UndoLogRowID) -> Bool, _ found: inout Found) throws {
        guard row.now == nil else { return }
        for key in row.table.references where key.onDelete == "CASCADE" {
            guard let values = row.values(key.columns, in: row.old), let place = schema.place(of: key.parent) else {
                continue
            }
            let parent = schema.tables[place]
            let keys = parent.tracked.key.map(\.quotedIdentifier).joined(separator: ", ")
            var isOwned = false
            try statements.run(Self.parent(key, keys), values) { owner in
                let id = UndoLogRowID(place: place, key: RowKey(parent.tracked.key.indices.map(owner.value)))
                if isKept(id) { isOwned = true }
            }
            if isOwned { found[row.id] = .some(nil) }
        }
    }

    // MARK: What refers to a row

    /// - Returns: whether other rows have changed.
    private func leave(_ row: Row, _ found: inout Found, _ counts: inout PatchCounts) throws -> Bool {
        var hasChanged = false
        for key in row.table.referring {
            guard let values = row.values(key.parentColumns, in: row.old),
                values != row.values(key.parentColumns, in: row.now), try !statements.exists(Self.parent(key), values),
                let place = schema.place(of: key.table), try statements.exists(Self.children(key, "1"), values)
            else { continue }
            switch key.onDelete {
            case "CASCADE" where row.now == nil:
                let conflict = conflict(.changed, row)
                guard options.policy(of: conflict.entity, nil) == .take else {
                    found[row.id] = conflict
                    continue
                }
                let count = try statements.run(
                    "DELETE FROM main.\(key.table.quotedIdentifier) WHERE \(Self.condition(key))",
                    values
                )
                counts.takeAlong(place, Int64(count))
                hasChanged = true
            case "SET NULL" where row.now == nil:
                let set = key.columns.map { "\($0.quotedIdentifier) = NULL" }.joined(separator: ", ")
                let sql = "UPDATE OR ABORT main.\(key.table.quotedIdentifier) SET \(set) WHERE \(Self.condition(key))"
                do {
                    try statements.run(sql, values)
                    hasChanged = true
                } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CONSTRAINT {
                    found[row.id] = conflict(.constraint, row)
                }
            default: found[row.id] = conflict(.constraint, row)
            }
        }
        return hasChanged
    }

    private func conflict(_ kind: PatchConflict.Kind, _ row: Row, _ attribute: String? = nil) -> PatchConflict {
        PatchConflict(kind: kind, entity: row.table.entity, identifier: row.reference, attribute: attribute)
    }

    // MARK: Statements

    /// The row that a foreign key leads to, by the parent's collations.
    private static func parent(_ key: StoredForeignKey, _ columns: String = "1") -> String {
        let condition = key.parentColumns.enumerated().map { "\($1.quotedIdentifier) = ?\($0 + 1)" }
        return
            "SELECT \(columns) FROM main.\(key.parent.quotedIdentifier) WHERE \(condition.joined(separator: " AND ")) LIMIT 1"
    }

    private static func condition(_ key: StoredForeignKey) -> String {
        key.columns.enumerated().map { "\($1.quotedIdentifier) = ?\($0 + 1)" }.joined(separator: " AND ")
    }

    private static func children(_ key: StoredForeignKey, _ columns: String) -> String {
        "SELECT \(columns) FROM main.\(key.table.quotedIdentifier) WHERE \(condition(key)) LIMIT 1"
    }
}
