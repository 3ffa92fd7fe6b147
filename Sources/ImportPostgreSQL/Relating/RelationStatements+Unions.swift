import ImportModel
import Importer

/// Lists that only add to what is there.
extension RelationStatements {
    /// What gives links of a join table their places, where lists add behind the last: a link stays where it was added.
    func placing(_ side: Side, _ told: String, own: [String], pair: [String]) -> [String] {
        let lists = staged.lists(side.relationship).quoted
        let index = "\(StageName.prefix(of: staged.job))u\(side.relationship)"
        let emptied = """
            SELECT count(*) FROM \(lists) AS l WHERE l._emptied = 1 \
            AND \(same(columns("l", 0..<own.count), own.map { "f.\($0)" })) \
            AND (l._ordinal, l._child) <= (f._ordinal, f._child)
            """
        return [
            """
            CREATE INDEX IF NOT EXISTS \(index) ON \(lists) \
            (\(list(own.indices.map { "c\($0)" })), _ordinal, _child) WHERE _emptied = 1
            """,
            """
            UPDATE \(told) AS s SET _position = p.place FROM (
                SELECT \(list(pair)), run, CASE WHEN _ordinal = 0 THEN _position ELSE CASE WHEN part = 0 THEN stored + 1 ELSE 0 END
                    - 1 + count(*) FILTER (WHERE _ordinal > 0) OVER (
                        PARTITION BY \(list(own)), part ORDER BY _ordinal, _child, _position
                    ) END AS place
                FROM (
                    SELECT f.*, coalesce(max(_position) FILTER (WHERE _ordinal = 0) OVER (PARTITION BY \(list(own))), -1) AS stored,
                        (\(emptied)) AS part
                    FROM (
                        SELECT DISTINCT ON (\(list(pair)), run) \(list(pair)), run, _ordinal, _child, _position FROM \(told)
                        WHERE side = \(side.isSource) AND is_in ORDER BY \(list(pair)), run, _ordinal, _child
                    ) AS f
                ) AS firsts
            ) AS p WHERE s.side = \(side.isSource) AND s.run = p.run \
            AND \(same(pair.map { "s.\($0)" }, pair.map { "p.\($0)" }))
            """,
        ]
    }

    /// What makes rows of elements without identifier of lists that add to what is there: all of them are new.
    func adding(_ reference: RelatedTables.Reference) -> [String] {
        guard let relationship = reference.list, let position = reference.position else { return [] }
        let entity = reference.holder
        let (all, stage) = (tables.columns[entity], stage(of: entity))
        let key = columns("l", 0..<reference.columns.count)
        let owner = quoted(Array(all[reference.columns]), of: "t")
        let name = "pg_temp._import_list_\(relationship)"
        let counted = "pg_temp._import_element_\(entity)"
        let table = tables.table(of: entity)
        let elements = " JOIN \(name) AS l ON s._ordinal = l._ordinal AND s._list = l._child"
        let isOwn = "s._relationship = \(relationship)"
        let stored =
            filled.contains(entity)
            ? """
             LEFT JOIN (
                SELECT \(list(owner.enumerated().map { "\($1) AS c\($0)" })), count(*) AS rows,
                    coalesce(max(t.\(all[position].quoted)), -1) + 1 AS next
                FROM \(table) AS t WHERE \(areSet(owner)) GROUP BY \(list(owner))
            ) AS t ON \(same(key, columns("t", 0..<reference.columns.count)))
            """ : " CROSS JOIN (SELECT 0::bigint AS rows, 0::bigint AS next) AS t"
        var statements = [
            """
            CREATE TEMPORARY TABLE _import_list_\(relationship) ON COMMIT DROP AS WITH told AS (
                SELECT \(list(key)), l._ordinal, l._child, l._row, coalesce(e.size, 0) AS size,
                    sum(l._emptied) OVER (PARTITION BY \(list(key)) ORDER BY l._ordinal, l._child) AS part,
                    coalesce(t.rows, 0) AS rows, coalesce(t.next, 0) AS next
                FROM \(staged.lists(relationship).quoted) AS l LEFT JOIN (
                    SELECT s._ordinal, s._list, count(*) AS size FROM \(stage) AS s WHERE \(isOwn) GROUP BY s._ordinal, s._list
                ) AS e ON e._ordinal = l._ordinal AND e._list = l._child\(stored)
                WHERE l._ordinal > 0
            ), placed AS (
                SELECT *, CASE WHEN part = 0 THEN next ELSE 0 END - size + sum(size) OVER (
                        PARTITION BY \(list(unprefixed(key))), part ORDER BY _ordinal, _child) AS start,
                    CASE WHEN part = 0 THEN rows ELSE 0 END + sum(size) OVER (
                        PARTITION BY \(list(unprefixed(key))), part ORDER BY _ordinal, _child) AS held,
                    max(part) OVER (PARTITION BY \(list(unprefixed(key)))) AS last
                FROM told
            )
            SELECT *, part > lag(part, 1, 0) OVER own AND lag(held, 1, rows) OVER own > 0 AS is_emptying,
                row_number() OVER own = 1 AS is_first
            FROM placed WINDOW own AS (PARTITION BY \(list(unprefixed(key))) ORDER BY _ordinal, _child)
            """,
            "ANALYZE \(name)",
            """
            UPDATE \(stage) AS s SET c\(position) = s.c\(position) + l.start FROM \(name) AS l \
            WHERE \(isOwn) AND s._ordinal = l._ordinal AND s._list = l._child
            """,
            """
            UPDATE \(counted) SET \
            inserted = inserted + (SELECT coalesce(sum(size), 0) FROM \(name)), \
            deleted = deleted + (SELECT coalesce(sum(CASE WHEN part < last THEN size ELSE 0 END), 0) \
            + coalesce(sum(rows) FILTER (WHERE is_first AND last > 0), 0) FROM \(name))
            """,
            """
            INSERT INTO _import_relinked SELECT \(tables.layout.relationships[relationship].entity), _ordinal, _row \
            FROM \(name) WHERE size > 0 OR is_emptying
            """,
        ]
        if filled.contains(entity) {
            statements.append(
                "DELETE FROM \(table) AS t USING \(name) AS l WHERE l.is_first AND l.last > 0 AND \(same(key, owner))"
            )
        }
        var condition = "\(isOwn) AND l.part = l.last"
        if let rowID = tables.rowID(of: reference.target) {
            // Elements of what was replaced itself are gone with it.
            let isThere = """
                EXISTS (SELECT FROM \(tables.table(of: reference.target)) AS o \
                WHERE o.\(rowID.quoted) = s.c\(reference.columns.lowerBound))
                """
            statements.append(
                """
                UPDATE \(counted) SET deleted = deleted + (SELECT count(*) FROM \(stage) AS s\(elements) \
                WHERE \(condition) AND NOT \(isThere))
                """
            )
            condition += " AND \(isThere)"
        }
        statements.append(inserting(entity, of: stage, from: elements, where: condition))
        if filled.contains(entity) { statements += removingOrphans(of: entity) }
        return statements
    }

    private func unprefixed(_ columns: [String]) -> [String] { columns.map { String($0.dropFirst(2)) } }
}
