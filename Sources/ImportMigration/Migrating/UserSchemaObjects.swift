import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Views, triggers and indexes that others have made, which a migration keeps or is refused for.
struct UserSchemaObjects {
    /// What goes with tables that are dropped, and comes back.
    struct Dropped {
        struct Index {
            let name: String
            let table: String
            let sql: String
            /// True if an import has made it.
            let isNoted: Bool
        }

        var indexes: [Index] = []
        var triggers: [String] = []
    }

    /// True if all that the schema has can be understood by SQLite.
    private let isSound: Bool

    init(_ database: Database) throws {
        isSound = try Self.complaint(database) == nil
    }

    /// What is wrong with views and triggers; nil for nothing.
    private static func complaint(_ database: Database) throws -> String? {
        var complaint: String?
        try database.inSavepoint {
            do {
                // Where a table gets a new name, SQLite reads all views and triggers again.
                try database.execute(sql: "CREATE TABLE _import_probe (probe)")
                try database.execute(sql: "ALTER TABLE _import_probe RENAME TO _import_probed")
                try database.execute(sql: "ALTER TABLE _import_probed RENAME COLUMN probe TO probed")
            } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_ERROR {
                complaint = error.message ?? "its schema cannot be read"
            }
            return .rollback
        }
        return complaint
    }

    /// - Throws: `ImportError` where a view or trigger can no longer be used.
    func check(_ database: Database) throws {
        guard isSound, let complaint = try Self.complaint(database) else { return }
        throw ModelMigration.refusal("an object that another program has made could no longer be used: \(complaint)")
    }

