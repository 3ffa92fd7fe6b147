import ImportModel
import Importer

/// To-ones in columns of identified objects that lead to objects without identifier: what an object says of one overwrites the
/// one that it refers to, as an element of a list does.
extension RelationStatements {
    private func referring(to entity: Int) -> [RelatedTables.Reference] {
        tables.referring.filter { tables.home(of: $0.target) == entity }
    }

    /// Takes the links of all others that refer to what an object refers to that says something of it; nil where none is stored.
    func takingRest(_ reference: RelatedTables.Reference) -> String? {
        guard filled.contains(reference.holder) else { return nil }
        let key = tables.key(of: reference.holder)
        let taken = referring(to: tables.home(of: reference.target)).map {
            "SELECT c\(tables.key(of: $0.holder).count) FROM \(staged.setters($0).quoted) WHERE _ordinal = 0"
        }
        let column = "t.\(tables.columns[reference.holder][reference.columns.lowerBound].quoted)"
        return """
            \(takingStored(reference)) WHERE (\(column) IN (\(taken.joined(separator: " UNION "))) \
            OR \(mayBeOverwritten(column, reference.target))) AND NOT EXISTS (
                SELECT FROM \(staged.setters(reference).quoted) AS s
                WHERE s._ordinal = 0 AND \(same(columns("s", key.indices), quoted(key, of: "t")))
            )
            """
    }

    /// A condition: the object without identifier with this row id may be an element of a list that is stated again.
    private func mayBeOverwritten(_ id: String, _ entity: Int) -> String {
        let elements = tables.elements.filter { tables.home(of: $0.holder) == tables.home(of: entity) }
        guard let rowID = tables.rowID(of: entity), !elements.isEmpty else { return "false" }
        // Of lists of others without identifier, it is not known yet which ones these are.
        if elements.contains(where: { tables.isKeyless($0.target) }) { return "\(id) IS NOT NULL" }
        let lists = elements.compactMap { element -> String? in
            guard let list = element.list else { return nil }
            let own = quoted(Array(tables.columns[element.holder][element.columns]), of: "o")
            return """
                EXISTS (SELECT FROM \(tables.table(of: entity)) AS o JOIN \(staged.lists(list).quoted) AS l \
                ON \(same(columns("l", own.indices), own)) WHERE o.\(rowID.quoted) = \(id))
                """
        }
        return "(\(lists.joined(separator: " OR ")))"
    }

    /// What makes rows of objects without identifier that others refer to, and have nested in them.
    func settlingReferred(of entity: Int) -> [String] {
        guard !referring(to: entity).isEmpty else { return [] }
        let kept = "pg_temp._import_kept_\(entity)"
        return findingKept(of: entity) + renaming(entity, by: kept) + overwriting(entity, kept)
    }

    // MARK: Which rows they are

