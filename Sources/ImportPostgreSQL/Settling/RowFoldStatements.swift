import ImportModel

/// Statements for rows that take turns, as they are not the only ones of their object, or lack what a new one needs.
///
/// The object that is there, and then the staged rows in source order, are a *line*. The first in it that lacks nothing is the
/// object; those before it are rejects. Each of the others is compared with what those before it have left, attribute by
/// attribute: the value of the last one that has set it.
///
/// All of that is found with a line sorted once, whatever its attributes are: each row knows the place of the last one before
/// it that has set an attribute (`max(place) FILTER …`), and reads its value there (`nth_value`,
/// <https://www.postgresql.org/docs/current/functions-window.html>). Nothing is gathered in arrays, which a single object of
/// many rows would make too large.
struct RowFoldStatements {
    /// So many columns are compared by one statement, which has two of its own for each: a query has 1,664 at most
    /// (<https://www.postgresql.org/docs/current/limits.html>).
    private static let mostColumns = 400

    private let entity: StagedEntity
    private let staged: StagingColumns
    private let stage: String
    /// The columns, in groups; one group without any where the first row counts alone.
    private let groups: [Range<Int>]
    private let isMerging: Bool

    init(_ entity: StagedEntity, _ staged: StagingColumns, stage: String) {
        self.entity = entity
        self.staged = staged
        self.stage = stage
        isMerging = entity.policy == .merge || entity.policy == .replace
        groups =
            isMerging
            ? stride(from: 0, to: entity.columns.count, by: Self.mostColumns).map {
                $0..<min($0 + Self.mostColumns, entity.columns.count)
            } : [0..<0]
    }

    // MARK: Taking turns

    /// Finds out what becomes of the rows: makes a temporary table for each group of columns, with a row for each turn.
    var taking: [String] { groups.indices.map(turns) }

    private func turns(_ group: Int) -> String {
        let range = groups[group]
        let keys = staged.keyNames.joined(separator: ", ")
        let line = "PARTITION BY \(keys) ORDER BY is_object DESC, _ordinal, _child"
        // The first row is the object, and sets all.
        let isFirst = "(complete = 1 AND NOT _unmet)"
        var (places, changes, values): ([String], [String], [String]) = ([], [], [])
        for column in range {
            let before = "nth_value(c\(column), p\(column)) OVER line"
            guard staged.isSettable(column) else {
                places.append("max(place) FILTER (WHERE \(isFirst)) OVER earlier AS p\(column)")
                values.append("CASE WHEN \(isFirst) THEN c\(column) ELSE \(before) END")
                continue
            }
            // Those before the first that lacks nothing have places, but lower ones.
            let isSet = staged.isSet(column, by: "numbered") ?? "true"
            let isSetNow = staged.isSet(column, by: "told")
            places.append("max(place) FILTER (WHERE \(isFirst) OR \(isSet)) OVER earlier AS p\(column)")
            let differs = "\(staged.compared("c\(column)", column)) IS DISTINCT FROM \(staged.compared(before, column))"
            if !entity.columns[column].isListed { changes.append(isSetNow.map { "\($0) AND \(differs)" } ?? differs) }
            let takes = isSetNow.map { "\(isFirst) OR \($0)" }
            values.append(takes.map { "CASE WHEN \($0) THEN c\(column) ELSE \(before) END" } ?? "c\(column)")
        }
        let isChanged =
            changes.isEmpty ? "false" : "complete > 0 AND NOT \(isFirst) AND (\(changes.joined(separator: " OR ")))"
        let kept = zip(range, values).map { ", CASE WHEN is_last THEN \($1) END AS v\($0)" }.joined()
        return """
            CREATE TEMPORARY TABLE _import_turn_\(group) ON COMMIT DROP AS WITH line AS (\(self.line(range))), \
            numbered AS (SELECT *, row_number() OVER line ::integer AS place, \
            count(*) FILTER (WHERE NOT _unmet) OVER line AS complete, \
            first_value(is_object) OVER line AS has_object, lead(1) OVER line IS NULL AS is_last \
            FROM line WINDOW line AS (\(line) ROWS UNBOUNDED PRECEDING)), \
            told AS (SELECT *\(places.map { ", \($0)" }.joined()) \
            FROM numbered WINDOW earlier AS (\(line) ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) \
            SELECT \(keys), _ordinal, _child, place, has_object, is_last, complete = 0 AS is_missing, \
            \(isFirst) AS is_first, \(isChanged) AS is_changed\(entity.subentities == nil ? "" : ", kind")\(kept) \
            FROM told WINDOW line AS (\(line) ROWS UNBOUNDED PRECEDING)
            """
    }

