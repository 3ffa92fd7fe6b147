import ImportModel

/// Makes objects of the staged rows of an entity as if each record had been taken after the one before it, bucket by bucket.
///
/// Rows with the same identifier are in the same bucket, so buckets are settled in any order, by any connections side by side.
/// A bucket is a partition by the identifier's hash (<https://www.postgresql.org/docs/current/ddl-partitioning.html>): the
/// server finds it as it finds values that are equal, and reads nothing else for it. One bucket is a plain table.
///
/// Most rows are *plain*: theirs is the only staged one of their object, and lacks nothing. All plain rows of a bucket are
/// settled by one statement, or two where there may be objects already; the others, whose keys are *contended*, take their
/// turns (`TurnStatements`).
struct Settlement: Sendable {
    /// The most columns of an entity that can be staged, as a table has 1,600
    /// (<https://www.postgresql.org/docs/current/limits.html>) and the staging table's own are among them.
    static let mostColumns = 1_572

    let entity: SettledEntity
    /// How many there are, numbered from 0.
    let buckets: Int
    private let staged: StagedColumns

    /// - Parameters:
    ///   - entity: with an identifier, and at most `mostColumns` columns.
    ///   - buckets: from 1; see `buckets(forBytes:)`.
    init(_ entity: SettledEntity, buckets: Int) {
        self.entity = entity
        self.buckets = max(1, buckets)
        staged = StagedColumns(entity)
    }

    /// How many buckets are good for sources of this size: what settling asks of memory holds one, and connections settle
    /// side by side.
    ///
    /// A table that was not empty is read twice for each bucket, unless its index is quicker, so it gets fewer and larger ones.
    static func buckets(forBytes bytes: Int64, tableWasEmpty: Bool = true) -> Int {
        let megabytes = bytes >> 20
        let count = tableWasEmpty ? megabytes / 64 : max(megabytes / 256, min(2, megabytes / 32))
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
    func statements(ofBucket bucket: Int) -> BucketStatements {
        let stage = name(ofBucket: bucket)
        let turns = TurnStatements(entity, staged, stage: stage)
        var settling = [
            // Sorts and hash tables; what does not fit goes to disk. Others settle beside this, so it takes one processor;
            // and compiling statements of many columns takes longer than running them.
            "SET LOCAL work_mem = '64MB'", "SET LOCAL max_parallel_workers_per_gather = 0", "SET LOCAL jit = off",
            contended(stage), "ANALYZE pg_temp._import_contended",
            """
            CREATE TEMPORARY TABLE _import_counted ON COMMIT DROP AS \
            SELECT count(*) AS staged, 0::bigint AS inserted, 0::bigint AS updated FROM \(stage)
            """,
        ]
        if !entity.tableWasEmpty {
            // Without statistics the server takes all keys for a few, and puts the larger table into memory.
            let keys = staged.identifier.map { "c\($0)" }.joined(separator: ", ")
            settling.append("ANALYZE \(stage) (\(keys))")
        }
        // What turns make of objects is made of what was there before.
        settling += turns.taking
        if let merging = mergingPlain(stage) { settling.append(merging) }
        settling.append(insertingPlain(stage))
        settling += turns.writing
        settling.append("TRUNCATE \(stage)")
        return BucketStatements(settling: settling, rejects: turns.rejects, counts: counts(turns))
    }

    /// Whether plain rows are merged into objects that are there.
    ///
    /// Where both together have more columns than a query may
    /// (<https://www.postgresql.org/docs/current/limits.html>), they take turns, too, which compares some at a time.
    private var mergesPlain: Bool {
        let isMerging = entity.policy == .merge || entity.policy == .replace
        return isMerging && !entity.tableWasEmpty && 2 * entity.columns.count + staged.masks < 1_600
    }

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
        let same = StagedColumns.areSame(staged.objectKeys(of: "t"), staged.keys(of: "s"))
        return "EXISTS (SELECT FROM \(entity.table) AS t WHERE \(same))"
    }

