import ImportModel

/// Makes objects of the staged rows of an entity as if each record had been taken after the one before it, bucket by bucket.
///
/// Rows with the same identifier are in the same bucket, so buckets are settled in any order, by any connections side by side.
/// A bucket is a partition by the identifier's hash (<https://www.postgresql.org/docs/current/ddl-partitioning.html>): the
/// server finds it as it finds values that are equal, and reads nothing else for it. One bucket is a plain table.
///
/// Most rows are *plain*: theirs is the only staged one of their object, and lacks nothing. All plain rows of a bucket are
/// settled by one statement, or two where there may be objects already; the others, whose keys are *contended*, take their
/// turns (`RowFoldStatements`).
struct StagingUpsert: Sendable {
    /// The most columns of an entity that can be staged, as a table has 1,600
    /// (<https://www.postgresql.org/docs/current/limits.html>) and the staging table's own are among them.
    static let mostColumns = 1_572

    let entity: StagedEntity
    /// How many there are, numbered from 0.
    let buckets: Int
    private let staged: StagingColumns

    /// - Parameters:
    ///   - entity: with an identifier, and at most `mostColumns` columns.
    ///   - buckets: from 1; see `buckets(forBytes:)`.
    init(_ entity: StagedEntity, buckets: Int) {
        self.entity = entity
        self.buckets = max(1, buckets)
        staged = StagingColumns(entity)
    }

    /// How many buckets are good for sources of this size: what settling asks of memory holds one, and connections settle
    /// side by side.
    ///
    /// An even number lets two connections end together. A table that was not empty is read twice for each bucket, unless its
    /// index is quicker, so it gets fewer and larger ones.
    static func buckets(forBytes bytes: Int64, tableWasEmpty: Bool = true) -> Int {
        let megabytes = bytes >> 20
        let count = tableWasEmpty ? (megabytes + 120) / 128 * 2 : max(megabytes / 256, min(2, megabytes / 32))
        return Int(min(256, max(1, count)))
    }

    // MARK: Staging

    /// Makes the staging table; done again, it changes nothing.
    ///
    /// It is logged: an unlogged one would be empty after a crash that the chunks' rows survive.
    var stageTables: [String] {
        let columns = staged.definitions.joined(separator: ", ")
        let quiet = "WITH (autovacuum_enabled = false, toast.autovacuum_enabled = false)"
        guard buckets > 1 else { return ["CREATE TABLE IF NOT EXISTS \(entity.stage) (\(columns)) \(quiet)"] }
        // A key that is an expression is in parentheses of its own.
        let keys = staged.identifier.map { entity.columns[$0].isJSON ? "((c\($0)::text))" : "c\($0)" }
            .joined(separator: ", ")
        return ["CREATE TABLE IF NOT EXISTS \(entity.stage) (\(columns)) PARTITION BY HASH (\(keys))"]
            + (0..<buckets).map { bucket in
                """
                CREATE TABLE IF NOT EXISTS \(name(ofBucket: bucket)) PARTITION OF \(entity.stage) \
                FOR VALUES WITH (MODULUS \(buckets), REMAINDER \(bucket)) \(quiet)
                """
            }
    }

    /// The statement that drops a staging table; done again, it changes nothing.
    ///
    /// - Parameter stage: its name, quoted.
    static func dropping(_ stage: String) -> String { "DROP TABLE IF EXISTS \(stage)" }

    /// The names of the staging table's columns, in the order of a staged row: `_ordinal bigint`, `_child integer`, the masks
    /// (`bigint`; column i is bit i % 63 of mask i / 63), `_unmet boolean`, and the entity's.
    var stageColumns: [String] { staged.names }

    /// The table of one bucket.
    func name(ofBucket bucket: Int) -> String {
        guard buckets > 1 else { return entity.stage }
        return entity.stage.hasSuffix("\"") ? "\(entity.stage.dropLast())_\(bucket)\"" : "\(entity.stage)_\(bucket)"
    }

    // MARK: Settling

