/// Objects that have been there for references to them alone: the first record that says more of one inserts it.
extension GraphWriter {
    /// Takes a row from among those that are there for references alone.
    ///
    /// - Returns: the entity that it is of; nil where it is not one.
    func takeStub(of entity: Int, _ key: @autoclosure () -> RowKey) throws -> Int? {
        guard try stubs.hasAny(of: entity) else { return nil }
        let key = key()
        guard !key.hasNull, try stubs.remove(key, of: entity), try isStored(entity, key) else { return nil }
        return try subentities.storedEntity(of: entity, key) ?? entity
    }

    /// Counts a row that was one as inserted.
    ///
    /// - Parameter stub: the entity that it was of.
    package func fill(_ stub: Int, with row: Int, _ entity: Int) throws {
        guard outcome.effects[row] == .updated || outcome.effects[row] == .unchanged,
            let rowID = outcome.rowIDs[row]
        else { return }
        outcome.effects[row] = .inserted
        outcome.filled.append(stub)
        guard stub != entity, let column = layout.entityColumn(of: entity) else { return }
        try statements.run(
            "UPDATE \(layout.table(of: entity).quotedIdentifier) SET \(column.quotedIdentifier) = ? WHERE rowid = ?",
            [.text(layout.entities[entity].name), .number(rowID)]
        )
    }
}
