import ImportModel
import Importer

/// Links that imports leave as they are in objects that are there (`"owner": "local"`).
extension RelationStatements {
    /// What takes all that records say of such links out of the staging tables, but for what makes an object.
    var leavingLocal: [String] {
        let local = tables.layout.relationships.indices.filter {
            tables.layout.relationships[$0].description.owner == .local
        }.map { (relationship: $0, homes: homes(stating: $0)) }
        let own = local.flatMap { one in one.homes.flatMap { leavingOwn(one.relationship, $0) } }
        let lists = local.flatMap { one in one.homes.flatMap { leavingLists(one.relationship, $0) } }
        // What an object says itself of a link counts beside a list that is left.
        return identified.filter { home in local.contains { $0.homes.contains(home) } }.flatMap(findingLater) + own
            + lists
    }

    /// The entities in whose tables the objects are that state a relationship, as far as they have an identifier.
    private func homes(stating relationship: Int) -> [Int] {
        let entities = tables.layout.hierarchy.subentities(of: tables.layout.relationships[relationship].entity)
        let homes = Set(entities.filter(tables.layout.hasTable).map(tables.home))
        return identified.filter(homes.contains)
    }

    private func later(_ entity: Int) -> String { "pg_temp._import_later_\(entity)" }

    /// A condition: a row is of the statement `x`, whose object is there before it.
    private func isLater(_ row: String, _ child: String) -> String {
        "\(row)._ordinal = x._ordinal AND \(row).\(child) = x._child"
    }

    /// Finds the rows whose object is there before them.
    private func findingLater(_ entity: Int) -> [String] {
        let key = tables.keyPlaces(of: entity).map { "s.c\($0)" }
        let isStored =
            filled.contains(entity)
            ? """
             OR EXISTS (SELECT FROM \(tables.table(of: entity)) AS t \
            WHERE \(same(quoted(tables.key(of: entity), of: "t"), key)))
            """ : ""
        return [
            """
            CREATE TEMPORARY TABLE _import_later_\(entity) ON COMMIT DROP AS SELECT _ordinal, _child FROM (
                SELECT s._ordinal, s._child,
                    row_number() OVER (PARTITION BY \(list(key)) ORDER BY s._ordinal, s._child) > 1\(isStored) AS is_later
                FROM \(stage(of: entity)) AS s
            ) AS told WHERE is_later
            """,
            "ANALYZE \(later(entity))",
        ]
    }

    /// What makes a row say nothing of some columns.
    private func unsaying(_ columns: [Int]) -> String {
        let masks = Dictionary(grouping: columns) { $0 / StagedColumns.maskWidth }
        return list(
            masks.sorted { $0.key < $1.key }.map { mask, columns in
                let bits = columns.reduce(Int64(0)) { $0 | 1 << Int64($1 % StagedColumns.maskWidth) }
                return "_mask_\(mask) = s._mask_\(mask) & ~(\(bits)::bigint)"
            }
        )
    }

    // MARK: An object's own columns

    private func leavingOwn(_ relationship: Int, _ home: Int) -> [String] {
        let placement = tables.layout.relationships[relationship]
        guard placement.owner == relationship, placement.shape != .join, placement.shape != .ownedDestination,
            let reference = tables.references(relationship).first(where: { tables.home(of: $0.holder) == home })
        else { return [] }
        // The link to the object around it is the matter of that one's list.
        let setters = reference.list == nil ? "" : staged.setters(reference).quoted
        let isAlone =
            reference.list == nil
            ? ""
            : """
             AND NOT EXISTS (SELECT FROM \(setters) AS n WHERE n._ordinal = x._ordinal AND n._row = x._child \
            AND n._list >= 0 AND n._list <> n._row)
            """
        var statements = [
            """
            UPDATE \(stage(of: home)) AS s SET \(unsaying(Array(reference.columns))) FROM \(later(home)) AS x \
            WHERE \(isLater("s", "_child"))\(isAlone)
            """
        ]
        guard let list = reference.list else { return statements }
        if reference.isOneToOne, !reference.isMirrored {
            statements.append(
                """
                DELETE FROM \(staged.lists(list).quoted) AS l USING \(later(home)) AS x \
                WHERE l._row = -1 AND \(isLater("l", "_child"))\(isAlone)
                """
            )
        }
        statements.append(
            """
            DELETE FROM \(setters) AS s USING \(later(home)) AS x \
            WHERE \(isOwn("s")) AND \(isLater("s", "_row"))\(isAlone)
            """
        )
        return statements
    }

    /// A condition: an object itself sets its link.
    private func isOwn(_ setter: String) -> String { "(\(setter)._list = -1 OR \(setter)._list = \(setter)._row)" }

    // MARK: Lists

