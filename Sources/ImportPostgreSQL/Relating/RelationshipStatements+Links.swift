import ImportModel
import Importer

/// Links in columns of objects that lists name, too.
extension RelationshipStatements {
    /// What gives objects the links that they have in the end, where lists name them, too.
    ///
    /// What was said of one object's link is a line: it is set, by itself or by a list, until it is set again, or a list of what it
    /// leads to leaves it out. Its place is that of the last list since the link is what it is.
    func settlingLinks(_ reference: RelationshipTables.Reference) -> [String] {
        guard let relationship = reference.list else { return [] }
        let (setters, lists) = (staged.setters(reference), staged.lists(relationship))
        let key = tables.key(of: reference.holder)
        let own = Array(tables.columns[reference.holder][reference.columns])
        let (keys, references) = (columns("s", 0..<key.count), columns("s", key.count..<key.count + own.count))
        let line = "PARTITION BY \(list(keys)) ORDER BY s._ordinal, s._child"
        let (ends, set) = ("pg_temp._import_link_\(relationship)", "pg_temp._import_set_\(relationship)")
        let next =
            "lead(s._ordinal) OVER line AS next_ordinal, lead(s._child) OVER line AS next_child, "
            + "lead(s._list) OVER line AS next_list"
        let index = "\(StagingName.prefix(of: staged.job))i\(relationship)"
        let setKeys = (0..<key.count).map { "c\($0)" }
        let setReferences = (key.count..<key.count + own.count).map { "c\($0)" }
        let listKey = columns("l", 0..<own.count)
        let objectKey = quoted(key, of: "t")
        let isEmptying = tables.isUnion(relationship) ? " AND l._emptied = 1" : ""
        let isLeaving = "\(isEmptying) AND NOT \(isKept(reference, setKeys.map { "said.\($0)" }))"
        // What only adds leaves what waits in it, too.
        let isWaiting = tables.isUnion(relationship) ? "" : " OR NOT s.is_there OR s.is_late"
        let late = staged.late(reference).quoted
        // Where a list leaves it out before anything else is said of it.
        let leaving = """
            LEFT JOIN LATERAL (
                SELECT l._ordinal, l._child, l._row FROM \(lists.quoted) AS l
                WHERE \(same(listKey, setReferences.map { "said.\($0)" }))
                    AND (l._ordinal, l._child) > (said._ordinal, said._child)\(isLeaving)
                    AND (said.next_ordinal IS NULL OR (l._ordinal, l._child) < (said.next_ordinal, said.next_child)
                        AND (l._ordinal <> said.next_ordinal OR l._child <> said.next_list))
                ORDER BY l._ordinal, l._child LIMIT 1
            ) AS left_out ON true
            """
        let isBreak = """
            coalesce(lag(is_left) OVER line, false) OR (\(list(setReferences))) IS DISTINCT FROM \
            (\(list(setReferences.map { "lag(\($0)) OVER line" })))
            """
        let source = tables.layout.relationships[relationship].entity
        let isMoved =
            reference.position == nil
            ? "false"
            : "_list >= 0 AND nullif(_position, -1) IS DISTINCT FROM lag(nullif(_position, -1)) OVER places"
        // What identifies a row stays; where it is left out, it is an orphan.
        let settable = reference.isParent ? [] : Array(zip(own, setReferences))
        var sets = settable.map { "\($0.quoted) = e.\($1)" }
        var differs = settable.map { "t.\($0.quoted) IS DISTINCT FROM e.\($1)" }
        if let position = reference.position.map({ tables.columns[reference.holder][$0].quoted }) {
            sets.append("\(position) = e.place")
            differs.append("t.\(position) IS DISTINCT FROM e.place")
        }
        let endKey = setKeys.map { "e.\($0)" }
        return [
            """
            CREATE INDEX IF NOT EXISTS \(index) ON \(lists.quoted) \
            (\(list((0..<own.count).map { "c\($0)" })), _ordinal, _child)
            """,
            "ANALYZE \(lists.quoted)",
            """
            CREATE TEMPORARY TABLE _import_set_\(relationship) ON COMMIT DROP AS WITH _import_said AS (
                SELECT \(list(keys + references)), s._ordinal, s._child, s._list, s._position, s._row, \(next)
                FROM \(setters.quoted) AS s WHERE s._list > \(RelationshipStagingTables.kept) WINDOW line AS (\(line))
            ), told AS (
                SELECT said.*, left_out._ordinal IS NOT NULL AS is_left, left_out._ordinal AS left_ordinal, left_out._child AS left_child,
                    left_out._row AS left_row,
                    coalesce((late._ordinal, late._child) > (said._ordinal, said._child), false) AS is_late,
                    left_out._ordinal = said._ordinal AND left_out._child < said._row
                        OR coalesce((late._ordinal, late._child) > (left_out._ordinal, left_out._child), false) AS is_unwritten,
                    EXISTS (
                        SELECT FROM \(tables.table(of: reference.holder)) AS t
                        WHERE \(same(objectKey, setKeys.map { "said.\($0)" }))
                    ) AS is_there
                FROM _import_said AS said LEFT JOIN \(late) AS late
                    ON \(same(setKeys.map { "late.\($0)" }, setKeys.map { "said.\($0)" })) \(leaving)
            )
            SELECT *, \(isBreak) AS is_break FROM told
            WINDOW line AS (PARTITION BY \(list(setKeys)) ORDER BY _ordinal, _child)
            """,
            """
            INSERT INTO _import_relinked SELECT \(source), s._ordinal, l._row FROM \(set) AS s JOIN \(lists.quoted) AS l \
            ON l._ordinal = s._ordinal AND l._child = s._list \
            WHERE (s.is_break\(isWaiting)) AND s._ordinal > 0 AND s._list >= 0 \
            UNION ALL SELECT \(source), left_ordinal, left_row FROM \(set) \
            WHERE is_left AND is_there AND NOT is_unwritten
            """,
            // Rows that have brought their object another link, or another place.
            """
            INSERT INTO _import_relinked SELECT \(reference.holder), _ordinal, _row FROM (
                SELECT *, \(isMoved) AS is_moved FROM (
                    SELECT *, sum(is_break::integer) OVER line AS run FROM \(set)
                    WINDOW line AS (PARTITION BY \(list(setKeys)) ORDER BY _ordinal, _child)
                ) AS runs WINDOW places AS (PARTITION BY \(list(setKeys)), run, _list >= 0 ORDER BY _ordinal, _child)
            ) AS moves WHERE _row >= 0 AND (is_break OR is_moved)
            """,
            """
            CREATE TEMPORARY TABLE _import_link_\(relationship) ON COMMIT DROP AS
            WITH runs AS (
                SELECT *, sum(is_break::integer) OVER line AS run, lead(1) OVER line IS NULL AS is_last FROM \(set)
                WINDOW line AS (PARTITION BY \(list(setKeys)) ORDER BY _ordinal, _child)
            ), placed AS (
                SELECT *, first_value(CASE WHEN _list >= 0 THEN nullif(_position, -1) END) OVER (
                    PARTITION BY \(list(setKeys)), run ORDER BY _list < 0, _ordinal DESC, _child DESC
                ) AS place FROM runs
            )
            SELECT \(list(setKeys)), \(list(setReferences.map { "CASE WHEN NOT is_left THEN \($0) END AS \($0)" })),
                CASE WHEN NOT is_left AND \(areSet(setReferences)) THEN place END AS place, is_left
            FROM placed WHERE is_last
            """,
            "ANALYZE \(ends)",
            sets.isEmpty
                ? ""
                : """
                UPDATE \(tables.table(of: reference.holder)) AS t SET \(list(sets)) FROM \(ends) AS e \
                WHERE \(same(objectKey, endKey)) AND (\(differs.joined(separator: " OR ")))
                """,
            """
            INSERT INTO _import_link SELECT \(literal(tables.name(of: relationship))), \
            json_build_array(\(list(setReferences.map { "e.\($0)" }))), json_build_array(\(list(endKey))), \
            coalesce(e.place, -1) FROM \(ends) AS e WHERE \(areSet(setReferences.map { "e.\($0)" })) AND NOT EXISTS (
                SELECT FROM \(tables.table(of: reference.holder)) AS t WHERE \(same(objectKey, endKey))
            )
            """,
        ].filter { !$0.isEmpty }
    }

