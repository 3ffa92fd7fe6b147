import GRDB
import ImportEngine
import ImportModel

/// The steps of relationships, and of what is gone.
extension MigrationPlanner {
    mutating func addRelationship(_ index: Int) throws {
        let placement = new.relationships[index]
        let (entity, name) = (new.entities[placement.entity].name, placement.description.name)
        guard let found = map.match.relationships[index] else {
            let isHeld = map.match.links(of: index) != nil
            var text = isHeld ? "is new: the other side of an existing one" : "is new, empty in existing rows"
            if !placement.description.isOptional, !isHeld {
                let rows = try count(pairs(of: placement.entity))
                if rows > 0 { text += "; it is required, and no row has it" }
            }
            return add(.relationshipAdded, entity, name, text)
        }
        let (before, after) = (old.relationships[found].description, placement.description)
        if !before.name.hasSameBytes(as: name) {
            add(.relationshipRenamed, entity, name, "is renamed from \(before.name)")
        }
        try addDestination(index, found, entity)
        try addKeys(index)
        try addCardinality(index, found, entity)
        try addOrder(index, found, entity)
        if old.relationships[found].deleteRule != placement.deleteRule {
            let rules = (placement.deleteRule.rawValue, old.relationships[found].deleteRule.rawValue)
            add(.deleteRuleChanged, entity, name, "has the delete rule \(rules.0) instead of \(rules.1)")
        }
        let inverse = placement.inverse.flatMap { map.match.relationships[$0] }
        if (placement.inverse == nil) != (old.relationships[found].inverse == nil)
            || placement.inverse != nil && inverse != old.relationships[found].inverse
        {
            let text = after.inverse.map { "has the inverse \($0)" } ?? "has no inverse"
            add(.inverseChanged, entity, name, text + (before.inverse.map { " instead of \($0)" } ?? ""))
        }
        try addNeed(index, before, entity)
        if before.columns != after.columns || before.table != after.table {
            add(.storageRenamed, entity, name, "has other columns or another table")
        }
        let counts = before.minimumCount != after.minimumCount || before.maximumCount != after.maximumCount
        if counts || isReadOtherwise(before, after) {
            add(.readingChanged, entity, name, "is read from records in another way")
        }
    }

    private mutating func addDestination(_ index: Int, _ found: Int, _ entity: String) throws {
        let placement = new.relationships[index]
        guard map.match.entities[placement.destination] != old.relationships[found].destination,
            let links = map.match.links(of: index)
        else { return }
        let name = old.entities[old.relationships[found].destination].name
        let isKnown = map.match.successor(of: old.relationships[found].destination).map {
            new.home(of: $0) == new.home(of: placement.destination)
        }
        let obstacle = try isKnown == true ? nil : linkObstacle(links, "these lead to a \(name)")
        add(
            .destinationChanged,
            entity,
            placement.description.name,
            "leads to \(placement.description.destination) instead of \(name)",
            obstacle
        )
    }

    private mutating func addCardinality(_ index: Int, _ found: Int, _ entity: String) throws {
        let placement = new.relationships[index]
        let (before, after) = (old.relationships[found].description, placement.description)
        guard before.isToMany != after.isToMany, let links = map.match.links(of: index) else { return }
        guard !after.isToMany else {
            let rows = try count(linkRows(links))
            return add(.cardinalityChanged, entity, after.name, "is to-many instead of to-one", rows: rows)
        }
        let several = try severalOf(.source, index, links)
        add(.cardinalityChanged, entity, after.name, "is to-one instead of to-many", several)
    }

