import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Changes the tables of a store, in the transaction that is open, with foreign keys off.
struct MigrationRun {
    /// With the old names.
    var map: MigrationMapping
    let rebuild: TableRebuildPlan
    let model: ModelDescription
    /// How many rows there are, by what they are selected from, as the plan has counted them.
    let counted: [String: Int64]
    /// The last one, to which indexes that are made are noted.
    let job: Int64
    let database: Database
    let store: String
    let say: (MessageText) -> Void

    /// Does it all.
    mutating func run() throws {
        let others = try UserSchemaObjects(database)
        let before = try ForeignKeyCheck(besides: map.old.tables.map(\.name), database)
        try rename()
        map.names = rebuild.names
        for (index, rebuilt) in rebuild.rebuilt.enumerated() { try make(rebuilt, index) }
        let objects = try others.on(
            rebuild.dropped.map { rebuild.names.table($0) },
            of: map.old,
            rebuild.names,
            database
        )
        for name in rebuild.dropped { try execute("DROP TABLE \(rebuild.names.table(name).quotedIdentifier)") }
        try dropIndexes()
        try StoreSchema.checkThatTables(
            rebuild.rebuilt.map(\.table.name),
            areFreeIn: database,
            store: store,
            advice: "Give the entity or relationship another table in the model. Nothing was changed."
        )
        try withLegacyAlter {
            for (index, rebuilt) in rebuild.rebuilt.enumerated() {
                try execute("ALTER TABLE \(Self.temporary(index)) RENAME TO \(rebuilt.table.name.quotedIdentifier)")
            }
        }
        for altered in rebuild.altered { try add(altered) }
        try makeIndexes(objects)
        try StoreSchema.makePrimaryKeys(of: rebuild.rebuilt.map(\.table), database)
        for sql in objects.triggers { try remake(sql) }
        try others.check(database)
        try checkThatNothingRefersToWhatIsGone()
        let after = try ForeignKeyCheck(besides: map.new.tables.map(\.name), database)
        guard after.violations <= before.violations else {
            throw ModelMigration.refusal(
                "\((after.violations - before.violations).grouped) references would lead to missing rows"
            )
        }
        if let table = after.mismatches.subtracting(before.mismatches).min() {
            throw ModelMigration.refusal(
                "the table \(table), which another program has made, has a foreign key to columns that are no longer a key"
            )
        }
    }

    /// Others' tables refer to what made way by the name that it had then.
    private func checkThatNothingRefersToWhatIsGone() throws {
        let name = try String.fetchOne(
            database,
            sql: "SELECT name FROM sqlite_master WHERE sql LIKE '%^_import^_gone^_%' ESCAPE '^' LIMIT 1"
        )
        if let name {
            throw ModelMigration.refusal("\(name), which another program has made, refers to what is dropped")
        }
    }

    private func execute(_ sql: String) throws { try database.execute(sql: sql) }

    /// Makes something of others again, by what the schema says of it: that may be more than one statement where somebody has
    /// written it there by hand, and SQLite itself reads the first one only.
    private func remake(_ sql: String) throws { try database.makeStatement(sql: sql).execute() }

    private static func temporary(_ index: Int) -> String { "_import_migrated_\(index)" }

    // MARK: Renaming

    /// Renames by SQLite's own means, which change what views, triggers and foreign keys say, too.
    private func rename() throws {
        // A name may be another's until that has its new one.
        for (index, table) in rebuild.renamedTables.enumerated() {
            try execute("ALTER TABLE \(table.from.quotedIdentifier) RENAME TO _import_renamed_\(index)")
        }
        for (index, table) in rebuild.renamedTables.enumerated() {
            try execute("ALTER TABLE _import_renamed_\(index) RENAME TO \(table.to.quotedIdentifier)")
        }
        try SchemaAdditions.rename(rebuild.renamedTables, database)
        let tables = Dictionary(grouping: rebuild.renamedColumns) { ExistingEntity.folded($0.table) }
        for columns in tables.values {
            let stored = try StoredTable(rebuild.names.table(columns[0].table), database)
            let table = stored.name.quotedIdentifier
            // Most new names are free, and need no step between.
            let isFree = columns.allSatisfy { stored.column($0.to) == nil }
            if !isFree {
                for (index, column) in columns.enumerated() {
                    try execute(
                        "ALTER TABLE \(table) RENAME COLUMN \(column.from.quotedIdentifier) TO _import_renamed_\(index)"
                    )
                }
            }
            for (index, column) in columns.enumerated() {
                let name = isFree ? column.from.quotedIdentifier : "_import_renamed_\(index)"
                try execute("ALTER TABLE \(table) RENAME COLUMN \(name) TO \(column.to.quotedIdentifier)")
            }
        }
    }

