import ImportModel
import Importer

/// The statements that find which objects are meant where records name them by other attributes than the identifier.
///
/// An object is the one that has these values when it is named. Where there is none, the name waits until a row has them; then the
/// link is made, unless the object that names it has said something else meanwhile. What waits still is kept in `_import_link`, as
/// `{"by": [values]}`.
struct AlternateKeyStatements: RelationshipSQL {
    let statements: RelationshipStatements
    let naming: RelationshipTables.Naming

    var staged: RelationshipStagingTables { statements.staged }
    var number: Int { naming.relationship }
    var names: RelationshipStagingTables.Table { staged.names(naming) }
    var relationship: String { literal(tables.name(of: number)) }

    // MARK: Tables

    /// What waited when the job began.
    var kept: String { "pg_temp._import_awaited_\(number)" }
    /// From when on objects have values by which they are named, and until when.
    var versions: String { "pg_temp._import_version_\(number)" }
    /// What is named, with the key of the object.
    var named: String { "pg_temp._import_named_\(number)" }
    /// What is named twice in a list.
    var copies: String { "pg_temp._import_copy_\(number)" }
    /// What waits, and until when.
    func turns(_ suffix: String) -> String { "_import_naming_\(number)\(suffix)" }
    /// What waits no more, as an object has the values.
    func met(_ suffix: String) -> String { "_import_met_\(number)\(suffix)" }

    // MARK: Columns

    /// `s0` … are the key of the object that has the relationship, `v0` … the values, `k0` … the key of the object that has these.
    var width: Int { tables.key(of: naming.entity).count }
    func sources(_ row: String = "") -> [String] { numbered("s", width, row) }
    func values(_ row: String = "") -> [String] { numbered("v", naming.columns.count, row) }
    func keys(_ row: String = "") -> [String] { numbered("k", tables.key(of: naming.destination).count, row) }

    func numbered(_ letter: String, _ count: Int, _ row: String) -> [String] {
        (0..<count).map { "\(row.isEmpty ? "" : "\(row).")\(letter)\($0)" }
    }

    func aliased(_ columns: [String], _ names: [String]) -> [String] {
        zip(columns, names).map { "\($0) AS \($1)" }
    }

    /// Values of a row of the staging table, as they are compared.
    func stagedValues(_ row: String) -> [String] {
        zip(columns(row, width..<width + naming.columns.count), naming.columns).map(compared)
    }

    // MARK: What there is

    /// Whether anything is named, or waits.
    var isNeeded: String {
        """
        SELECT EXISTS (SELECT FROM \(names.quoted)) \
        OR EXISTS (SELECT FROM _import_link WHERE relationship = \(relationship) AND \(RelationshipStatements.isNamed))
        """
    }

    /// Takes what waits, finds the objects at any time, and those that are meant.
    var finding: [String] { taking + [findingVersions, "ANALYZE \(versions)", findingNamed, "ANALYZE \(named)"] }

    private var taking: [String] {
        let key = tables.key(of: naming.entity)
        let types = key.map(\.type.declaration) + naming.columns.map { $0.type == .json ? "text" : $0.type.declaration }
        let declarations = zip(sources() + values(), types).map { "\($0) \($1)" } + ["position bigint"]
        let parts =
            key.enumerated().map { part("source", $0, $1) }
            + naming.columns.enumerated().map { compared(part("target->'by'", $0, $1), $1) }
        return [
            "CREATE TEMPORARY TABLE _import_awaited_\(number) (\(list(declarations))) ON COMMIT DROP",
            """
            WITH gone AS (
                DELETE FROM _import_link WHERE relationship = \(relationship) AND \(RelationshipStatements.isNamed)
                RETURNING source, target, position
            ) INSERT INTO \(kept) SELECT \(list(parts)), position FROM gone
            """,
            "ANALYZE \(kept)",
        ]
    }

