import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// What others have made on tables that are made again or go.
extension MigrationPlanner {
    mutating func addOthers(_ rebuild: TableRebuildPlan) throws {
        for table in rebuild.dropped {
            let isGone = isGone(table)
            if isGone { try addColumns(ofGone: table) }
            if !isGone, let reason = try obstacleToMaking(table, rebuild) {
                try addOthers(table, "would have to be rebuilt", reason, in: table)
            }
            try addReferences(to: table, rebuild)
        }
    }

    /// Columns of others that go with a table.
    private mutating func addColumns(ofGone table: String) throws {
        let own = Set(
            (old.tables.first { ExistingEntity.folded($0.name) == ExistingEntity.folded(table) }?.columns ?? [])
                .map { ExistingEntity.folded($0.name) }
        )
        let columns = try StoredTable(table, database).columns.map(\.name)
        for column in columns where !own.contains(ExistingEntity.folded(column)) {
            let condition = "\(table.quotedIdentifier) WHERE \(column.quotedIdentifier) IS NOT NULL"
            let count = try count(condition)
            guard count > 0 else { continue }
            try addOthers(
                table,
                "is dropped with the column \(column)",
                "the column, which is not the model's, has a value in these",
                in: table,
                condition,
                count,
                isLoss: true
            )
        }
    }

    private mutating func addOthers(_ table: String, _ text: String, _ reason: String, in rows: String) throws {
        let source = rows.quotedIdentifier
        try addOthers(table, text, reason, in: rows, source, count(source), isLoss: false)
    }

    /// - Parameters:
    ///   - rows: the table with the rows that stand against it.
    ///   - source: these rows, as a FROM clause.
    private mutating func addOthers(
        _ table: String,
        _ text: String,
        _ reason: String,
        in rows: String,
        _ source: String,
        _ count: Int64,
        isLoss: Bool
    ) throws {
        let isJoin = old.tables.contains { $0.isJoin && $0.name.hasSameBytes(as: rows) }
        let first =
            try isJoin ? [] : Int64.fetchAll(database, sql: "SELECT rowid FROM \(source) ORDER BY rowid LIMIT 3")
        let obstacle = ModelMigration.Obstacle(
            reason: reason,
            count: count,
            rows: first.map { ModelMigration.Row(rowID: $0, identifier: []) },
            isLoss: isLoss
        )
        add(.othersInTheWay, table, nil, text, obstacle)
    }

    /// What changing the schema would end with.
    mutating func addComplaint(_ complaint: String) {
        let obstacle = ModelMigration.Obstacle(reason: complaint, count: 1)
        add(.othersInTheWay, "schema", nil, "cannot be changed like this", obstacle)
    }

    /// True if nothing of an old table is in a new one.
    private func isGone(_ table: String) -> Bool {
        let name = ExistingEntity.folded(table)
        let isRead = map.targets.flatMap(\.sources).contains {
            ExistingEntity.folded(old.table(of: $0.home)) == name
        }
        let isLinked = new.relationships.indices.contains { index in
            guard let links = map.match.links(of: index), old.relationships[links.owner].shape == .join else {
                return false
            }
            return ExistingEntity.folded(old.join(of: links.owner).table) == name
        }
        return !isRead && !isLinked
    }

    /// What a table has that would be lost; nil for nothing.
    private func obstacleToMaking(_ table: String, _ rebuild: TableRebuildPlan) throws -> String? {
        let foreign: UnmodeledColumns
        do {
            foreign = try UnmodeledColumns(of: table, map.names, old, database)
        } catch let error as ImportError where error.reason == .migrationRefused {
            return error.message
        }
        let isFollowed = rebuild.rebuilt.contains { rebuilt in
            rebuilt.target != nil && rebuilt.former.map { ExistingEntity.folded($0) } == ExistingEntity.folded(table)
        }
        guard !isFollowed, let column = foreign.columns.first else { return nil }
        return "the table \(table) has the column \(column.name), which is not the model's and would be lost"
    }

    /// Foreign keys of others that lead to a table that goes, and has no successor.
    private mutating func addReferences(to table: String, _ rebuild: TableRebuildPlan) throws {
        let name = ExistingEntity.folded(table)
        let hasFollower = rebuild.rebuilt.contains { $0.former.map { ExistingEntity.folded($0) } == name }
        guard !hasFollower, !new.tables.contains(where: { ExistingEntity.folded($0.name) == name }) else { return }
        for other in try ForeignKeyCheck.tablesOfOthers(old.tables.map(\.name), database) {
            let keys = "SELECT 1 FROM pragma_foreign_key_list(?) WHERE \"table\" = ? COLLATE NOCASE"
            guard try database.exists(keys, [other, table]) else { continue }
            try addOthers(table, "is dropped", "another program's table \(other) has a foreign key to it", in: other)
        }
    }
}
