import ImportModel
import Importer

/// Elements without identifier: the last list of an object has its rows.
extension RelationshipStatements {
    /// Whether an entity's rows are those of lists.
    private func elements(of entity: Int) -> [RelationshipTables.Reference] {
        tables.elements.filter { tables.home(of: $0.holder) == entity }
    }

    /// What makes rows of the elements of an entity without identifier, after those that they are nested in.
    ///
    /// A list replaces what its object had: the elements of its last list are the rows.
    func settlingElements(of entity: Int) -> [String] {
        beginning(entity) + elements(of: entity).flatMap(settling)
    }

    /// Makes the counts of a table's rows, and the rows of records.
    private func beginning(_ entity: Int) -> [String] {
        let records =
            "SELECT \(subentity(ofStaged: "s", entity)) AS kind, 1 AS one FROM \(stage(of: entity)) AS s WHERE s._list < 0"
        return [
            counting(entity), adding("records", records, entity),
            inserting(entity, of: stage(of: entity), where: "s._list < 0"),
        ]
    }

    /// By entity of those in a table: how many rows are records, and how many elements were inserted, updated, unchanged and deleted.
    func elementCounts(of entity: Int) -> String {
        "SELECT kind, records, inserted, updated, unchanged, deleted FROM pg_temp._import_element_\(tables.home(of: entity))"
    }

    /// Makes a table of counts, with a row for each entity whose rows are in a table.
    private func counting(_ entity: Int) -> String {
        let subentities = tables.subentities(of: entity).map {
            "(\($0), 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint)"
        }
        return """
            CREATE TEMPORARY TABLE _import_element_\(entity) (kind, records, inserted, updated, unchanged, deleted) \
            ON COMMIT DROP AS VALUES \(list(subentities))
            """
    }

    /// Counts the rows of a query, which say in `kind` of which entity they are.
    private func adding(_ column: String, _ rows: String, _ entity: Int) -> String {
        """
        UPDATE pg_temp._import_element_\(entity) AS c SET \(column) = c.\(column) + n.count FROM ( \
            SELECT kind, count(*) AS count FROM (\(rows)) AS counted GROUP BY kind
        ) AS n WHERE c.kind = n.kind
        """
    }

    /// What makes rows of objects that are told by their place, though others of their entity have an identifier.
    func settlingUnnamed(_ reference: RelationshipTables.Reference) -> [String] {
        [counting(tables.home(of: reference.holder))] + settling(reference)
    }

    /// The staging table of what lists have.
    private func stage(of reference: RelationshipTables.Reference) -> String {
        reference.isParent ? staged.unnamed(reference).quoted : stage(of: reference.holder)
    }

    /// What holds of stored rows that are elements, beside whose they are.
    private func isElement(_ reference: RelationshipTables.Reference) -> String {
        guard reference.isParent else { return "" }
        return " AND \(isUnnamed(reference, "t"))"
    }

    func inserting(
        _ entity: Int,
        of stage: String,
        from rest: String = "",
        where condition: String
    ) -> String {
        let rowID = tables.rowID(of: entity)
        let names = [rowID?.quoted].compactMap(\.self) + tables.columns[entity].map(\.quoted)
        let values = (rowID == nil ? [] : ["s._row_id"]) + tables.columns[entity].indices.map { "s.c\($0)" }
        // A table of no columns at all has rows, too.
        guard !names.isEmpty else {
            let rows = "SELECT FROM \(stage) AS s\(rest) WHERE \(condition)"
            return "INSERT INTO \(tables.table(of: entity)) \(rows)"
        }
        return """
            INSERT INTO \(tables.table(of: entity)) (\(list(names))) OVERRIDING SYSTEM VALUE \
            SELECT \(list(values)) FROM \(stage) AS s\(rest) WHERE \(condition)
            """
    }

