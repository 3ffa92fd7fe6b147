import ImportModel
import Importer

/// The statements that delete objects which lists have left out, and do to others what the delete rules say.
///
/// Each orphan takes with it what its rules say; where one of these denies that, the orphan stays with all of it. Objects that go
/// are told by their keys, which is why those that nobody can refer to go with the objects whose they are.
struct OrphanStatements: RelationshipSQL {
    let staged: RelationshipStagingTables
    let statements: RelationshipStatements

    private var layout: ModelLayout { staged.tables.layout }

    private func doomed(_ entity: Int) -> String { "pg_temp._import_doomed_\(tables.home(of: entity))" }

    private func keys(_ row: String, _ entity: Int) -> [String] {
        tables.key(of: entity).indices.map { "\(row).k\($0)" }
    }

    /// The tables whose objects have keys.
    private var keyed: [Int] { tables.homes.filter { !tables.key(of: $0).isEmpty } }

    // MARK: Which are orphans

    /// True if some list may leave orphans.
    var isNeeded: Bool { !roots.isEmpty }

    /// Makes a table for each one, of the objects that go: the number of the orphan, its relationship, the entity that leads to it,
    /// and its key; of those that go with it, the relationship is -1.
    var preparing: [String] {
        keyed.map { entity in
            let columns = tables.key(of: entity).enumerated().map { "k\($0) \($1.type.declaration)" }
            return """
                CREATE TEMPORARY TABLE _import_doomed_\(entity) (root bigint, relationship integer, entity integer, \(list(columns))) \
                ON COMMIT DROP
                """
        } + ["CREATE TEMPORARY TABLE _import_denied (root bigint PRIMARY KEY) ON COMMIT DROP"]
    }

    private var roots: [(relationship: Int, entity: Int, keys: String)] {
        var roots: [(Int, Int, String)] = []
        for reference in tables.listed {
            guard let relationship = reference.list, tables.deletesOrphans(relationship) || reference.isParent else {
                continue
            }
            let width = tables.key(of: reference.holder).count
            let names = (0..<width).map { "s.c\($0)" }
            if reference.isParent {
                let ends = "pg_temp._import_link_\(relationship)"
                let found = "SELECT DISTINCT \(list(names)) FROM \(ends) AS s WHERE s.is_left"
                roots.append((relationship, reference.holder, found))
            } else {
                let column = tables.columns[reference.holder][reference.columns.lowerBound].quoted
                let isFree = """
                    EXISTS (SELECT FROM \(tables.table(of: reference.holder)) AS t WHERE t.\(column) IS NULL \
                    AND \(same(quoted(tables.key(of: reference.holder), of: "t"), names)))
                    """
                let found = """
                    SELECT DISTINCT \(list(names)) FROM pg_temp._import_set_\(relationship) AS s \
                    WHERE s.is_left AND \(isFree)
                    """
                roots.append((relationship, reference.holder, found))
            }
        }
        for join in tables.joins {
            for side in statements.sides(of: join) where tables.deletesOrphans(side.relationship) {
                if join.isSymmetric, !side.isSource { continue }
                let letter = side.isSource ? "b" : "a"
                let names = side.other.indices.map { "s.\(letter)\($0)" }
                let found = """
                    SELECT DISTINCT \(list(names)) FROM pg_temp._import_told_\(join.making) AS s \
                    WHERE s.is_change AND NOT s.is_in AND s.side = \(side.isSource) AND NOT EXISTS (
                        SELECT FROM \(join.table) AS t WHERE \(same(quoted(side.other, of: "t"), names))
                    )
                    """
                roots.append((side.relationship, side.isSource ? join.destination : join.source, found))
            }
        }
        return roots
    }

    /// Finds the orphans that are there.
    var finding: [String] {
        roots.map { root in
            let names = tables.key(of: root.entity).indices.map { "k\($0)" }
            return """
                INSERT INTO \(doomed(root.entity)) \
                SELECT \(Int64(root.relationship) << 40) + row_number() OVER (), \(root.relationship), \(root.entity), \(list(names)) \
                FROM (\(root.keys)) AS found (\(list(names))) WHERE EXISTS (
                    SELECT FROM \(tables.table(of: root.entity)) AS t
                    WHERE \(same(quoted(tables.key(of: root.entity), of: "t"), names.map { "found.\($0)" }))
                )
                """
        }
    }

    // MARK: What goes with them

