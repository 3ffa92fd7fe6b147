import ImportModel
import Importer

/// Links that imports leave as they are in objects that are there (`"owner": "local"`).
extension RelationStatements {
    /// What takes all that records say of such links out of the staging tables, but for what makes an object.
    var leavingLocal: [String] {
        identified.flatMap { entity -> [String] in
            let local = tables.layout.relationships.indices.filter {
                let placement = tables.layout.relationships[$0]
                return placement.entity == entity && placement.description.owner == .local
            }
            return local.isEmpty ? [] : findingLater(entity) + local.flatMap { leaving($0, entity) }
        }
    }

    private func later(_ entity: Int) -> String { "pg_temp._import_later_\(entity)" }

    /// Finds the rows whose object is there before them.
    private func findingLater(_ entity: Int) -> [String] {
        let key = tables.graph.plans[entity].identifier.map { "s.c\($0)" }
        let isStored =
            filled.contains(entity)
            ? """
             OR EXISTS (SELECT FROM \(tables.table(of: entity)) AS t \
            WHERE \(same(quoted(tables.key(of: entity), of: "t"), key)))
            """ : ""
        return [
            """
            CREATE TEMPORARY TABLE _import_later_\(entity) ON COMMIT DROP AS SELECT _ordinal, _child FROM (
                SELECT s._ordinal, s._child,
                    row_number() OVER (PARTITION BY \(list(key)) ORDER BY s._ordinal, s._child) > 1\(isStored) AS is_later
                FROM \(stage(of: entity)) AS s
            ) AS told WHERE is_later
            """,
            "ANALYZE \(later(entity))",
        ]
    }

    private func leaving(_ relationship: Int, _ entity: Int) -> [String] {
        let isLater = { (row: String, child: String) in "\(row)._ordinal = x._ordinal AND \(row).\(child) = x._child" }
        if staged.linking.contains(relationship) {
            let lists = staged.lists(relationship).quoted
            return [
                """
                DELETE FROM \(staged.links(relationship).quoted) AS k USING \(lists) AS l, \(later(entity)) AS x \
                WHERE k._ordinal = l._ordinal AND k._child = l._child AND \(isLater("l", "_row"))
                """,
                "DELETE FROM \(lists) AS l USING \(later(entity)) AS x WHERE \(isLater("l", "_row"))",
            ]
        }
        guard let reference = tables.reference(relationship) else { return [] }
        let masks = Dictionary(grouping: reference.columns) { $0 / StagedColumns.maskWidth }
        let sets = masks.sorted { $0.key < $1.key }.map { mask, columns in
            let bits = columns.reduce(Int64(0)) { $0 | 1 << Int64($1 % StagedColumns.maskWidth) }
            return "_mask_\(mask) = s._mask_\(mask) & ~(\(bits)::bigint)"
        }
        var statements = [
            "UPDATE \(stage(of: entity)) AS s SET \(list(sets)) FROM \(later(entity)) AS x WHERE \(isLater("s", "_child"))"
        ]
        if reference.list != nil {
            let setters = staged.setters(reference).quoted
            statements.append(
                "DELETE FROM \(setters) AS s USING \(later(entity)) AS x WHERE s._list < 0 AND \(isLater("s", "_row"))"
            )
        }
        return statements
    }
}
