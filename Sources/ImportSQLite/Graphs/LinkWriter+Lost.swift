import GRDBSQLite
import ImportModel

/// Elements whose object is gone, as where another program has deleted it without its foreign keys.
///
/// An owned list is what its record says: the record that has their object's place takes them away. Where only a row id named the
/// object, no record is of it again, and the end of the job does.
extension LinkWriter {
    /// The lists that have such elements.
    ///
    /// - Returns: relationships of the layout, with how many elements each has.
    package func lost() throws -> [(relationship: Int, count: Int64)] {
        try layout.relationships.indices.filter(isOwning).compactMap { index in
            let count = try statements.integer("SELECT count(*) FROM \(form(of: index).lost(in: layout))") ?? 0
            return count > 0 ? (index, count) : nil
        }
    }

    /// True if only the record of the object itself says what is in the list, so that nothing of it comes before.
    private func isOwning(_ relationship: Int) -> Bool {
        let placement = layout.relationships[relationship]
        switch placement.shape {
        case .ownedDestination: return true
        case .join: return placement.inverse.map { layout.relationships[$0].description.from.isEmpty } ?? true
        case .oneToMany, .oneToOne:
            return placement.owner != relationship
                && layout.relationships[placement.owner].description.from.isEmpty
        case .source: return false
        }
    }

    /// True if nothing but its row id names an object that has a list.
    package func isNamedByRowID(_ relationship: Int) -> Bool {
        layout.hierarchy.identifier(of: layout.relationships[relationship].entity).isEmpty
    }

    /// Takes away what the lists of an object have that is new.
    func takeAwayLost(from row: Int, _ entity: Int, key: RowKey, _ outcome: inout GraphWriter.Outcome) throws {
        for index in losing where layout.hierarchy.chain(of: entity).contains(layout.relationships[index].entity) {
            try takeAway(index, row: row, key: key, &outcome)
        }
    }

    /// Takes away what some of the objects have left that only row ids have named.
    ///
    /// - Parameter last: the row id that theirs follow.
    /// - Returns: the last of theirs; nil where there are no more.
    func takeAwayLost(_ relationship: Int, after last: Int64, _ outcome: inout GraphWriter.Outcome) throws -> Int64? {
        guard isOwning(relationship), isNamedByRowID(relationship) else { return nil }
        let form = form(of: relationship)
        let column = "link.\((form.isJoin ? form.own : form.references)[0])"
        let gone = try statements.integers(
            "SELECT DISTINCT \(column) FROM \(form.lost(in: layout)) AND typeof(\(column)) = 'integer' AND \(column) > ? "
                + "ORDER BY 1 LIMIT 1000",
            [.number(last)]
        )
        for rowID in gone { try takeAway(relationship, row: -1, key: RowKey(rowID: rowID), &outcome) }
        return gone.last
    }

    private func takeAway(_ relationship: Int, row: Int, key: RowKey, _ outcome: inout GraphWriter.Outcome) throws {
        isEmptying = true
        defer { isEmptying = false }
        let (form, first) = (form(of: relationship), outcome.deleted.count)
        try set([], of: relationship, row: row, key: key, isNew: false, &outcome)
        for gone in outcome.deleted[first...] where gone.entity == form.destination {
            outcome.ledger.append((.orphanDeleted, form.entity, form.description.name))
        }
    }

    /// True if an element that is known by its row id alone is in its table: another program may have deleted it.
    package func isThere(_ rowID: Int64, _ form: LinkStatements) throws -> Bool {
        try statements.exists(form.findElement, [.number(rowID)])
    }
}