    /// What settles a bucket.
    func statements(ofBucket bucket: Int) -> BucketUpsertStatements {
        let stage = name(ofBucket: bucket)
        let turns = RowFoldStatements(entity, staged, stage: stage)
        var reading = [
            contended(stage), "ANALYZE pg_temp._import_contended",
            """
            CREATE TEMPORARY TABLE _import_counted ON COMMIT DROP AS \
            SELECT count(*) AS staged, 0::bigint AS inserted, 0::bigint AS updated, \
            count(*) FILTER (WHERE \(isNested)) AS nested, 0::bigint AS nested_inserted, 0::bigint AS nested_updated \
            FROM \(stage)
            """,
            """
            CREATE TEMPORARY TABLE _import_refused (_ordinal bigint, _child integer, missing boolean, code text, \
            expected text, found text) ON COMMIT DROP
            """,
        ]
        if !entity.tableWasEmpty {
            // Without statistics the server takes all keys for a few, and puts the larger table into memory.
            let keys = staged.identifier.map { "c\($0)" }.joined(separator: ", ")
            reading.append("ANALYZE \(stage) (\(keys))")
        }
        // What turns make of objects is made of what was there before.
        reading += turns.taking
        if let unchanged = entity.unchanged {
            reading += [turns.notingUnchanged(in: unchanged), notingUnchanged(stage, in: unchanged)].compactMap(\.self)
        }
        if entity.countsNested { reading.append(countingNested(stage, turns)) }
        if let subentities = entity.subentities { reading.append(countingSubentities(subentities, stage, turns)) }
        return BucketUpsertStatements(
            // Sorts and hash tables; what does not fit goes to disk. Others settle beside this, so it takes one processor;
            // and compiling statements of many columns takes longer than running them.
            settings: [
                "SET LOCAL work_mem = '64MB'", "SET LOCAL max_parallel_workers_per_gather = 0", "SET LOCAL jit = off",
            ],
            short: entity.tableWasEmpty && entity.subentities == nil ? short(stage) : nil,
            reading: reading,
            writing: writing(stage, turns),
            parts: parts(stage, turns),
            emptying: "TRUNCATE \(stage)",
            rejects: turns.rejects,
            counts: counts(turns),
            nestedCounts: entity.countsNested ? Self.nestedCounts : nil,
            subentityCounts: entity.subentities.map(subentityCounts)
        )
    }

    /// Where no key comes twice, nothing has to be looked up for any row.
    private func short(_ stage: String) -> BucketUpsertStatements.FastPath {
        let keys = staged.keys(of: "s").joined(separator: ", ")
        let distinct = staged.identifier.count == 1 ? keys : "(\(keys))"
        let values = entity.columns.indices.map { "s.c\($0)" }.joined(separator: ", ")
        return BucketUpsertStatements.FastPath(
            asking: """
                SELECT count(*), count(*) FILTER (WHERE \(isNested)), \
                count(DISTINCT \(distinct)) = count(*) AND NOT coalesce(bool_or(s._unmet), false) FROM \(stage) AS s
                """,
            inserting: entity.inserting("SELECT \(values) FROM \(stage) AS s")
        )
    }

    private func writing(_ stage: String, _ turns: RowFoldStatements) -> [String] {
        let plain = Rows(source: "\(stage) AS s", condition: isPlain)
        let merging = mergesPlain ? merging(plain, entity.columns.indices) : nil
        return [merging.map { entity.counting("\($0) RETURNING 1", as: "updated") }].compactMap { $0 }
            + [entity.counting("\(inserting(plain)) RETURNING 1", as: "inserted")] + turns.writing
    }

    /// Rows `s` of a bucket, and which of them.
    private struct Rows {
        let source: String
        let condition: String
    }