    /// The staged rows with contended keys, and the objects that these keys have.
    private func line(_ range: Range<Int>) -> String {
        let keys = staged.keyNames
        let masks = isMerging ? (0..<staged.masks).map { "_mask_\($0)" } : []
        let named = zip(staged.keys(of: "s"), keys).map { "\($0) AS \($1)" }
        let subentity = entity.subentities.map { ["s.c\($0.column) AS kind"] } ?? []
        let row =
            named + ["s._ordinal", "s._child", "s._unmet", "false AS is_object"] + masks.map { "s.\($0)" }
            + range.map { "s.c\($0)" } + subentity
        let rows = "SELECT \(row.joined(separator: ", ")) FROM \(stage) AS s WHERE \(isContended(staged.keys(of: "s")))"
        guard !entity.tableWasEmpty else { return rows }
        let object =
            staged.objectKeys(of: "t") + ["0", "0", "false", "true"] + masks.map { _ in "0" }
            + range.map { "t.\(entity.columns[$0].name)" } + subentity.map { _ in "NULL" }
        return """
            \(rows) UNION ALL SELECT \(object.joined(separator: ", ")) FROM \(entity.table) AS t \
            WHERE \(isContended(staged.objectKeys(of: "t")))
            """
    }

    private func isContended(_ keys: [String]) -> String {
        let same = StagingColumns.areSame(staged.keyNames.map { "c.\($0)" }, keys)
        return "EXISTS (SELECT FROM pg_temp._import_contended AS c WHERE \(same))"
    }

    // MARK: Writing

    /// Writes what the turns have come to.
    var writing: [String] {
        [entity.counting("\(inserting(ofRange: false)) RETURNING 1", as: "inserted")]
            + updatedGroups.compactMap { updating($0, ofRange: false) }
    }

    /// The same for a range of keys.
    var writingOfRange: [BisectionStatements.Writing] {
        [BisectionStatements.Writing(text: inserting(ofRange: true), count: .inserted)]
            + updatedGroups.compactMap { updating($0, ofRange: true) }
            .map { BisectionStatements.Writing(text: $0, count: .nothing) }
    }

    /// A statement for each, as what is joined must not have too many columns.
    private var updatedGroups: Range<Int> { isMerging && !entity.tableWasEmpty ? groups.indices : 0..<0 }

    /// The table of keys that a statement for a range reads, too, and the condition that turns are of one of these.
    private func range(_ turns: [String]) -> (source: String, condition: String) {
        let same = turns.map { " AND \($0)._ordinal = p._ordinal AND \($0)._child = p._child" }.joined()
        return (", \(BisectionStatements.keys) AS p", " AND \(BisectionStatements.isInRange)\(same)")
    }

    /// Inserts the objects that are new.
    private func inserting(ofRange: Bool) -> String {
        guard isMerging else {
            let values = entity.columns.indices.map { "s.c\($0)" }.joined(separator: ", ")
            let (more, isIn) = ofRange ? range(["u"]) : ("", "")
            let isRow = ofRange ? "s.ctid = p.tid" : "s._ordinal = u._ordinal AND s._child = u._child"
            return entity.inserting(
                """
                SELECT \(values) FROM \(stage) AS s, pg_temp._import_turn_0 AS u\(more) \
                WHERE \(isRow) AND u.is_first AND NOT u.has_object\(isIn)
                """
            )
        }
        let turns = groups.indices.map { "pg_temp._import_turn_\($0) AS u\($0)" }.joined(separator: ", ")
        let joined = groups.indices.dropFirst().map { group in
            StagingColumns.areSame(staged.keyNames.map { "u0.\($0)" }, staged.keyNames.map { "u\(group).\($0)" })
                + " AND u\(group).is_last"
        }
        let isLast = (["u0.is_last"] + joined).joined(separator: " AND ")
        func value(_ column: Int) -> String { "u\(column / Self.mostColumns).v\(column)" }
        let values = entity.columns.indices.map(value).joined(separator: ", ")
        let (more, isIn) = ofRange ? range(groups.indices.map { "u\($0)" }) : ("", "")
        return entity.inserting(
            """
            SELECT \(values) FROM \(turns)\(more) \
            WHERE \(isLast) AND NOT u0.has_object AND NOT u0.is_missing\(isIn)
            """
        )
    }

