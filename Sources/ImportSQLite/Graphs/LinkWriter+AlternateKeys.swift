import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// References by other attributes than the identifier: the columns hold it all the same, so that they are looked up.
///
/// What names an object that is not there waits in `_import_link`, whose `target` is then `mark` and the values.
extension LinkWriter {
    /// Begins what waits for an object by its values; no key begins with it.
    package static let mark: UInt8 = 0xFF

    /// Makes the indexes by which objects are found that are named so.
    func prepareLookups() throws {
        for index in named {
            try statements.run(form(of: index).makeIndex)
        }
    }

    /// The key of the first object that has some values; nil for none.
    package func find(_ values: RowKey, of relationship: Int, _ outcome: inout GraphWriter.Outcome) throws -> RowKey? {
        let form = form(of: relationship)
        var found: [RowKey] = []
        try statements.run(form.findNamed, [.key(values)]) {
            found.append(RowKey($0, columns: 0..<Int32(form.destinationKey.count)))
        }
        if found.count > 1 { outcome.ledger.append((.ambiguous, form.entity, form.description.name)) }
        return found.first
    }

    /// Sets a to-one in an object's own columns to the object that has some values.
    ///
    /// - Parameters:
    ///   - row: its index in the batch.
    ///   - rowID: its row id, among those of this entity.
    ///   - key: by what it is referred to.
    package func name(
        _ relationship: Int,
        _ values: RowKey,
        row: Int,
        rowID: Int64,
        of entity: Int,
        key: RowKey,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        let form = form(of: relationship, in: entity)
        guard let target = try find(values, of: relationship, &outcome) else {
            if try statements.run(form.clearNamed, [.number(rowID)]) > 0 { outcome.relinked.insert(row) }
            if form.isMirrored { try mirror(key, at: nil, form, &outcome) }
            let isWaiting = try self.isWaiting(form, for: values, source: key)
            if !isWaiting { outcome.relinked.insert(row) }
            try forgetWaiting(form, source: key)
            return try wait(forValues: values, key, nil, form)
        }
        try forgetWaiting(form, source: key)
        if try set(form, rowID, key, to: target, &outcome) { outcome.relinked.insert(row) }
    }

    /// - Returns: whether that changed anything.
    private func set(
        _ form: LinkStatements,
        _ rowID: Int64,
        _ own: RowKey,
        to target: RowKey,
        _ outcome: inout GraphWriter.Outcome
    ) throws -> Bool {
        if form.isMirrored { try mirror(own, at: target, form, &outcome) }
        if form.isOneToOne {
            if let inverse = form.inverse { try forgetWaiting(self.form(of: inverse), source: target) }
            for other in try statements.integers(form.selectOwners, [.key(target)]) where other != rowID {
                try statements.run(form.clearRow, [.number(other)])
                outcome.updated.append((form.entity, other))
                outcome.ledger.append((.unlinked, form.entity, form.description.name))
            }
        }
        return try statements.run(form.setNamed, [.key(target), .number(rowID), .key(target)]) > 0
    }

    /// Forgets what a row's own columns wait for that it states now.
    func forgetStated(
        by row: Int,
        _ entity: Int,
        key: RowKey,
        _ batch: borrowing RowBatch,
        _ plan: GraphPlan
    ) throws {
        for (owner, range) in plan.nodes[entity].rows.references
        where batch.isPresent(range.lowerBound, in: batch.rows[row]) {
            let form = form(of: owner)
            if form.isNamed { try forgetWaiting(form, source: key) }
        }
    }

    // MARK: What waits

    /// Notes a reference to an object that is not there.
    package func wait(forValues values: RowKey, _ source: RowKey, _ position: Int64?, _ form: LinkStatements) throws {
        if !form.isJoin, layout.relationships[form.relationship].owner != form.relationship {
            // One row refers to one object.
            try statements.run(
                "DELETE FROM _import_link WHERE relationship = ? AND target = ? AND source <> ?",
                [.text(form.name), .bytes([Self.mark] + values.bytes), .bytes(source.bytes)]
            )
        }
        try wait(for: RowKey(bytes: [Self.mark] + values.bytes), source, position, form)
    }