    /// The objects at an end that have several at the other, which only the first of is kept for.
    func severalOf(
        _ side: RelationshipEnd,
        _ index: Int,
        _ links: OldRelationship,
        _ reason: String = "these have several; the first is kept",
        isLoss: Bool = true
    ) throws -> ModelMigration.Obstacle? {
        // The relationship as its owner has it may be the other way round.
        let isOwner = new.relationships[index].owner == index
        let side = isOwner ? side : side.other
        let references = map.references(to: side, links, "l").map(\.sql)
        guard !references.isEmpty else { return nil }
        let list = references.joined(separator: ", ")
        let isLink = map.isLink(links, "l").map { " WHERE \($0)" } ?? ""
        let groups = "SELECT \(list) FROM \(map.linkTable(links)) AS l\(isLink) GROUP BY \(list) HAVING count(*) > 1"
        let count = try count("(\(groups))")
        guard count > 0 else { return nil }
        let rows = try Row.fetchAll(database, sql: groups + " ORDER BY \(list) LIMIT 3").map { row in
            ModelMigration.Row(rowID: nil, identifier: row.databaseValues.map(\.plainText))
        }
        return ModelMigration.Obstacle(reason: reason, count: count, rows: rows, isLoss: isLoss)
    }

    private mutating func addOrder(_ index: Int, _ found: Int, _ entity: String) throws {
        let (before, after) = (old.relationships[found], new.relationships[index])
        guard before.description.isToMany, after.description.isToMany, before.isOrdered != after.isOrdered,
            let links = map.match.links(of: index)
        else { return }
        guard !after.isOrdered else {
            return add(.orderChanged, entity, after.description.name, "keeps its order, at first that of the row ids")
        }
        let side: RelationshipEnd = new.relationships[index].owner == index ? .destination : .source
        var obstacle: ModelMigration.Obstacle?
        if let order = map.order(at: side, links, "l"), try losesOrder(index) {
            let condition = "\(order.sql) IS NOT NULL"
            obstacle = try linkObstacle(links, "these have an index in a list", isLoss: true, where: condition)
        }
        add(.orderChanged, entity, after.description.name, "does not keep its order", obstacle)
    }

    /// True if there is no column for a list's order.
    private func losesOrder(_ index: Int) throws -> Bool {
        let placement = new.relationships[index]
        guard placement.shape == .join else { return new.positionColumn(of: index) == nil }
        let join = new.join(of: index)
        return (placement.owner == index ? join.position : join.inversePosition) == nil
    }

    private mutating func addNeed(_ index: Int, _ before: RelationshipDescription, _ entity: String) throws {
        let after = new.relationships[index].description
        guard before.isOptional != after.isOptional else { return }
        guard !after.isOptional else { return add(.becomesOptional, entity, after.name, "becomes optional") }
        var text = "becomes required"
        if let links = map.match.links(of: index) {
            let all = try count(pairs(of: new.relationships[index].entity))
            let references = map.references(
                to: new.relationships[index].owner == index ? .source : .destination,
                links,
                "l"
            ).map(\.sql)
            let isLink = map.isLink(links, "l").map { " WHERE \($0)" } ?? ""
            let held =
                references.isEmpty
                ? try count(linkRows(links))
                : try count(
                    "(SELECT DISTINCT \(references.joined(separator: ", ")) FROM \(map.linkTable(links)) AS l\(isLink))"
                )
            let empty = all - held
            if empty > 0 { text += "; it is empty in \(empty.grouped) \(empty == 1 ? "row" : "rows")" }
        }
        add(.becomesRequired, entity, after.name, text)
    }

    private func isReadOtherwise(_ one: RelationshipDescription, _ other: RelationshipDescription) -> Bool {
        let isRenamed = !one.name.hasSameBytes(as: other.name)
        func isUsual(_ side: RelationshipDescription) -> Bool {
            side.from == [RelationshipDescription.Source.value(AttributePath(keys: [side.name]))]
        }
        let isSamePath = one.from == other.from || isRenamed && isUsual(one) && isUsual(other)
        let isSameWay = one.by == other.by && one.list == other.list && one.identity == other.identity
        let isSameRule = one.orphans == other.orphans && one.unresolved == other.unresolved && one.owner == other.owner
        let isSameText = one.onConflict == other.onConflict && one.userInfo == other.userInfo
        return !(isSamePath && isSameWay && isSameRule && isSameText)
    }

    // MARK: Links

    /// The rows of old links that meet a condition, under the alias `l`.
    func linkRows(_ links: OldRelationship, _ condition: String? = nil) -> String {
        let conditions = [map.isLink(links, "l"), condition].compactMap(\.self).joined(separator: " AND ")
        return "\(map.linkTable(links)) AS l" + (conditions.isEmpty ? "" : " WHERE \(conditions)")
    }