    private func parts(_ stage: String, _ turns: RowFoldStatements) -> BisectionStatements {
        let range = Rows(
            source: "\(stage) AS s JOIN \(BisectionStatements.keys) AS p ON s.ctid = p.tid",
            condition: "p.is_plain AND \(BisectionStatements.isInRange)"
        )
        var writing: [BisectionStatements.Writing] = []
        if mergesPlain, let merging = merging(range, entity.columns.indices) {
            writing.append(BisectionStatements.Writing(text: merging, count: .updated))
        }
        writing.append(BisectionStatements.Writing(text: inserting(range), count: .inserted))
        writing += turns.writingOfRange
        let one = Rows(source: "\(stage) AS s", condition: "s.ctid = $1::tid")
        // An object that is new is found where it was put: its table may have no index yet.
        let known = Rows(
            source: one.source,
            condition: one.condition + (entity.tableWasEmpty ? " AND t.ctid = $2::tid" : "")
        )
        let width = isWide ? Self.fewColumns : max(1, entity.columns.count)
        let groups = stride(from: 0, to: entity.columns.count, by: width).map {
            $0..<min($0 + width, entity.columns.count)
        }
        let values = entity.columns.indices.map { "s.c\($0)" }.joined(separator: ", ")
        return BisectionStatements(
            numbering: numbering(stage) + turns.indexing,
            writing: writing,
            finding: entity.tableWasEmpty ? nil : "SELECT 1 FROM \(one.source) WHERE \(one.condition) AND \(hasObject)",
            inserting: entity.inserting("SELECT \(values) FROM \(one.source) WHERE \(one.condition)")
                + " RETURNING ctid::text",
            merging: groups.compactMap { merging(known, $0) }.map { "\($0) RETURNING t.ctid::text" },
            forgetting: turns.forgetting
        )
    }

    private func numbering(_ stage: String) -> [String] {
        let same = StagingColumns.areSame(staged.keyNames.map { "c.\($0)" }, staged.keys(of: "s"))
        return [
            """
            CREATE TEMPORARY TABLE _import_key ON COMMIT DROP AS \
            SELECT tid, _ordinal, _child, _unmet, is_plain, dense_rank() OVER (ORDER BY first, first_child) AS number \
            FROM (SELECT s.ctid AS tid, s._ordinal, s._child, s._unmet, c.k0 IS NULL AS is_plain, \
            first_value(s._ordinal) OVER line AS first, first_value(s._child) OVER line AS first_child \
            FROM \(stage) AS s LEFT JOIN pg_temp._import_contended AS c ON \(same) \
            WINDOW line AS (PARTITION BY \(staged.keys(of: "s").joined(separator: ", ")) ORDER BY s._ordinal, s._child) \
            ) AS placed
            """,
            "CREATE INDEX ON \(BisectionStatements.keys) (number, _ordinal, _child)",
            "ANALYZE \(BisectionStatements.keys)",
        ]
    }

    /// True if plain rows are merged into objects that are there.
    ///
    /// Where both together have more columns than a query may
    /// (<https://www.postgresql.org/docs/current/limits.html>), they take turns, too, which compares some at a time.
    private var mergesPlain: Bool {
        let isMerging = entity.policy == .merge || entity.policy == .replace
        return isMerging && !entity.tableWasEmpty && !isWide
    }

    private var isWide: Bool { 2 * entity.columns.count + staged.masks >= 1_600 }
    /// So many columns of a wide table are written at once.
    private static let fewColumns = 400

    /// Finds the keys whose rows take turns; those of objects that are there, too, where plain rows are not merged into them.
    private func contended(_ stage: String) -> String {
        let keys = staged.keys(of: "s")
        let named = zip(keys, staged.keyNames).map { "\($0) AS \($1)" }.joined(separator: ", ")
        // Where objects are replaced, or must not be there, a record that lacks something is a reject before it is staged.
        let mayLack = entity.policy == .merge || entity.policy == .ignore
        var sql = """
            CREATE TEMPORARY TABLE _import_contended ON COMMIT DROP AS \
            SELECT \(named) FROM \(stage) AS s GROUP BY \(keys.joined(separator: ", ")) HAVING count(*) > 1
            """
        if mayLack { sql += " UNION SELECT \(named) FROM \(stage) AS s WHERE s._unmet" }
        if !entity.tableWasEmpty, !mergesPlain {
            sql += " UNION SELECT \(named) FROM \(stage) AS s WHERE \(hasObject)"
        }
        return sql
    }

    private var hasObject: String {
        let same = StagingColumns.areSame(staged.objectKeys(of: "t"), staged.keys(of: "s"))
        return "EXISTS (SELECT FROM \(entity.table) AS t WHERE \(same))"
    }

    private var isPlain: String {
        let same = StagingColumns.areSame(staged.keyNames.map { "c.\($0)" }, staged.keys(of: "s"))
        return "NOT EXISTS (SELECT FROM pg_temp._import_contended AS c WHERE \(same))"
    }

