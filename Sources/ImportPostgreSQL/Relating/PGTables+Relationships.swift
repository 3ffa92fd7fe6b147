import ImportModel
import Importer

/// Join tables, foreign keys, and what else the tables of related entities have.
extension PGTables {
    /// Makes a join table, or makes sure that the one that is there fits.
    ///
    /// Called within a transaction.
    ///
    /// - Returns: whether it was made.
    static func prepare(_ join: RelationshipTables.Join, _ name: String, _ connection: PGConnection, label: String)
        throws
        -> Bool
    {
        try check([name], connection, label: label)
        if try kind(of: name, connection) == .table {
            let stored = try columns(of: name, connection).columns
            let wanted = join.sourceColumns + join.destinationColumns
            for column in wanted {
                let found = stored.first { BytewiseString($0.name) == BytewiseString(column.name) }
                guard found?.takes(column.type) == true else {
                    throw ImportError(
                        .tableUnsuitable,
                        at: label,
                        "the table \(name) has no column \(column.name) of the type \(column.type.declaration)",
                        advice: "Give the relationship another \"table\" in the model. Nothing was written."
                    )
                }
            }
            return false
        }
        let keys = (join.sourceColumns + join.destinationColumns)
        let positions = [join.position, join.inversePosition].compactMap(\.self).map { "\($0) bigint" }
        _ = try connection.execute(
            "CREATE TABLE \(join.table) (\((keys.map(\.definition) + positions).joined(separator: ", ")))"
        )
        return true
    }

    // MARK: Indexes

    /// Makes the index on columns of a table that a relationship needs, where none of the kind is there.
    ///
    /// - Parameters:
    ///   - columns: their names, not quoted.
    ///   - wanted: its name, if that is free.
    static func prepareIndex(
        on columns: [String],
        of table: String,
        isUnique: Bool,
        named wanted: String,
        _ connection: PGConnection
    ) throws {
        let keys = columns.map { BytewiseString($0) }
        let isThere = try indexes(of: table, connection).contains { index in
            (index.isUnique || !isUnique) && index.columns.map { BytewiseString($0) } == keys
        }
        if isThere { return }
        let name = try freeName(wanted, connection)
        let list = columns.map(PGNames.quoted).joined(separator: ", ")
        let kind = isUnique ? "UNIQUE INDEX" : "INDEX"
        _ = try connection.execute("CREATE \(kind) \(PGNames.quoted(name)) ON \(quoted(table)) (\(list))")
    }

    /// Makes the primary key of a join table, where it has no such index.
    static func preparePrimaryKey(of table: String, _ columns: [String], _ connection: PGConnection) throws {
        let keys = columns.map { BytewiseString($0) }
        let isThere = try indexes(of: table, connection).contains { index in
            index.isUnique && index.columns.map { BytewiseString($0) } == keys
        }
        if isThere { return }
        let name = PGNames.quoted(try freeName("\(table)_pkey", connection))
        let list = columns.map(PGNames.quoted).joined(separator: ", ")
        _ = try connection.execute("ALTER TABLE \(quoted(table)) ADD CONSTRAINT \(name) PRIMARY KEY (\(list))")
    }

    /// True if an import calls an index so that is to have the name `wanted`.
    static func isMade(_ name: String, as wanted: String) -> Bool {
        BytewiseString(name) == BytewiseString(PGNames.fitting(wanted))
            || (2...99).contains { BytewiseString(name) == BytewiseString(PGNames.fitting("\(wanted)_\($0)")) }
    }

    private static func freeName(_ wanted: String, _ connection: PGConnection) throws -> String {
        var (name, number) = (PGNames.fitting(wanted), 2)
        while try kind(of: name, connection) != nil {
            name = PGNames.fitting("\(wanted)_\(number)")
            number += 1
        }
        return name
    }

    // MARK: Foreign keys

    /// A foreign key of a relationship.
    struct ForeignKey {
        /// Not quoted, as are the columns.
        let table: String
        let columns: [String]
        let target: String
        let targetColumns: [String]
        let action: TableDescription.DeleteAction

        /// As the server would call it.
        var name: String { PGNames.fitting("\(table)_\(columns.joined(separator: "_"))_fkey") }

        var clause: String {
            func list(_ names: [String]) -> String { names.map(PGNames.quoted).joined(separator: ", ") }
            let action =
                switch action {
                case .setNull: "ON DELETE SET NULL"
                case .cascade: "ON DELETE CASCADE"
                case .restrict: "ON DELETE RESTRICT"
                case .noActionDeferred: "ON DELETE NO ACTION DEFERRABLE INITIALLY DEFERRED"
                }
            return "FOREIGN KEY (\(list(columns))) REFERENCES \(quoted(target)) (\(list(targetColumns))) \(action)"
        }
    }

    /// True if an import has made a foreign key, maybe with another delete rule than now.
    ///
    /// One of others may have its name. It does nothing at a delete, if nobody has said otherwise.
    static func isOurs(_ key: ForeignKey, _ connection: PGConnection) throws -> Bool {
        try !connection.execute(
            """
            SELECT FROM pg_catalog.pg_constraint WHERE conrelid = to_regclass($1) AND conname = $2
                AND (confdeltype IN ('c', 'n', 'r') OR confdeltype = 'a' AND condeferred AND $3)
            """,
            [.text(quoted(key.table)), .text(key.name), .boolean(key.action == .noActionDeferred)]
        ).isEmpty
    }