    /// What an object leads to by a relationship: tables with a condition, where `e` is the object, and `d` what it leads to.
    private func destinations(_ index: Int) -> [String] {
        let placement = layout.relationships[index]
        let key = quoted(tables.key(of: placement.destination), of: "d")
        let table = tables.table(of: placement.destination)
        if placement.owner == index, placement.shape != .ownedDestination, placement.shape != .join {
            return tables.references(index).filter { !tables.key(of: $0.holder).isEmpty }.map { reference in
                let columns = Array(tables.columns[reference.holder][reference.columns])
                return """
                    \(doomed(reference.holder)) AS e JOIN \(tables.table(of: reference.holder)) AS o \
                    ON \(same(quoted(tables.key(of: reference.holder), of: "o"), keys("e", reference.holder))) \
                    JOIN \(table) AS d ON \(same(key, quoted(columns, of: "o")))
                    """
            }
        }
        guard !tables.key(of: placement.entity).isEmpty else { return [] }
        let own = keys("e", placement.entity)
        if placement.shape == .join {
            let join = tables.join(placement.owner)
            let isSource = placement.owner == index
            let (mine, other) =
                isSource
                ? (join.sourceColumns, join.destinationColumns) : (join.destinationColumns, join.sourceColumns)
            return [
                """
                \(doomed(placement.entity)) AS e JOIN \(join.table) AS j ON \(same(quoted(mine, of: "j"), own)) \
                JOIN \(table) AS d ON \(same(key, quoted(other, of: "j")))
                """
            ]
        }
        guard let reference = tables.reference(placement.owner) else { return [] }
        let columns = Array(tables.columns[reference.holder][reference.columns])
        return ["\(doomed(placement.entity)) AS e JOIN \(table) AS d ON \(same(quoted(columns, of: "d"), own))"]
    }

    private func relationships(_ rule: RelationshipDescription.DeleteRule) -> [Int] {
        layout.relationships.indices.filter { layout.relationships[$0].deleteRule == rule }
    }

    /// Adds what goes with what goes, until there is no more.
    var spreading: [String] {
        relationships(.cascade).flatMap { index -> [String] in
            let target = layout.relationships[index].destination
            guard !tables.key(of: target).isEmpty else { return [] }
            let key = quoted(tables.key(of: target), of: "d")
            return destinations(index).map { from in
                """
                INSERT INTO \(doomed(target)) SELECT DISTINCT e.root, -1, \(target), \(list(key)) FROM \(from) \
                WHERE \(areSet(key)) AND NOT EXISTS (
                    SELECT FROM \(doomed(target)) AS x WHERE x.root = e.root AND \(same(keys("x", target), key))
                )
                """
            }
        }
    }

    /// Finds the orphans that a rule keeps.
    var denying: [String] {
        relationships(.deny).flatMap { index in
            destinations(index).map {
                "INSERT INTO _import_denied SELECT DISTINCT e.root FROM \($0) ON CONFLICT DO NOTHING"
            }
        }
            + roots.filter { !tables.deletesOrphans($0.relationship) }.map { root in
                // These are let go, and stay.
                """
                INSERT INTO _import_denied SELECT root FROM \(doomed(root.entity)) \
                WHERE relationship = \(root.relationship) ON CONFLICT DO NOTHING
                """
            }
    }

    /// How many orphans of a relationship go, and how many are kept.
    var counts: [(relationship: Int, gone: String, denied: String)] {
        roots.filter { tables.deletesOrphans($0.relationship) }.map { root in
            let own = "FROM \(doomed(root.entity)) AS e WHERE e.relationship = \(root.relationship)"
            return (
                root.relationship, "SELECT count(*) \(own) AND NOT \(isDenied)",
                "SELECT count(*) \(own) AND \(isDenied)"
            )
        }
    }

    private var isDenied: String { "EXISTS (SELECT FROM _import_denied AS n WHERE n.root = e.root)" }

    /// Takes orphans that stay from the objects within which they were identified, with all links to them.
    var detaching: [String] {
        tables.listed.filter(\.isParent).flatMap { reference -> [String] in
            guard let relationship = reference.list else { return [] }
            let kept = """
                SELECT \(list(keys("e", reference.holder))) FROM \(doomed(reference.holder)) AS e \
                WHERE e.relationship = \(relationship) AND \(isDenied)
                """
            let columns = tables.columns[reference.holder][reference.columns].map(\.quoted)
            let position = reference.position.map { [tables.columns[reference.holder][$0].quoted] } ?? []
            let sets = (columns + position).map { "\($0) = NULL" }
            let key = quoted(tables.key(of: reference.holder), of: "t")
            return clearing(tables.home(of: reference.holder), kept) + [
                """
                UPDATE \(tables.table(of: reference.holder)) AS t SET \(list(sets)) \
                WHERE (\(list(key))) IN (\(kept))
                """
            ]
        }
    }