    private func isWaiting(_ form: LinkStatements, for values: RowKey, source: RowKey) throws -> Bool {
        try statements.exists(
            "SELECT 1 FROM _import_link WHERE relationship = ? AND target = ? AND source = ?",
            [.text(form.name), .bytes([Self.mark] + values.bytes), .bytes(source.bytes)]
        )
    }

    /// Notes what of an object's list waits for its rows.
    func noteWaiting(_ form: LinkStatements, source: RowKey, _ positions: inout ListPositions) throws {
        guard try isWaiting(form.name) else { return }
        try statements.run(
            "SELECT position, target FROM _import_link WHERE relationship = ? AND source = ?",
            [.text(form.name), .bytes(source.bytes)]
        ) { positions.note($0?.position(of: 0), of: $0.bytes(of: 1), isPlaced: !form.hasPosition) }
    }

    /// Makes the links that have waited for an object with the values that a row has now.
    ///
    /// - Parameter isStated: whether the row says itself, by the relationship that owns the columns, what it refers to.
    func applyNamed(
        for rowID: Int64,
        _ entity: Int,
        isStated: (Int) -> Bool,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        for index in named {
            let placement = layout.relationships[index]
            let form = form(of: index)
            guard layout.hierarchy.chain(of: entity).contains(placement.destination),
                try isWaiting(form.name)
            else { continue }
            var values = RowKey()
            try statements.run(form.selectNames, [.number(rowID)]) {
                values = RowKey($0, columns: 0..<Int32(form.names.count))
            }
            guard !values.hasNull, !values.bytes.isEmpty else { continue }
            let target = [Self.mark] + values.bytes
            var found: [(source: RowKey, position: Int64)] = []
            try statements.run(
                "SELECT source, position FROM _import_link WHERE relationship = ? AND target = ? ORDER BY source",
                [.text(form.name), .bytes(target)]
            ) { found.append((RowKey(bytes: $0.bytes(of: 0)), sqlite3_column_int64($0, 1))) }
            guard !found.isEmpty else { continue }
            let key = try key(of: rowID, form.destination)
            for (source, position) in found {
                try apply(form, placement, rowID, key, source, position, isStated: isStated(placement.owner), &outcome)
            }
            try forgetWaiting(form, target: RowKey(bytes: target))
        }
    }

    private func apply(
        _ form: LinkStatements,
        _ placement: RelationshipStorage,
        _ rowID: Int64,
        _ key: RowKey,
        _ source: RowKey,
        _ position: Int64,
        isStated: Bool,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        let place = form.place(position)
        if form.isJoin {
            try statements.run(form.insertNamedLink, [.key(source), .key(key)] + place)
            if form.isSymmetric { try statements.run(form.insertSymmetricLink, [.key(key), .key(source)]) }
        } else if placement.owner == form.relationship {
            for (entity, form) in LinkStatements.all(form.relationship, layout) {
                for holder in try statements.integers(form.selectWaiting, [.key(source)])
                where try set(form, holder, source, to: key, &outcome) {
                    outcome.updated.append((entity, holder))
                }
            }
        } else if !isStated {
            if form.isOneToOne { try statements.run(form.clearOthers, [.key(source), .number(rowID)]) }
            try statements.run(form.setRow, [.key(source)] + place + [.number(rowID), .key(source)] + place)
        }
    }

    /// Takes away the indexes by which references were looked up while a job ran.
    func removeLookups() throws {
        var names: [String] = []
        try statements.run(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND substr(name, 1, ?) = ?",
            [.number(Int64(LinkStatements.indexPrefix.utf8.count)), .text(LinkStatements.indexPrefix)]
        ) { if let name = sqlite3_column_text($0, 0) { names.append(String(cString: name)) } }
        for name in names { try statements.run("DROP INDEX \(name.quotedIdentifier)") }
    }
}
