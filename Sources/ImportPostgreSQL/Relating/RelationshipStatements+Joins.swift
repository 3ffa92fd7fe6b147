import ImportModel
import Importer

/// Links in join tables.
extension RelationshipStatements {
    /// A side of a join table that has lists.
    struct Side {
        /// True if it is the source that has the lists.
        let isSource: Bool
        let relationship: Int
        let own: [PGColumn]
        let other: [PGColumn]
        let position: String?
        let entity: Int
    }

    /// The sides of a join table that have lists: that which makes it first.
    func sides(of join: RelationshipTables.Join) -> [Side] {
        let making = Side(
            isSource: true,
            relationship: join.making,
            own: join.sourceColumns,
            other: join.destinationColumns,
            position: join.position,
            entity: join.source
        )
        // Where it is its own inverse, each list says something of the other direction, too.
        let inverse = (join.isSymmetric ? join.making : join.inverse).map {
            Side(
                isSource: false,
                relationship: $0,
                own: join.destinationColumns,
                other: join.sourceColumns,
                position: join.inversePosition,
                entity: join.destination
            )
        }
        return [making, inverse].compactMap(\.self).filter { staged.linking.contains($0.relationship) }
    }

    /// What makes links of the lists of a join table.
    ///
    /// Each list of either object has a link or leaves it out; the last of them decides. The place in a list is that of the last
    /// one since the link was left out.
    func settling(_ join: RelationshipTables.Join) -> [String] {
        let sides = sides(of: join)
        guard !sides.isEmpty else { return [] }
        let number = join.making
        let (width, otherWidth) = (join.sourceColumns.count, join.destinationColumns.count)
        // a0 … of the source, b0 … of the destination.
        let a = (0..<width).map { "a\($0)" }
        let b = (0..<otherWidth).map { "b\($0)" }
        let pair = a + b
        func named(_ side: Side, _ row: String) -> [String] {
            let own = columns(row, 0..<side.own.count)
            let other = columns(row, side.own.count..<side.own.count + side.other.count)
            return side.isSource ? own + other : other + own
        }
        let later = sides.compactMap { side in
            tables.names.first { $0.relationship == side.relationship }.map { (side, staged.joined($0).quoted) }
        }
        func linked(_ side: Side, _ table: String) -> String {
            "SELECT \(list(zip(named(side, "k"), pair).map { "\($0) AS \($1)" })) FROM \(table) AS k"
        }
        let links = sides.map { linked($0, staged.links($0.relationship).quoted) } + later.map(linked)
        let pairs = links.joined(separator: " UNION ")
        let lateEvents = later.map { side, table in
            """
            SELECT \(list(named(side, "k"))), \(side.isSource), k._ordinal, k._child, -1, true, k._position FROM \(table) AS k
            """
        }
        let listEvents = sides.map { side -> String in
            let own = side.isSource ? a : b
            return """
                SELECT \(list(pair.map { "p.\($0)" })), \(side.isSource) AS side, l._ordinal, l._child, l._row,
                    k._ordinal IS NOT NULL AS is_in, k._position
                FROM pairs AS p JOIN \(staged.lists(side.relationship).quoted) AS l
                    ON \(same(columns("l", 0..<side.own.count), own.map { "p.\($0)" }))
                LEFT JOIN \(staged.links(side.relationship).quoted) AS k
                    ON k._ordinal = l._ordinal AND k._child = l._child AND \(same(named(side, "k"), pair.map { "p.\($0)" }))
                \(tables.isUnion(side.relationship) ? "WHERE k._ordinal IS NOT NULL OR l._emptied = 1" : "")
                """
        }
        let events = (listEvents + lateEvents).joined(separator: " UNION ALL ")
        let told = "pg_temp._import_told_\(number)"
        let line = "PARTITION BY \(list(pair)) ORDER BY _ordinal, _child"
        // What is named later than its list leaves a link that is there where it is.
        let isPlacing = later.isEmpty ? "" : " AND (is_change OR _row >= 0)"
        func place(_ side: Side) -> String {
            """
            (array_agg(nullif(_position, -1) ORDER BY _ordinal DESC, _child DESC) \
            FILTER (WHERE side = \(side.isSource) AND is_in\(isPlacing)))[1]
            """
        }
        let places = sides.filter { $0.position != nil }
        let names =
            (join.sourceColumns + join.destinationColumns).map(\.quoted) + places.compactMap(\.position)
        var statements = filledJoins.contains(join.making) ? taking(join) : []
        statements += [
            """
            CREATE TEMPORARY TABLE _import_told_\(number) ON COMMIT DROP AS WITH pairs AS (\(pairs)), events AS (\(events)),
            changes AS (SELECT *, is_in IS DISTINCT FROM coalesce(lag(is_in) OVER line, false) AS is_change FROM events
                WINDOW line AS (\(line)))
            SELECT *, sum((is_change AND is_in)::integer) OVER line AS run, lead(1) OVER line IS NULL AS is_last FROM changes
                WINDOW line AS (\(line))
            """,
            "ANALYZE \(told)",
        ]
        for side in sides where side.position != nil && tables.isUnion(side.relationship) {
            statements += placing(side, told, own: side.isSource ? a : b, pair: pair)
        }
        for side in sides where side.isSource || !join.isSymmetric {
            // A link that is there already may get another place in the list.
            let isMoved =
                side.position == nil || tables.isUnion(side.relationship) && sides.count == 1
                ? "false"
                : "is_in AND nullif(_position, -1) IS DISTINCT FROM lag(nullif(_position, -1)) OVER own"
            statements.append(
                """
                INSERT INTO _import_relinked SELECT \(side.entity), _ordinal, _row FROM (
                    SELECT *, \(isMoved) AS is_moved FROM \(told) WHERE side = \(side.isSource)
                    WINDOW own AS (PARTITION BY \(list(pair)), run ORDER BY _ordinal, _child)
                ) AS own WHERE (is_change OR is_moved) AND _ordinal > 0
                """
            )
        }
        let stored = quoted(join.sourceColumns + join.destinationColumns, of: "t")
        if filledJoins.contains(join.making) {
            statements.append(
                """
                DELETE FROM \(join.table) AS t USING (SELECT DISTINCT \(list(pair)) FROM \(told)) AS p \
                WHERE \(same(stored, pair.map { "p.\($0)" }))
                """
            )
        }
        statements.append(
            """
            INSERT INTO \(join.table) (\(list(names))) SELECT \(list(pair + places.map(place))) \
            FROM (SELECT *, max(run) OVER (PARTITION BY \(list(pair))) AS last_run, \
            bool_or(is_last AND is_in) OVER (PARTITION BY \(list(pair))) AS is_linked FROM \(told)) AS ends \
            WHERE is_linked AND run = last_run GROUP BY \(list(pair))
            """
        )
        return statements
    }