    /// A value that a row does not mention is that of the row before.
    private var findingVersions: String {
        let entity = naming.destination
        let key = tables.keyPlaces(of: entity)
        let all = tables.columns[entity]
        let indexes = naming.places.indices
        let subentities = tables.layout.hierarchy.subentities(of: entity).map { "\($0)" }
        let isShared = tables.stagedSubentities(of: entity) != nil
        func isSubentity(_ value: String) -> String { isShared ? "\(value) IN (\(list(subentities)))" : "true" }
        let stagedKeys = key.map { "s.c\($0)" }
        let stagedValues = naming.places.map { compared("s.c\($0)", all[$0]) }
        let masks = naming.places.map { place in
            "s._mask_\(place / StagingColumns.maskWidth) & \(Int64(1) << Int64(place % StagingColumns.maskWidth)) <> 0"
        }
        let (said, flags) = (indexes.map { "w\($0)" }, indexes.map { "m\($0)" })
        var events = """
            SELECT s._ordinal AS ordinal, s._child::bigint AS child, 0::bigint AS stored, \
            \(list(aliased(stagedKeys, keys()) + aliased(stagedValues, said) + aliased(masks, flags))) \
            FROM \(stage(of: entity)) AS s WHERE \(isSubentity(subentity(ofStaged: "s", entity)))
            """
        if statements.filled.contains(entity) {
            let storedKeys = quoted(tables.key(of: entity), of: "t")
            let storedValues = naming.places.map { compared("t.\(all[$0].quoted)", all[$0]) }
            events += """
                 UNION ALL SELECT 0, 0, row_number() OVER (ORDER BY t.ctid), \
                \(list(storedKeys + storedValues + indexes.map { _ in "true" })) FROM \(tables.table(of: entity)) AS t
                LEFT JOIN (SELECT DISTINCT \(list(aliased(stagedKeys, keys()))) FROM \(stage(of: entity)) AS s) AS a
                    ON \(same(keys("a"), storedKeys))
                LEFT JOIN (
                    SELECT \(list(aliased(self.stagedValues("n"), values()))) FROM \(names.quoted) AS n
                    UNION SELECT \(list(values())) FROM \(kept)
                ) AS b ON \(same(values("b"), storedValues))
                WHERE (a.k0 IS NOT NULL OR b.v0 IS NOT NULL) AND \(isSubentity(subentity(ofStored: "t", entity)))
                """
        }
        let own = "PARTITION BY \(list(keys())) ORDER BY ordinal, child"
        let groups = indexes.map { "count(*) FILTER (WHERE m\($0)) OVER own AS g\($0)" }
        let carried = indexes.map {
            "first_value(w\($0)) OVER (PARTITION BY \(list(keys())), g\($0) ORDER BY ordinal, child) AS v\($0)"
        }
        let changes = values().map { "\($0) IS DISTINCT FROM lag(\($0)) OVER own" }
        let firsts = ["ordinal", "child", "stored"].map { "first_value(\($0)) OVER own AS first_\($0)" }
        return """
            CREATE TEMPORARY TABLE _import_version_\(number) ON COMMIT DROP AS WITH events AS (\(events)),
            told AS (SELECT *, \(list(groups + firsts)) FROM events WINDOW own AS (\(own))),
            carried AS (
                SELECT ordinal, child, first_ordinal, first_child, first_stored, \(list(keys() + carried)) FROM told
            ), starts AS (
                SELECT *, row_number() OVER own = 1 OR \(changes.joined(separator: " OR ")) AS is_start FROM carried
                WINDOW own AS (\(own))
            )
            SELECT *, lead(ordinal) OVER own AS end_ordinal, lead(child) OVER own AS end_child FROM starts WHERE is_start
            WINDOW own AS (\(own))
            """
    }

    /// Of several objects, the first one of a SQLite store: its row ids are single integers that identify objects, or in the order
    /// in which these came.
    private var order: [String] {
        let key = tables.key(of: naming.destination)
        let isRowID = key.count == 1 && [.integer16, .integer32, .integer64].contains(key[0].attribute.type)
        return isRowID ? keys("v") : ["v.first_ordinal", "v.first_stored", "v.first_child"]
    }

    private var findingNamed: String {
        """
        CREATE TEMPORARY TABLE _import_named_\(number) ON COMMIT DROP AS
        SELECT DISTINCT ON (n._ordinal, n._child, n._position) n._ordinal AS ordinal, n._child AS child, n._row AS row_child,
            n._position AS position, n._entity AS entity, \(list(aliased(columns("n", 0..<width), sources()))),
            \(list(aliased(stagedValues("n"), values()))), \(list(aliased(keys("v"), keys()))),
            count(v.k0) OVER (PARTITION BY n._ordinal, n._child, n._position) AS fits
        FROM \(names.quoted) AS n LEFT JOIN \(versions) AS v ON \(same(stagedValues("n"), values("v")))
            AND (v.ordinal, v.child) <= (n._ordinal, n._child)
            AND (v.end_ordinal IS NULL OR (n._ordinal, n._child) < (v.end_ordinal, v.end_child))
        ORDER BY n._ordinal, n._child, n._position, \(list(order))
        """
    }

    /// How many names fit several objects.
    var ambiguous: String { "SELECT count(*) FROM \(named) WHERE fits > 1" }
}

extension RelationshipStatements {
    /// A condition: what is kept in `_import_link` is named by other attributes than the identifier.
    static let isNamed = "json_typeof(target) = 'object'"
    /// By the identifier.
    static let isIdentified = "json_typeof(target) = 'array'"
}
