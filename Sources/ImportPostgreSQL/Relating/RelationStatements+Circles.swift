import ImportModel
import Importer

/// Elements without identifier that are nested in such of their own kind.
///
/// Which row a list belongs to is known when the list that has that row is settled. So lists are settled level by level: first those
/// of objects that are in no such list, then those of their elements, and so on. What takes an element's place is at its level.
extension RelationStatements {
    private func lists(in circle: [Int]) -> [RelatedTables.Reference] {
        tables.elements.filter { circle.contains(tables.home(of: $0.holder)) }
    }

    private func levels(_ circle: [Int]) -> String { "pg_temp._import_level_\(circle[0])" }

    /// Makes the rows of records, and finds the level of each list.
    func beginning(_ circle: [Int]) -> [String] {
        let references = lists(in: circle)
        let all = references.compactMap { reference -> String? in
            guard let list = reference.list else { return nil }
            let owner = circle.contains(tables.home(of: reference.target)) ? "l.c0" : "NULL::bigint"
            return """
                SELECT \(list) AS relationship, l._ordinal, l._child, \(owner) AS owner \
                FROM \(staged.lists(list).quoted) AS l WHERE l._ordinal > 0
                """
        }
        let numbers = references.compactMap { reference in reference.list.map { "\($0)" } }
        let nested = circle.map { entity in
            """
            SELECT s._row_id, s._ordinal, s._list, s._relationship FROM \(stage(of: entity)) AS s \
            WHERE s._relationship IN (\(numbers.joined(separator: ", ")))
            """
        }
        return circle.flatMap { beginning($0) } + [
            """
            CREATE TEMPORARY TABLE _import_level_\(circle[0]) ON COMMIT DROP AS WITH RECURSIVE listed AS (
                \(all.joined(separator: " UNION ALL "))
            ), nested AS (\(nested.joined(separator: " UNION ALL "))), told AS (
                SELECT relationship, _ordinal, _child, 0 AS level FROM listed
                WHERE owner IS NULL OR NOT EXISTS (SELECT FROM nested AS n WHERE n._row_id = owner)
                UNION ALL SELECT l.relationship, l._ordinal, l._child, t.level + 1 FROM told AS t
                    JOIN nested AS n
                        ON n._relationship = t.relationship AND n._ordinal = t._ordinal AND n._list = t._child
                    JOIN listed AS l ON l.owner = n._row_id
            ) SELECT * FROM told
            """,
            "CREATE INDEX ON \(levels(circle)) (relationship, level)", "ANALYZE \(levels(circle))",
        ]
    }

    /// How many levels there are.
    func count(_ circle: [Int]) -> String { "SELECT coalesce(max(level) + 1, 0) FROM \(levels(circle))" }

    /// What makes rows of the elements of a level.
    func settling(_ circle: [Int], level: Int) -> [String] {
        lists(in: circle).flatMap { reference -> [String] in
            guard let list = reference.list else { return [] }
            let before = ["list", "line", "same"].map { "DROP TABLE IF EXISTS pg_temp._import_\($0)_\(list)" }
            let isIncluded = """
                (l._ordinal, l._child) IN (SELECT v._ordinal, v._child FROM \(levels(circle)) AS v \
                WHERE v.relationship = \(list) AND v.level = \(level))
                """
            return (level > 0 ? before : []) + settling(reference, where: isIncluded)
        }
    }
}
