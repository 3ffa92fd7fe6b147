import GRDBSQLite
import ImportModel

/// One-to-ones that are their own inverse: each of two partners refers to the other.
extension LinkWriter {
    /// Lets what an object is about to refer to refer to it, and what has referred to it no longer.
    ///
    /// - Parameters:
    ///   - own: by what the object is referred to.
    ///   - key: its partner from now on; nil, or with nulls, for none.
    package func mirror(
        _ own: RowKey,
        at key: RowKey?,
        _ form: LinkStatements,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        guard !own.hasNull else { return }
        for other in try owners(of: own, form) where other.key != key {
            try statements.run(form.clearRow, [.number(other.rowID)])
            outcome.updated.append((form.entity, other.rowID))
            outcome.ledger.append((.unlinked, form.entity, form.description.name))
        }
        guard let key, !key.hasNull else { return }
        // It has another partner than the one that it waited for.
        if form.isNamed { try forgetWaiting(form, source: key) }
        guard let partner = try statements.integer(form.findRow, [.key(key)]) else { return }
        if try statements.run(form.setNamed, [.key(own), .number(partner), .key(own)]) > 0 {
            outcome.updated.append((form.entity, partner))
        }
    }

    /// Lets a new row refer to what has referred to it before it came.
    func referBack(_ rowID: Int64, _ entity: Int, key: RowKey) throws {
        for index in mirrored where layout.hierarchy.chain(of: entity).contains(layout.relationships[index].entity) {
            let form = form(of: index)
            for other in try owners(of: key, form) {
                try statements.run(form.setNamed, [.key(other.key), .number(rowID), .key(other.key)])
            }
        }
    }

    private func owners(of key: RowKey, _ form: LinkStatements) throws -> [(rowID: Int64, key: RowKey)] {
        var owners: [(rowID: Int64, key: RowKey)] = []
        try statements.run(form.selectOwners, [.key(key)]) {
            let other = RowKey($0, columns: 1..<1 + Int32(form.holderKey.count))
            owners.append((sqlite3_column_int64($0, 0), other))
        }
        return owners
    }
}
