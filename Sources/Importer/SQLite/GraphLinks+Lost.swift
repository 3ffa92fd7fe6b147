import GRDBSQLite
import ImportModel

/// Elements whose object is gone, as where another program has deleted it without its foreign keys.
///
/// An owned list is what its record says: the record that has their object's place takes them away.
extension GraphLinks {
    /// The lists that have such elements.
    ///
    /// - Returns: relationships of the layout, with how many elements each has.
    func lost() throws -> [(relationship: Int, count: Int64)] {
        try layout.relationships.indices.filter(isOwning).compactMap { index in
            var count: Int64 = 0
            try statements.run(form(of: index).countOfLost(in: layout)) { count = sqlite3_column_int64($0, 0) }
            return count > 0 ? (index, count) : nil
        }
    }

    /// Whether only the record of the object itself says what is in the list, so that nothing of it comes before.
    private func isOwning(_ relationship: Int) -> Bool {
        let placement = layout.relationships[relationship]
        switch placement.shape {
        case .ownedDestination: return true
        case .join: return placement.inverse == nil
        case .oneToMany:
            return placement.owner != relationship
                && layout.relationships[placement.owner].description.from.isEmpty
        case .source, .oneToOne: return false
        }
    }

    /// Takes away what the lists of an object have that is new.
    func takeAwayLost(from row: Int, _ entity: Int, key: RowKey, _ outcome: inout GraphWriter.Outcome) throws {
        isEmptying = true
        defer { isEmptying = false }
        for index in losing where layout.hierarchy.chain(of: entity).contains(layout.relationships[index].entity) {
            let (form, first) = (form(of: index), outcome.deleted.count)
            try set([], of: index, row: row, key: key, isNew: false, &outcome)
            for gone in outcome.deleted[first...] where gone.entity == form.destination {
                outcome.ledger.append((.orphanDeleted, form.entity, form.description.name))
            }
        }
    }
}
