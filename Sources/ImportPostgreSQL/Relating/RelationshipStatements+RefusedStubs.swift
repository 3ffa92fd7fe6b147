import ImportModel
import Importer

/// References to nothing where the server refuses the row that is made for them (`"unresolved": "stub"`).
extension RelationshipStatements {
    /// What makes rows for a range of objects that are not there, and the entity whose table may refuse them.
    struct Resolving {
        let entity: Int
        /// Numbers the objects, from 1, in a table.
        let numbering: String
        /// For those from `$1` to before `$2`.
        let statement: String
    }

    private static let targetTable = "pg_temp._import_target"
    /// Drops the numbers, so that others can be made.
    static let forgettingTargets = "DROP TABLE IF EXISTS \(targetTable)"
    /// How many objects are numbered.
    static let countingTargets = "SELECT count(*) FROM \(targetTable)"

    /// Nothing where no rows are made.
    func resolving(_ relationship: Int) -> [Resolving] {
        let placement = tables.layout.relationships[relationship]
        guard placement.description.unresolved == .stub else { return [] }
        return dangling.filter { $0.relationship == relationship }.map { all in
            let target = "\(key(all.columns.map { "r.\($0)" }))::text"
            let some = Dangling(
                relationship: relationship,
                table: all.table,
                condition: """
                    \(all.condition) AND \(target) IN (
                        SELECT n.target FROM \(Self.targetTable) AS n WHERE n.number >= $1::bigint AND n.number < $2::bigint
                    )
                    """,
                columns: all.columns,
                cleared: all.cleared
            )
            return Resolving(
                entity: placement.destination,
                numbering: """
                    CREATE TEMPORARY TABLE _import_target ON COMMIT DROP AS SELECT target, row_number() OVER () AS number
                    FROM (SELECT DISTINCT \(target) AS target FROM \(all.table) AS r WHERE \(all.condition)) AS targets
                    """,
                statement: makingStubs(some)
            )
        }
    }

    /// A query for the records that have stated references to numbered objects last: `ordinal`, `number`.
    ///
    /// - Parameters:
    ///   - numbers: of the objects, not none.
    ///   - most: how many records at most; the first of them.
    func stating(_ relationship: Int, _ numbers: [Int64], most: Int) -> String {
        """
        SELECT u.ordinal, min(n.number) FROM (\(dangling(relationship).joined(separator: " UNION "))) \
        AS u (ordinal, relationship, target) JOIN \(Self.targetTable) AS n ON n.target = u.target \
        WHERE n.number IN (\(list(numbers.map { "\($0)" }))) GROUP BY u.ordinal ORDER BY u.ordinal \
        LIMIT \(most)
        """
    }
}
