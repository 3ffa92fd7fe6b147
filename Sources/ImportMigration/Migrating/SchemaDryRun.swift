import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Finds out what a migration's changes of the schema come to, on a copy of it without any row.
struct SchemaDryRun {
    /// With the old names.
    let map: MigrationMapping
    let model: ModelDescription
    let store: String
    /// The store's, which is only read.
    let database: Database

    /// How large the copy may become, in pages: many times what the largest schema takes.
    private static let mostPages = 1 << 15

    /// What stands against the changes; nil for nothing, or where there is no copy to try them on.
    func complaint(_ interruption: Interruption) throws -> String? {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase {
            try UntrustedStoreGuard.apply(to: $0)
            // The schema is whatever another program has written: it makes no rows, and needs little.
            try $0.execute(sql: "PRAGMA max_page_count = \(Self.mostPages)")
        }
        let queue = try DatabaseQueue(configuration: configuration)
        return try queue.interruptible(by: interruption) { try queue.inDatabase(complaint) }
    }

    private func complaint(_ copy: Database) throws -> String? {
        guard try fill(copy) else { return nil }
        try MigrationFunctions.add(map, to: copy)
        do {
            try ModelMigration.checkNewTables(map, copy)
            var complaint: String?
            try copy.inTransaction {
                complaint = try Self.refusal {
                    let rebuild = try TableRebuildPlan(map)
                    var run = MigrationRun(
                        map: map,
                        rebuild: rebuild,
                        model: model,
                        counted: [:],
                        job: 0,
                        database: copy,
                        store: store,
                        say: { _ in }
                    )
                    try run.run()
                }
                return .rollback
            }
            return complaint
        } catch let error as ImportError where error.reason == .migrationRefused {
            return error.message
        }
    }

    private static func refusal(_ body: () throws -> Void) throws -> String? {
        do {
            try body()
            return nil
        } catch let error as ImportError {
            return error.message
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_ERROR {
            return error.message ?? error.description
        }
    }

    /// Makes the schema again.
    ///
    /// - Returns: whether the copy has all tables that the migration is about.
    private func fill(_ copy: Database) throws -> Bool {
        let statements = try String.fetchAll(
            database,
            sql: """
                SELECT sql FROM sqlite_master WHERE sql LIKE 'CREATE %' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                ORDER BY type <> 'table', rowid
                """
        )
        for sql in statements {
            // What cannot be made is a shadow of something else, or of a module or collation that is not there.
            do {
                try copy.makeStatement(sql: sql).execute()
            } catch is DatabaseError {
                continue
            }
        }
        for (table, condition) in [("_import_meta", "1"), ("_import_addition", "name IS NOT NULL")] {
            guard try database.hasTable(table), try copy.hasTable(table) else { return false }
            for row in try Row.fetchAll(database, sql: "SELECT * FROM \(table) WHERE \(condition)") {
                let marks = Array(repeating: "?", count: row.count).joined(separator: ", ")
                try copy.execute(
                    sql: "INSERT INTO \(table) VALUES (\(marks))",
                    arguments: StatementArguments(row.databaseValues)
                )
            }
        }
        return try map.old.tables.allSatisfy {
            try !map.present.contains(ExistingEntity.folded($0.name)) || copy.tableExists($0.name)
        }
    }
}