    /// Renaming a table that was just made changes nothing that others say of its name.
    private func withLegacyAlter(_ body: () throws -> Void) throws {
        let isLegacy = try Bool.fetchOne(database, sql: "PRAGMA legacy_alter_table") ?? false
        try execute("PRAGMA legacy_alter_table = ON")
        try body()
        if !isLegacy { try execute("PRAGMA legacy_alter_table = OFF") }
    }

    // MARK: Making

    private func make(_ rebuilt: TableRebuildPlan.RebuiltTable, _ index: Int) throws {
        let name = Self.temporary(index)
        try execute(rebuilt.table.creation(as: name))
        if rebuilt.table.isJoin {
            try SchemaAdditions.note(.table, rebuilt.table.name, of: rebuilt.table.name, job: job, database)
        }
        if let relationship = rebuilt.relationship { return try fillLinks(name, rebuilt.table, relationship) }
        guard let target = rebuilt.target else { return }
        let extras =
            try rebuilt.former.map { try UnmodeledColumns(of: $0, rebuild.names, map.old, database).columns } ?? []
        for extra in extras { try execute("ALTER TABLE \(name) ADD COLUMN \(extra.definition)") }
        for source in target.sources { try fill(name, target, source, extras) }
    }

    private func fill(
        _ name: String,
        _ target: MigrationMapping.Target,
        _ source: MigrationMapping.Source,
        _ extras: [UnmodeledColumns.Column]
    ) throws {
        say("\(target.table.name): writing the rows of \(map.old.table(of: source.home))")
        var columns = target.table.columns.map(\.name.quotedIdentifier)
        var cells = try target.table.columns.map { try map.cell($0, of: target, from: source).sql }
        columns += extras.map(\.name.quotedIdentifier)
        cells += extras.map { "o.\($0.name.quotedIdentifier)" }
        let (from, rowID) = (map.table(ofOld: source.home), "o.rowid" + map.offset(of: source.home, in: target))
        let condition = map.condition(source.pairs.map(\.old), ofOld: source.home, "o").map { " WHERE \($0)" } ?? ""
        let ends = try Row.fetchOne(
            database,
            sql: "SELECT (SELECT min(rowid) FROM \(from)), (SELECT max(rowid) FROM \(from))"
        )
        let (first, last): (Int64?, Int64?) = (ends?[0], ends?[1])
        func write(_ columns: [String], _ cells: [String]) throws {
            try withShares(of: target.table.name, last ?? 0) {
                try execute(
                    "INSERT INTO \(name) (\(columns.joined(separator: ", "))) SELECT \(cells.joined(separator: ", ")) "
                        + "FROM \(from) AS o\(condition) ORDER BY o.rowid"
                )
            }
        }
        guard target.table.primaryKey.isEmpty else { return try write(columns, cells) }
        // Row ids that are those that SQLite gives by itself, one after the other from 1, are not given: then it need not look
        // whether one is there already. As many as were counted, and as many as were written, they have no gaps.
        func count() throws -> Int64? {
            try counted["\(from) AS o"] ?? Int64.fetchOne(database, sql: "SELECT count(*) FROM \(from)")
        }
        if target.sources.count == 1, source.isWhole, first == 1, try count() == last {
            try write(columns, cells)
            if Int64(database.changesCount) == last { return }
            try execute("DELETE FROM \(name)")
        }
        try write(["rowid"] + columns, [rowID] + cells)
    }

    /// Says now and then how much of a table is written, while `body` writes its rows in the order of their row ids.
    ///
    /// - Parameter last: the last row id.
    private func withShares(of table: String, _ last: Int64, _ body: () throws -> Void) throws {
        let clock = ContinuousClock()
        var next = clock.now + Self.quiet
        try database.watchingInserts {
            guard clock.now >= next, last > 0 else { return }
            next = clock.now + Self.quiet
            say("\(table): \(min(99, max(0, Int(Double($0) / Double(last) * 100)))) % of the rows")
        } _: {
            try body()
        }
    }

    /// How long nothing is said of a table that is being written.
    private static let quiet = Duration.seconds(2)