    /// Inserts those of plain rows that have no object.
    private func inserting(_ rows: Rows) -> String {
        let values = entity.columns.indices.map { "s.c\($0)" }.joined(separator: ", ")
        guard mergesPlain else {
            return entity.inserting("SELECT \(values) FROM \(rows.source) WHERE \(rows.condition)")
        }
        // `NOT EXISTS` would put all keys of the table into memory; this is the same, by way of the bucket's.
        let same = StagingColumns.areSame(staged.objectKeys(of: "t"), staged.keys(of: "s"))
        return entity.inserting(
            """
            SELECT \(values) FROM \(rows.source) LEFT JOIN \(entity.table) AS t ON \(same) \
            WHERE t.ctid IS NULL AND \(rows.condition)
            """
        )
    }

    /// Merges some columns of rows, one of each object, into their objects; nil where there is nothing that they could change.
    private func merging(_ rows: Rows, _ columns: Range<Int>) -> String? {
        var (sets, differences): ([String], [String]) = ([], [])
        for index in columns where staged.isSettable(index) {
            let column = entity.columns[index]
            let (old, new) = (staged.compared("t.\(column.name)", index), staged.compared("s.c\(index)", index))
            let isSet = staged.isSet(index, by: "s")
            sets.append(
                isSet.map { "\(column.name) = CASE WHEN \($0) THEN s.c\(index) ELSE t.\(column.name) END" }
                    ?? "\(column.name) = s.c\(index)"
            )
            if column.isListed { continue }
            let differs = "\(old) IS DISTINCT FROM \(new)"
            differences.append(isSet.map { "\($0) AND \(differs)" } ?? differs)
        }
        guard !differences.isEmpty else { return nil }
        let same = StagingColumns.areSame(staged.objectKeys(of: "t"), staged.keys(of: "s"))
        return """
            UPDATE \(entity.table) AS t SET \(sets.joined(separator: ", ")) FROM \(rows.source) \
            WHERE \(same) AND \(rows.condition) AND (\(differences.joined(separator: " OR ")))
            """
    }

    /// Whatever is left of the staged rows has changed nothing: it is counted as what the policy makes of that.
    private func counts(_ turns: RowFoldStatements) -> String {
        let isIgnored = entity.policy == .ignore
        let left = "staged - inserted - updated - rejected"
        let (none, own) = ("0::bigint", "\(left) - (nested - nested_inserted - nested_updated)")
        return """
            SELECT inserted - nested_inserted AS inserted, updated - nested_updated AS updated, \
            \(isIgnored ? none : own) AS unchanged, \(isIgnored ? left : none) AS ignored, rejected \
            FROM (SELECT staged, inserted, updated + (\(turns.updated)) AS updated, (\(turns.rejected)) AS rejected, \
            nested, nested_inserted, nested_updated FROM pg_temp._import_counted) AS counted
            """
    }

    // MARK: Nested objects

    private static let nestedCounts = """
        SELECT nested_inserted AS inserted, nested_updated AS updated, \
        nested - nested_inserted - nested_updated AS unchanged FROM pg_temp._import_counted
        """

    /// Whether a staged row is of an object that is nested in a record, as a condition.
    private var isNested: String { entity.countsNested ? "_child > 0" : "false" }

    /// The plain rows that have an object, where these are merged into it.
    private func knownPlain(_ stage: String) -> String? {
        guard mergesPlain else { return nil }
        let same = StagingColumns.areSame(staged.objectKeys(of: "t"), staged.keys(of: "s"))
        return "FROM \(stage) AS s JOIN \(entity.table) AS t ON \(same) WHERE \(isPlain)"
    }

    /// Whether a plain row changes its object, as a condition that is never NULL.
    private var isChanging: String {
        let differences = entity.columns.indices.filter { staged.isSettable($0) && !entity.columns[$0].isListed }
            .map { index in
                let old = staged.compared("t.\(entity.columns[index].name)", index)
                let differs = "\(old) IS DISTINCT FROM \(staged.compared("s.c\(index)", index))"
                return staged.isSet(index, by: "s").map { "\($0) AND \(differs)" } ?? differs
            }
        return differences.isEmpty ? "false" : "(\(differences.joined(separator: " OR ")))"
    }

    /// Notes the plain rows that are about to change nothing of their objects.
    private func notingUnchanged(_ stage: String, in table: (table: String, number: Int)) -> String? {
        let number = entity.number(entity.subentities.map { "s.c\($0.column)" } ?? "", in: table)
        return knownPlain(stage).map { rows in
            """
            INSERT INTO \(table.table) SELECT \(number), s._ordinal, s._child \(rows) AND NOT \(isChanging)
            """
        }
    }

