import ImportModel
import Importer

/// What becomes links of names.
extension AlternateKeyStatements {
    /// A setter of a column that holds if the object refers to nothing when another one gets the values that it waits for.
    private static let candidate = -4

    // MARK: Those that are there

    /// Links what is named, as far as it is there.
    var linking: [String] {
        let isFound = "k0 IS NOT NULL"
        switch naming.form {
        case .own(let references):
            return references.filter { $0.list != nil }.flatMap { reference -> [String] in
                let isPartner = reference.isOneToOne ? "CASE WHEN \(isFound) THEN child ELSE -1 END" : "-1"
                return [
                    """
                    INSERT INTO \(staged.setters(reference).quoted) \
                    SELECT ordinal, child, \(isPartner), -1, row_child, \(list(sources() + keys())) FROM \(named)
                    """
                ] + taking(reference, "ordinal, child, -1, \(list(keys())) FROM \(named) WHERE \(isFound)")
            }
        case .listed(let reference):
            return [
                """
                INSERT INTO \(staged.setters(reference).quoted) \
                SELECT ordinal, child, child, position, -1, \(list(keys() + sources())) FROM \(named) WHERE \(isFound)
                """
            ]
        case .joined:
            return [
                """
                INSERT INTO \(staged.links(number).quoted) \
                SELECT ordinal, child, position, \(list(sources() + keys())) FROM \(named) WHERE \(isFound)
                """
            ]
        }
    }

    /// Of a one-to-one, lets the partner have nobody else any more.
    ///
    /// - Parameter rows: what is selected of which rows: when, and the partner's key.
    private func taking(_ reference: RelationshipTables.Reference, _ rows: String) -> [String] {
        guard reference.isOneToOne, let list = reference.list else { return [] }
        return ["INSERT INTO \(staged.lists(list).quoted) SELECT \(rows)"]
    }

    // MARK: Copies

    /// The rows of elements of lists, the columns of what they lead to, and which of them are elements.
    private func elements(_ row: String) -> (rows: String, keys: [String], areElements: String)? {
        let count = tables.key(of: naming.destination).count
        switch naming.form {
        case .own: return nil
        case .listed(let reference):
            return (staged.setters(reference).quoted, columns(row, 0..<count), "\(row)._list = \(row)._child")
        case .joined: return (staged.links(number).quoted, columns(row, width..<width + count), "true")
        }
    }

    /// Takes objects that a list has twice, by their identifier and by other attributes, from where they are not first.
    var copying: [String] {
        guard let (rows, keys, areElements) = elements("e") else { return [] }
        let isInList = "c.ordinal = e._ordinal AND c.child = e._child"
        func before(_ ordinal: String, _ child: String, _ position: String) -> String {
            let isBefore = "c.ordinal = e.\(ordinal) AND c.child = e.\(child) AND c.position < e.\(position)"
            return "\(position) = e.\(position) - (SELECT count(*) FROM \(copies) AS c WHERE \(isBefore))"
        }
        return [
            """
            CREATE TEMPORARY TABLE _import_copy_\(number) ON COMMIT DROP AS SELECT ordinal, child, position FROM (
                SELECT c.ordinal, c.child, e._position AS position,
                    row_number() OVER (PARTITION BY c.ordinal, c.child, \(list(keys)) ORDER BY e._position) AS copy
                FROM \(rows) AS e
                JOIN (SELECT DISTINCT ordinal, child FROM \(named) WHERE k0 IS NOT NULL) AS c ON \(isInList)
                WHERE \(areElements)
            ) AS told WHERE copy > 1
            """,
            "CREATE INDEX ON \(copies) (ordinal, child)",
            """
            DELETE FROM \(rows) AS e USING \(copies) AS c \
            WHERE \(isInList) AND c.position = e._position AND \(areElements)
            """,
            """
            UPDATE \(rows) AS e SET \(before("_ordinal", "_child", "_position")) \
            WHERE EXISTS (SELECT FROM \(copies) AS c WHERE \(isInList)) AND \(areElements)
            """,
            "UPDATE \(named) AS e SET \(before("ordinal", "child", "position")) WHERE k0 IS NULL",
        ]
    }

    /// How many there were.
    var countOfCopies: String? { naming.isOwn ? nil : "SELECT count(*) FROM \(copies)" }

    // MARK: Those that come later

