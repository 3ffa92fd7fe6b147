import GRDBSQLite
import ImportModel

/// What deleting an object does to others, by the delete rules: the importer works without the store's foreign keys.
extension LinkWriter {
    /// A row, by the entity whose table has it.
    private struct Row: Hashable {
        let home: Int
        let rowID: Int64
    }

    /// Deletes an object, and does what the delete rules say.
    ///
    /// - Returns: whether it is gone: a rule may deny it.
    @discardableResult
    package func delete(_ rowID: Int64, of entity: Int, _ outcome: inout GraphWriter.Outcome) throws -> Bool {
        var pending = [(entity, rowID)]
        var seen: Set<Row> = []
        var all: [(entity: Int, rowID: Int64, key: RowKey)] = []
        // What goes with it is found before anything is done: one denial keeps all of it.
        while let (entity, rowID) = pending.popLast() {
            guard seen.insert(Row(home: layout.home(of: entity), rowID: rowID)).inserted else { continue }
            let key = try self.key(of: rowID, entity)
            all.append((entity, rowID, key))
            for (index, placement) in layout.relationships.enumerated()
            where layout.hierarchy.isRelated(placement.entity, entity) {
                let destinations = try self.destinations(of: index, key, rowID, entity)
                switch placement.deleteRule {
                case .deny where !destinations.isEmpty: return false
                case .cascade: pending += destinations.map { (placement.destination, $0) }
                case .deny, .nullify, .noAction: break
                }
            }
        }
        for (entity, rowID, key) in all {
            for (index, placement) in layout.relationships.enumerated() where placement.owner == index {
                try clear(index, placement, key, entity, &outcome)
            }
            try forgetWaiting(of: key, entity)
            try forgetLeftOut(rowID, entity)
            let table = layout.table(of: entity).quotedIdentifier
            try statements.run("DELETE FROM \(table) WHERE rowid = ?", [.number(rowID)])
            try statements.run(
                "DELETE FROM _import_stub WHERE table_name = ? AND key = ?",
                [.text(layout.table(of: entity)), .bytes(key.bytes)]
            )
            outcome.deleted.append((entity, rowID))
        }
        return true
    }

    /// Takes a row from the object within which it is identified, and all links to it and from it with that.
    func detach(_ rowID: Int64, _ form: LinkStatements, _ outcome: inout GraphWriter.Outcome) throws {
        let key = try key(of: rowID, form.destination)
        for (index, placement) in layout.relationships.enumerated() where placement.owner == index {
            try clear(index, placement, key, form.destination, &outcome)
        }
        try forgetWaiting(of: key, form.destination)
        try statements.run(form.clearRow, [.number(rowID)])
        outcome.updated.append((form.destination, rowID))
    }

    /// By what a row of an entity is referred to.
    func key(of rowID: Int64, _ entity: Int) throws -> RowKey {
        let names = layout.key(of: entity)
        if layout.hierarchy.identifier(of: entity).isEmpty { return RowKey(rowID: rowID) }
        var key = RowKey()
        let columns = names.map(\.name.quotedIdentifier).joined(separator: ", ")
        let table = layout.table(of: entity).quotedIdentifier
        try statements.run("SELECT \(columns) FROM \(table) WHERE rowid = ?", [.number(rowID)]) {
            key = RowKey($0, columns: 0..<Int32(names.count))
        }
        return key
    }

    /// The row ids of what an object leads to by a relationship.
    private func destinations(of relationship: Int, _ key: RowKey, _ rowID: Int64, _ entity: Int) throws -> [Int64] {
        let form = form(of: relationship)
        let placement = layout.relationships[relationship]
        var rowIDs: [Int64] = []
        if form.isJoin {
            var keys: [RowKey] = []
            try statements.run(form.selectRows, [.key(key)]) {
                keys.append(RowKey($0, columns: 1..<1 + Int32(form.destinationKey.count)))
            }
            for other in keys {
                let table = layout.table(of: placement.destination).quotedIdentifier
                let condition = form.destinationKey.map { "\($0) = ?" }.joined(separator: " AND ")
                rowIDs += try statements.integers("SELECT rowid FROM \(table) WHERE \(condition)", [.key(other)])
            }
        } else if placement.owner == relationship, placement.shape != .ownedDestination {
            // The column is the object's own.
            let holder = placement.shape == .source ? entity : placement.holder ?? placement.entity
            let own = layout.table(of: holder).quotedIdentifier
            let other = layout.table(of: placement.destination).quotedIdentifier
            let pairs = zip(layout.references(of: relationship), layout.key(of: placement.destination))
            let condition = pairs.map { "own.\($0.name.quotedIdentifier) = other.\($1.name.quotedIdentifier)" }
            rowIDs = try statements.integers(
                "SELECT other.rowid FROM \(own) AS own JOIN \(other) AS other ON \(condition.joined(separator: " AND ")) "
                    + "WHERE own.rowid = ?",
                [.number(rowID)]
            )
        } else {
            rowIDs = try statements.integers(form.selectRows, [.key(key)]).filter { try !isLeftOut($0, form) }
        }
        return rowIDs
    }

    /// Forgets what waits for an object that goes to refer to it, or to be referred to by it.
    private func forgetWaiting(of key: RowKey, _ entity: Int) throws {
        for (index, placement) in layout.relationships.enumerated()
        where layout.hierarchy.isRelated(placement.entity, entity) {
            try forgetWaiting(form(of: index), source: key)
        }
    }

    /// Takes away what refers to an object that goes.
    private func clear(
        _ relationship: Int,
        _ placement: RelationshipStorage,
        _ key: RowKey,
        _ entity: Int,
        _ outcome: inout GraphWriter.Outcome
    ) throws {
        let form = form(of: relationship)
        if form.isJoin {
            let join = layout.join(of: relationship)
            let table = join.table.quotedIdentifier
            for (columns, end) in [(join.source, placement.entity), (join.destination, placement.destination)]
            where layout.hierarchy.isRelated(end, entity) {
                let condition = columns.map { "\($0.name.quotedIdentifier) = ?" }.joined(separator: " AND ")
                try statements.run("DELETE FROM \(table) WHERE \(condition)", [.key(key)])
            }
            return
        }
        guard layout.hierarchy.isRelated(layout.target(of: relationship), entity) else { return }
        let rule = placement.shape == .ownedDestination ? placement : placement.inverse.map { layout.relationships[$0] }
        guard rule?.deleteRule != .noAction else { return }
        for (holder, form) in LinkStatements.all(relationship, layout) {
            for rowID in try statements.integers(form.selectOwners, [.key(key)]) {
                try statements.run(form.clearRow, [.number(rowID)])
                outcome.updated.append((holder, rowID))
            }
        }
    }
}

extension EntityHierarchy {
    /// True if rows of one entity may be rows of the other.
    func isRelated(_ one: Int, _ other: Int) -> Bool {
        chain(of: one).contains(other) || chain(of: other).contains(one)
    }
}