    /// Finds which staged rows overwrite others, and which of these are referred to no longer.
    ///
    /// An object refers to what it was last said to, by itself or by a list; what it says of that then is of the same row.
    private func findingKept(of entity: Int) -> [String] {
        let (events, slots) = ("pg_temp._import_event_\(entity)", "pg_temp._import_slot_\(entity)")
        let (kept, loosened) = ("pg_temp._import_kept_\(entity)", "pg_temp._import_loosened_\(entity)")
        return [
            """
            CREATE TEMPORARY TABLE _import_event_\(entity) (relationship integer, holder bigint, ordinal bigint, child bigint, \
            step integer, kind text, id bigint) ON COMMIT DROP
            """,
            """
            CREATE TEMPORARY TABLE _import_slot_\(entity) (relationship integer, holder bigint, id bigint, \
            PRIMARY KEY (relationship, holder)) ON COMMIT DROP
            """,
            "CREATE INDEX ON \(slots) (id)",
            "CREATE TEMPORARY TABLE _import_kept_\(entity) (_row_id bigint PRIMARY KEY, kept bigint) ON COMMIT DROP",
            "CREATE TEMPORARY TABLE _import_loosened_\(entity) (relationship integer, id bigint) ON COMMIT DROP",
        ] + referring(to: entity).flatMap { gathering($0, events) } + [
            "CREATE INDEX ON \(events) (ordinal, child, step)", "ANALYZE \(events)",
            """
            DO $$ DECLARE e record; own bigint; BEGIN
                IF NOT EXISTS (SELECT FROM \(events) WHERE kind = 'claims') AND NOT EXISTS (
                    SELECT FROM \(events) WHERE kind IN ('sets', 'clears') GROUP BY relationship, holder, ordinal
                    HAVING count(*) > 1
                ) AND NOT EXISTS (SELECT FROM \(events) WHERE kind = 'holds' GROUP BY id HAVING count(*) > 1) THEN
                    WITH runs AS (
                        SELECT *, count(*) FILTER (WHERE kind = 'clears') OVER all_before AS run,
                            count(*) FILTER (WHERE kind = 'clears') OVER (PARTITION BY relationship, holder) AS last_run
                        FROM \(events) WHERE kind IN ('holds', 'sets', 'clears')
                        WINDOW all_before AS (PARTITION BY relationship, holder ORDER BY ordinal, child)
                    ), firsts AS (
                        SELECT relationship, kind, id, run < last_run AS is_loose, first_value(id) OVER (
                            PARTITION BY relationship, holder, run ORDER BY ordinal, child
                        ) AS first FROM runs WHERE kind <> 'clears'
                    ), loose AS (
                        INSERT INTO \(loosened) SELECT DISTINCT relationship, first FROM firsts WHERE is_loose
                    ) INSERT INTO \(kept) SELECT id, first FROM firsts WHERE kind = 'sets' AND id <> first;
                    RETURN;
                END IF;
                INSERT INTO \(slots) SELECT relationship, holder, id FROM \(events) WHERE kind = 'holds';
                FOR e IN SELECT * FROM \(events) WHERE kind <> 'holds' ORDER BY ordinal, child, step LOOP
                    own := coalesce((SELECT kept FROM \(kept) WHERE _row_id = e.id), e.id);
                    CASE e.kind
                    WHEN 'begins' THEN
                        INSERT INTO \(kept) SELECT e.id, s.id FROM \(slots) AS s
                        WHERE s.relationship = e.relationship AND s.holder = e.holder;
                    WHEN 'clears' THEN
                        WITH gone AS (
                            DELETE FROM \(slots) AS s WHERE s.relationship = e.relationship AND s.holder = e.holder
                            RETURNING s.id
                        ) INSERT INTO \(loosened) SELECT e.relationship, id FROM gone;
                    WHEN 'lists' THEN
                        DELETE FROM \(slots) AS s WHERE s.relationship = e.relationship AND s.id = own AND NOT EXISTS (
                            SELECT FROM \(events) AS c WHERE c.ordinal = e.ordinal AND c.child = e.child
                                AND c.kind = 'claims' AND c.relationship = e.relationship AND c.holder = s.holder
                        );
                    ELSE
                        INSERT INTO \(slots) VALUES (e.relationship, e.holder, own)
                        ON CONFLICT (relationship, holder) DO UPDATE SET id = excluded.id;
                    END CASE;
                END LOOP;
            END $$
            """,
            "ANALYZE \(kept)",
        ]
    }

    /// Gathers what is said of what objects refer to by a relationship, each by a number.
    ///
    /// What is nested in an object is of the row that this refers to when its own row is written, and it refers to that when all that
    /// is nested there has been said.
    private func gathering(_ reference: RelatedTables.Reference, _ events: String) -> [String] {
        guard let relationship = reference.list else { return [] }
        let keys = columns("s", tables.key(of: reference.holder).indices)
        let id = "s.c\(keys.count)"
        let isLeaving = tables.isUnion(relationship) ? "l._emptied = 1" : "l._ordinal > 0"
        let said = """
            SELECT *, dense_rank() OVER (ORDER BY \(list(keys))) AS holder, \(id) AS id FROM \(staged.setters(reference).quoted) AS s
            """
        return [
            """
            INSERT INTO \(events) WITH said AS (\(said)) \
            SELECT \(reference.owner), holder, _ordinal, _child, 1, CASE WHEN _ordinal = 0 THEN 'holds' WHEN _list >= 0 THEN 'claims' \
            WHEN id IS NULL THEN 'clears' ELSE 'sets' END, id FROM said WHERE _ordinal > 0 OR id IS NOT NULL \
            UNION ALL SELECT \(reference.owner), holder, _ordinal, _row, 0, 'begins', id FROM said \
            WHERE _ordinal > 0 AND _list < 0 AND id IS NOT NULL
            """,
            """
            INSERT INTO \(events) SELECT \(reference.owner), NULL, l._ordinal, l._child, 0, 'lists', l.c0 \
            FROM \(staged.lists(relationship).quoted) AS l WHERE l._ordinal > 0 AND \(isLeaving)
            """,
        ]
    }

    // MARK: What they are