    /// How many links the lists of each side of a join table have broken.
    func unlinked(_ join: RelationshipTables.Join) -> [(relationship: Int, count: String)] {
        sides(of: join).filter { $0.isSource || !join.isSymmetric }.map { side in
            (
                side.relationship,
                """
                SELECT count(*) FROM pg_temp._import_told_\(join.making) \
                WHERE is_change AND NOT is_in AND side = \(side.isSource)
                """
            )
        }
    }

    /// Puts the links that are stored, and that the job may change, before what it says.
    private func taking(_ join: RelationshipTables.Join) -> [String] {
        let sides = sides(of: join)
        // Those of an object that has a list now, on either side.
        let touching = sides.map { side in
            """
            EXISTS (SELECT FROM \(staged.lists(side.relationship).quoted) AS l WHERE l._ordinal > 0 \
            AND \(same(columns("l", 0..<side.own.count), quoted(side.own, of: "t"))))
            """
        }
        let named = sides.compactMap { side in
            tables.names.first { $0.relationship == side.relationship }.map { naming in
                """
                EXISTS (SELECT FROM \(staged.joined(naming).quoted) AS w \
                WHERE \(same(columns("w", 0..<side.own.count + side.other.count), quoted(side.own + side.other, of: "t"))))
                """
            }
        }
        let isTouched = (touching + named).joined(separator: " OR ")
        return sides.filter { $0.isSource || !join.isSymmetric }.flatMap { side -> [String] in
            let (lists, links) = (staged.lists(side.relationship), staged.links(side.relationship))
            let own = quoted(side.own, of: "t")
            let position = side.position.map { "coalesce(t.\($0), -1)" } ?? "-1"
            return [
                """
                INSERT INTO \(links.quoted) SELECT 0, 0, \(position), \(list(own + quoted(side.other, of: "t"))) \
                FROM \(join.table) AS t WHERE \(isTouched)
                """,
                """
                INSERT INTO \(lists.quoted) \
                SELECT DISTINCT \(list(lists.numbers.map { _ in "0" } + columns("k", 0..<own.count))) \
                FROM \(links.quoted) AS k WHERE k._ordinal = 0
                """,
            ]
        }
    }
}