    /// Brings objects that were there to what the turns have left of a group of columns.
    private func updating(_ group: Int, ofRange: Bool) -> String? {
        let settable = groups[group].filter(staged.isSettable)
        guard !settable.isEmpty else { return nil }
        let sets = settable.map { "\(entity.columns[$0].name) = u.v\($0)" }.joined(separator: ", ")
        let differs = settable.map {
            let old = staged.compared("t.\(entity.columns[$0].name)", $0)
            return "\(old) IS DISTINCT FROM \(staged.compared("u.v\($0)", $0))"
        }
        let same = StagingColumns.areSame(staged.objectKeys(of: "t"), staged.keyNames.map { "u.\($0)" })
        let (more, isIn) = ofRange ? range(["u"]) : ("", "")
        return """
            UPDATE \(entity.table) AS t SET \(sets) FROM pg_temp._import_turn_\(group) AS u\(more) \
            WHERE \(same) AND u.is_last AND u.has_object AND (\(differs.joined(separator: " OR ")))\(isIn)
            """
    }

    // MARK: Ranges of keys

    /// What makes a turn found by its record.
    var indexing: [String] {
        groups.indices.flatMap { group in
            let turns = "pg_temp._import_turn_\(group)"
            return ["CREATE INDEX ON \(turns) (_ordinal, _child)", "ANALYZE \(turns) (_ordinal, _child)"]
        }
    }

    /// Forgets the turns of the records of the key `$1`.
    var forgetting: [String] {
        groups.indices.map { group in
            """
            DELETE FROM pg_temp._import_turn_\(group) AS u USING \(BisectionStatements.keys) AS p \
            WHERE p.number = $1::bigint AND u._ordinal = p._ordinal AND u._child = p._child
            """
        }
    }

    // MARK: Counting

    /// How many of the rows have changed their object.
    var updated: String { updated(where: "") }

    /// How many of the rows of nested objects have.
    var nestedUpdated: String { updated(where: "u0._child > 0 AND ") }

    private func updated(where condition: String) -> String {
        "SELECT count(*) FROM \(allTurns) WHERE \(condition)(\(isChanged))"
    }

    /// Notes the rows that have changed nothing.
    func notingUnchanged(in table: (table: String, number: Int)) -> String {
        """
        INSERT INTO \(table.table) SELECT \(entity.number("u0.kind", in: table)), u0._ordinal, u0._child FROM \(allTurns) \
        WHERE u0._ordinal > 0 AND NOT u0.is_missing AND NOT u0.is_first AND NOT (\(isChanged))
        """
    }

    private var isChanged: String { groups.indices.map { "u\($0).is_changed" }.joined(separator: " OR ") }

    /// The turns with all columns.
    private var allTurns: String {
        let joined = groups.indices.dropFirst().map { group in
            let keys = staged.keyNames + ["place"]
            return "JOIN pg_temp._import_turn_\(group) AS u\(group) USING (\(keys.joined(separator: ", ")))"
        }
        return (["pg_temp._import_turn_0 AS u0"] + joined).joined(separator: " ")
    }

    /// The rows that have made their objects, those that have changed them, and those that become rejects, each with its `kind` and
    /// `_child`.
    var subentitiesOfInserted: String {
        "SELECT kind, _child FROM pg_temp._import_turn_0 WHERE is_first AND NOT has_object"
    }
    var subentitiesOfUpdated: String { "SELECT u0.kind, u0._child FROM \(allTurns) WHERE \(isChanged)" }
    var subentitiesOfRejected: String { "SELECT kind, _child FROM pg_temp._import_turn_0 WHERE \(isReject)" }

    /// How many of the rows that have made their objects are of nested ones.
    var nestedInserted: String {
        "SELECT count(*) FROM pg_temp._import_turn_0 WHERE is_first AND NOT has_object AND _child > 0"
    }

    /// Rows that become rejects: they lack what a new object needs, or come after one that must be alone.
    private var isReject: String { entity.policy == .error ? "NOT is_first" : "is_missing" }

    /// How many of the rows become rejects.
    var rejected: String {
        """
        SELECT count(*) FILTER (WHERE \(isReject)) + (SELECT count(*) FROM pg_temp._import_refused) \
        FROM pg_temp._import_turn_0
        """
    }

    /// Which rows become rejects.
    var rejects: String {
        """
        SELECT _ordinal, _child, is_missing AS missing, NULL::text AS code, NULL::text AS expected, NULL::text AS found \
        FROM pg_temp._import_turn_0 WHERE \(isReject) \
        UNION ALL SELECT * FROM pg_temp._import_refused ORDER BY _ordinal, _child
        """
    }
}
