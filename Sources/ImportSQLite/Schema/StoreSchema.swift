import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The store's tables: those of the entities, and in `StoreSchema+Bookkeeping.swift` the importer's own.
package enum StoreSchema {
    /// What preparing a model's tables came to.
    package struct Preparation {
        /// The tables that were not there before, or were made again.
        package var made: [String] = []
        /// Per table the attributes that it got a column for.
        package var added: [(table: String, attributes: [AttributeDescription])] = []

        /// A line per table that got columns.
        package var messages: [MessageText] {
            added.map { table, attributes in
                let names = attributes.prefix(20).map { "\($0.name) (\($0.type.rawValue))" }
                let rest =
                    attributes.count > names.count ? ", … and \((attributes.count - names.count).grouped) more" : ""
                return "new columns in \(table): \(names.joined(separator: ", "))\(rest)"
            }
        }
    }

    /// Makes the tables of `model`'s entities, or adds the columns that they lack.
    ///
    /// A table that an import has made and that never had a row is made again, as the model says.
    ///
    /// - Parameters:
    ///   - job: which job they are for; what it adds to tables that are there is noted.
    ///   - isAppending: whether the indexes of entities that relate to one another wait.
    /// - Throws: `ImportError` when a table that is there does not agree.
    static func prepareTables(
        _ model: ModelDescription,
        job: Int64,
        isAppending: Bool = false,
        _ database: Database,
        store: String
    ) throws -> Preparation {
        guard model.isFlat else {
            let layout = try ModelLayout(importing: model)
            return try prepareTables(layout, job: job, isAppending: isAppending, database, store: store)
        }
        var preparation = Preparation()
        let known = try StoredForms(database)
        for entity in model.entities {
            try checkNames(entity, store: store)
            if try database.hasTable(entity.table) {
                guard try isStillEmpty(entity.table, database) else {
                    let added = try extend(entity, known: known, job: job, database, store: store)
                    if !added.isEmpty { preparation.added.append((entity.table, added)) }
                    continue
                }
                try SchemaAdditions.forget(table: entity.table, database)
                try database.execute(sql: "DROP TABLE \(entity.table.quotedIdentifier)")
            }
            try database.execute(sql: creation(of: entity))
            preparation.made.append(entity.table)
        }
        return preparation
    }

    /// Makes sure that no two rows of the entity's table have the same identifier, and that one is found quickly.
    ///
    /// - Parameter job: which job it is for.
    /// - Throws: `ImportError` when rows have the same identifier already.
    package static func prepareIdentifier(
        of entity: EntityDescription,
        job: Int64,
        _ database: Database,
        store: String
    ) throws {
        let columns = entity.identifierColumns
        guard !columns.isEmpty, try !StoredTable(entity.table, database).hasKey(columns) else { return }
        let name = try freeName("\(entity.table)_identifier", database)
        do {
            try database.execute(sql: index(name, columns, entity.table, isUnique: true))
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CONSTRAINT {
            throw ImportError(
                .identifierNotUnique,
                at: store,
                "rows of \(entity.table) already have the same \(columns.joined(separator: ", "))",
                advice: "Give another identifier, or import into another store. Nothing was written."
            )
        }
        try SchemaAdditions.note(.index, name, of: entity.table, job: job, database)
    }

    /// The statement that makes an index.
    package static func index(_ name: String, _ columns: [String], _ table: String, isUnique: Bool) -> String {
        let columns = columns.map(\.quotedIdentifier).joined(separator: ", ")
        return
            "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name.quotedIdentifier) ON \(table.quotedIdentifier) (\(columns))"
    }

    /// A name, with a number where it is taken.
    package static func freeName(_ name: String, _ database: Database) throws -> String {
        var (free, number) = (name, 2)
        while try isTaken(free, database) { (free, number) = ("\(name)_\(number)", number + 1) }
        return free
    }

    /// True if an import has made a table and it never had a row, nor got an index or a trigger from anybody else.
    package static func isStillEmpty(_ table: String, _ database: Database) throws -> Bool {
        guard try hasMade(table, database), try !BookkeepingSchema.hasRows(table, database) else {
            return false
        }
        return try Bool.fetchOne(
            database,
            sql: """
                SELECT NOT EXISTS (SELECT 1 FROM _import_entity WHERE table_name = :table COLLATE NOCASE AND inserted > 0)
                    AND NOT EXISTS (
                    SELECT 1 FROM sqlite_master AS other
                    WHERE other.tbl_name = :table COLLATE NOCASE AND other.type IN ('index', 'trigger')
                        AND other.sql IS NOT NULL AND NOT \(SchemaAdditions.isNoted("other.name", database))
                )
                """,
            arguments: ["table": table]
        ) ?? false
    }

    /// True if an import has made a table, so that it is not a person's own.
    static func hasMade(_ table: String, _ database: Database) throws -> Bool {
        let made = "SELECT 1 FROM _import_entity WHERE table_name = ? COLLATE NOCASE AND made_table"
        return try database.hasTable("_import_entity") && database.exists(made, [table])
    }

    /// The tables that no import has made.
    package static func theirTables(_ database: Database) throws -> [String] {
        try String.fetchAll(database, sql: "SELECT name FROM sqlite_master WHERE type = 'table'")
            .filter { try !hasMade($0, database) }
    }

    /// True if something has this name, or is to have it again.
    package static func isTaken(_ name: String, _ database: Database) throws -> Bool {
        try database.exists("SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE", [name])
            || DeferredIndexes.holds(name, database)
    }

    package static func checkNames(_ entity: EntityDescription, store: String) throws {
        for name in [entity.table] + entity.attributes.map(\.column) where name.utf8.contains(0) {
            throw ImportError(
                .nameInvalid,
                "\(entity.name): a name has a NUL character",
                advice: "Rename it in the model."
            )
        }
        try checkNames(ofTables: [entity.table])
        for column in entity.attributes.map(\.column) where ["rowid", "oid", "_rowid_"].contains(column.lowercased()) {
            throw ImportError(
                .nameInvalid,
                "\(entity.name).\(column): SQLite has its own meaning for this column name",
                advice: "Give the attribute another column name."
            )
        }
    }

    /// - Throws: `ImportError` when a table would have a name that SQLite or the bookkeeping keeps for itself.
    package static func checkNames(ofTables tables: [String]) throws {
        for table in tables
        where table.asciiLowercased.hasPrefix("_import_") || table.asciiLowercased.hasPrefix("sqlite_") {
            throw ImportError(
                .nameTaken,
                "the table name \(table) is reserved",
                advice: "Give the entity another name with \(.entity), or another table in the model."
            )
        }
    }

    /// - Throws: `ImportError` when something that is no table has the name of one that is needed.
    package static func checkThatTables(
        _ tables: [String],
        areFreeIn database: Database,
        store: String,
        advice: MessageText = "Give the entity another name with \(.entity), or another table in the model."
    ) throws {
        for table in tables {
            let type = try String.fetchOne(
                database,
                sql: "SELECT type FROM sqlite_master WHERE type <> 'table' AND name = ? COLLATE NOCASE",
                arguments: [table]
            )
            guard let type else { continue }
            throw ImportError(
                .nameTaken,
                at: store,
                "has \(type == "index" ? "an" : "a") \(type) named \(table) already",
                advice: advice
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

    private static func creation(of entity: EntityDescription) -> String {
        let rowID = rowIDAttribute(of: entity)
        let columns = entity.attributes.enumerated().map { index, attribute in
            "\(attribute.column.quotedIdentifier) \(attribute.declaredType)"
                + (index == rowID ? " PRIMARY KEY" : "")
        }
        return "CREATE TABLE \(entity.table.quotedIdentifier) (\(columns.joined(separator: ", ")))"
    }

    /// Adds the columns that an entity's table lacks.
    ///
    /// - Returns: the attributes that the table got a column for.
    /// - Throws: `ImportError` when the others do not agree.
    @discardableResult
    package static func extend(
        _ entity: EntityDescription,
        references: [String: String] = [:],
        needsRowIDs: Bool = false,
        known: StoredForms,
        job: Int64,
        _ database: Database,
        store: String
    ) throws -> [AttributeDescription] {
        let table = try StoredTable(entity.table, database)
        try checkRowIDs(of: table, areNeeded: needsRowIDs, store: store)
        let known = known.columns[ExistingEntity.folded(entity.table)] ?? [:]
        var added: [AttributeDescription] = []
        for attribute in entity.attributes {
            guard let column = table.column(attribute.column) else {
                added.append(attribute)
                continue
            }
            if column.isComputed { throw disagreement(entity, attribute, store, "is computed in the store") }
            let known = known[ExistingEntity.folded(attribute.column)]
            guard column.holds(attribute), known ?? attribute.storedForm == attribute.storedForm else {
                let stored = known ?? (column.declared.isEmpty ? "without a type" : column.declared)
                let text = "is \(attribute.storedForm) now and \(stored) in the store"
                throw disagreement(entity, attribute, store, text)
            }
        }
        for attribute in added {
            try database.execute(
                sql: "ALTER TABLE \(entity.table.quotedIdentifier) ADD COLUMN "
                    + "\(attribute.column.quotedIdentifier) \(attribute.declaredType)"
                    + (references[attribute.column] ?? "")
            )
            try SchemaAdditions.note(.column, attribute.column, of: entity.table, job: job, database)
        }
        return added
    }

    /// Rows are distinguished, and undone, by their row ids.
    ///
    /// - Parameter areNeeded: whether there must be some: rows without are known by their primary key alone.
    package static func checkRowIDs(of table: StoredTable, areNeeded: Bool, store: String) throws {
        let isHidden = table.column("rowid") != nil
        guard isHidden || areNeeded && !table.hasRowID else { return }
        throw ImportError(
            .tableUnsuitable,
            at: store,
            "the table \(table.name) " + (isHidden ? "has a column named rowid" : "is WITHOUT ROWID")
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
            .tableUnsuitable,
            at: store,
            "\(entity.name).\(attribute.name) \(text)",
            advice: "Give a model (\(.model)) whose types agree, or import into another store. Nothing was written."
        )
    }
}

/// What the models of a store's jobs say of the forms of its columns, the latest to count.
package struct StoredForms {
    /// By table and column, in lower case.
    fileprivate var columns: [BytewiseString: [BytewiseString: String]] = [:]

    package init(_ database: Database) throws {
        for described in try StoredEntities.described(database) {
            let attributes = described.entity.attributes.map { (ExistingEntity.folded($0.column), $0.storedForm) }
            columns[ExistingEntity.folded(described.entity.table)] = Dictionary(attributes) { $1 }
        }
    }
}

extension AttributeDescription {
    /// What the values in the column are, for a person: two forms do not mix in one, integers of any width do.
    fileprivate var storedForm: String {
        if [.integer16, .integer32, .integer64].contains(type) { return "integer" }
        return type.rawValue + (ownForm.map { " as \($0.rawValue)" } ?? "")
    }
}
