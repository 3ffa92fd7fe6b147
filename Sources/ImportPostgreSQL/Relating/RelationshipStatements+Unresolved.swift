import ImportModel
import Importer

/// References that make rejects of their records where they lead to nothing (`"unresolved": "reject"`).
extension RelationshipStatements {
    /// True if references of a relationship do.
    func rejectsDangling(_ relationship: Int) -> Bool {
        tables.layout.relationships[relationship].description.unresolved == .reject
    }

    /// The records that are rejects for that, each with the relationships, by their indexes, and the keys that they name.
    static let danglingTable = "pg_temp._import_unmet"
    static let dangling = """
        CREATE TEMPORARY TABLE _import_unmet (ordinal bigint, relationship integer, target text) ON COMMIT DROP; \
        CREATE INDEX ON \(danglingTable) (ordinal)
        """

    /// A query for the references that lead to nothing, when all links are made: some at a time, as JSON that `addingDangling` takes.
    ///
    /// Each has the last record that has stated it; what was there before the job has none.
    ///
    /// - Parameters:
    ///   - most: how many of them at most, those of the first records.
    ///   - page: how many at a time.
    func findingDangling(most: Int, page: Int) -> String? {
        let queries = tables.layout.relationships.indices.filter(rejectsDangling).flatMap(dangling)
        guard !queries.isEmpty else { return nil }
        return """
            SELECT json_agg(json_build_array(ordinal, relationship, target))::text FROM (
                SELECT *, row_number() OVER (ORDER BY ordinal) AS place
                FROM (\(queries.joined(separator: " UNION "))) AS unmet (ordinal, relationship, target) ORDER BY ordinal LIMIT \(most)
            ) AS numbered GROUP BY place / \(page)
            """
    }

    /// Adds what `findingDangling` has found to the table: `$1`.
    static let addingDangling = """
        INSERT INTO \(danglingTable) SELECT (v->>0)::bigint, (v->>1)::integer, v->>2 FROM json_array_elements($1::json) AS v
        """

    // MARK: Where they are

    /// Queries for the references of a relationship that lead to nothing: the last record that has stated one, the relationship, and
    /// the key that it names.
    func dangling(_ relationship: Int) -> [String] {
        danglingInColumns(relationship) + danglingInJoins(relationship) + danglingInWaiting(relationship)
    }

    /// - Parameters:
    ///   - target: the key of what is not there.
    ///   - all: what the last record is looked for by.
    private func last(_ relationship: Int, _ target: [String], _ all: [String], of row: String, from rows: String)
        -> String
    {
        """
        SELECT max(\(row)._ordinal), \(relationship), \(key(target))::text FROM \(rows) \
        GROUP BY \(key(target))::text, \(key(all))::text
        """
    }

    private func danglingInColumns(_ relationship: Int) -> [String] {
        guard tables.layout.relationships[relationship].shape != .join else { return [] }
        return zip(tables.references(relationship), dangling.filter { $0.relationship == relationship })
            .flatMap { reference, dangling -> [String] in
                let target = columns("s", reference.columns)
                let places = placed(in: tables.home(of: reference.holder)).map { rows in
                    """
                    SELECT s._ordinal, \(relationship), \(key(target))::text FROM \(rows) AND \(areSet(target)) AND NOT EXISTS (
                        SELECT FROM \(tables.table(of: reference.target)) AS t
                        WHERE \(same(quoted(tables.key(of: reference.target), of: "t"), target))
                    )
                    """
                }
                guard !tables.isKeyless(reference.holder) else { return places }
                let own = tables.keyPlaces(of: reference.holder).map { "s.c\($0)" }
                let stored = quoted(tables.key(of: reference.holder), of: "r") + dangling.columns.map { "r.\($0)" }
                let rows = """
                    \(dangling.table) AS r JOIN \(stage(of: reference.holder)) AS s ON \(same(stored, own + target)) \
                    WHERE \(dangling.condition)
                    """
                return places + [last(relationship, target, own + target, of: "s", from: rows)]
            }
    }

    /// The staged rows that are in a table though nothing but their place identifies them, as sources with a condition: `s`.
    private func placed(in home: Int) -> [String] {
        var rows = tables.isKeyless(home) ? ["\(stage(of: home)) AS s WHERE s._list < 0"] : []
        for reference in tables.elements + tables.unnamed where tables.home(of: reference.holder) == home {
            guard let list = reference.list else { continue }
            let stage = reference.isParent ? staged.unnamed(reference).quoted : stage(of: home)
            // What it is in may be gone itself.
            let isThere = tables.rowID(of: reference.target).map { rowID in
                """
                 AND EXISTS (SELECT FROM \(tables.table(of: reference.target)) AS o \
                WHERE o.\(rowID.quoted) = s.c\(reference.columns.lowerBound))
                """
            }
            rows.append(
                """
                \(stage) AS s JOIN pg_temp._import_list_\(list) AS l ON s._ordinal = l._ordinal AND s._list = l._child \
                WHERE s._relationship = \(list) AND l.rank = l.lists\(isThere ?? "")
                """
            )
        }
        return rows
    }

    private func danglingInJoins(_ relationship: Int) -> [String] {
        let placement = tables.layout.relationships[relationship]
        guard placement.shape == .join, let dangling = dangling.first(where: { $0.relationship == relationship }),
            let side = sides(of: tables.join(placement.owner)).first(where: { $0.relationship == relationship })
        else { return [] }
        let (width, count) = (side.own.count, side.own.count + side.other.count)
        let rows = """
            \(dangling.table) AS r JOIN \(staged.links(relationship).quoted) AS k \
            ON \(same(quoted(side.own + side.other, of: "r"), columns("k", 0..<count))) \
            WHERE k._ordinal > 0 AND \(dangling.condition)
            """
        return [last(relationship, columns("k", width..<count), columns("k", 0..<count), of: "k", from: rows)]
    }

    /// What lists name that has no row yet.
    private func danglingInWaiting(_ relationship: Int) -> [String] {
        tables.listed.filter { $0.list == relationship }.map { reference in
            let keys = tables.key(of: reference.holder)
            let (width, count) = (keys.count, keys.count + reference.columns.count)
            let target = columns("s", 0..<width)
            let rows = """
                \(staged.setters(reference).quoted) AS s JOIN pg_temp._import_link_\(relationship) AS e \
                ON \(same(columns("s", 0..<count), columns("e", 0..<count))) \
                WHERE s._ordinal > 0 AND s._list >= 0 AND NOT EXISTS (
                    SELECT FROM \(tables.table(of: reference.holder)) AS t WHERE \(same(quoted(keys, of: "t"), target))
                )
                """
            return last(relationship, target, columns("s", 0..<count), of: "s", from: rows)
        }
    }
}
