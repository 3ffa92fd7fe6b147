import ImportModel
import Importer

/// Objects that are left out of records which are taken all the same, as they are there already.
extension RelationshipTables {
    /// True if what becomes of an object depends on all records before, so that they are taken one after the other: some
    /// relationship leaves out objects that are there, or makes rejects of their records, or `--on-conflict` does something of the
    /// kind where one table has objects of several entities.
    var takesInOrder: Bool {
        layout.relationships.contains { [.ignore, .error].contains($0.description.onConflict) }
            || graph.onConflict != .merge && !shared.isEmpty
    }
}

extension RelationshipStagingTables {
    /// The rows of records that are accepted without these: what such a row says, and what is nested in it, is not taken.
    static let skipped = Table(name: "_import_skipped", numbers: ["_ordinal", "_child"], columns: [])

    static let skippedCreation =
        "CREATE TEMPORARY TABLE _import_skipped (_ordinal bigint, _child bigint) ON COMMIT DROP"
}

extension RelationshipStatements {
    /// A condition: a list `l` names an object, by its keys, whose row is skipped.
    func isKept(_ reference: RelationshipTables.Reference, _ keys: [String]) -> String {
        guard tables.takesInOrder else { return "false" }
        return """
            EXISTS (SELECT FROM \(staged.setters(reference).quoted) AS n WHERE n._ordinal = l._ordinal \
            AND n._list = \(RelationshipStagingTables.kept) - l._child AND \(same(columns("n", keys.indices), keys)))
            """
    }

    /// Takes what skipped rows have said out of the staging tables.
    ///
    /// Lists in columns of the objects do not link them, but let them be where they have them already.
    var removingSkipped: [String] {
        let skipped = RelationshipStagingTables.skipped.name
        let isSkipped = { (row: String, child: String) in "\(row)._ordinal = x._ordinal AND \(row).\(child) = x._child"
        }
        let links = staged.linking.map { relationship in
            """
            DELETE FROM \(staged.links(relationship).quoted) AS k USING \(staged.lists(relationship).quoted) AS l, \(skipped) AS x \
            WHERE k._ordinal = l._ordinal AND k._child = l._child AND \(isSkipped("l", "_row"))
            """
        }
        let setters = tables.listed.flatMap { reference -> [String] in
            let setters = staged.setters(reference).quoted
            let own = """
                DELETE FROM \(setters) AS s USING \(skipped) AS x \
                WHERE \(isSkipped("s", "_row")) AND (s._list < 0 OR s._list = s._row)
                """
            guard let list = reference.list else { return [own] }
            return [
                own,
                """
                UPDATE \(setters) AS s SET _list = \(RelationshipStagingTables.kept) - s._list FROM \(skipped) AS x \
                WHERE \(isSkipped("s", "_row")) AND s._list >= 0
                """,
                """
                DELETE FROM \(setters) AS s USING \(staged.lists(list).quoted) AS l, \(skipped) AS x \
                WHERE s._ordinal = l._ordinal AND s._list IN (l._child, \(RelationshipStagingTables.kept) - l._child) \
                AND \(isSkipped("l", "_row"))
                """,
            ]
        }
        let lists = staged.listing.map { relationship in
            """
            DELETE FROM \(staged.lists(relationship).quoted) AS l USING \(skipped) AS x \
            WHERE \(isSkipped("l", "_row")) OR l._row = -1 AND \(isSkipped("l", "_child"))
            """
        }
        let rows =
            identified.map(stage) + tables.keyless.map { staged.elements(of: $0).quoted }
            + tables.unnamed.map { staged.unnamed($0).quoted }
        return ["ANALYZE \(skipped)"] + links + setters + lists
            + rows.map { "DELETE FROM \($0) AS s USING \(skipped) AS x WHERE \(isSkipped("s", "_child"))" }
    }
}
