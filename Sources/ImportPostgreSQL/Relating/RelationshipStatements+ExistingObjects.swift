import ImportModel
import Importer

/// Records whose own objects are there already, where these are left out or become rejects.
extension RelationshipStatements {
    /// True if the job leaves such records out, or makes rejects of them.
    ///
    /// Where records are taken one after the other, that is found with all else.
    var leavesOut: Bool { [.ignore, .error].contains(tables.graph.onConflict) && !tables.takesInOrder }

    /// A condition: the object with this key was there before the job, and not for references alone.
    private func wasThere(_ entity: Int, _ key: [String]) -> String {
        guard filled.contains(entity) else { return "false" }
        return """
            EXISTS (SELECT FROM \(tables.table(of: entity)) AS t \
            WHERE \(same(quoted(tables.key(of: entity), of: "t"), key)) AND NOT \(isStub(entity, key)))
            """
    }

    private func keys(_ entity: Int, of row: String) -> [String] {
        tables.keyPlaces(of: entity).map { "\(row).c\($0)" }
    }

    // MARK: Verdicts

    /// Finds the records that are left out as their own objects are there, and those that lack something then.
    ///
    /// A record that is left out brings nothing, so that what comes after it may be accepted for that. Most are decided by what no
    /// record takes away: stored objects, and the first record that names an object. The others are taken in source order.
    var leavingOut: [String] {
        let known = identified.filter(filled.contains).map { entity in
            """
            INSERT INTO _import_left_out SELECT s._ordinal FROM \(stage(of: entity)) AS s \
            WHERE s._child = 0 AND \(wasThere(entity, keys(entity, of: "s")))
            """
        }
        let lines = "pg_temp._import_said"
        // The record that names the object of a row first, if nothing may take that away.
        let isBrought = """
            n.first < n.ordinal AND NOT EXISTS (SELECT FROM \(lines) AS w WHERE w.ordinal = n.first AND w.is_open)
            """
        return [
            "CREATE TEMPORARY TABLE _import_left_out (ordinal bigint PRIMARY KEY) ON COMMIT DROP"
        ] + known + [
            """
            CREATE TEMPORARY TABLE _import_said (entity integer, key bigint, ordinal bigint, child integer, lacks boolean, \
            first bigint, is_open boolean) ON COMMIT DROP
            """
        ] + identified.map(gathering) + [
            "CREATE INDEX ON \(lines) (entity, key, ordinal, child)", "CREATE INDEX ON \(lines) (ordinal)",
            "ANALYZE \(lines)",
            "INSERT INTO _import_left_out SELECT n.ordinal FROM \(lines) AS n WHERE n.child = 0 AND \(isBrought)",
            "UPDATE \(lines) AS n SET is_open = false WHERE n.is_open AND n.child > 0 AND \(isBrought)",
            "DELETE FROM \(lines) AS n USING _import_left_out AS l WHERE n.ordinal = l.ordinal",
            Self.deciding,
            "INSERT INTO _import_verdict SELECT ordinal FROM _import_left_out",
        ]
    }

    /// Gathers what is said of objects that are new, by several rows of which one is a record's own, or by rows that lack
    /// something.
    private func gathering(_ entity: Int) -> String {
        let key = keys(entity, of: "s")
        let names = key.indices.map { "k\($0)" }
        let named = zip(key, names).map { "\($0) AS \($1)" }
        return """
            INSERT INTO _import_said WITH _import_keys AS (
                SELECT \(list(named)), row_number() OVER () AS number FROM \(stage(of: entity)) AS s GROUP BY \(list(key))
                HAVING bool_or(s._unmet) OR bool_or(s._child = 0) AND count(*) > 1
            ), _import_rows AS (
                SELECT k.number, s._ordinal, s._child, s._unmet,
                    min(s._ordinal) FILTER (WHERE NOT s._unmet) OVER (PARTITION BY k.number) AS first
                FROM _import_keys AS k JOIN \(stage(of: entity)) AS s ON \(same(names.map { "k.\($0)" }, key))
                WHERE NOT \(wasThere(entity, names.map { "k.\($0)" }))
                    AND NOT EXISTS (SELECT FROM _import_left_out AS l WHERE l.ordinal = s._ordinal)
            )
            SELECT \(entity), number, _ordinal, _child, _unmet, first, _unmet OR _child = 0 AND first < _ordinal
            FROM _import_rows
            """
    }

