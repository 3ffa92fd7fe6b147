import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The tables of models whose entities relate to one another.
extension StoreSchema {
    /// Makes the tables of a model, or adds the columns that they lack, and their indexes.
    ///
    /// - Parameter isAppending: whether the indexes wait.
    /// - Throws: `ImportError` when a table that is there does not agree.
    static func prepareTables(
        _ layout: ModelLayout,
        job: Int64,
        isAppending: Bool = false,
        _ database: Database,
        store: String
    ) throws -> Preparation {
        var preparation = Preparation()
        let known = try StoredForms(database)
        try checkThatTables(
            layout.tables.filter(\.isJoin).map(\.name),
            areFreeIn: database,
            store: store,
            advice: "Give the relationship another table in the model, or import into another store."
        )
        for table in layout.tables {
            let entity = EntityDescription(name: table.name, attributes: table.columns.map(\.attributeOfColumn))
            try checkNames(entity, store: store)
            if try database.hasTable(table.name) {
                // The job that appended to it goes on here.
                if isAppending, try isUnordered(table, database) { continue }
                guard try !table.isJoin && isStillEmpty(table.name, database) else {
                    let added = try extend(table, entity, known, job: job, database, store: store)
                    if !added.isEmpty { preparation.added.append((table.name, added)) }
                    if !isAppending || !table.primaryKey.isEmpty {
                        try prepareIdentifier(of: table, entity, job: job, database, store: store)
                    }
                    if !isAppending { try prepareIndexes(table.indexes, of: table, job: job, database) }
                    continue
                }
                try SchemaAdditions.forget(table: table.name, database)
                try database.execute(sql: "DROP TABLE \(table.name.quotedIdentifier)")
            }
            try database.execute(sql: isAppending ? appendedCreation(of: table, layout) : table.creation)
            if table.isJoin {
                try SchemaAdditions.note(.table, table.name, of: table.name, job: job, database)
            } else {
                preparation.made.append(table.name)
            }
            if !isAppending { try prepareIndexes(table.indexes, of: table, job: job, database) }
        }
        return preparation
    }

    private static func extend(
        _ table: TableDescription,
        _ entity: EntityDescription,
        _ known: StoredForms,
        job: Int64,
        _ database: Database,
        store: String
    ) throws -> [AttributeDescription] {
        if table.isJoin {
            try checkJoin(table, database, store: store)
            return []
        }
        let key = table.columns.first { $0.role == .rowID }
        let lacks = try StoredTable(table.name, database).columns.allSatisfy { column in
            key.map { ExistingEntity.folded($0.name) != ExistingEntity.folded(column.name) } ?? false
        }
        guard key == nil || !lacks else {
            throw ImportError(
                .tableUnsuitable,
                at: store,
                "the table \(table.name) has no column \(key?.name ?? "") by which its rows could be referred to",
                advice: "Give the entity an identifier, or import into another store. Nothing was written."
            )
        }
        var references: [String: String] = [:]
        // A table gets no foreign key later, but with a column.
        for key in table.foreignKeys where key.columns.count == 1 {
            references[key.columns[0]] =
                " REFERENCES \(key.table.quotedIdentifier) (\(key.referenced[0].quotedIdentifier)) \(key.action.sql)"
        }
        return try extend(
            entity,
            references: references,
            needsRowIDs: true,
            known: known,
            job: job,
            database,
            store: store
        )
    }

    /// - Throws: `ImportError` when a table that is there cannot have the links of a many-to-many.
    private static func checkJoin(_ table: TableDescription, _ database: Database, store: String) throws {
        let stored = try StoredTable(table.name, database)
        let lacking = table.columns.first { stored.column($0.name) == nil }?.name
        let isUnique = stored.hasIndex(on: table.primaryKey, isUnique: true)
        guard lacking != nil || !isUnique else { return }
        let columns = table.primaryKey.joined(separator: ", ")
        throw ImportError(
            .tableUnsuitable,
            at: store,
            "the table \(table.name) "
                + (lacking.map { "has no column \($0)" } ?? "may have several rows with the same \(columns)")
                + ", so it cannot have the links of the relationship",
            advice:
                "Give the relationship another table in the model, or import into another store. Nothing was written."
        )
    }

