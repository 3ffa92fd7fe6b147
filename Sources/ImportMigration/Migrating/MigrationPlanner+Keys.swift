import GRDB
import ImportEngine
import ImportModel

/// References that lead to no row, and so can become other ones only by themselves.
extension MigrationPlanner {
    /// A refusal where references without a row would be lost, as the key that they have is another one now.
    mutating func addKeys(_ index: Int) throws {
        guard let links = map.match.links(of: index), map.isPresent(links) else { return }
        // Both sides of a relationship have the same links.
        if let inverse = new.relationships[index].inverse, inverse < index,
            map.match.relationships[inverse] != nil
        {
            return
        }
        let owner = new.relationships[index].owner
        var lost: [String] = []
        for side in [RelationshipEnd.source, .destination] {
            let end = MigrationMapping.EntityPair(
                old: map.oldEntity(at: side, links),
                new: side == .destination ? new.target(of: owner) : new.relationships[owner].entity(at: side)
            )
            let references = map.references(to: side, links, "l")
            guard !references.isEmpty, let condition = lostKeys(references, end) else { continue }
            lost.append(condition)
        }
        guard !lost.isEmpty else { return }
        let condition = lost.map(\.inParentheses).joined(separator: " OR ").inParentheses
        let obstacle = try linkObstacle(
            links,
            "these lead to missing rows, and would be lost",
            advice: "Import the rows first, or clear the references.",
            where: condition
        )
        if let obstacle { add(.destinationChanged, of: index, "refers by another key", obstacle) }
    }

    /// The condition that references have no row, and cannot become new ones without it; nil where all can.
    private func lostKeys(_ references: [CellExpression], _ end: MigrationMapping.EntityPair) -> String? {
        guard map.old.hasTable(end.old) else { return nil }
        let key = map.oldKey(end.old, "t")
        let isThere = references.map { "\($0.sql) IS NOT NULL" }
        let isSame = zip(key, references).map { "\($0) = \($1.sql)" }.joined(separator: " AND ")
        let table = map.old.table(of: end.old)
        let isDangling =
            map.present.contains(ExistingEntity.folded(table))
            ? "NOT EXISTS (SELECT 1 FROM \(map.table(ofOld: end.old)) AS t WHERE \(isSame))" : "1"
        let conditions = isThere + [isDangling]
        guard map.isDirect(end) else { return conditions.joined(separator: " AND ") }
        var changed: [String] = []
        for column in new.key(of: end.new) where column.role == .attribute {
            guard let own = map.match.attribute(column.attribute.name, of: end.new, in: end.old),
                let place = old.key(of: end.old).firstIndex(where: { $0.attribute.name.hasSameBytes(as: own.name) })
            else { continue }
            guard ValueConversion(old: own, new: column.attribute).way != .same else { continue }
            changed.append(MigrationFunctions.isLost(references[place].sql, own, column.attribute).inParentheses)
        }
        guard !changed.isEmpty else { return nil }
        return (conditions + [changed.joined(separator: " OR ").inParentheses]).joined(separator: " AND ")
    }

    // MARK: Links that wait

    /// A refusal where links wait for rows by a key that is another one now.
    mutating func addWaitingLinks() throws {
        for relationship in old.relationships.indices {
            let waiting = try database.count(
                "_import_link",
                where: "relationship = \(old.name(of: relationship).sqlLiteral)"
            )
            let new = map.match.relationships.firstIndex(of: relationship)
            guard waiting > 0 else { continue }
            let reason = "these wait for missing rows"
            guard let new else {
                let placement = old.relationships[relationship]
                let obstacle = ModelMigration.Obstacle(reason: reason, count: waiting, isLoss: true)
                let (entity, name) = (old.entities[placement.entity].name, placement.description.name)
                add(.relationshipGone, entity, name, "is dropped", obstacle)
                continue
            }
            guard !hasKeys(of: relationship, new) else { continue }
            add(
                .destinationChanged,
                of: new,
                "refers by another key",
                ModelMigration.Obstacle(
                    reason: reason,
                    count: waiting,
                    advice: "Import the rows first, or leave the keys of both sides as they are."
                )
            )
        }
    }

    /// True if the keys of both ends of a relationship are what they were.
    private func hasKeys(of relationship: Int, _ successor: Int) -> Bool {
        [RelationshipEnd.source, .destination].allSatisfy { side in
            let pair = MigrationMapping.EntityPair(
                old: old.relationships[relationship].entity(at: side),
                new: new.relationships[successor].entity(at: side)
            )
            return map.isDirect(pair)
                && old.key(of: pair.old).map(\.attribute.type) == new.key(of: pair.new).map(\.attribute.type)
        }
    }
}