    /// Links what is named before it is there, and keeps what waits still.
    var waiting: [String] {
        switch naming.form {
        case .own(let references):
            return references.flatMap { reference -> [String] in
                let suffix = "_\(reference.holder)"
                return matching(findingTurns(reference, isAlone: references.count == 1), suffix)
                    + (reference.list == nil ? setting(reference) : proposing(reference))
                    + [noting(reference), keeping(suffix)]
            }
        case .listed(let reference):
            return matching(findingListTurns, "") + [listing(reference)]
                + taking(
                    reference,
                    "at_ordinal, at_child, -1, \(list(sources())) FROM \(met("")) AS m WHERE \(isUnstated(reference))"
                ) + [keeping("")]
        case .joined:
            return matching(findingListTurns, "") + [
                """
                INSERT INTO \(staged.joined(naming).quoted) \
                SELECT at_ordinal, at_child, position, \(list(sources() + keys())) FROM \(met(""))
                """, keeping(""),
            ]
        }
    }

    /// What an object has said of its own reference, in order: what is said later takes the place of what waits.
    private func findingTurns(_ reference: RelationshipTables.Reference, isAlone: Bool) -> String {
        let holder = reference.holder
        let key = tables.keyPlaces(of: holder).map { "h.c\($0)" }
        let place = reference.columns.lowerBound
        let bit = Int64(1) << Int64(place % StagingColumns.maskWidth)
        // Several tables may have the reference.
        let isHere = """
            EXISTS (SELECT FROM \(tables.table(of: holder)) AS t \
            WHERE \(same(quoted(tables.key(of: holder), of: "t"), sources("kept"))))
            """
        let isWaiting = "lag(is_waiting) OVER line"
        let isSame = values().map { "\($0) IS NOT DISTINCT FROM lag(\($0)) OVER line" }.joined(separator: " AND ")
        return """
            CREATE TEMPORARY TABLE \(turns("_\(holder)")) ON COMMIT DROP AS WITH said AS (
                SELECT ordinal, child, row_child, position, \(list(sources() + values())), k0 IS NULL AS is_waiting FROM \(named)
                WHERE entity = \(tables.home(of: holder))
                UNION ALL SELECT 0, 0, -1, position, \(list(sources() + values())), true
                FROM \(kept) AS kept\(isAlone ? "" : " WHERE \(isHere)")
            ), holders AS (SELECT DISTINCT \(list(sources())) FROM said)
            SELECT *, lead(ordinal) OVER line AS end_ordinal, lead(child) OVER line AS end_child,
                lag(ordinal) OVER line AS last_ordinal, lag(child) OVER line AS last_child,
                coalesce(\(isWaiting) AND \(isSame), false) AS was_waiting
            FROM (
                SELECT * FROM said UNION ALL
                SELECT h._ordinal, h._child, -1, 0, \(list(sources("o"))), \(list(values().map { _ in "NULL" })), false
                FROM \(stage(of: holder)) AS h JOIN holders AS o ON \(same(sources("o"), key))
                WHERE h._mask_\(place / StagingColumns.maskWidth) & \(bit) <> 0
            ) AS line WINDOW line AS (PARTITION BY \(list(sources())) ORDER BY ordinal, child)
            """
    }

    /// The same of lists: a later one of the same object does, and where links are in columns, another object that waits for the
    /// same one.
    private var findingListTurns: String {
        let line = ["ordinal", "child"]
        let isSame = same(sources("said") + line.map { "said.\($0)" }, sources("ends") + line.map { "ends.\($0)" })
        var next = ["NULL::bigint AS next_ordinal", "NULL::bigint AS next_child"]
        if case .listed = naming.form {
            next = line.map { "lead(said.\($0)) OVER same AS next_\($0)" }
        }
        return """
            CREATE TEMPORARY TABLE \(turns("")) ON COMMIT DROP AS WITH said AS (
                SELECT ordinal, child, row_child, position, \(list(sources() + values())), true AS is_waiting FROM \(named)
                WHERE k0 IS NULL
                UNION ALL SELECT 0, 0, -1, position, \(list(sources() + values())), true FROM \(kept)
            ), lists AS (
                SELECT l._ordinal AS ordinal, l._child AS child, \(list(aliased(columns("l", 0..<width), sources())))
                FROM \(staged.lists(number).quoted) AS l
                UNION SELECT 0, 0, \(list(sources())) FROM \(kept)
            ), ends AS (
                SELECT *, lead(ordinal) OVER line AS end_ordinal, lead(child) OVER line AS end_child FROM lists
                WINDOW line AS (PARTITION BY \(list(sources())) ORDER BY ordinal, child)
            )
            SELECT said.*, ends.end_ordinal, ends.end_child, \(list(next)) FROM said JOIN ends ON \(isSame)
            WINDOW same AS (PARTITION BY \(list(values("said"))) ORDER BY said.ordinal, said.child)
            """
    }