    /// An obstacle where there are links that meet a condition.
    func linkObstacle(
        _ links: OldRelationship,
        _ reason: String,
        isLoss: Bool = false,
        advice: String? = nil,
        where condition: String? = nil
    ) throws -> ModelMigration.Obstacle? {
        let count = try count(linkRows(links, condition))
        guard count > 0 else { return nil }
        let isJoin = old.relationships[links.owner].shape == .join
        let own =
            map.references(to: .source, links, "l").map(\.sql) + map.references(to: .destination, links, "l").map(\.sql)
        let columns = ([isJoin ? "NULL" : "l.rowid"] + own).joined(separator: ", ")
        let sql = "SELECT \(columns) FROM \(linkRows(links, condition)) ORDER BY \(columns) LIMIT 3"
        let rows = try rows(sql)
        return ModelMigration.Obstacle(reason: reason, count: count, rows: rows, isLoss: isLoss, advice: advice)
    }

    // MARK: What is gone

    mutating func addGone() throws {
        for entity in old.entities.indices {
            guard let successor = map.match.successor(of: entity) else {
                try addGone(entity)
                continue
            }
            for attribute in old.entities[entity].attributes {
                try addGone(attribute, of: entity, successor)
            }
        }
        let kept = Set(new.relationships.indices.compactMap { map.match.links(of: $0)?.owner })
        for (index, placement) in old.relationships.enumerated()
        where !map.match.relationships.contains(index) && map.match.successor(of: placement.entity) != nil {
            let links = OldRelationship(owner: placement.owner, isReversed: false)
            let isHeld = !kept.contains(placement.owner) && map.isPresent(links)
            let obstacle = try isHeld ? linkObstacle(links, "these have a value", isLoss: true) : nil
            let name = map.match.successor(of: placement.entity).map { new.entities[$0].name } ?? ""
            add(.relationshipGone, name, placement.description.name, "is dropped", obstacle)
        }
    }

    private mutating func addGone(_ entity: Int) throws {
        let description = old.entities[entity]
        var obstacle: ModelMigration.Obstacle?
        if old.hasTable(entity), map.present.contains(ExistingEntity.folded(old.table(of: entity))) {
            let rows = try count(rows(of: [entity]))
            let hasOwn = old.home(of: entity) == entity || !description.isAbstract
            if rows > 0, hasOwn {
                obstacle = ModelMigration.Obstacle(
                    reason: "these rows are of this entity",
                    count: rows,
                    rows: try firstRows(of: entity, nil),
                    isLoss: true,
                    advice: Self.hint(
                        new.entities.indices.filter { map.match.entities[$0] == nil }.map { new.entities[$0].name },
                        description.name
                    )
                )
            }
        }
        add(.entityGone, description.name, nil, "is dropped", obstacle)
        if obstacle != nil { try addReferences(toGone: entity) }
    }

    private mutating func addGone(_ attribute: AttributeDescription, of entity: Int, _ successor: Int) throws {
        let own = pairs(of: successor).filter { old.hierarchy.chain(of: $0.old).contains(entity) }
        let pairs = own.isEmpty ? [MigrationMapping.EntityPair(old: entity, new: successor)] : own
        let gone = pairs.filter { !map.match.hasAttribute(attribute.name, of: $0.old, in: $0.new) }
        guard !gone.isEmpty else { return }
        let added = new.entities[successor].attributes.filter {
            $0.type == attribute.type && map.match.attribute($0.name, of: successor, in: entity) == nil
        }
        let obstacle = try obstacle(
            gone.filter { own.contains($0) },
            "these have a value",
            isLoss: true,
            advice: Self.hint(added.map(\.name), attribute.name)
        ) { "\(map.column(attribute.column, of: old.table(of: $0.old), "o").sql) IS NOT NULL" }
        add(.attributeGone, new.entities[successor].name, attribute.name, "is dropped", obstacle)
    }

    /// What is new may be what is gone under another name.
    private static func hint(_ names: [String], _ name: String) -> String? {
        guard let first = names.first else { return nil }
        return
            "If \(first) is what \(name) was, give it \"renamingIdentifier\": \(JSONValue.string(name).serialized())."
    }
}