    /// How many links lists have broken, and of a one-to-one objects that have taken another's place.
    func unlinked(_ reference: RelationshipTables.Reference) -> [(relationship: Int, count: String)] {
        guard let relationship = reference.list else { return [] }
        // What is left out before its row is written was never linked.
        let count = """
            SELECT count(*) FROM pg_temp._import_set_\(relationship) WHERE is_left AND is_there \
            AND NOT is_unwritten AND left_row
            """
        return [(relationship, "\(count) >= 0"), (reference.owner, "\(count) < 0")]
    }

    /// Finds the objects that lists name before they are there.
    var findingLate: [String] { tables.listed.flatMap(findingLate) }

    private func findingLate(_ reference: RelationshipTables.Reference) -> [String] {
        let (late, setters) = (staged.late(reference), staged.setters(reference).quoted)
        let own = tables.keyPlaces(of: reference.holder).map { "f.c\($0)" }
        let isStored =
            filled.contains(tables.home(of: reference.holder))
            ? """
             AND NOT EXISTS (SELECT FROM \(tables.table(of: reference.holder)) AS t \
            WHERE \(same(quoted(tables.key(of: reference.holder), of: "t"), own)))
            """ : ""
        return [
            late.creation, "DELETE FROM \(late.quoted)",
            """
            INSERT INTO \(late.quoted) SELECT DISTINCT ON (\(list(own))) f._ordinal, f._child, \(list(own)) \
            FROM \(stage(of: reference.holder)) AS f WHERE EXISTS (
                SELECT FROM \(setters) AS s WHERE s._row < 0 AND s._list >= 0 \
                AND \(same(columns("s", own.indices), own))
            )\(isStored) ORDER BY \(list(own + ["f._ordinal", "f._child"]))
            """,
            "ANALYZE \(late.quoted)",
        ]
    }