    /// Counts how many of the nested rows are about to make objects, and to change some.
    private func countingNested(_ stage: String, _ turns: RowFoldStatements) -> String {
        let known = knownPlain(stage).map { "(SELECT count(*) \($0) AND s.\(isNested)" } ?? "(SELECT 0"
        let changed = knownPlain(stage).map { "(SELECT count(*) \($0) AND s.\(isNested) AND \(isChanging))" } ?? "0"
        return """
            UPDATE pg_temp._import_counted SET nested_inserted = (\(turns.nestedInserted)) + \
            (SELECT count(*) FROM \(stage) AS s WHERE \(isPlain) AND s.\(isNested)) - \(known)), \
            nested_updated = (\(turns.nestedUpdated)) + \(changed) WHERE nested > 0
            """
    }

    // MARK: Objects of several entities

    /// Counts what is about to become of the rows of each entity; those that are plain are told apart by whether they have an
    /// object.
    private func countingSubentities(
        _ subentities: StagedEntity.Subentities,
        _ stage: String,
        _ turns: RowFoldStatements
    ) -> String {
        let row = "SELECT s.c\(subentities.column) AS kind, s._child"
        let same = StagingColumns.areSame(staged.objectKeys(of: "t"), staged.keys(of: "s"))
        let isNew = mergesPlain ? " AND NOT EXISTS (SELECT FROM \(entity.table) AS t WHERE \(same))" : ""
        let inserted = "\(row) FROM \(stage) AS s WHERE \(isPlain)\(isNew) UNION ALL \(turns.subentitiesOfInserted)"
        let plainUpdated = knownPlain(stage).map { "\(row) \($0) AND \(isChanging) UNION ALL " } ?? ""
        let sources = [
            ("staged", "\(row) FROM \(stage) AS s"), ("inserted", inserted),
            ("updated", plainUpdated + turns.subentitiesOfUpdated), ("rejected", turns.subentitiesOfRejected),
        ]
        let counts = sources.flatMap { name, _ in
            [
                "count(*) FILTER (WHERE what = '\(name)') AS \(name)",
                "count(*) FILTER (WHERE what = '\(name)' AND \(isNested)) AS nested_\(name)",
            ]
        }
        let rows = sources.map { "SELECT '\($0)' AS what, kind, _child FROM (\($1)) AS \($0)" }
        return """
            CREATE TEMPORARY TABLE _import_kind ON COMMIT DROP AS SELECT kind, \(counts.joined(separator: ", ")) \
            FROM (\(rows.joined(separator: " UNION ALL "))) AS counted GROUP BY kind
            """
    }

    private func subentityCounts(_ subentities: StagedEntity.Subentities) -> String {
        let isIgnored = entity.policy == .ignore
        let left = "staged - inserted - updated - rejected"
        let own = "\(left) - (nested_staged - nested_inserted - nested_updated - nested_rejected)"
        return """
            SELECT \(subentities.number("kind")), inserted - nested_inserted, updated - nested_updated, \
            \(isIgnored ? "0::bigint" : own), \(isIgnored ? own : "0::bigint"), rejected, \
            nested_inserted, nested_updated, nested_staged - nested_inserted - nested_updated - nested_rejected \
            FROM pg_temp._import_kind
            """
    }
}

extension StagedEntity {
    /// Inserts the rows of a query, which has the entity's columns.
    ///
    /// A column that the server numbers takes what is given, as in COPY
    /// (<https://www.postgresql.org/docs/current/sql-insert.html>).
    func inserting(_ query: String) -> String {
        let names = columns.map(\.name).joined(separator: ", ")
        return "INSERT INTO \(table) (\(names)) OVERRIDING SYSTEM VALUE \(query)"
    }

    /// Runs a statement that returns a row for each that it has written, and counts them.
    ///
    /// - Parameter column: `inserted` or `updated`.
    func counting(_ statement: String, as column: String) -> String {
        """
        WITH done AS (\(statement)) \
        UPDATE pg_temp._import_counted SET \(column) = \(column) + (SELECT count(*) FROM done)
        """
    }
}