    /// Decides the records that are open, each when all before it are: what is said by those that are not accepted goes.
    private static let deciding = """
        DO $$ DECLARE one bigint; BEGIN
            FOR one IN SELECT DISTINCT ordinal FROM pg_temp._import_said WHERE is_open ORDER BY ordinal LOOP
                IF EXISTS (
                    SELECT FROM pg_temp._import_said AS n JOIN pg_temp._import_said AS e USING (entity, key)
                    WHERE n.ordinal = one AND n.child = 0 AND e.ordinal < one AND NOT e.lacks
                ) THEN
                    INSERT INTO pg_temp._import_left_out VALUES (one);
                ELSIF EXISTS (
                    SELECT FROM pg_temp._import_said AS n WHERE n.ordinal = one AND n.lacks AND NOT EXISTS (
                        SELECT FROM pg_temp._import_said AS e WHERE e.entity = n.entity AND e.key = n.key
                            AND (e.ordinal, e.child) < (n.ordinal, n.child) AND NOT e.lacks
                    )
                ) THEN
                    INSERT INTO pg_temp._import_verdict VALUES (one);
                ELSE
                    CONTINUE;
                END IF;
                DELETE FROM pg_temp._import_said WHERE ordinal = one;
            END LOOP;
        END $$
        """

    // MARK: What is told of them

    /// Keeps why records are rejects: of those whose objects are there already, that alone.
    var notingLeftOut: [String] {
        let sparing = "DELETE FROM _import_lacking AS u USING _import_left_out AS l WHERE u.ordinal = l.ordinal"
        guard tables.graph.onConflict == .error else { return [sparing] }
        return [sparing, "INSERT INTO _import_lacking SELECT ordinal, \(Self.duplicate), 0 FROM _import_left_out"]
    }

    /// In place of a statement that lacks something: the record's own object is there already.
    static let duplicate = -1

    /// How many records of an entity are left out.
    func ignored(_ entity: Int) -> String {
        "SELECT count(*) FROM \(stage(of: entity)) AS s JOIN _import_left_out AS l ON l.ordinal = s._ordinal WHERE s._child = 0"
    }

    /// How many references without more than an identifier these have, by entity.
    var ignoredReferences: String {
        """
        SELECT r._entity, sum(r._count)::bigint FROM \(staged.references.quoted) AS r \
        JOIN _import_left_out AS l ON l.ordinal = r._ordinal GROUP BY r._entity
        """
    }

    // MARK: References of objects that are replaced

    /// Lets new objects have the links that lists have given them, where what replaces stored ones says nothing of these.
    var settlingUnsaid: [String] {
        let policies = [tables.graph.onConflict] + tables.layout.relationships.map(\.description.onConflict)
        guard policies.contains(.replace) else { return [] }
        return tables.listed.flatMap { reference -> [String] in
            let setters = staged.setters(reference).quoted
            let entity = reference.holder
            let key = columns("s", tables.key(of: entity).indices)
            return [
                """
                DELETE FROM \(setters) AS s WHERE s._list = \(RelationshipStagingTables.unsaid) AND NOT \(wasThere(entity, key)) \
                AND NOT EXISTS (SELECT FROM \(stage(of: entity)) AS e WHERE \(same(keys(entity, of: "e"), key)) \
                AND (e._ordinal, e._child) < (s._ordinal, s._row))
                """,
                "UPDATE \(setters) AS s SET _list = -1 WHERE s._list = \(RelationshipStagingTables.unsaid)",
            ]
        }
    }
}
