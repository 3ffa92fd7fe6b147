import ImportModel

/// What the references and positions of new rows are made of.
extension MigrationMapping {
    // MARK: Keys

    /// The key that a row of an old entity, under an alias, has in the new model as one of an entity.
    func key(_ pair: EntityPair, _ alias: String) throws -> [CellExpression] {
        guard let target = target(ofNew: pair.new) else { return [] }
        return try new.key(of: pair.new).map { column in
            let own = target.table.columns.first { $0.name.hasSameBytes(as: column.name) } ?? column
            return try cell(own, of: target, pair, alias)
        }
    }

    /// The columns by which rows of an old entity are referred to, under an alias.
    func oldKey(_ entity: Int, _ alias: String) -> [String] {
        guard !old.hierarchy.identifier(of: entity).isEmpty else { return ["\(alias).rowid"] }
        return old.key(of: entity).map { column($0.name, of: old.table(of: entity), alias).sql }
    }

    /// References to an old entity as ones to a new entity.
    ///
    /// - Parameter references: the columns with the old key.
    func converted(_ references: [CellExpression], _ pair: EntityPair) throws -> [CellExpression] {
        if let direct = direct(references, pair) { return direct }
        let conditions = zip(oldKey(pair.old, "t"), references).map { "\($0) = \($1.sql)" }.joined(separator: " AND ")
        return try key(pair, "t").map {
            CellExpression(sql: "(SELECT \($0.sql) FROM \(table(ofOld: pair.old)) AS t WHERE \(conditions))")
        }
    }

    /// True if references to an old entity have all that those to the new one need.
    func isDirect(_ pair: EntityPair) -> Bool {
        let references = old.key(of: pair.old).map { CellExpression(sql: $0.name) }
        return direct(references, pair) != nil
    }

    private func direct(_ references: [CellExpression], _ pair: EntityPair) -> [CellExpression]? {
        let (before, after) = (old.key(of: pair.old), new.key(of: pair.new))
        guard before.count == references.count else { return nil }
        var cells: [CellExpression] = []
        for (place, column) in after.enumerated() {
            switch column.role {
            case .rowID:
                guard before.count == 1, before[0].role == .rowID, let target = target(ofNew: pair.new) else {
                    return nil
                }
                let offset = offset(of: old.home(of: pair.old), in: target)
                cells.append(offset.isEmpty ? references[0] : CellExpression(sql: references[0].sql + offset))
            case .attribute:
                guard let own = match.attribute(column.attribute.name, of: pair.new, in: pair.old),
                    let index = before.firstIndex(where: {
                        $0.role == .attribute && $0.attribute.name.hasSameBytes(as: own.name)
                    })
                else { return nil }
                cells.append(converted(own, column.attribute, references[index]))
            case .reference:
                guard after.count == before.count, before[place].role == .reference,
                    let parent = new.parentRelationship(of: pair.new),
                    let former = old.parentRelationship(of: pair.old),
                    match.links(of: parent)?.owner == former,
                    before[place].attribute.type == column.attribute.type
                else { return nil }
                cells.append(references[place])
            case .entity, .position: return nil
            }
        }
        return cells
    }

    // MARK: Old links

    /// The old entity at an end of a new relationship.
    func oldEntity(at side: RelationshipEnd, _ links: OldRelationship) -> Int {
        old.relationships[links.owner].entity(at: links.isReversed ? side.other : side)
    }

    /// The columns of a row of old links, under an alias, that refer to one end of the new relationship; none where the row is
    /// that end itself.
    func references(to side: RelationshipEnd, _ links: OldRelationship, _ alias: String) -> [CellExpression] {
        let placement = old.relationships[links.owner]
        let side = links.isReversed ? side.other : side
        guard let holder = placement.holderSide else {
            let join = old.join(of: links.owner)
            let columns = side == .source ? join.source : join.destination
            return columns.map { column($0.name, of: join.table, alias) }
        }
        guard holder != side, let entity = placement.holder else { return [] }
        return old.references(of: links.owner).map { column($0.name, of: old.table(of: entity), alias) }
    }

    /// The column with the index of the objects at an end in the lists of the other end; nil where there is none.
    func order(at side: RelationshipEnd, _ links: OldRelationship, _ alias: String) -> CellExpression? {
        let placement = old.relationships[links.owner]
        let side = links.isReversed ? side.other : side
        guard let holder = placement.holderSide else {
            let join = old.join(of: links.owner)
            let name = side == .destination ? join.position : join.inversePosition
            return name.map { column($0, of: join.table, alias) }
        }
        guard holder == side, let entity = placement.holder else { return nil }
        return old.positionColumn(of: links.owner).map { column($0, of: old.table(of: entity), alias) }
    }

    /// The table with the old links.
    func linkTable(_ links: OldRelationship) -> String {
        let placement = old.relationships[links.owner]
        guard let holder = placement.holder else {
            return names.table(old.join(of: links.owner).table).quotedIdentifier
        }
        return table(ofOld: holder)
    }

    /// The condition that a row of that table, under an alias, is a link.
    func isLink(_ links: OldRelationship, _ alias: String) -> String? {
        let placement = old.relationships[links.owner]
        guard let holder = placement.holder else { return nil }
        let table = old.table(of: holder)
        let columns = old.references(of: links.owner).map { column($0.name, of: table, alias).sql + " IS NOT NULL" }
        let own = MigrationMapping.entities(ofHome: old.home(of: holder), old).filter {
            old.hierarchy.chain(of: $0).contains(holder)
        }
        return (columns + [condition(own, ofOld: old.home(of: holder), alias)].compactMap(\.self))
            .joined(separator: " AND ")
    }