    // MARK: Deleting

    /// Takes orphans that are kept, and what would go with them, from among those that go.
    var sparing: [String] { keyed.map { "DELETE FROM \(doomed($0)) AS e WHERE \(isDenied)" } }

    /// Takes away what refers to objects that go, or are let go.
    private func clearing(_ entity: Int, _ gone: String) -> [String] {
        var statements: [String] = []
        for join in tables.joins {
            for (columns, end) in [(join.sourceColumns, join.source), (join.destinationColumns, join.destination)]
            where tables.home(of: end) == entity {
                let key = list(quoted(columns, of: "t"))
                statements.append("DELETE FROM \(join.table) AS t WHERE (\(key)) IN (\(gone))")
            }
        }
        for reference in tables.references where tables.home(of: reference.target) == entity {
            let placement = layout.relationships[reference.owner]
            let rule =
                placement.shape == .ownedDestination ? placement : placement.inverse.map { layout.relationships[$0] }
            guard rule?.deleteRule != .noAction else { continue }
            let columns = Array(tables.columns[reference.holder][reference.columns])
            let position = reference.position.map { [tables.columns[reference.holder][$0]] } ?? []
            let sets = (columns + position).map { "\($0.quoted) = NULL" }
            statements.append(
                """
                UPDATE \(tables.table(of: reference.holder)) AS t SET \(list(sets)) \
                WHERE (\(list(quoted(columns, of: "t")))) IN (\(gone))
                """
            )
        }
        for index in layout.relationships.indices
        where tables.home(of: layout.relationships[index].entity) == entity {
            statements.append(
                """
                DELETE FROM _import_link WHERE relationship = \(literal(tables.name(of: index))) \
                AND source::text IN (SELECT json_build_array(\(list(names(entity))))::text \
                FROM (\(gone)) AS gone (\(list(names(entity)))))
                """
            )
        }
        return statements
    }

    private func names(_ entity: Int) -> [String] { tables.key(of: entity).indices.map { "k\($0)" } }

    /// Deletes elements that nobody can refer to with their objects, by entity; each says how many went.
    var deletingElements: [(entity: Int, statement: String)] {
        relationships(.cascade).compactMap { index in
            let placement = layout.relationships[index]
            guard let reference = tables.reference(placement.owner), !tables.key(of: placement.entity).isEmpty,
                tables.key(of: placement.destination).isEmpty || reference.isParent
            else { return nil }
            let isElement = reference.isParent ? "\(isUnnamed(reference, "t")) AND " : ""
            let columns = list(quoted(Array(tables.columns[reference.holder][reference.columns]), of: "t"))
            let gone = "SELECT \(list(keys("e", placement.entity))) FROM \(doomed(placement.entity)) AS e"
            let table = tables.table(of: placement.destination)
            return (placement.destination, "DELETE FROM \(table) AS t WHERE \(isElement)(\(columns)) IN (\(gone))")
        }
    }

    /// Deletes what goes; each says how many went of which entity.
    var deleting: [String] {
        keyed.map { entity in
            let key = quoted(tables.key(of: entity), of: "t")
            return """
                WITH gone AS (
                    DELETE FROM \(tables.table(of: entity)) AS t USING (
                        SELECT min(e.entity) AS entity, \(list(keys("e", entity))) FROM \(doomed(entity)) AS e
                        GROUP BY \(list(keys("e", entity)))
                    ) AS e WHERE \(same(key, keys("e", entity))) RETURNING e.entity
                ) SELECT entity, count(*) FROM gone GROUP BY entity
                """
        }
    }

    /// Takes away what refers to what goes, before that is deleted, and forgets that some of it was a stub.
    var clearing: [String] {
        keyed.flatMap { entity -> [String] in
            let gone = "SELECT \(list(keys("e", entity))) FROM \(doomed(entity)) AS e"
            let table = literal(layout.table(of: entity))
            return clearing(entity, gone) + [
                """
                DELETE FROM _import_stub WHERE table_name = \(table) AND key::text IN (
                    SELECT json_build_array(\(list(names(entity))))::text FROM (\(gone)) AS gone (\(list(names(entity))))
                )
                """
            ]
        }
    }
}
