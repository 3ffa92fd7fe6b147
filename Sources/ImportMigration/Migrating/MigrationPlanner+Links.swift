import GRDB
import ImportModel

/// The steps of links that are kept in another way, though no relationship says another number or order of them.
extension MigrationPlanner {
    /// - Parameter index: a relationship of the new model whose names the storage has.
    mutating func addStorage(_ index: Int) throws {
        guard new.relationships[index].owner == index, let links = map.match.links(of: index), map.isPresent(links)
        else { return }
        try addRoom(index, links)
        for side in [RelationshipEnd.destination, .source] { try addPositions(of: side, index, links) }
    }

    /// Where there is room for one link, several may have been.
    private mutating func addRoom(_ index: Int, _ links: OldRelationship) throws {
        let after = new.relationships[index]
        guard let holder = after.holderSide else { return }
        let text = "holds one link instead of several"
        let (entity, name) = (new.entities[after.entity].name, after.description.name)
        if map.mayHaveSeveral(index, links) {
            let side = map.isInPlace(index, links) ? holder.other : holder
            if !isNowToOne(side, index), let several = try severalOf(side, index, links) {
                add(.cardinalityChanged, entity, name, text, several)
            }
        }
        // The first of one end's links may be one that is not the first of the other end's.
        let isOneToOne = after.shape == .oneToOne || after.shape == .ownedDestination && !after.description.isToMany
        if isOneToOne, old.relationships[links.owner].shape == .join,
            let several = try severalOf(holder.other, index, links, "these have several", isLoss: false)
        {
            add(.cardinalityChanged, entity, name, text, several)
        }
    }

    /// True if the relationship that leads from an end says itself that it is to-one now.
    private func isNowToOne(_ side: RelationshipEnd, _ index: Int) -> Bool {
        guard let own = side == .source ? index : new.relationships[index].inverse,
            let before = map.match.relationships[own]
        else { return false }
        return old.relationships[before].description.isToMany && !new.relationships[own].description.isToMany
    }

    /// The order of lists may have no column any more.
    private mutating func addPositions(of side: RelationshipEnd, _ index: Int, _ links: OldRelationship) throws {
        let formerSide = links.isReversed ? side.other : side
        let former = formerSide == .destination ? links.owner : old.relationships[links.owner].inverse
        guard let former, old.relationships[former].description.isToMany, old.relationships[former].isOrdered,
            !hasPositions(of: side, index), let order = map.order(at: side, links, "l")
        else { return }
        let list = side == .destination ? index : new.relationships[index].inverse
        if let list, map.match.relationships[list] == former {
            let isSaid =
                !new.relationships[list].description.isToMany
                || new.relationships[list].isOrdered != old.relationships[former].isOrdered
            guard !isSaid else { return }
        }
        let condition = "\(order.sql) IS NOT NULL"
        guard let obstacle = try linkObstacle(links, "these have an index in a list", isLoss: true, where: condition)
        else { return }
        add(.orderChanged, of: list ?? index, "does not keep the order of \(old.name(of: former))", obstacle)
    }

    /// True if there is a column for the index of the objects at an end in the lists of the other end.
    private func hasPositions(of side: RelationshipEnd, _ index: Int) -> Bool {
        let placement = new.relationships[index]
        guard placement.shape == .join else {
            return placement.holderSide == side && new.positionColumn(of: index) != nil
        }
        let join = new.join(of: index)
        return (side == .destination ? join.position : join.inversePosition) != nil
    }

    // MARK: Rows that go

    /// References to rows of an entity that goes, which leaves others in its table.
    mutating func addReferences(toGone entity: Int) throws {
        let home = old.home(of: entity)
        guard let isGone = map.condition([entity], ofOld: home, "t") else { return }
        for index in new.relationships.indices where new.relationships[index].owner == index {
            guard let links = map.match.links(of: index), map.isPresent(links) else { continue }
            for side in [RelationshipEnd.source, .destination] {
                let end = map.oldEntity(at: side, links)
                let references = map.references(to: side, links, "l")
                guard !references.isEmpty, old.hierarchy.chain(of: entity).contains(end) else { continue }
                let own = zip(map.oldKey(end, "t"), references).map { "\($0) = \($1.sql)" } + [isGone]
                let condition =
                    "EXISTS (SELECT 1 FROM \(map.table(ofOld: end)) AS t WHERE \(own.joined(separator: " AND ")))"
                let obstacle = try linkObstacle(
                    links,
                    "these refer to a \(old.entities[entity].name)",
                    advice: "Clear the references first, or keep the entity.",
                    where: condition
                )
                if let obstacle { add(.destinationChanged, of: index, "refers to rows that are dropped", obstacle) }
            }
        }
    }
}