    // MARK: What was there before

    /// Puts links that are stored, and that the job may change, before what it says: they are of record 0.
    var taking: [String] { tables.listed.flatMap(taking) }

    /// What takes links of stored objects, without a condition on these.
    func takingStored(_ reference: RelationshipTables.Reference) -> String {
        let all = tables.columns[reference.holder]
        let position = reference.position.map { "t.\(all[$0].quoted)" }
        let place = position.map { "coalesce(\($0), -1)" } ?? "-1"
        let isPlaced = position.map { "CASE WHEN \($0) IS NULL THEN -1 ELSE 0 END" } ?? "0"
        let columns = tables.key(of: reference.holder) + all[reference.columns]
        return """
            INSERT INTO \(staged.setters(reference).quoted) SELECT 0, 0, \(isPlaced), \(place), -1, \
            \(list(quoted(columns, of: "t"))) FROM \(tables.table(of: reference.holder)) AS t
            """
    }

    private func taking(_ reference: RelationshipTables.Reference) -> [String] {
        guard let relationship = reference.list else { return [] }
        let (setters, lists) = (staged.setters(reference), staged.lists(relationship))
        let own = tables.columns[reference.holder][reference.columns]
        let key = tables.key(of: reference.holder)
        let (keyWidth, width) = (key.count, key.count + own.count)
        var statements: [String] = []
        if filled.contains(reference.holder) {
            let references = quoted(Array(own), of: "t")
            statements.append(
                """
                \(takingStored(reference)) WHERE \(areSet(references)) AND (
                    EXISTS (SELECT FROM \(setters.quoted) AS s
                        WHERE \(same(columns("s", 0..<keyWidth), quoted(key, of: "t"))))
                    OR EXISTS (SELECT FROM \(lists.quoted) AS l WHERE \(same(columns("l", 0..<own.count), references)))
                )
                """
            )
        }
        // Links whose objects were not there.
        let source = own.enumerated().map { part("source", $0, $1) }
        let target = key.enumerated().map { part("target", $0, $1) }
        statements.append(
            """
            WITH gone AS (DELETE FROM _import_link WHERE relationship = \(literal(tables.name(of: relationship))) \
            AND \(Self.isIdentified) \
            RETURNING source, target, position) \
            INSERT INTO \(setters.quoted) SELECT 0, 0, 0, position, -1, \(list(target)), \(list(source)) FROM gone
            """
        )
        statements.append(
            """
            INSERT INTO \(lists.quoted) \
            SELECT DISTINCT \(list(lists.numbers.map { _ in "0" } + columns("s", keyWidth..<width))) \
            FROM \(setters.quoted) AS s WHERE s._ordinal = 0 AND s._list = 0
            """
        )
        return statements
    }
}
