import ImportModel
import Importer

/// The statements that settle what relates entities, when all that was said is staged.
///
/// Each is what taking one record after another would give, found with what was said of one object, list or link in order.
struct RelationStatements {
    let staged: StagedRelations
    /// The entities whose tables had rows when the job began, by their indexes, and join tables by the relationships that make
    /// them.
    let filled: Set<Int>
    let filledJoins: Set<Int>

    private var tables: RelatedTables { staged.tables }

    // MARK: Names

    private func columns(_ row: String, _ range: Range<Int>) -> [String] { range.map { "\(row).c\($0)" } }

    private func list(_ columns: [String]) -> String { columns.joined(separator: ", ") }

    private func same(_ left: [String], _ right: [String]) -> String { StagedColumns.areSame(left, right) }

    private func areSet(_ columns: [String]) -> String {
        columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    }

    private func stage(of entity: Int) -> String {
        ServerTables.quoted(StageName.rows(of: staged.job, entity))
    }

    private func quoted(_ columns: [ServerColumn], of row: String) -> [String] { columns.map { "\(row).\($0.quoted)" } }

    /// Comparable: `json` has no equality.
    private func compared(_ value: String, _ column: ServerColumn) -> String {
        column.type == .json ? "(\(value))::text" : value
    }

    // MARK: Which records are accepted

    /// The identified entities whose new objects may lack something.
    var identified: [Int] { tables.columns.indices.filter { !tables.isKeyless($0) } }

    /// Whether any row of an entity lacks what a new object needs.
    func isLacking(_ entity: Int) -> String { "SELECT EXISTS (SELECT FROM \(stage(of: entity)) WHERE _unmet)" }

    static let verdict = "CREATE TEMPORARY TABLE _import_verdict (ordinal bigint PRIMARY KEY) ON COMMIT DROP"
    static let lacking =
        "CREATE TEMPORARY TABLE _import_lacking (ordinal bigint, child integer, entity integer) ON COMMIT DROP"

    /// Finds records that lack what an object needs which no record before them, and no earlier import, has brought.
    ///
    /// A record that is a reject brings nothing, so this is done until it finds no more. What it finds is always right: it takes
    /// rows for accepted that are not known to be of rejects, and more of them only make fewer rejects.
    func rejecting(_ entity: Int) -> String {
        """
        INSERT INTO _import_verdict SELECT DISTINCT u._ordinal FROM \(stage(of: entity)) AS u \
        WHERE NOT EXISTS (SELECT FROM _import_verdict AS v WHERE v.ordinal = u._ordinal) AND \(lacks(entity))
        """
    }

    /// Keeps which statements of the rejects lack something.
    func findingLacking(_ entity: Int) -> String {
        """
        INSERT INTO _import_lacking SELECT u._ordinal, u._child, \(entity) FROM \(stage(of: entity)) AS u \
        WHERE EXISTS (SELECT FROM _import_verdict AS v WHERE v.ordinal = u._ordinal) AND \(lacks(entity))
        """
    }

    private func lacks(_ entity: Int) -> String {
        let key = tables.graph.plans[entity].identifier.map { "c\($0)" }
        let keys = { (row: String) in key.map { "\(row).\($0)" } }
        // What is there for references alone is no object.
        let objects =
            filled.contains(entity)
            ? """
             AND NOT EXISTS (SELECT FROM \(tables.table(of: entity)) AS t \
            WHERE \(same(quoted(tables.key(of: entity), of: "t"), keys("u"))) \
            AND NOT \(isStub(entity, keys("u"))))
            """ : ""
        return """
            u._unmet\(objects) AND NOT EXISTS (
                SELECT FROM \(stage(of: entity)) AS e
                WHERE \(same(keys("e"), keys("u"))) AND NOT e._unmet
                    AND (e._ordinal, e._child) < (u._ordinal, u._child)
                    AND NOT EXISTS (SELECT FROM _import_verdict AS v WHERE v.ordinal = e._ordinal)
            )
            """
    }