    /// Overwrites rows with what was said of them last, each in full, and makes those that are new.
    private func overwriting(_ entity: Int, _ kept: String) -> [String] {
        guard let rowID = tables.rowID(of: entity) else { return [] }
        let (all, stage, table) = (tables.columns[entity], stage(of: entity), tables.table(of: entity))
        let own = "s._relationship IN (\(referring(to: entity).map { "\($0.owner)" }.joined(separator: ", ")))"
        let isAlone = "NOT EXISTS (SELECT FROM \(kept) AS k WHERE k.kept = s._row_id)"
        let line = "pg_temp._import_overwritten_\(entity)"
        let differs =
            all.indices.map { "\(compared("a.c\($0)", all[$0])) IS DISTINCT FROM \(compared("b.c\($0)", all[$0]))" }
            + ["false"]
        let isChanged = "(\(differs.joined(separator: " OR ")))"
        let kind = kind(ofStaged: "a", entity)
        let alone = """
            SELECT \(self.kind(ofStaged: "s", entity)) AS kind, s._ordinal, s._list FROM \(stage) AS s \
            WHERE \(own) AND \(isAlone)
            """
        let first = "SELECT \(kind) AS kind, a._ordinal, a._list FROM \(line) AS a WHERE a.rank = 1 AND a._ordinal > 0"
        let later = """
            SELECT \(kind) AS kind, a._ordinal, a._list, a._child FROM \(line) AS a JOIN \(line) AS b \
            ON b.id = a.id AND b.rank = a.rank - 1
            """
        return [
            """
            CREATE TEMPORARY TABLE _import_overwritten_\(entity) ON COMMIT DROP AS \
            SELECT *, row_number() OVER (PARTITION BY id ORDER BY _ordinal, _child) AS rank, \
            count(*) OVER (PARTITION BY id) AS rows FROM (
                SELECT \(list(["s._row_id AS id", "s._ordinal", "s._child", "s._list"] + columns("s", all.indices)))
                FROM \(stage) AS s WHERE \(own) AND NOT \(isAlone)
                UNION ALL SELECT \(list(["t.\(rowID.quoted)", "0", "0", "-1"] + quoted(all, of: "t")))
                FROM \(table) AS t WHERE t.\(rowID.quoted) IN (SELECT kept FROM \(kept))
            ) AS told
            """,
            "ANALYZE \(line)",
            adding("inserted", "\(alone) UNION ALL \(first)", entity),
            adding("updated", "\(later) WHERE \(isChanged)", entity),
            adding("unchanged", "\(later) WHERE NOT \(isChanged)", entity),
            """
            INSERT INTO \(unchanged) SELECT kind, _ordinal, _child FROM (\(later) WHERE NOT \(isChanged)) AS told
            """,
            """
            INSERT INTO _import_relinked SELECT \(entity), _ordinal, _list FROM (
                \(alone) UNION ALL \(first)
                UNION ALL SELECT kind, _ordinal, _list FROM (\(later) WHERE \(isChanged)) AS told
            ) AS changed
            """,
            "DELETE FROM \(table) AS t USING \(line) AS l WHERE l.rank = 1 AND t.\(rowID.quoted) = l.id",
            inserting(
                entity,
                of: stage,
                where: """
                    \(own) AND (\(isAlone) OR EXISTS (
                        SELECT FROM \(line) AS l
                        WHERE l.rank = l.rows AND l.id = s._row_id AND l._ordinal = s._ordinal AND l._child = s._child
                    ))
                    """
            ),
        ]
    }

    // MARK: Those that are gone

    /// Lets objects refer to nothing where what they have referred to was an element of a list, and is gone.
    func forgettingGone(_ reference: RelatedTables.Reference) -> [String] {
        guard reference.isReferring, tables.areElements(reference.target), let relationship = reference.list,
            let rowID = tables.rowID(of: reference.target)
        else { return [] }
        let target = reference.target
        let all = tables.columns[reference.holder]
        let column = all[reference.columns.lowerBound].quoted
        let sets = ([column] + [reference.position.map { all[$0].quoted }].compactMap(\.self)).map { "\($0) = NULL" }
        return [
            """
            UPDATE \(tables.table(of: reference.holder)) AS t SET \(list(sets)) WHERE t.\(column) IS NOT NULL \
            AND \(isGone("t.\(column)", target))
            """,
            """
            DELETE FROM _import_link AS w WHERE w.relationship = \(literal(tables.name(of: relationship))) \
            AND \(isGone(part("w.source", 0, rowID), target))
            """,
        ]
    }

    // MARK: Those that nothing refers to any more

    /// The objects without identifier that others have let go of themselves, by the relationship.
    var loosened: [(relationship: Int, entity: Int, keys: String)] {
        tables.referring.map { reference in
            let column = tables.columns[reference.holder][reference.columns.lowerBound].quoted
            return (
                reference.owner, reference.target,
                """
                SELECT DISTINCT s.id FROM pg_temp._import_loosened_\(tables.home(of: reference.target)) AS s \
                WHERE s.relationship = \(reference.owner) AND NOT EXISTS (
                    SELECT FROM \(tables.table(of: reference.holder)) AS t WHERE t.\(column) = s.id
                )
                """
            )
        }
    }
}