    /// Makes the index of the identifier of a table that others have made, which may not have it as its primary key.
    ///
    /// - Throws: `ImportError` when rows have the same identifier already.
    private static func prepareIdentifier(
        of table: TableDescription,
        _ entity: EntityDescription,
        job: Int64,
        _ database: Database,
        store: String
    ) throws {
        guard !table.isJoin else { return }
        var entity = entity
        let key = table.primaryKey.isEmpty ? table.indexes.first(where: \.isIdentifier)?.columns : table.primaryKey
        entity.identifier = (key ?? []).compactMap { column in
            entity.attributes.first { BytewiseString($0.column) == BytewiseString(column) }?.name
        }
        try prepareIdentifier(of: entity, job: job, database, store: store)
    }

    /// Makes the indexes that the tables of a model lack.
    package static func prepareIndexes(_ layout: ModelLayout, job: Int64, _ database: Database) throws {
        for table in layout.tables {
            try prepareIndexes(table.indexes, of: table, job: job, database)
        }
    }

    /// Makes the index of an entity's identifier, where its table lacks it.
    package static func prepareIdentifier(of entity: Int, _ layout: ModelLayout, job: Int64, _ database: Database)
        throws
    {
        let name = layout.table(of: entity)
        for table in layout.tables where table.name == name {
            try prepareIndexes(table.indexes.filter(\.isIdentifier), of: table, job: job, database)
        }
    }

    /// Makes the indexes that are kept up while records are appended.
    static func prepareListIndexes(_ layout: ModelLayout, job: Int64, _ database: Database) throws {
        for table in layout.tables {
            try prepareIndexes(ListIndexes.all(of: table), of: table, job: job, database)
        }
    }

    /// The name of an index that an import has made on just these columns; nil without one.
    package static func ownIndex(on columns: [String], _ table: String, _ database: Database) throws -> String? {
        try StoredTable(table, database).indexes.first {
            try !$0.isPartial && $0.names == columns.folded && SchemaAdditions.isNoted($0.name, database)
        }?.name
    }

    /// Makes indexes of a table, as far as it lacks them.
    private static func prepareIndexes(
        _ indexes: [TableDescription.Index],
        of table: TableDescription,
        job: Int64,
        _ database: Database
    ) throws {
        for index in indexes
        where try !StoredTable(table.name, database).hasIndex(on: index.columns, isUnique: index.isUnique) {
            let name = try freeName(index.name, database)
            try database.execute(sql: self.index(name, index.columns, table.name, isUnique: index.isUnique))
            try SchemaAdditions.note(.index, name, of: table.name, job: job, database)
        }
    }
}

extension StoredTable {
    /// True if it has an index over all rows on just these columns in this order.
    fileprivate func hasIndex(on columns: [String], isUnique: Bool) -> Bool {
        indexes.contains { !$0.isPartial && $0.names == columns.folded && (!isUnique || $0.isUnique) }
    }
}

extension TableDescription.Column {
    /// The column as an attribute with its name.
    fileprivate var attributeOfColumn: AttributeDescription {
        var attribute = attribute
        if role != .attribute { attribute.name = name }
        attribute.column = name
        return attribute
    }
}

extension TableDescription {
    /// The statement that makes the table (<https://www.sqlite.org/foreignkeys.html>).
    package var creation: String { creation(as: name) }

    /// The same for a table of links that are in no order yet.
    var unorderedCreation: String { creation(as: name, isOrdered: false) }

    /// The same for a table of another name.
    package func creation(as name: String, isOrdered: Bool = true) -> String {
        func list(_ names: [String]) -> String { names.map(\.quotedIdentifier).joined(separator: ", ") }
        let isRowID = primaryKey.count == 1 && !isJoin
        var parts = columns.map { column in
            "\(column.name.quotedIdentifier) \(column.attribute.declaredType)"
                + (isRowID && column.name == primaryKey[0] ? " PRIMARY KEY" : "")
        }
        if isJoin, isOrdered { parts.append("PRIMARY KEY (\(list(primaryKey)))") }
        parts += foreignKeys.map { key in
            "FOREIGN KEY (\(list(key.columns))) REFERENCES \(key.table.quotedIdentifier) (\(list(key.referenced))) "
                + key.action.sql
        }
        return "CREATE TABLE \(name.quotedIdentifier) (\(parts.joined(separator: ", ")))"
            + (isJoin && isOrdered ? " WITHOUT ROWID" : "")
    }
}

extension TableDescription.DeleteAction {
    package var sql: String {
        switch self {
        case .setNull: "ON DELETE SET NULL"
        case .cascade: "ON DELETE CASCADE"
        case .restrict: "ON DELETE RESTRICT"
        case .noActionDeferred: "ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED"
        }
    }
}