    /// Takes what rejects have said out of the staging tables.
    var removingRejects: [String] {
        (identified.map(stage) + staged.all.map(\.quoted)).map {
            "DELETE FROM \($0) AS s USING _import_verdict AS v WHERE s._ordinal = v.ordinal"
        }
    }

    // MARK: Stubs

    private func key(_ columns: [String]) -> String { "json_build_array(\(list(columns)))" }

    private func isStub(_ entity: Int, _ key: [String]) -> String {
        """
        EXISTS (SELECT FROM _import_stub AS b WHERE b.table_name = \(literal(tables.layout.table(of: entity))) \
        AND b.key::text = \(self.key(key))::text)
        """
    }

    /// Takes away rows that were there for references alone and that the job has objects for, and says how many.
    ///
    /// The objects are then new, as they are.
    func fillingStubs(of entity: Int) -> String {
        let staged = tables.graph.plans[entity].identifier.map { "s.c\($0)" }
        let names = staged.indices.map { "k\($0)" }
        let named = zip(staged, names).map { "\($0) AS \($1)" }
        let own = names.map { "k.\($0)" }
        return """
            WITH _import_keys AS (SELECT DISTINCT \(list(named)) FROM \(stage(of: entity)) AS s),
            _import_filled AS (
                DELETE FROM _import_stub AS b USING _import_keys AS k
                WHERE b.table_name = \(literal(tables.layout.table(of: entity))) AND b.key::text = \(key(own))::text
                RETURNING \(list(own))
            ), gone AS (
                DELETE FROM \(tables.table(of: entity)) AS t USING _import_filled AS k
                WHERE \(same(quoted(tables.key(of: entity), of: "t"), own)) RETURNING 1
            ) SELECT count(*) FROM gone
            """
    }

    /// Makes rows for what references lead to, with their keys alone, and says how many.
    func makingStubs(_ dangling: Dangling) -> String {
        let target = tables.layout.relationships[dangling.relationship].destination
        let names = tables.key(of: target).map(\.quoted)
        return """
            WITH made AS (
                INSERT INTO \(tables.table(of: target)) (\(list(names)))
                SELECT DISTINCT \(list(dangling.columns.map { "r.\($0)" })) FROM \(dangling.table) AS r
                WHERE \(dangling.condition) RETURNING \(list(names))
            ), noted AS (
                INSERT INTO _import_stub SELECT \(literal(tables.layout.table(of: target))), \(key(names)) FROM made
            ) SELECT count(*) FROM made
            """
    }

    /// Makes rows for what lists name, linked to the objects that have the lists, and says how many.
    func makingStubs(_ reference: RelatedTables.Reference) -> String? {
        guard let relationship = reference.list else { return nil }
        let own = Array(tables.columns[reference.holder][reference.columns])
        let keys = tables.key(of: reference.holder)
        let position = reference.position.map { [tables.columns[reference.holder][$0].quoted] } ?? []
        // What identifies a row may be what it refers to.
        let references = reference.isParent ? [] : own
        let names = (keys + references).map(\.quoted) + position
        let values =
            keys.enumerated().map { part("target", $0, $1) } + references.enumerated().map { part("source", $0, $1) }
            + position.map { _ in "nullif(position, -1)" }
        return """
            WITH _import_waiting AS (
                DELETE FROM _import_link WHERE relationship = \(literal(tables.name(of: relationship)))
                RETURNING source, target, position
            ), made AS (
                INSERT INTO \(tables.table(of: reference.holder)) (\(list(names))) SELECT \(list(values)) FROM _import_waiting
                RETURNING \(list(keys.map(\.quoted)))
            ), noted AS (
                INSERT INTO _import_stub
                SELECT \(literal(tables.layout.table(of: reference.holder))), \(key(keys.map(\.quoted))) FROM made
            ) SELECT count(*) FROM made
            """
    }

    /// A part of a key that is kept as JSON.
    private func part(_ name: String, _ index: Int, _ column: ServerColumn) -> String {
        "(\(name)->>\(index))::\(column.type.declaration)"
    }

    // MARK: What was there before

    /// Puts links that are stored, and that the job may change, before what it says: they are of record 0.
    var taking: [String] { tables.listed.flatMap(taking) }