    /// True if the old links are in columns of the rows that have the new ones.
    func isInPlace(_ relationship: Int, _ links: OldRelationship) -> Bool {
        guard let before = old.relationships[links.owner].holderSide,
            let after = new.relationships[relationship].holderSide
        else { return false }
        return (links.isReversed ? after.other : after) == before
    }

    /// True if several rows of old links may be where the new relationship has room for one.
    func mayHaveSeveral(_ relationship: Int, _ links: OldRelationship) -> Bool {
        let (before, after) = (old.relationships[links.owner], new.relationships[relationship])
        guard after.shape != .join else { return false }
        if !isInPlace(relationship, links) { return before.shape != .oneToOne }
        let isOne = after.shape == .oneToOne || after.shape == .ownedDestination && !after.description.isToMany
        let wasOne = before.shape == .oneToOne || before.shape == .ownedDestination && !before.description.isToMany
        return isOne && !wasOne
    }

    // MARK: Cells

    /// The reference columns of a relationship, in rows of an old entity under an alias.
    func references(of relationship: Int, _ pair: EntityPair, _ alias: String) throws -> [CellExpression] {
        let placement = new.relationships[relationship]
        let count = new.references(of: relationship).count
        guard let holder = placement.holderSide, let links = match.links(of: relationship) else {
            return Array(repeating: .null, count: count)
        }
        let end = EntityPair(old: oldEntity(at: holder.other, links), new: new.target(of: relationship))
        if isInPlace(relationship, links) {
            let cells = try converted(references(to: holder.other, links, alias), end)
            guard mayHaveSeveral(relationship, links), alias == "o" else { return cells }
            let group = references(to: holder.other, links, alias).map(\.sql).joined(separator: ", ")
            let order = [order(at: holder, links, alias)?.sql, "\(alias).rowid"].compactMap(\.self)
                .joined(separator: ", ")
            return cells.map {
                CellExpression(
                    sql: "CASE WHEN row_number() OVER (PARTITION BY \(group) ORDER BY \(order)) = 1 THEN \($0.sql) END"
                )
            }
        }
        let others = references(to: holder.other, links, "l")
        let cells = try others.isEmpty ? key(end, "l") : converted(others, end)
        return cells.map { ofFirstLink($0, holder, links, alias) }
    }

    /// What the first link of a row under an alias has, which is at an end of it; the link is under the alias `l`.
    private func ofFirstLink(_ cell: CellExpression, _ side: RelationshipEnd, _ links: OldRelationship, _ alias: String)
        -> CellExpression
    {
        let own = references(to: side, links, "l")
        let conditions = zip(own, oldKey(oldEntity(at: side, links), alias)).map { "\($0.sql) = \($1)" }
        let order = [order(at: side.other, links, "l")?.sql].compactMap(\.self) + ordering(links, "l")
        return CellExpression(
            sql: "(SELECT \(cell.sql) FROM \(linkTable(links)) AS l WHERE \(conditions.joined(separator: " AND "))"
                + " ORDER BY \(order.joined(separator: ", ")) LIMIT 1)"
        )
    }

    /// What orders rows of links that have no position.
    private func ordering(_ links: OldRelationship, _ alias: String) -> [String] {
        guard old.relationships[links.owner].shape == .join else { return ["\(alias).rowid"] }
        let join = old.join(of: links.owner)
        return (join.source + join.destination).map { column($0.name, of: join.table, alias).sql }
    }

    /// The index in its list, in rows of an old entity under an alias.
    func position(of relationship: Int, _ pair: EntityPair, _ alias: String) throws -> CellExpression {
        let placement = new.relationships[relationship]
        guard let holder = placement.holderSide, let links = match.links(of: relationship) else { return .null }
        if isInPlace(relationship, links), let order = order(at: holder, links, alias) { return order }
        if !isInPlace(relationship, links), let order = order(at: holder, links, "l") {
            return ofFirstLink(order, holder, links, alias)
        }
        let references = try references(of: relationship, pair, alias).map(\.sql)
        let isThere = references.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        let list = references.joined(separator: ", ")
        return CellExpression(
            sql: "CASE WHEN \(isThere) THEN row_number() OVER (PARTITION BY \(list) ORDER BY \(alias).rowid) - 1 END"
        )
    }

    // MARK: Join tables

    /// The cells of a join table's rows, in its order of columns, over old links under the alias `l`; nil where there are none.
    func links(of relationship: Int) throws -> (links: OldRelationship, cells: [CellExpression])? {
        guard let links = match.links(of: relationship) else { return nil }
        let join = new.join(of: relationship)
        var cells: [CellExpression] = []
        for side in [RelationshipEnd.source, .destination] {
            let end = EntityPair(
                old: oldEntity(at: side, links),
                new: new.relationships[relationship].entity(at: side)
            )
            let references = references(to: side, links, "l")
            cells += try references.isEmpty ? key(end, "l") : converted(references, end)
        }
        for (name, side) in [(join.position, RelationshipEnd.destination), (join.inversePosition, .source)]
        where name != nil {
            if let order = order(at: side, links, "l") {
                cells.append(order)
                continue
            }
            let list = side == .destination ? cells[..<join.source.count] : cells[join.source.count...]
            let group = list.prefix(side == .destination ? join.source.count : join.destination.count).map(\.sql)
            cells.append(
                CellExpression(
                    sql: "row_number() OVER (PARTITION BY \(group.joined(separator: ", ")) "
                        + "ORDER BY \(ordering(links, "l").joined(separator: ", "))) - 1"
                )
            )
        }
        return (links, cells)
    }
}