    /// Takes away the foreign keys that imports have made, so that rows can come in any order.
    static func drop(_ keys: [ForeignKey], _ connection: PGConnection) throws {
        for key in keys where try isOurs(key, connection) {
            _ = try connection.execute(
                "ALTER TABLE \(quoted(key.table)) DROP CONSTRAINT IF EXISTS \(PGNames.quoted(key.name))"
            )
        }
    }

    /// Makes a foreign key, unless the table has one of its name.
    ///
    /// Where references lead to nothing it holds of rows that come later, and is not valid
    /// (<https://www.postgresql.org/docs/current/sql-altertable.html>). Called within a transaction.
    ///
    /// - Returns: whether all rows keep it.
    static func make(_ key: ForeignKey, _ connection: PGConnection) throws -> Bool {
        let known = try connection.execute(
            "SELECT convalidated FROM pg_catalog.pg_constraint WHERE conrelid = $1::regclass AND conname = $2",
            [.text(quoted(key.table)), .text(key.name)]
        ).first
        if let known { return try known.bool(0) }
        let (table, name) = (quoted(key.table), PGNames.quoted(key.name))
        _ = try connection.execute("ALTER TABLE \(table) ADD CONSTRAINT \(name) \(key.clause) NOT VALID")
        _ = try connection.execute("SAVEPOINT _import_key")
        do {
            _ = try connection.execute("ALTER TABLE \(table) VALIDATE CONSTRAINT \(name)")
        } catch let failure as PGError where failure.sqlState == "23503" {
            _ = try connection.execute("ROLLBACK TO SAVEPOINT _import_key")
            return false
        }
        _ = try connection.execute("RELEASE SAVEPOINT _import_key")
        return true
    }
}

extension RelationshipTables {
    /// The foreign keys of all tables, in the order of the tables and their columns.
    var foreignKeys: [PGTables.ForeignKey] {
        let inColumns = references.map { reference in
            PGTables.ForeignKey(
                table: layout.table(of: reference.holder),
                columns: columns[reference.holder][reference.columns].map(\.name),
                target: layout.table(of: reference.target),
                targetColumns: key(of: reference.target).map(\.name),
                action: action(layout.table(of: reference.holder), layout.references(of: reference.owner))
            )
        }
        let inTables = joins.flatMap { join in
            [(join.sourceColumns, join.source), (join.destinationColumns, join.destination)].map { columns, entity in
                let name = layout.join(of: join.making).table
                let isSource = columns.first?.name == join.sourceColumns.first?.name
                let ends = layout.tables.first { $0.name == name }?.foreignKeys ?? []
                return PGTables.ForeignKey(
                    table: name,
                    columns: columns.map(\.name),
                    target: layout.table(of: entity),
                    targetColumns: key(of: entity).map(\.name),
                    action: (isSource ? ends.first : ends.last)?.action ?? .cascade
                )
            }
        }
        return inColumns + inTables
    }

    private func action(_ table: String, _ columns: [TableDescription.Column]) -> TableDescription.DeleteAction {
        let names = columns.map(\.name)
        return layout.tables.first { $0.name == table }?.foreignKeys.first { $0.columns == names }?.action ?? .setNull
    }

    /// Drops the indexes that keep one-to-ones unique: who has whom is known only when all is settled.
    func dropPartnerIndexes(_ connection: PGConnection) throws {
        for reference in references where reference.isOneToOne {
            let names = columns[reference.holder][reference.columns].map { BytewiseString($0.name) }
            try dropIndexes(of: reference, on: names, connection)
        }
    }

    /// Drops the indexes that keep the places in lists unique: they change one by one.
    func dropListIndexes(_ connection: PGConnection) throws {
        for reference in references where isKeyless(reference.holder) {
            guard let position = reference.position else { continue }
            let all = columns[reference.holder]
            let names = (all[reference.columns] + [all[position]]).map { BytewiseString($0.name) }
            try dropIndexes(of: reference, on: names, connection)
        }
    }

    /// Drops the unique indexes that imports have made on columns of a relationship.
    private func dropIndexes(of reference: Reference, on names: [BytewiseString], _ connection: PGConnection) throws {
        let table = layout.table(of: reference.holder)
        let wanted = indexName(of: reference)
        for index in try PGTables.indexes(of: table, connection)
        where index.isUnique && index.isPlain && PGTables.isMade(index.name, as: wanted)
            && index.columns.map({ BytewiseString($0) }) == names
        {
            _ = try connection.execute("DROP INDEX \(PGNames.quoted(index.name))")
        }
    }

    /// What the index of a relationship is to be called.
    func indexName(of reference: Reference) -> String {
        "\(layout.table(of: reference.holder))_\(layout.relationships[reference.owner].base)"
    }

    /// Makes the indexes of relationships, where they are not there.
    func prepareIndexes(_ connection: PGConnection) throws {
        for reference in references {
            let table = layout.table(of: reference.holder)
            let names = columns[reference.holder][reference.columns].map(\.name)
            let position = isKeyless(reference.holder) ? reference.position : nil
            try PGTables.prepareIndex(
                on: names + [position.map { columns[reference.holder][$0].name }].compactMap(\.self),
                of: table,
                isUnique: position != nil || reference.isOneToOne,
                named: indexName(of: reference),
                connection
            )
        }
        for join in joins {
            let table = layout.join(of: join.making).table
            try PGTables.preparePrimaryKey(
                of: table,
                (join.sourceColumns + join.destinationColumns).map(\.name),
                connection
            )
            try PGTables.prepareIndex(
                on: join.destinationColumns.map(\.name),
                of: table,
                isUnique: false,
                named: "\(table)_inverse",
                connection
            )
        }
    }
}