    private func taking(_ reference: RelatedTables.Reference) -> [String] {
        guard let relationship = reference.list else { return [] }
        let (setters, lists) = (staged.setters(reference), staged.lists(relationship))
        let own = tables.columns[reference.holder][reference.columns]
        let key = tables.key(of: reference.holder)
        let (keyWidth, width) = (key.count, key.count + own.count)
        var statements: [String] = []
        if filled.contains(reference.holder) {
            let position = reference.position.map { "t.\(tables.columns[reference.holder][$0].quoted)" }
            let place = position.map { "coalesce(\($0), -1)" } ?? "-1"
            let isPlaced = position.map { "CASE WHEN \($0) IS NULL THEN -1 ELSE 0 END" } ?? "0"
            let references = quoted(Array(own), of: "t")
            statements.append(
                """
                INSERT INTO \(setters.quoted) SELECT 0, 0, \(isPlaced), \(place), -1, \(list(quoted(key, of: "t"))), \
                \(list(references)) FROM \(tables.table(of: reference.holder)) AS t WHERE \(areSet(references)) AND (
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
            RETURNING source, target, position) \
            INSERT INTO \(setters.quoted) SELECT 0, 0, 0, position, -1, \(list(target)), \(list(source)) FROM gone
            """
        )
        statements.append(
            """
            INSERT INTO \(lists.quoted) SELECT DISTINCT 0, 0, 0, \(list(columns("s", keyWidth..<width))) \
            FROM \(setters.quoted) AS s WHERE s._ordinal = 0 AND s._list = 0
            """
        )
        return statements
    }

    private func taking(_ join: RelatedTables.Join) -> [String] {
        let sides = sides(of: join)
        // Those of an object that has a list now, on either side.
        let isTouched = sides.map { side in
            """
            EXISTS (SELECT FROM \(staged.lists(side.relationship).quoted) AS l WHERE l._ordinal > 0 \
            AND \(same(columns("l", 0..<side.own.count), quoted(side.own, of: "t"))))
            """
        }.joined(separator: " OR ")
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
                INSERT INTO \(lists.quoted) SELECT DISTINCT 0, 0, 0, \(list(columns("k", 0..<own.count))) \
                FROM \(links.quoted) AS k WHERE k._ordinal = 0
                """,
            ]
        }
    }

    // MARK: Lists that have changed something

    /// The lists that have linked or unlinked something, by the statements of the objects that have them.
    static let relinked =
        "CREATE TEMPORARY TABLE _import_relinked (entity integer, ordinal bigint, child bigint) ON COMMIT DROP"

    /// The objects whose own rows said nothing new and whose lists did, by entity: `entity`, and how many are records' and nested.
    var countingRelinked: String {
        """
        SELECT r.entity, count(*) FILTER (WHERE u._child = 0), count(*) FILTER (WHERE u._child > 0)
        FROM (SELECT DISTINCT entity, ordinal, child FROM _import_relinked) AS r
            JOIN \(unchanged) AS u ON u.position = r.entity AND u._ordinal = r.ordinal AND u._child = r.child
        GROUP BY r.entity
        """
    }

    /// The rows of identified objects that have said nothing new.
    var unchanged: String { ServerTables.quoted(StageName.unchanged(of: staged.job)) }

    // MARK: Elements without identifier

    /// Whether an entity's rows are those of lists.
    private func elements(of entity: Int) -> [RelatedTables.Reference] {
        tables.elements.filter { $0.holder == entity }
    }

    /// What makes rows of the elements of an entity without identifier, after those that they are nested in.
    ///
    /// A list replaces what its object had: the elements of its last list are the rows.
    func settlingElements(of entity: Int) -> [String] {
        let references = elements(of: entity)
        var statements = [
            """
            CREATE TEMPORARY TABLE _import_element_\(entity) ON COMMIT DROP AS SELECT count(*) AS records, \
            0::bigint AS inserted, 0::bigint AS updated, 0::bigint AS unchanged, 0::bigint AS deleted \
            FROM \(stage(of: entity)) WHERE _list < 0
            """,
            inserting(entity, where: "s._list < 0"),
        ]
        for reference in references { statements += settling(reference) }
        return statements
    }

    /// How many rows are records, and how many elements were inserted, updated, unchanged and deleted.
    func elementCounts(of entity: Int) -> String {
        "SELECT records, inserted, updated, unchanged, deleted FROM pg_temp._import_element_\(entity)"
    }

    private func inserting(_ entity: Int, from rest: String = "", where condition: String) -> String {
        let rowID = tables.rowID(of: entity)
        let names = [rowID?.quoted].compactMap(\.self) + tables.columns[entity].map(\.quoted)
        let values = (rowID == nil ? [] : ["s._row_id"]) + columns("s", tables.columns[entity].indices)
        // A table of no columns at all has rows, too.
        guard !names.isEmpty else {
            let rows = "SELECT FROM \(stage(of: entity)) AS s\(rest) WHERE \(condition)"
            return "INSERT INTO \(tables.table(of: entity)) \(rows)"
        }
        return """
            INSERT INTO \(tables.table(of: entity)) (\(list(names))) OVERRIDING SYSTEM VALUE \
            SELECT \(list(values)) FROM \(stage(of: entity)) AS s\(rest) WHERE \(condition)
            """
    }

    private func settling(_ reference: RelatedTables.Reference) -> [String] {
        guard let relationship = reference.list else { return [] }
        let entity = reference.holder
        let all = tables.columns[entity]
        let width = reference.columns.count
        let key = columns("l", 0..<width)
        let name = "pg_temp._import_list_\(relationship)"
        let owner = quoted(Array(all[reference.columns]), of: "t")
        let wasFilled = filled.contains(entity)
        let place = reference.position ?? reference.columns.lowerBound
        var statements = [
            """
            CREATE TEMPORARY TABLE _import_list_\(relationship) ON COMMIT DROP AS \
            SELECT \(list(key)), l._ordinal, l._child, l._row, \
            row_number() OVER (PARTITION BY \(list(key)) ORDER BY l._ordinal, l._child) AS rank, \
            count(*) OVER (PARTITION BY \(list(key))) AS lists, false AS was_there \
            FROM \(staged.lists(relationship).quoted) AS l
            """,
            "ANALYZE \(name)",
        ]
        if wasFilled {
            statements.append(
                """
                UPDATE \(name) AS l SET was_there = true FROM \(tables.table(of: entity)) AS t \
                WHERE \(same(key, owner))
                """
            )
        }
        // Elements of objects that have several lists, with those that were there; they are compared place by place.
        let values = all.indices.map { "s.c\($0)" }
        let rowID = tables.rowID(of: entity)
        let number = rowID == nil ? "" : ", s._row_id"
        let stored =
            wasFilled
            ? """
             UNION ALL SELECT l.lists, 0, 0, 0, l._row\(rowID.map { ", t.\($0.quoted)" } ?? ""), \
            \(list(quoted(all, of: "t"))) \
            FROM \(tables.table(of: entity)) AS t JOIN \(name) AS l ON l.rank = 1 AND \(same(key, owner))
            """ : ""
        statements.append(
            """
            CREATE TEMPORARY TABLE _import_line_\(relationship) \
            (lists, rank, _ordinal, _child, _row\(rowID == nil ? "" : ", _row_id")\(all.indices.map { ", c\($0)" }.joined())) \
            ON COMMIT DROP AS \
            SELECT l.lists, l.rank, l._ordinal, l._child, l._row\(number), \(list(values)) FROM \(stage(of: entity)) AS s \
            JOIN \(name) AS l ON s._ordinal = l._ordinal AND s._list = l._child \
            WHERE s._relationship = \(relationship) AND (l.lists > 1 OR l.was_there)\(stored)
            """
        )
        let line = "pg_temp._import_line_\(relationship)"
        let sameElement =
            same(columns("a", reference.columns) + ["a.c\(place)"], columns("b", reference.columns) + ["b.c\(place)"])
        let differs = all.indices.map {
            "\(compared("a.c\($0)", all[$0])) IS DISTINCT FROM \(compared("b.c\($0)", all[$0]))"
        }.joined(separator: " OR ")
        let isNew = "b.rank IS NULL"
        let counted = "pg_temp._import_element_\(entity)"
        statements.append("ANALYZE \(line)")
        if rowID != nil { statements += keepingRowIDs(reference, relationship, place: place) }
        // Those of the only list of their object are new.
        statements.append(
            """
            UPDATE \(counted) SET inserted = inserted + (SELECT count(*) FROM \(stage(of: entity)) AS s JOIN \(name) AS l \
            ON s._ordinal = l._ordinal AND s._list = l._child \
            WHERE s._relationship = \(relationship) AND l.lists = 1 AND NOT l.was_there)
            """
        )
        statements.append(
            """
            WITH told AS (SELECT \(isNew) AS is_new, \(differs) AS differs FROM \(line) AS a LEFT JOIN \(line) AS b \
            ON \(sameElement) AND b.rank = a.rank - 1 WHERE a.rank > 0) \
            UPDATE \(counted) SET inserted = inserted + (SELECT count(*) FROM told WHERE is_new), \
            updated = updated + (SELECT count(*) FROM told WHERE NOT is_new AND differs), \
            unchanged = unchanged + (SELECT count(*) FROM told WHERE NOT is_new AND NOT differs), \
            deleted = deleted + (SELECT count(*) FROM \(line) AS a LEFT JOIN \(line) AS b \
            ON \(sameElement) AND b.rank = a.rank + 1 WHERE a.rank < a.lists AND b.rank IS NULL)
            """
        )
        let source = tables.layout.relationships[relationship].entity
        statements.append(
            """
            INSERT INTO _import_relinked SELECT \(source), _ordinal, _row FROM (
                SELECT a._ordinal, a._row FROM \(line) AS a LEFT JOIN \(line) AS b
                    ON \(sameElement) AND b.rank = a.rank - 1 WHERE a.rank > 0 AND (\(isNew) OR \(differs))
                UNION ALL SELECT l._ordinal, l._row FROM \(line) AS a JOIN \(name) AS l
                    ON \(same(columns("a", reference.columns), key)) AND l.rank = a.rank + 1
                    LEFT JOIN \(line) AS b ON \(sameElement) AND b.rank = a.rank + 1 WHERE b.rank IS NULL
                UNION ALL SELECT l._ordinal, l._row FROM \(name) AS l JOIN \(stage(of: entity)) AS s
                    ON s._ordinal = l._ordinal AND s._list = l._child
                    WHERE s._relationship = \(relationship) AND l.lists = 1 AND NOT l.was_there
            ) AS changed
            """
        )
        if wasFilled {
            statements.append(
                """
                DELETE FROM \(tables.table(of: entity)) AS t USING \(name) AS l \
                WHERE l.rank = 1 AND \(same(key, owner))
                """
            )
        }
        // Elements of what was replaced itself are gone with it.
        var condition = "s._relationship = \(relationship) AND l.rank = l.lists"
        if let rowID = tables.rowID(of: reference.target) {
            let isThere = """
                EXISTS (SELECT FROM \(tables.table(of: reference.target)) AS o \
                WHERE o.\(rowID.quoted) = s.c\(reference.columns.lowerBound))
                """
            statements.append(
                """
                UPDATE \(counted) SET deleted = deleted + (SELECT count(*) FROM \(stage(of: entity)) AS s \
                JOIN \(name) AS l ON s._ordinal = l._ordinal AND s._list = l._child \
                WHERE \(condition) AND NOT \(isThere))
                """
            )
            condition += " AND \(isThere)"
        }
        statements.append(
            inserting(
                entity,
                from: " JOIN \(name) AS l ON s._ordinal = l._ordinal AND s._list = l._child",
                where: condition
            )
        )
        if wasFilled { statements += removingOrphans(of: entity) }
        return statements
    }

    /// Lets elements that take the place of others in their list have the row ids of these, as they are the same rows.
    private func keepingRowIDs(
        _ reference: RelatedTables.Reference,
        _ relationship: Int,
        place: Int
    ) -> [String] {
        let entity = reference.holder
        let line = "pg_temp._import_line_\(relationship)"
        let same = "pg_temp._import_same_\(relationship)"
        let owner = list(reference.columns.map { "c\($0)" } + ["c\(place)"])
        var statements = [
            """
            CREATE TEMPORARY TABLE _import_same_\(relationship) ON COMMIT DROP AS SELECT _row_id, first_value(_row_id) OVER (
                PARTITION BY \(owner), run ORDER BY rank
            ) AS kept FROM (
                SELECT *, rank - row_number() OVER (PARTITION BY \(owner) ORDER BY rank) AS run FROM \(line)
            ) AS runs
            """,
            "DELETE FROM \(same) WHERE _row_id = kept",
            "ANALYZE \(same)",
        ]
        func rename(_ table: String, _ column: String, _ condition: String = "") -> String {
            "UPDATE \(table) AS s SET \(column) = m.kept FROM \(same) AS m WHERE s.\(column) = m._row_id\(condition)"
        }
        statements.append(rename(stage(of: entity), "_row_id"))
        for element in tables.elements where element.target == entity {
            guard let list = element.list else { continue }
            statements.append(rename(staged.lists(list).quoted, "c0"))
            statements.append(
                rename(stage(of: element.holder), "c\(element.columns.lowerBound)", " AND s._relationship = \(list)")
            )
        }
        for join in tables.joins where join.source == entity && staged.linking.contains(join.making) {
            statements.append(rename(staged.lists(join.making).quoted, "c0"))
            statements.append(rename(staged.links(join.making).quoted, "c0"))
        }
        return statements
    }

    /// Takes away what belonged to rows of an entity without identifier that are gone.
    private func removingOrphans(of entity: Int) -> [String] {
        guard let rowID = tables.rowID(of: entity) else { return [] }
        var statements: [String] = []
        for element in tables.elements where element.target == entity && filled.contains(element.holder) {
            let column = tables.columns[element.holder][element.columns.lowerBound].quoted
            statements.append(
                """
                WITH gone AS (DELETE FROM \(tables.table(of: element.holder)) AS t WHERE t.\(column) IS NOT NULL \
                AND NOT EXISTS (SELECT FROM \(tables.table(of: entity)) AS o WHERE o.\(rowID.quoted) = t.\(column)) \
                RETURNING 1) INSERT INTO _import_gone SELECT \(element.holder), count(*) FROM gone
                """
            )
            statements += removingOrphans(of: element.holder)
        }
        for join in tables.joins where join.source == entity && filledJoins.contains(join.making) {
            let column = join.sourceColumns[0].quoted
            statements.append(
                """
                DELETE FROM \(join.table) AS t WHERE NOT EXISTS (SELECT FROM \(tables.table(of: entity)) AS o \
                WHERE o.\(rowID.quoted) = t.\(column))
                """
            )
        }
        return statements
    }

    /// Rows that are gone with others, by entity.
    static let gone = "CREATE TEMPORARY TABLE _import_gone (entity integer, rows bigint) ON COMMIT DROP"

    // MARK: Links in columns

    /// What gives objects the links that they have in the end, where lists name them, too.
    ///
    /// What was said of one object's link is a line: it is set, by itself or by a list, until it is set again, or a list of what it
    /// leads to leaves it out. Its place is that of the last list since the link is what it is.
    func settlingLinks(_ reference: RelatedTables.Reference) -> [String] {
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
        let index = "\(StageName.prefix(of: staged.job))i\(relationship)"
        let setKeys = (0..<key.count).map { "c\($0)" }
        let setReferences = (key.count..<key.count + own.count).map { "c\($0)" }
        let listKey = columns("l", 0..<own.count)
        let objectKey = quoted(key, of: "t")
        // Where a list leaves it out before anything else is said of it.
        let leaving = """
            LEFT JOIN LATERAL (
                SELECT l._ordinal, l._child, l._row FROM \(lists.quoted) AS l
                WHERE \(same(listKey, setReferences.map { "said.\($0)" }))
                    AND (l._ordinal, l._child) > (said._ordinal, said._child)
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
                FROM \(setters.quoted) AS s WINDOW line AS (\(line))
            ), told AS (
                SELECT said.*, left_out._ordinal IS NOT NULL AS is_left, left_out._ordinal AS left_ordinal,
                    left_out._row AS left_row,
                    left_out._ordinal = said._ordinal AND left_out._child < said._row AS is_unwritten, EXISTS (
                        SELECT FROM \(tables.table(of: reference.holder)) AS t
                        WHERE \(same(objectKey, setKeys.map { "said.\($0)" }))
                    ) AS is_there
                FROM _import_said AS said \(leaving)
            )
            SELECT *, \(isBreak) AS is_break FROM told
            WINDOW line AS (PARTITION BY \(list(setKeys)) ORDER BY _ordinal, _child)
            """,
            """
            INSERT INTO _import_relinked SELECT \(source), s._ordinal, l._row FROM \(set) AS s JOIN \(lists.quoted) AS l \
            ON l._ordinal = s._ordinal AND l._child = s._list \
            WHERE (s.is_break OR NOT s.is_there) AND s._ordinal > 0 AND s._list >= 0 \
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
    func unlinked(_ reference: RelatedTables.Reference) -> [(relationship: Int, count: String)] {
        guard let relationship = reference.list else { return [] }
        // What is left out before its row is written was never linked.
        let count = """
            SELECT count(*) FROM pg_temp._import_set_\(relationship) WHERE is_left AND is_there \
            AND NOT is_unwritten AND left_row
            """
        return [(relationship, "\(count) >= 0"), (reference.owner, "\(count) < 0")]
    }

    // MARK: Links in join tables

    /// A side of a join table that has lists.
    struct Side {
        /// Whether it is the source that has the lists.
        let isSource: Bool
        let relationship: Int
        let own: [ServerColumn]
        let other: [ServerColumn]
        let position: String?
        let entity: Int
    }

    /// The sides of a join table that have lists: that which makes it first.
    func sides(of join: RelatedTables.Join) -> [Side] {
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
    func settling(_ join: RelatedTables.Join) -> [String] {
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
        let pairs = sides.map { side in
            """
            SELECT \(list(zip(named(side, "k"), pair).map { "\($0) AS \($1)" })) \
            FROM \(staged.links(side.relationship).quoted) AS k
            """
        }.joined(separator: " UNION ")
        let events = sides.map { side -> String in
            let own = side.isSource ? a : b
            return """
                SELECT \(list(pair.map { "p.\($0)" })), \(side.isSource) AS side, l._ordinal, l._child, l._row,
                    k._ordinal IS NOT NULL AS is_in, k._position
                FROM pairs AS p JOIN \(staged.lists(side.relationship).quoted) AS l
                    ON \(same(columns("l", 0..<side.own.count), own.map { "p.\($0)" }))
                LEFT JOIN \(staged.links(side.relationship).quoted) AS k
                    ON k._ordinal = l._ordinal AND k._child = l._child AND \(same(named(side, "k"), pair.map { "p.\($0)" }))
                """
        }.joined(separator: " UNION ALL ")
        let told = "pg_temp._import_told_\(number)"
        let line = "PARTITION BY \(list(pair)) ORDER BY _ordinal, _child"
        func place(_ side: Side) -> String {
            """
            (array_agg(nullif(_position, -1) ORDER BY _ordinal DESC, _child DESC) \
            FILTER (WHERE side = \(side.isSource) AND is_in))[1]
            """
        }
        let places = sides.filter { $0.position != nil }
        let names =
            (join.sourceColumns + join.destinationColumns).map(\.quoted) + places.compactMap(\.position)
        var condition = ""
        if let rowID = tables.rowID(of: join.source) {
            condition = """
                 AND EXISTS (SELECT FROM \(tables.table(of: join.source)) AS o WHERE o.\(rowID.quoted) = a0)
                """
        }
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
        for side in sides where side.isSource || !join.isSymmetric {
            // A link that is there already may get another place in the list.
            let isMoved =
                side.position == nil
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
            WHERE is_linked AND run = last_run\(condition) GROUP BY \(list(pair))
            """
        )
        return statements
    }

    /// How many links the lists of each side of a join table have broken.
    func unlinked(_ join: RelatedTables.Join) -> [(relationship: Int, count: String)] {
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

    // MARK: References to what is not there

    /// References that lead to nothing: their table, and what holds of them.
    struct Dangling {
        let relationship: Int
        let table: String
        let condition: String
        /// Their columns, in double quotes.
        let columns: [String]
        /// The columns that are cleared with them; nil where the whole row goes, of a join table.
        let cleared: [String]?

        var count: String { "SELECT count(*) FROM \(table) AS r WHERE \(condition)" }
        var removal: String {
            guard let cleared else { return "DELETE FROM \(table) AS r WHERE \(condition)" }
            return
                "UPDATE \(table) AS r SET \(cleared.map { "\($0) = NULL" }.joined(separator: ", ")) WHERE \(condition)"
        }
    }

    /// All places where references may lead to nothing, in the order of the relationships.
    var dangling: [Dangling] {
        tables.layout.relationships.indices.flatMap { index -> [Dangling] in
            let placement = tables.layout.relationships[index]
            guard placement.hasReferences(index) else { return [] }
            let target = placement.destination
            func condition(_ columns: [ServerColumn]) -> String {
                let own = quoted(columns, of: "r")
                return """
                    \(areSet(own)) AND NOT EXISTS (SELECT FROM \(tables.table(of: target)) AS t \
                    WHERE \(same(quoted(tables.key(of: target), of: "t"), own)))
                    """
            }
            if placement.shape == .join {
                let join = tables.join(placement.owner)
                let columns = placement.owner == index ? join.destinationColumns : join.sourceColumns
                return [
                    Dangling(
                        relationship: index,
                        table: join.table,
                        condition: condition(columns),
                        columns: columns.map(\.quoted),
                        cleared: nil
                    )
                ]
            }
            guard let reference = tables.reference(index) else { return [] }
            let own = Array(tables.columns[reference.holder][reference.columns])
            let position = reference.position.map { [tables.columns[reference.holder][$0]] } ?? []
            return [
                Dangling(
                    relationship: index,
                    table: tables.table(of: reference.holder),
                    condition: condition(own),
                    columns: own.map(\.quoted),
                    cleared: (own + position).map(\.quoted)
                )
            ]
        }
    }

    /// How many elements of lists refer to an object that is not there.
    func countOfLost(_ reference: RelatedTables.Reference) -> String {
        let own = quoted(Array(tables.columns[reference.holder][reference.columns]), of: "r")
        let key = quoted(tables.key(of: reference.target), of: "t")
        return """
            SELECT count(*) FROM \(tables.table(of: reference.holder)) AS r WHERE \(areSet(own)) AND NOT EXISTS (
                SELECT FROM \(tables.table(of: reference.target)) AS t WHERE \(same(key, own))
            )
            """
    }

    /// How many objects refer to what another one of the same entity refers to.
    func countOfShared(_ reference: RelatedTables.Reference) -> String {
        let own = quoted(Array(tables.columns[reference.holder][reference.columns]), of: "t")
        return """
            SELECT count(*) FROM (SELECT FROM \(tables.table(of: reference.holder)) AS t WHERE \(areSet(own)) \
            GROUP BY \(list(own)) HAVING count(*) > 1) AS shared
            """
    }

    /// How many mandatory to-ones are empty, whose other side might have stated them; nil for any other relationship.
    func missing(_ index: Int) -> String? {
        let placement = tables.layout.relationships[index]
        guard !placement.description.isOptional, !placement.description.isToMany, placement.shape == .oneToMany,
            let reference = tables.reference(index)
        else { return nil }
        let own = quoted(Array(tables.columns[reference.holder][reference.columns]), of: "t")
        let isEmpty = own.map { "\($0) IS NULL" }.joined(separator: " OR ")
        return "SELECT count(*) FROM \(tables.table(of: reference.holder)) AS t WHERE \(isEmpty)"
    }

    private func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