    private var isPlain: String {
        let same = StagedColumns.areSame(staged.keyNames.map { "c.\($0)" }, staged.keys(of: "s"))
        return "NOT EXISTS (SELECT FROM pg_temp._import_contended AS c WHERE \(same))"
    }

    /// Inserts the plain rows that have no object.
    private func insertingPlain(_ stage: String) -> String {
        let values = entity.columns.indices.map { "s.c\($0)" }.joined(separator: ", ")
        guard mergesPlain else { return entity.inserting("SELECT \(values) FROM \(stage) AS s WHERE \(isPlain)") }
        // `NOT EXISTS` would put all keys of the table into memory; this is the same, by way of the bucket's.
        let same = StagedColumns.areSame(staged.objectKeys(of: "t"), staged.keys(of: "s"))
        return entity.inserting(
            """
            SELECT \(values) FROM \(stage) AS s LEFT JOIN \(entity.table) AS t ON \(same) \
            WHERE t.ctid IS NULL AND \(isPlain)
            """
        )
    }

    /// Merges the plain rows into their objects; nil where they take turns, or there is nothing that they could change.
    private func mergingPlain(_ stage: String) -> String? {
        guard mergesPlain else { return nil }
        var (sets, differences): ([String], [String]) = ([], [])
        for (index, column) in entity.columns.enumerated() where staged.isSettable(index) {
            let (old, new) = (staged.compared("t.\(column.name)", index), staged.compared("s.c\(index)", index))
            if let isSet = staged.isSet(index, by: "s") {
                sets.append("\(column.name) = CASE WHEN \(isSet) THEN s.c\(index) ELSE t.\(column.name) END")
                differences.append("\(isSet) AND \(old) IS DISTINCT FROM \(new)")
            } else {
                sets.append("\(column.name) = s.c\(index)")
                differences.append("\(old) IS DISTINCT FROM \(new)")
            }
        }
        guard !sets.isEmpty else { return nil }
        let same = StagedColumns.areSame(staged.objectKeys(of: "t"), staged.keys(of: "s"))
        return """
            WITH done AS (UPDATE \(entity.table) AS t SET \(sets.joined(separator: ", ")) FROM \(stage) AS s \
            WHERE \(same) AND \(isPlain) AND (\(differences.joined(separator: " OR "))) RETURNING 1) \
            UPDATE pg_temp._import_counted SET updated = updated + (SELECT count(*) FROM done)
            """
    }

    /// Whatever is left of the staged rows has changed nothing: it is counted as what the policy makes of that.
    private func counts(_ turns: TurnStatements) -> String {
        let left = "staged - inserted - updated - rejected"
        let isIgnored = entity.policy == .ignore
        return """
            SELECT inserted, updated, \(isIgnored ? "0::bigint" : left) AS unchanged, \
            \(isIgnored ? left : "0::bigint") AS ignored, rejected \
            FROM (SELECT staged, inserted, updated + (\(turns.updated)) AS updated, (\(turns.rejected)) AS rejected \
            FROM pg_temp._import_counted) AS counted
            """
    }

    // MARK: The end

    /// What comes when all buckets are settled; done again, it changes nothing.
    var finish: String { "DROP TABLE IF EXISTS \(entity.stage)" }
}

extension SettledEntity {
    /// Inserts the rows of a query, which has the entity's columns, and counts them.
    ///
    /// A column that the server numbers takes what is given, as in COPY
    /// (<https://www.postgresql.org/docs/current/sql-insert.html>).
    func inserting(_ query: String) -> String {
        let names = columns.map(\.name).joined(separator: ", ")
        return """
            WITH done AS (INSERT INTO \(table) (\(names)) OVERRIDING SYSTEM VALUE \(query) RETURNING 1) \
            UPDATE pg_temp._import_counted SET inserted = inserted + (SELECT count(*) FROM done)
            """
    }
}