    /// Finds what waits, and what of it gets an object.
    private func matching(_ findingTurns: String, _ suffix: String) -> [String] {
        [findingTurns, "ANALYZE \(turns(suffix))", findingMet(suffix), "ANALYZE \(met(suffix))"]
    }

    /// Finds which names get an object while they wait, and when.
    private func findingMet(_ suffix: String) -> String {
        let line = (sources() + ["ordinal", "child", "position"]).map { "t.\($0)" }
        let isNext =
            naming.isOwn
            ? "" : " AND (t.next_ordinal IS NULL OR (v.ordinal, v.child) < (t.next_ordinal, t.next_child))"
        return """
            CREATE TEMPORARY TABLE \(met(suffix)) ON COMMIT DROP AS
            SELECT DISTINCT ON (\(list(line))) \(list(line)), \(list(keys("v"))), v.ordinal AS at_ordinal, v.child AS at_child
            FROM \(turns(suffix)) AS t JOIN \(versions) AS v ON \(same(values("t"), values("v")))
                AND (v.ordinal, v.child) > (t.ordinal, t.child)
                AND (t.end_ordinal IS NULL OR (v.ordinal, v.child) < (t.end_ordinal, t.end_child))\(isNext)
            WHERE t.is_waiting ORDER BY \(list(line)), v.ordinal, v.child
            """
    }

    /// Keeps what waits still.
    private func keeping(_ suffix: String) -> String {
        let line = sources() + ["ordinal", "child", "position"]
        let ends = ["end_ordinal"] + (naming.isOwn ? [] : ["next_ordinal"])
        return """
            INSERT INTO _import_link SELECT DISTINCT ON (\(list(sources("t") + values("t")))) \(relationship), \
            json_build_array(\(list(sources("t")))), json_build_object('by', json_build_array(\(list(values("t"))))), \
            \(naming.isOwn ? "-1" : "t.position") FROM \(turns(suffix)) AS t \
            WHERE t.is_waiting AND \(ends.map { "t.\($0) IS NULL" }.joined(separator: " AND ")) AND NOT EXISTS (
                SELECT FROM \(met(suffix)) AS m WHERE \(same(line.map { "m.\($0)" }, line.map { "t.\($0)" }))
            )
            """
    }

    // MARK: In the object's own columns

    /// Sets references that nothing else sets: one that waits for an object is set from the start if nothing is said in between.
    private func setting(_ reference: RelationshipTables.Reference) -> [String] {
        let (holder, met) = (reference.holder, met("_\(reference.holder)"))
        let found = keys().map { "coalesce(n.\($0), m.\($0)) AS \($0)" }
        let masks = Dictionary(grouping: reference.columns) { $0 / StagingColumns.maskWidth }
        let sets =
            zip(reference.columns, keys("x")).map { "c\($0) = \($1)" }
            + masks.sorted { $0.key < $1.key }.map { mask, columns in
                let bits = columns.reduce(Int64(0)) { $0 | 1 << Int64($1 % StagingColumns.maskWidth) }
                return "_mask_\(mask) = s._mask_\(mask) | \(bits)"
            }
        var statements = [
            """
            UPDATE \(stage(of: holder)) AS s SET \(list(sets)) FROM (
                SELECT n.ordinal, n.row_child, \(list(found)) FROM \(named) AS n
                LEFT JOIN \(met) AS m ON m.ordinal = n.ordinal AND m.child = n.child
                WHERE n.entity = \(tables.home(of: holder))
            ) AS x WHERE s._ordinal = x.ordinal AND s._child = x.row_child
            """,
            touching(reference, "SELECT \(list(sources())), at_ordinal FROM \(met)"),
        ]
        if self.statements.filled.contains(holder) {
            let own = quoted(Array(tables.columns[holder][reference.columns]), of: "t")
            let sets = zip(tables.columns[holder][reference.columns], keys("m")).map { "\($0.quoted) = \($1)" }
            statements.append(
                """
                UPDATE \(tables.table(of: holder)) AS t SET \(list(sets)) FROM \(met) AS m WHERE m.ordinal = 0 \
                AND \(same(quoted(tables.key(of: holder), of: "t"), sources("m"))) \
                AND \(own.map { "\($0) IS NULL" }.joined(separator: " AND "))
                """
            )
        }
        return statements
    }

    /// Notes records whose own objects get their reference by what is nested in them.
    private func touching(_ reference: RelationshipTables.Reference, _ rows: String) -> String {
        let key = tables.keyPlaces(of: reference.holder).map { "s.c\($0)" }
        return """
            INSERT INTO \(staged.renamed.quoted) SELECT DISTINCT s._ordinal, 0, \(reference.holder) \
            FROM \(stage(of: reference.holder)) AS s JOIN (\(rows)) AS m ON \(same(sources("m"), key)) \
            AND s._ordinal = m.at_ordinal WHERE s._child = 0
            """
    }