    private func fillLinks(_ name: String, _ table: TableDescription, _ relationship: Int) throws {
        guard let (links, cells) = try map.links(of: relationship), map.isPresent(links) else { return }
        say("\(table.name): writing links")
        let columns = table.columns.map(\.name.quotedIdentifier).joined(separator: ", ")
        let condition = map.isLink(links, "l").map { " WHERE \($0)" } ?? ""
        let keys = cells.prefix(table.primaryKey.count).map(\.sql).joined(separator: ", ")
        try execute(
            "INSERT INTO \(name) (\(columns)) SELECT \(cells.map(\.sql).joined(separator: ", ")) "
                + "FROM \(map.linkTable(links)) AS l\(condition) ORDER BY \(keys)"
        )
    }

    private func add(_ altered: TableRebuildPlan.AlteredTable) throws {
        for column in altered.added {
            let key = altered.table.foreignKeys.first { $0.columns == [column.name] }
            let reference = key.map {
                " REFERENCES \($0.table.quotedIdentifier) (\($0.referenced[0].quotedIdentifier)) \($0.action.sql)"
            }
            try execute(
                "ALTER TABLE \(altered.table.name.quotedIdentifier) ADD COLUMN \(column.name.quotedIdentifier) "
                    + column.attribute.declaredType + (reference ?? "")
            )
        }
    }

    // MARK: Indexes

    private func makeIndexes(_ objects: UserSchemaObjects.Dropped) throws {
        say("building indexes")
        for name in rebuild.dropped { try SchemaAdditions.forget(table: rebuild.names.table(name), database) }
        for index in objects.indexes {
            do {
                try remake(index.sql)
            } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_ERROR {
                throw ModelMigration.refusal("the index \(index.name) cannot be kept: \(error.message ?? "")")
            }
            if index.isNoted { try SchemaAdditions.note(.index, index.name, of: index.table, job: job, database) }
        }
        try StoreSchema.prepareIndexes(map.new, job: job, database)
        try StoreIndexes.build(wantedBy: model, in: Set(map.new.tables.map(\.name)), database)
    }

    /// Drops the indexes of tables that stay, as far as the new model has no use for them.
    private func dropIndexes() throws {
        let old = Dictionary(map.old.tables.map { (ExistingEntity.folded(rebuild.names.table($0.name)), $0) }) {
            one,
            _ in
            one
        }
        for altered in rebuild.altered {
            guard let before = old[ExistingEntity.folded(altered.table.name)] else { continue }
            func key(_ columns: [String], _ isUnique: Bool) -> [BytewiseString] {
                columns.map(ExistingEntity.folded) + [BytewiseString(isUnique ? "unique" : "")]
            }
            // An index that has the name of a table or column before is made again: SQLite cannot rename it.
            let wanted = Set(altered.table.indexes.map { key($0.columns, $0.isUnique) + [BytewiseString($0.name)] })
            for index in before.indexes {
                let columns = index.columns.map { rebuild.names.column($0, of: before.name) }
                guard !wanted.contains(key(columns, index.isUnique) + [BytewiseString(index.name)]),
                    let name = try StoreSchema.ownIndex(on: columns, altered.table.name, database)
                else { continue }
                try execute("DROP INDEX \(name.quotedIdentifier)")
            }
            try dropWanted(before, altered.table)
        }
    }
}

extension MigrationRun {
    /// Drops the indexes that the old model asks for and the new one does not.
    private func dropWanted(_ before: TableDescription, _ after: TableDescription) throws {
        let wanted = Set(
            map.new.wantedIndexes.filter { $0.table == after.name }.map { $0.columns.map(ExistingEntity.folded) }
        )
        for index in map.old.wantedIndexes where index.table == before.name {
            let columns = index.columns.map { rebuild.names.column($0, of: before.name) }
            let name = ([index.table] + index.columns).joined(separator: "_")
            guard !wanted.contains(columns.map(ExistingEntity.folded)),
                let stored = try StoredTable(after.name, database).indexes.first(where: { $0.name == name }),
                stored.names == columns.folded, stored.isWanted
            else { continue }
            try execute("DROP INDEX \(name.quotedIdentifier)")
        }
    }
}

extension MigrationMapping {
    /// True if the store has the table of old links.
    func isPresent(_ links: OldRelationship) -> Bool {
        let placement = old.relationships[links.owner]
        let table = placement.holder.map { old.table(of: $0) } ?? old.join(of: links.owner).table
        return present.contains(ExistingEntity.folded(table))
    }
}
