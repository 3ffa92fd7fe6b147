import ImportModel
import Importer

/// The statements that settle what relates entities, when all that was said is staged.
///
/// Each is what taking one record after another would give, found with what was said of one object, list or link in order.
struct RelationshipStatements: RelationshipSQL {
    let staged: RelationshipStagingTables
    /// The entities whose tables had rows when the job began, by their indexes, and join tables by the relationships that make
    /// them.
    let filled: Set<Int>
    let filledJoins: Set<Int>

    // MARK: Which records are accepted

    /// The identified entities whose new objects may lack something.
    var identified: [Int] { tables.homes.filter { !tables.isKeyless($0) } }

    /// Whether any row of an entity lacks what a new object needs.
    func isLacking(_ entity: Int) -> String { "SELECT EXISTS (SELECT FROM \(stage(of: entity)) WHERE _unmet)" }

    /// Records that are not accepted.
    static let verdictTable = "pg_temp._import_verdict"
    static let verdict = "CREATE TEMPORARY TABLE _import_verdict (ordinal bigint PRIMARY KEY) ON COMMIT DROP"
    /// Their statements that lack something.
    static let lackingTable = "pg_temp._import_lacking"
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
        let key = tables.keyPlaces(of: entity).map { "c\($0)" }
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
                    AND (e._ordinal = u._ordinal
                        OR NOT EXISTS (SELECT FROM _import_verdict AS v WHERE v.ordinal = e._ordinal))
            )
            """
    }

    /// Queries for whether what an object is depends on the records before: some wait for it, or an object is of several entities.
    var askingForSubentities: [String] {
        ["SELECT EXISTS (SELECT FROM \(staged.open.quoted))"]
            + tables.shared.flatMap { entity -> [String] in
                guard let place = tables.subentityColumn(of: entity) else { return [] }
                let keys = tables.keyPlaces(of: entity).map { "s.c\($0)" }
                let stored = same(quoted(tables.key(of: entity), of: "t"), keys)
                let column = "t.\(tables.columns[entity][place].quoted)"
                return [
                    """
                    SELECT EXISTS (SELECT FROM \(stage(of: entity)) AS s GROUP BY \(list(keys)) \
                    HAVING min(s.c\(place)) <> max(s.c\(place)))
                    """,
                    """
                    SELECT EXISTS (SELECT FROM \(stage(of: entity)) AS s JOIN \(tables.table(of: entity)) AS t \
                    ON \(stored) WHERE \(column) <> s.c\(place))
                    """,
                ]
            }
    }

    /// All staging tables of what records say.
    var stages: [String] { identified.map(stage) + staged.all.map(\.quoted) }

    /// Takes what rejects have said out of the staging tables.
    var removingRejects: [String] {
        stages.map {
            "DELETE FROM \($0) AS s USING _import_verdict AS v WHERE s._ordinal = v.ordinal"
        }
    }

    // MARK: Lists that have changed something

    /// The lists that have linked or unlinked something, by the statements of the objects that have them.
    static let relinked =
        "CREATE TEMPORARY TABLE _import_relinked (entity integer, ordinal bigint, child bigint) ON COMMIT DROP"

    /// The objects whose own rows said nothing new and whose lists did, by entity: `entity`, and how many are records' and nested.
    var countingRelinked: String {
        """
        SELECT u.position, count(*) FILTER (WHERE u._child = 0), count(*) FILTER (WHERE u._child > 0)
        FROM (SELECT DISTINCT ordinal, child FROM _import_relinked) AS r
            JOIN \(unchanged) AS u ON u._ordinal = r.ordinal AND u._child = r.child
        GROUP BY u.position
        """
    }

    /// The rows of identified objects that have said nothing new.
    var unchanged: String { PGTables.quoted(StagingName.unchanged(of: staged.job)) }
}