    /// Notes rows that name something else than before, though their object refers to nothing either way.
    private func noting(_ reference: RelationshipTables.Reference) -> String {
        let suffix = "_\(reference.holder)"
        return """
            INSERT INTO \(staged.renamed.quoted) SELECT t.ordinal, t.row_child, \(reference.holder) FROM \(turns(suffix)) AS t \
            WHERE t.is_waiting AND t.ordinal > 0 AND NOT (t.was_waiting AND NOT EXISTS (
                SELECT FROM \(met(suffix)) AS m WHERE \(same(sources("m"), sources("t")))
                    AND m.ordinal = t.last_ordinal AND m.child = t.last_child
            ))
            """
    }

    /// Where lists set references, too, they are set when the object is there, if they are still empty.
    private func proposing(_ reference: RelationshipTables.Reference) -> [String] {
        [
            """
            INSERT INTO \(staged.setters(reference).quoted) SELECT at_ordinal, at_child, \(Self.candidate), -1, -1, \
            \(list(sources() + keys())) FROM \(met("_\(reference.holder)"))
            """
        ]
    }

    /// What is done when stored links are among those that were said.
    var deciding: [String] {
        guard case .own(let references) = naming.form else { return [] }
        return references.flatMap(deciding)
    }

    private func deciding(_ reference: RelationshipTables.Reference) -> [String] {
        guard let relationship = reference.list else { return [] }
        let (setters, lists) = (staged.setters(reference).quoted, staged.lists(relationship).quoted)
        let own = width..<width + reference.columns.count
        let prefix = StagingName.prefix(of: staged.job)
        let isLeaving = tables.isUnion(relationship) ? " AND l._emptied = 1" : ""
        let isCandidate = { (row: String) in "\(row)._list = \(Self.candidate)" }
        let isLeft = """
            EXISTS (
                SELECT FROM \(lists) AS l WHERE \(same(columns("l", 0..<own.count), columns("last", own)))
                    AND (l._ordinal, l._child) > (last._ordinal, last._child) AND (l._ordinal, l._child) < (x._ordinal, x._child)\(isLeaving)
            )
            """
        let rows = "\(setters) AS x WHERE \(isCandidate("x"))"
        let partners = "x._ordinal, x._child, -1, \(list(columns("x", own))) FROM \(rows)"
        let found = aliased(columns("x", 0..<width), sources())
        let line = { (count: Int) in "(\(list((0..<count).map { "c\($0)" })), _ordinal, _child)" }
        return [
            "CREATE INDEX IF NOT EXISTS \(prefix)j\(relationship) ON \(setters) \(line(width))",
            "CREATE INDEX IF NOT EXISTS \(prefix)i\(relationship) ON \(lists) \(line(own.count))",
            """
            DELETE FROM \(setters) AS e USING (
                SELECT x.ctid AS place FROM \(setters) AS x CROSS JOIN LATERAL (
                    SELECT * FROM \(setters) AS s WHERE \(same(columns("s", 0..<width), columns("x", 0..<width)))
                        AND (s._ordinal, s._child) < (x._ordinal, x._child)
                    ORDER BY s._ordinal DESC, s._child DESC LIMIT 1
                ) AS last WHERE \(isCandidate("x")) AND \(areSet(columns("last", own))) AND NOT \(isLeft)
            ) AS taken WHERE e.ctid = taken.place
            """,
        ] + taking(reference, partners) + [
            touching(
                reference,
                "SELECT \(list(found)), x._ordinal AS at_ordinal FROM \(rows)"
            ),
            "UPDATE \(setters) AS x SET _list = \(reference.isOneToOne ? "x._child" : "-1") WHERE \(isCandidate("x"))",
        ]
    }

    // MARK: In lists

    /// A condition: the row that a name has waited for says nothing of the reference itself.
    private func isUnstated(_ reference: RelationshipTables.Reference) -> String {
        """
        NOT EXISTS (SELECT FROM \(staged.setters(reference).quoted) AS s \
        WHERE s._ordinal = m.at_ordinal AND s._row = m.at_child)
        """
    }

    private func listing(_ reference: RelationshipTables.Reference) -> String {
        """
        INSERT INTO \(staged.setters(reference).quoted) SELECT at_ordinal, at_child, at_child, position, -1, \
        \(list(keys() + sources())) FROM \(met("")) AS m WHERE \(isUnstated(reference))
        """
    }
}
