import ImportModel
import Importer

/// Places in lists that only add, where others may take objects from them meanwhile.
///
/// A list goes on behind the last of the objects that it has just then. As each comes behind all that are there, the last of them is the
/// one that came last: a stack for each list, from whose top those are taken that have gone. The server does that, one list after the
/// other.
extension RelationStatements {
    /// Gives objects that lists in columns have added their places; an object keeps its own until it leaves the list.
    func placingAdded(_ reference: RelatedTables.Reference, in set: String) -> [String] {
        guard let relationship = reference.list, reference.position != nil, tables.isUnion(relationship) else {
            return []
        }
        let width = tables.key(of: reference.holder).count
        let keys = (0..<width).map { "c\($0)" }
        let owners = (width..<width + reference.columns.count).map { "c\($0)" }
        let line = "PARTITION BY \(list(keys)) ORDER BY _ordinal, _child"
        let same = same(keys.map { "l.\($0)" }, keys.map { "f.\($0)" })
        return placing(
            relationship,
            """
            WITH runs AS (SELECT *, sum(is_break::integer) OVER line AS run FROM \(set) WINDOW line AS (\(line))),
            firsts AS (
                SELECT DISTINCT ON (\(list(keys)), run) * FROM runs WHERE _list >= 0 AND \(areSet(owners))
                ORDER BY \(list(keys)), run, _ordinal, _child
            ), lasts AS (
                SELECT DISTINCT ON (\(list(keys)), run) * FROM runs ORDER BY \(list(keys)), run, _ordinal DESC, _child DESC
            )
            SELECT f.*, CASE WHEN l.is_left THEN l.left_ordinal ELSE l.next_ordinal END AS end_ordinal,
                CASE WHEN l.is_left THEN l.left_child ELSE l.next_child END AS end_child
            FROM firsts AS f JOIN lasts AS l ON l.run = f.run AND \(same)
            """,
            of: owners
        ) + [
            """
            UPDATE \(set) AS s SET _position = p.place FROM \(added(relationship)) AS a JOIN \(places(relationship)) AS p USING (number) \
            WHERE \(self.same(keys.map { "s.\($0)" }, keys.map { "a.\($0)" })) AND s._list >= 0 AND s._ordinal > 0 \
            AND (s._ordinal, s._child) >= (a._ordinal, a._child) AND (s._ordinal, s._child) < (a.end_ordinal, a.end_child)
            """
        ]
    }

    /// The same for lists in a join table, where lists of the other side may break their links.
    func placingAdded(_ side: Side, _ told: String, own: [String], pair: [String]) -> [String] {
        let same = same(pair.map { "e.\($0)" }, pair.map { "f.\($0)" })
        return placing(
            side.relationship,
            """
            SELECT f.*, e._ordinal AS end_ordinal, e._child AS end_child FROM (
                SELECT DISTINCT ON (\(list(pair)), run) * FROM \(told)
                WHERE side = \(side.isSource) AND is_in AND (_ordinal > 0 OR _position >= 0)
                ORDER BY \(list(pair)), run, _ordinal, _child
            ) AS f LEFT JOIN \(told) AS e ON \(same) AND e.run = f.run AND e.is_change AND NOT e.is_in
            """,
            of: own
        ) + [
            """
            UPDATE \(told) AS s SET _position = p.place FROM \(added(side.relationship)) AS a \
            JOIN \(places(side.relationship)) AS p USING (number) \
            WHERE s.side = \(side.isSource) AND s.is_in AND s._ordinal > 0 AND s.run = a.run \
            AND \(self.same(pair.map { "s.\($0)" }, pair.map { "a.\($0)" }))
            """
        ]
    }

    private func added(_ relationship: Int) -> String { "pg_temp._import_add_\(relationship)" }
    private func places(_ relationship: Int) -> String { "pg_temp._import_place_\(relationship)" }

    /// Makes a table of the places of what is added to lists.
    ///
    /// - Parameters:
    ///   - adds: a query for that in no order, with what is stored, and when each goes.
    ///   - owners: the columns of the object that has the list.
    private func placing(_ relationship: Int, _ adds: String, of owners: [String]) -> [String] {
        [
            """
            CREATE TEMPORARY TABLE _import_add_\(relationship) ON COMMIT DROP AS SELECT \
            row_number() OVER (ORDER BY \(list(owners)), _ordinal, _child, _position) AS number, \
            dense_rank() OVER (ORDER BY \(list(owners))) AS list, *
            FROM (\(adds)) AS adds
            """,
            """
            UPDATE \(added(relationship)) SET end_ordinal = \(Int64.max), end_child = 0 WHERE end_ordinal IS NULL
            """,
            "CREATE TEMPORARY TABLE _import_place_\(relationship) (number bigint, place bigint) ON COMMIT DROP",
            """
            DO $$ DECLARE one record; ordinals bigint[]; children bigint[]; places bigint[]; height integer; list bigint := 0;
                place bigint;
            BEGIN
                FOR one IN SELECT a.number, a.list, a._ordinal, a._child, a._position, a.end_ordinal, a.end_child
                    FROM \(added(relationship)) AS a ORDER BY a.number LOOP
                    IF one.list <> list THEN
                        list := one.list;
                        height := 0;
                    END IF;
                    IF one._ordinal = 0 THEN
                        place := one._position;
                    ELSE
                        WHILE height > 0 AND (ordinals[height], children[height]) <= (one._ordinal, one._child) LOOP
                            height := height - 1;
                        END LOOP;
                        place := CASE WHEN height > 0 THEN places[height] + 1 ELSE 0 END;
                        INSERT INTO \(places(relationship)) VALUES (one.number, place);
                    END IF;
                    height := height + 1;
                    ordinals[height] := one.end_ordinal;
                    children[height] := one.end_child;
                    places[height] := place;
                END LOOP;
            END $$
            """,
            "ANALYZE \(added(relationship))", "ANALYZE \(places(relationship))",
        ]
    }
}
