import ImportModel

/// Rows that are there for references to them alone, until records say more of them.
///
/// They are known by their identifiers: row ids are not what they were after a `VACUUM`.
///
/// Belongs to one connection; used inside of its transactions only.
package final class StubRows {
    private let layout: ModelLayout
    private let statements: LinkStatementCache
    /// By entity whether its table has any; what is not in it has not been asked.
    private var known: [Int: Bool] = [:]

    package init(_ layout: ModelLayout, _ statements: LinkStatementCache) {
        self.layout = layout
        self.statements = statements
    }

    /// Forgets which tables have any: another connection may have changed that.
    package func forget() { known.removeAll(keepingCapacity: true) }

    package func add(_ key: RowKey, of entity: Int) throws {
        try statements.run(
            "INSERT OR IGNORE INTO _import_stub (table_name, key) VALUES (?, ?)",
            [.text(layout.table(of: entity)), .bytes(key.bytes)]
        )
        known[entity] = true
    }

    /// Takes a row from among them.
    ///
    /// - Returns: whether it was one.
    package func remove(_ key: RowKey, of entity: Int) throws -> Bool {
        try statements.run(
            "DELETE FROM _import_stub WHERE table_name = ? AND key = ?",
            [.text(layout.table(of: entity)), .bytes(key.bytes)]
        ) > 0
    }

    /// True if the table of an entity has any.
    func hasAny(of entity: Int) throws -> Bool {
        if let isKnown = known[entity] { return isKnown }
        let sql = "SELECT 1 FROM _import_stub WHERE table_name = ? LIMIT 1"
        let isThere = try statements.exists(sql, [.text(layout.table(of: entity))])
        known[entity] = isThere
        return isThere
    }
}