    private func leavingLists(_ relationship: Int, _ home: Int) -> [String] {
        let placement = tables.layout.relationships[relationship]
        guard staged.listing.contains(relationship) else { return [] }
        if placement.shape == .join { return leaving(staged.links(relationship).quoted, of: relationship, home) }
        guard placement.owner != relationship || placement.shape == .ownedDestination,
            let reference = tables.reference(placement.owner)
        else { return [] }
        if tables.isKeyless(reference.holder) { return leavingElements(reference, relationship, home) }
        // Objects in the list are linked to nothing by it, also where they are new.
        let setters = staged.setters(reference).quoted
        let columns = Array(reference.columns) + [reference.position].compactMap(\.self)
        let nulls = columns.map { "c\($0) = NULL" }
        return [
            """
            UPDATE \(stage(of: reference.holder)) AS s SET \(unsaying(columns)), \(list(nulls)) \
            FROM \(setters) AS k, \(staged.lists(relationship).quoted) AS l, \(later(home)) AS x \
            WHERE k._ordinal = l._ordinal AND k._list = l._child AND \(isLater("l", "_row")) \
            AND s._ordinal = k._ordinal AND s._child = k._row AND NOT EXISTS (
                SELECT FROM \(setters) AS n WHERE n._ordinal = k._ordinal AND n._row = k._row AND \(isOwn("n"))
            )
            """
        ] + leaving(setters, by: "_list", of: relationship, home)
    }

    /// Forgets lists, and what they have.
    private func leaving(_ links: String, by child: String = "_child", of relationship: Int, _ home: Int) -> [String] {
        let lists = staged.lists(relationship).quoted
        return [
            """
            DELETE FROM \(links) AS k USING \(lists) AS l, \(later(home)) AS x \
            WHERE k._ordinal = l._ordinal AND k.\(child) = l._child AND \(isLater("l", "_row"))
            """,
            "DELETE FROM \(lists) AS l USING \(later(home)) AS x WHERE \(isLater("l", "_row"))",
        ]
    }

    // MARK: Elements

    /// Elements without identifier are left with all that is nested in them: none of it has an identifier.
    private func leavingElements(_ reference: RelatedTables.Reference, _ relationship: Int, _ home: Int) -> [String] {
        let name = "_import_left_\(relationship)_\(home)"
        let left = "pg_temp.\(name)"
        let lists = staged.lists(relationship).quoted
        let kind = kind(ofStaged: "s", reference.holder)
        var statements = [
            """
            CREATE TEMPORARY TABLE \(name) ON COMMIT DROP AS SELECT s._ordinal, s._child, \(kind) AS kind \
            FROM \(stage(of: reference.holder)) AS s JOIN \(lists) AS l ON s._ordinal = l._ordinal AND s._list = l._child \
            JOIN \(later(home)) AS x ON \(isLater("l", "_row")) WHERE s._relationship = \(relationship)
            """,
            "INSERT INTO _import_left SELECT kind, count(*) FROM \(left) GROUP BY kind",
            "DELETE FROM \(lists) AS l USING \(later(home)) AS x WHERE \(isLater("l", "_row"))",
        ]
        let within = staged.listing.filter { tables.isKeyless(tables.layout.relationships[$0].entity) }
        // Those that others are nested in are first.
        for entity in tables.keyless {
            for inner in tables.elements where tables.home(of: inner.target) == entity && tables.isKeyless(inner.target)
            {
                guard let list = inner.list else { continue }
                statements.append(
                    """
                    INSERT INTO \(left) SELECT s._ordinal, s._child, -1 FROM \(stage(of: inner.holder)) AS s \
                    JOIN \(staged.lists(list).quoted) AS l ON s._ordinal = l._ordinal AND s._list = l._child \
                    JOIN \(left) AS x ON \(isLater("l", "_row")) WHERE s._relationship = \(list)
                    """
                )
            }
        }
        for list in within {
            let lists = staged.lists(list).quoted
            if staged.linking.contains(list) {
                statements.append(
                    """
                    DELETE FROM \(staged.links(list).quoted) AS k USING \(lists) AS l, \(left) AS x \
                    WHERE k._ordinal = l._ordinal AND k._child = l._child AND \(isLater("l", "_row"))
                    """
                )
            }
            statements.append("DELETE FROM \(lists) AS l USING \(left) AS x WHERE \(isLater("l", "_row"))")
        }
        return statements
            + tables.keyless.map {
                "DELETE FROM \(stage(of: $0)) AS s USING \(left) AS x WHERE \(isLater("s", "_child"))"
            }
    }

    /// How many rows are left out with links that are left as they are, by entity.
    static let leftElements = "CREATE TEMPORARY TABLE _import_left (entity integer, rows bigint) ON COMMIT DROP"
}