    private func settling(_ reference: RelationshipTables.Reference) -> [String] {
        guard let relationship = reference.list else { return [] }
        let entity = tables.home(of: reference.holder)
        let stage = stage(of: reference)
        let isElement = isElement(reference)
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
            FROM \(staged.lists(relationship).quoted) AS l WHERE l._ordinal > 0
            """,
            "ANALYZE \(name)",
        ]
        if wasFilled {
            statements.append(
                """
                UPDATE \(name) AS l SET was_there = true FROM \(tables.table(of: entity)) AS t \
                WHERE \(same(key, owner))\(isElement)
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
             UNION ALL SELECT l.lists, 0, 0, 0, l._row, 0\(rowID.map { ", t.\($0.quoted)" } ?? ""), \
            \(list(quoted(all, of: "t"))) \
            FROM \(tables.table(of: entity)) AS t JOIN \(name) AS l ON l.rank = 1 AND \(same(key, owner))\(isElement)
            """ : ""
        statements.append(
            """
            CREATE TEMPORARY TABLE _import_line_\(relationship) \
            (lists, rank, _ordinal, _child, _row, _own\(rowID == nil ? "" : ", _row_id")\(all.indices.map { ", c\($0)" }.joined())) \
            ON COMMIT DROP AS \
            SELECT l.lists, l.rank, l._ordinal, l._child, l._row, s._child\(number), \(list(values)) FROM \(stage) AS s \
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
        statements.append("ANALYZE \(line)")
        if rowID != nil { statements += keepingRowIDs(reference, relationship, place: place) }
        // Those of the only list of their object are new.
        statements.append(
            adding(
                "inserted",
                """
                SELECT \(subentity(ofStaged: "s", entity)) AS kind FROM \(stage) AS s JOIN \(name) AS l \
                ON s._ordinal = l._ordinal AND s._list = l._child \
                WHERE s._relationship = \(relationship) AND l.lists = 1 AND NOT l.was_there
                """,
                entity
            )
        )
        let told = """
            SELECT \(subentity(ofStaged: "a", entity)) AS kind FROM \(line) AS a LEFT JOIN \(line) AS b \
            ON \(sameElement) AND b.rank = a.rank - 1 WHERE a.rank > 0
            """
        let ended = """
            SELECT \(reference.holder) AS kind FROM \(line) AS a LEFT JOIN \(line) AS b \
            ON \(sameElement) AND b.rank = a.rank + 1 WHERE a.rank < a.lists AND b.rank IS NULL
            """
        statements += [
            adding("inserted", "\(told) AND \(isNew)", entity),
            adding("updated", "\(told) AND NOT \(isNew) AND (\(differs))", entity),
            adding("unchanged", "\(told) AND NOT \(isNew) AND NOT (\(differs))", entity),
            adding("deleted", ended, entity),
        ]
        // What is nested in them may have changed all the same.
        statements.append(
            """
            INSERT INTO \(unchanged) SELECT \(subentity(ofStaged: "a", entity)), a._ordinal, a._own FROM \(line) AS a JOIN \(line) AS b \
            ON \(sameElement) AND b.rank = a.rank - 1 WHERE a.rank > 0 AND NOT (\(differs))
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
                UNION ALL SELECT l._ordinal, l._row FROM \(name) AS l JOIN \(stage) AS s
                    ON s._ordinal = l._ordinal AND s._list = l._child
                    WHERE s._relationship = \(relationship) AND l.lists = 1 AND NOT l.was_there
            ) AS changed
            """
        )
        if wasFilled {
            statements.append(
                """
                DELETE FROM \(tables.table(of: entity)) AS t USING \(name) AS l \
                WHERE l.rank = 1 AND \(same(key, owner))\(isElement)
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
            let elements = " JOIN \(name) AS l ON s._ordinal = l._ordinal AND s._list = l._child"
            statements.append(
                adding(
                    "deleted",
                    "SELECT \(reference.holder) AS kind FROM \(stage) AS s\(elements) WHERE \(condition) AND NOT \(isThere)",
                    entity
                )
            )
            condition += " AND \(isThere)"
        }
        statements.append(
            inserting(
                entity,
                of: stage,
                from: " JOIN \(name) AS l ON s._ordinal = l._ordinal AND s._list = l._child",
                where: condition
            )
        )
        if wasFilled { statements += removingOrphans(of: entity) }
        return statements
    }

    /// Lets elements that take the place of others in their list have the row ids of these, as they are the same rows.
    private func keepingRowIDs(
        _ reference: RelationshipTables.Reference,
        _ relationship: Int,
        place: Int
    ) -> [String] {
        let entity = tables.home(of: reference.holder)
        let line = "pg_temp._import_line_\(relationship)"
        let same = "pg_temp._import_same_\(relationship)"
        let owner = list(reference.columns.map { "c\($0)" } + ["c\(place)"])
        let statements = [
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
        return statements + renaming(entity, by: same)
    }

    /// Gives rows without identifier other row ids, and what names them, too.
    ///
    /// - Parameter same: the table that has the row ids, and those that are `kept` in place of them.
    private func renaming(_ entity: Int, by same: String) -> [String] {
        func rename(_ table: String, _ column: String, _ condition: String = "") -> String {
            "UPDATE \(table) AS s SET \(column) = m.kept FROM \(same) AS m WHERE s.\(column) = m._row_id\(condition)"
        }
        var statements = [rename(stage(of: entity), "_row_id")]
        for element in tables.elements where tables.home(of: element.target) == entity {
            guard let list = element.list else { continue }
            statements.append(rename(staged.lists(list).quoted, "c0"))
            statements.append(
                rename(stage(of: element.holder), "c\(element.columns.lowerBound)", " AND s._relationship = \(list)")
            )
        }
        return statements
    }

    /// Takes away elements of rows of an entity without identifier that are gone.
    private func removingOrphans(of entity: Int) -> [String] {
        tables.elements.filter { tables.home(of: $0.target) == entity && filled.contains(tables.home(of: $0.holder)) }
            .flatMap { element -> [String] in
                guard let rowID = tables.rowID(of: entity) else { return [] }
                let column = "t.\(tables.columns[element.holder][element.columns.lowerBound].quoted)"
                return [
                    """
                    WITH gone AS (
                        DELETE FROM \(tables.table(of: element.holder)) AS t WHERE \(column) IS NOT NULL AND NOT EXISTS (
                            SELECT FROM \(tables.table(of: entity)) AS o WHERE o.\(rowID.quoted) = \(column)
                        ) RETURNING 1
                    ) INSERT INTO _import_gone SELECT \(element.holder), count(*) FROM gone HAVING count(*) > 0
                    """
                ] + removingOrphans(of: tables.home(of: element.holder))
            }
    }

    /// Rows that are gone with others, by entity.
    static let gone = "CREATE TEMPORARY TABLE _import_gone (entity integer, rows bigint) ON COMMIT DROP"
}
