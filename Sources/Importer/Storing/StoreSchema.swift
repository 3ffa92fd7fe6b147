import Foundation
import GRDB
import ImportModel

/// The store's tables: those of the entities, and in `StoreSchema+Bookkeeping.swift` the importer's own.
enum StoreSchema {
    /// Makes the tables of `model`'s entities, or adds the columns that they lack.
    ///
    /// - Returns: the tables that were not there before.
    /// - Throws: `ImportError` when a table that is there does not agree.
    static func prepareTables(
        _ model: ModelDescription,
        _ database: Database,
        store: String
    ) throws -> [String] {
        var made: [String] = []
        for entity in model.entities {
            try checkNames(entity, store: store)
            if try database.tableExists(entity.table) {
                try extend(entity, database, store: store)
            } else {
                try database.execute(sql: creation(of: entity))
                made.append(entity.table)
            }
        }
        return made
    }

    /// Makes sure that no two rows of the entity's table have the same identifier, and that one is found quickly.
    ///
    /// - Throws: `ImportError` when rows have the same identifier already.
    static func prepareIdentifier(of entity: EntityDescription, _ database: Database, store: String) throws {
        let columns = identifierColumns(of: entity)
        guard !columns.isEmpty, try !hasKey(columns, entity.table, database) else { return }
        var name = "\(entity.table)_identifier"
        var number = 2
        while try isTaken(name, database) {
            name = "\(entity.table)_identifier_\(number)"
            number += 1
        }
        do {
            try database.execute(
                sql: "CREATE UNIQUE INDEX \(name.quotedIdentifier) ON \(entity.table.quotedIdentifier) "
                    + "(\(columns.map(\.quotedIdentifier).joined(separator: ", ")))"
            )
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CONSTRAINT {
            throw ImportError(
                .badInput,
                "\(store): rows of \(entity.table) already have the same \(columns.joined(separator: ", "))",
                advice: "Give another identifier, or import into another store. Nothing was written."
            )
        }
    }

    /// Whether something has this name, or is to have it again.
    static func isTaken(_ name: String, _ database: Database) throws -> Bool {
        let isThere = try Bool.fetchOne(
            database,
            sql: "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE)",
            arguments: [name]
        )
        return try isThere ?? false || DroppedIndexes.holds(name, database)
    }

    /// Whether the table's primary key, or a unique index over all rows, is on just these columns.
    private static func hasKey(_ columns: [String], _ table: String, _ database: Database) throws -> Bool {
        let wanted = Set(columns.map(\.asciiLowercased))
        let primaryKey = try String.fetchAll(
            database,
            sql: "SELECT name FROM pragma_table_info(?) WHERE pk > 0",
            arguments: [table]
        )
        if Set(primaryKey.map(\.asciiLowercased)) == wanted { return true }
        let indexes = try String.fetchAll(
            database,
            sql: "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND NOT partial",
            arguments: [table]
        )
        return try indexes.contains { try Set(keys(of: $0, database).map(\.column)) == wanted }
    }

    /// What an index is on, in lower case, and how it compares texts.
    private static func keys(of index: String, _ database: Database) throws -> [(column: String?, collation: String?)] {
        try Row.fetchAll(
            database,
            sql: "SELECT name, coll FROM pragma_index_xinfo(?) WHERE key",
            arguments: [index]
        ).map { (($0["name"] as String?)?.asciiLowercased, $0["coll"]) }
    }

    /// Whether an index is on just these columns, in any order, and compares texts by their bytes.
    ///
    /// - Parameter columns: their names, in lower case.
    static func isIndex(_ name: String, onJust columns: Set<String>, _ database: Database) throws -> Bool {
        let keys = try keys(of: name, database)
        // The name is NULL where the index is on an expression.
        return keys.count == columns.count && Set(keys.map { $0.column ?? "" }) == columns
            && keys.allSatisfy { $0.collation == "BINARY" }
    }

    private static func checkNames(_ entity: EntityDescription, store: String) throws {
        for name in [entity.table] + entity.attributes.map(\.column) where name.utf8.contains(0) {
            throw ImportError(
                .badInput,
                "\(entity.name): a name has a NUL character",
                advice: "Rename it in the model."
            )
        }
        try checkNames(ofTables: [entity.table])
        for column in entity.attributes.map(\.column) where ["rowid", "oid", "_rowid_"].contains(column.lowercased()) {
            throw ImportError(
                .badInput,
                "\(entity.name).\(column): SQLite has its own meaning for this column name",
                advice: "Give the attribute another column name."
            )
        }
    }

    /// - Throws: `ImportError` when a table would have a name that SQLite or the bookkeeping keeps for itself.
    static func checkNames(ofTables tables: [String]) throws {
        for table in tables
        where table.asciiLowercased.hasPrefix("_import_") || table.asciiLowercased.hasPrefix("sqlite_") {
            throw ImportError(
                .usage,
                "the table name \(table) is reserved",
                advice: "Give the entity another name with --entity, or another table in the model."
            )
        }
    }

    /// - Throws: `ImportError` when something that is no table has the name of one that is needed.
    static func checkThatTables(_ tables: [String], areFreeIn database: Database, store: String) throws {
        for table in tables {
            let type = try String.fetchOne(
                database,
                sql: "SELECT type FROM sqlite_master WHERE type <> 'table' AND name = ? COLLATE NOCASE",
                arguments: [table]
            )
            guard let type else { continue }
            throw ImportError(
                .usage,
                "\(store): has \(type == "index" ? "an" : "a") \(type) named \(table) already",
                advice: "Give the entity another name with --entity, or another table in the model."
            )
        }
    }

    /// The attribute that is the table's `INTEGER PRIMARY KEY`, if the identifier is a single integer.
    static func rowIDAttribute(of entity: EntityDescription) -> Int? {
        guard entity.identifier.count == 1 else { return nil }
        return entity.attributes.firstIndex {
            $0.name == entity.identifier[0] && [.integer16, .integer32, .integer64].contains($0.type)
        }
    }

    /// The columns of the entity's identifier, in its order.
    static func identifierColumns(of entity: EntityDescription) -> [String] {
        entity.identifier.compactMap { name in entity.attributes.first { $0.name == name }?.column }
    }

    private static func creation(of entity: EntityDescription) -> String {
        let rowID = rowIDAttribute(of: entity)
        let columns = entity.attributes.enumerated().map { index, attribute in
            "\(attribute.column.quotedIdentifier) \(attribute.declaredType)"
                + (index == rowID ? " PRIMARY KEY" : "")
        }
        return "CREATE TABLE \(entity.table.quotedIdentifier) (\(columns.joined(separator: ", ")))"
    }

    private static func extend(_ entity: EntityDescription, _ database: Database, store: String) throws {
        let present = try Row.fetchAll(
            database,
            sql: "SELECT name, type, hidden FROM pragma_table_xinfo(?)",
            arguments: [entity.table]
        )
        var types: [String: String] = [:]
        var computed: Set<String> = []
        for row in present {
            let name = (row["name"] as String).asciiLowercased
            types[name] = (row["type"] as String).uppercased()
            if row["hidden"] as Int != 0 { computed.insert(name) }
        }
        try checkRowIDs(of: entity.table, isHidden: types["rowid"] != nil, database, store: store)
        let known = try knownTypes(of: entity.table, database)
        for attribute in entity.attributes {
            let column = attribute.column.asciiLowercased
            guard let type = types[column] else {
                try database.execute(
                    sql: "ALTER TABLE \(entity.table.quotedIdentifier) ADD COLUMN "
                        + "\(attribute.column.quotedIdentifier) \(attribute.declaredType)"
                )
                continue
            }
            if computed.contains(column) { throw disagreement(entity, attribute, store, "is computed in the store") }
            guard type == attribute.declaredType, known[column] ?? attribute.storedForm == attribute.storedForm else {
                throw disagreement(
                    entity,
                    attribute,
                    store,
                    "is \(attribute.storedForm) now and \(known[column] ?? type) in the store"
                )
            }
        }
    }

    /// Rows are told apart, and undone, by their row ids.
    private static func checkRowIDs(
        of table: String,
        isHidden: Bool,
        _ database: Database,
        store: String
    ) throws {
        let hasNone = try Bool.fetchOne(
            database,
            sql: "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
            arguments: [table]
        )
        guard hasNone ?? false || isHidden else { return }
        throw ImportError(
            .badInput,
            "\(store): the table \(table) " + (isHidden ? "has a column named rowid" : "is WITHOUT ROWID")
                + ", so its rows have no row ids to be told apart by",
            advice: "Import into another table or another store. Nothing was written."
        )
    }

    private static func disagreement(
        _ entity: EntityDescription,
        _ attribute: AttributeDescription,
        _ store: String,
        _ text: String
    ) -> ImportError {
        ImportError(
            .badInput,
            "\(store): \(entity.name).\(attribute.name) \(text)",
            advice: "Give a model (--model) whose types agree, or import into another store. Nothing was written."
        )
    }

    /// The types that earlier models gave the columns of a table, the latest first to count.
    private static func knownTypes(of table: String, _ database: Database) throws -> [String: String] {
        var types: [String: String] = [:]
        for text in try String.fetchAll(database, sql: "SELECT model FROM _import_model ORDER BY id") {
            guard let model = try? ModelDescription(stored: Array(text.utf8)) else { continue }
            for entity in model.entities where entity.table.asciiLowercased == table.asciiLowercased {
                for attribute in entity.attributes { types[attribute.column.asciiLowercased] = attribute.storedForm }
            }
        }
        return types
    }
}

extension AttributeDescription {
    /// The column's declared type, whose affinity leaves the stored values as they are
    /// (<https://www.sqlite.org/datatype3.html>).
    var declaredType: String {
        switch type {
        case .integer16, .integer32, .integer64, .boolean, .bitfield: "INTEGER"
        case .float, .double: "REAL"
        case .date: storage == .iso8601 ? "TEXT" : "INTEGER"
        case .string, .decimal, .uuid, .uri, .json: "TEXT"
        case .binary: "BLOB"
        }
    }

    /// What the values in the column are, for a person: two forms do not mix in one, integers of any width do.
    fileprivate var storedForm: String {
        if [.integer16, .integer32, .integer64].contains(type) { return "integer" }
        return storage == .iso8601 ? type.rawValue : "\(type.rawValue) as \(storage.rawValue)"
    }
}

extension String {
    /// As SQLite compares names: ASCII letters without case, all else as it is.
    package var asciiLowercased: String {
        String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