    /// What is on tables that are to be dropped, apart from the model's own indexes.
    ///
    /// - Parameter tables: by their present names.
    func on(_ tables: [String], of layout: ModelLayout, _ names: CurrentNames, _ database: Database) throws -> Dropped {
        var own: Set<[BytewiseString]> = []
        for table in layout.tables {
            for index in table.indexes {
                let columns = index.columns.map { ExistingEntity.folded(names.column($0, of: table.name)) }
                own.insert([ExistingEntity.folded(names.table(table.name))] + columns)
            }
        }
        var asked: Set<[BytewiseString]> = []
        for index in layout.wantedIndexes {
            let columns = index.columns.map { ExistingEntity.folded(names.column($0, of: index.table)) }
            asked.insert([ExistingEntity.folded(names.table(index.table))] + columns)
        }
        var dropped = Dropped()
        for table in tables {
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT name, sql FROM sqlite_master
                    WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY rowid
                    """,
                arguments: [table]
            )
            let indexes = try StoredTable(table, database).indexes
            for row in rows {
                guard let index = indexes.first(where: { $0.name == row["name"] }) else {
                    dropped.triggers.append(row["sql"])
                    continue
                }
                let columns = index.names.map { [ExistingEntity.folded(table)] + $0 } ?? []
                let isNoted = try SchemaAdditions.isNoted(index.name, database)
                if isNoted && own.contains(columns) || asked.contains(columns) && index.isWanted { continue }
                dropped.indexes.append(Dropped.Index(name: index.name, table: table, sql: row["sql"], isNoted: isNoted))
            }
        }
        return dropped
    }
}

extension StoredTable.Index {
    /// True if it is one that an import could have been asked for: over all rows, in the usual order of plain values.
    var isWanted: Bool { !isUnique && !isPartial && isPlain }
}

/// Columns of a table that are not the model's, and stay in it when it is made again.
struct UnmodeledColumns {
    struct Column {
        let name: String
        let declared: String

        var definition: String { "\(name.quotedIdentifier) \(declared)" }
    }

    let columns: [Column]

    /// - Parameters:
    ///   - table: by its old name.
    ///   - names: what it and its columns are called at the moment.
    /// - Throws: `ImportError` where the table has what would be lost.
    init(of table: String, _ names: CurrentNames, _ layout: ModelLayout, _ database: Database) throws {
        let present = names.table(table)
        let described = layout.tables.first { ExistingEntity.folded($0.name) == ExistingEntity.folded(table) }
        let own = Set((described?.columns ?? []).map { ExistingEntity.folded(names.column($0.name, of: table)) })
        func refuse(_ what: String) -> ImportError {
            ModelMigration.refusal("the table \(table) would have to be rebuilt, and has \(what)")
        }
        let stored = try StoredTable(present, database)
        var columns: [Column] = []
        for column in stored.columns {
            let name = column.name
            if column.isComputed { throw refuse("the computed column \(name)") }
            // SQLite says so of the key of a table without row ids.
            let isLinkKey = described?.isJoin == true && column.isKey
            if column.isRequired, !isLinkKey { throw refuse("the column \(name), which is NOT NULL") }
            if column.defaultText != nil { throw refuse("a default for the column \(name)") }
            guard !own.contains(ExistingEntity.folded(name)) else { continue }
            if ["rowid", "oid", "_rowid_"].contains(name.asciiLowercased) { throw refuse("a column named \(name)") }
            let declared = column.declaration
            guard declared.utf8.allSatisfy(Self.isPlain) else {
                throw refuse("the column \(name) of the type \(declared)")
            }
            columns.append(Column(name: name, declared: declared))
        }
        let identifier = described?.indexes.first(where: \.isIdentifier)?.columns
        let keys = [described?.primaryKey, identifier].compactMap { columns in
            columns.map { Set($0.map { ExistingEntity.folded(names.column($0, of: table)) }) }
        }
        let key = Set(stored.primaryKey.folded)
        guard keys.contains(key) || key.isEmpty && described == nil else {
            throw refuse("another primary key than the model says")
        }
        let sql = try String.fetchOne(
            database,
            sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
            arguments: [present]
        )
        let words = ["CHECK", "COLLATE", "UNIQUE", "GENERATED", "AUTOINCREMENT", "STRICT", "CONFLICT", "WITHOUT"]
        let used = Set(Self.words(in: sql ?? ""))
        for word in words where used.contains(word) && !(word == "WITHOUT" && described?.isJoin == true) {
            throw refuse("a constraint that the model does not have (\(word))")
        }
        try Self.checkKeys(of: present, described, names, database) { refuse("a foreign key on \($0)") }
        self.columns = columns
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "_"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: ","):
            true
        default: false
        }
    }

    /// The words of a statement that are in no quotes and no comment, in upper case.
    private static func words(in sql: String) -> [String] {
        let quoted = /--[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/|"(?:[^"]|"")*"|'(?:[^']|'')*'|`(?:[^`]|``)*`|\[[^\]]*\]/
        return sql.replacing(quoted, with: " ").split { !$0.isLetter }.map { $0.uppercased() }
    }

    private static func checkKeys(
        of table: String,
        _ described: TableDescription?,
        _ names: CurrentNames,
        _ database: Database,
        _ refuse: (String) -> ImportError
    ) throws {
        var known: Set<BytewiseString> = []
        for key in described?.foreignKeys ?? [] {
            for column in key.columns {
                known.insert(ExistingEntity.folded(names.column(column, of: described?.name ?? "")))
            }
        }
        let sql = "SELECT \"from\" FROM pragma_foreign_key_list(?)"
        let columns = try String.fetchAll(database, sql: sql, arguments: [table])
        if let other = columns.first(where: { !known.contains(ExistingEntity.folded($0)) }) { throw refuse(other) }
    }
}

/// References that lead nowhere, in all tables.
struct ForeignKeyCheck {
    /// How many rows refer to what is not there (`PRAGMA foreign_key_check`).
    private(set) var violations: Int64 = 0
    /// Tables of others with a foreign key that is none to SQLite.
    private(set) var mismatches: Set<String> = []

    /// - Parameter own: the model's tables.
    init(besides own: [String], _ database: Database) throws {
        for (tables, isOwn) in [(own, true), (try Self.tablesOfOthers(own, database), false)] {
            for table in tables where try database.tableExists(table) {
                do {
                    violations +=
                        try Int64.fetchOne(
                            database,
                            sql: "SELECT count(*) FROM pragma_foreign_key_check(?)",
                            arguments: [table]
                        ) ?? 0
                } catch let error as DatabaseError where error.message?.hasPrefix("foreign key mismatch") == true {
                    // Without the index that a key needs, nothing can be said of it.
                    if !isOwn { mismatches.insert(table) }
                }
            }
        }
    }

    /// The tables that are neither the model's nor the importer's.
    static func tablesOfOthers(_ own: [String], _ database: Database) throws -> [String] {
        let own = Set(own.map(ExistingEntity.folded))
        return try String.fetchAll(
            database,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0
                    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE '\\_import\\_%' ESCAPE '\\'
                ORDER BY name
                """
        ).filter { !own.contains(ExistingEntity.folded($0)) }
    }
}
