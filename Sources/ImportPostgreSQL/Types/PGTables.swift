import ImportModel
import Importer

/// The tables of entities in a server's schema.
enum PGTables {
    /// What has a name.
    enum Kind {
        /// A table, partitioned or not.
        case table
        /// Something else that no table can have the name of: a view, a sequence, an index, a type.
        case other
    }

    /// The most columns of a table (`MaxHeapAttributeNumber`, <https://www.postgresql.org/docs/current/limits.html>).
    static let mostColumns = 1_600

    /// A table's name on the server, in double quotes.
    static func quoted(_ name: String) -> String { PGNames.quoted(PGNames.fitting(name)) }

    // MARK: Names

    /// What has the name in the current schema; nil for nothing.
    ///
    /// - Parameter questions: what is asked with it.
    /// - Throws: `PGError`.
    static func kind(
        of name: String,
        _ connection: PGConnection,
        with questions: [PGStatement] = []
    ) throws -> Kind? {
        guard let words = try words(for: name, connection, with: questions) else { return nil }
        return words == table ? .table : .other
    }

    /// What an import asks of a table before it knows whether it is there.
    static func questions(of name: String) -> [PGStatement] {
        guard !name.isEmpty, !name.utf8.contains(0) else { return [] }
        return [
            kindQuestion(name), columnsQuestion(name), defaultsQuestion(name), indexesQuestion(name),
            rivalsQuestion(name),
        ]
    }

    private static let table = "a table"

    /// What has the name, in words: `a view`; nil for nothing.
    ///
    /// Every table has a type of its name, so a type without a table is in the way, too.
    private static func words(
        for name: String,
        _ connection: PGConnection,
        with questions: [PGStatement] = []
    ) throws -> String? {
        try connection.ask(kindQuestion(name), with: questions).first?.text(0)
    }

    static func kindQuestion(_ name: String) -> PGStatement {
        PGStatement(
            """
            SELECT CASE relkind WHEN 'r' THEN '\(table)' WHEN 'p' THEN '\(table)' WHEN 'v' THEN 'a view'
                WHEN 'm' THEN 'a materialized view' WHEN 'S' THEN 'a sequence' WHEN 'i' THEN 'an index'
                WHEN 'I' THEN 'an index' WHEN 'f' THEN 'a foreign table' ELSE 'a type' END
            FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND c.relname = $1
            UNION ALL
            SELECT 'a type' FROM pg_catalog.pg_type AS t JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace
            WHERE n.nspname = current_schema() AND t.typname = $1 AND t.typrelid = 0 AND t.typelem = 0
            """,
            [.text(PGNames.fitting(name))],
            isAboutTables: true
        )
    }

    /// True if a table has any rows.
    ///
    /// - Parameter questions: what is asked with it.
    /// - Throws: `PGError`.
    static func hasRows(
        _ name: String,
        _ connection: PGConnection,
        with questions: [PGStatement] = []
    ) throws -> Bool {
        try connection.ask(rowsQuestion(name), with: questions).first?.bool(0) ?? false
    }

    static func rowsQuestion(_ name: String) -> PGStatement {
        PGStatement("SELECT EXISTS (SELECT FROM \(quoted(name)))", isAboutTables: true)
    }

    /// Makes sure that tables can have these names, or have them already.
    ///
    /// - Throws: `ImportError` where a name is reserved, something else than a table has it, or two are one on the
    ///   server; `PGError`.
    static func check(_ names: [String], _ connection: PGConnection, label: String) throws {
        var owners: [BytewiseString: String] = [:]
        let questions = names.flatMap(Self.questions)
        for name in names {
            try check(name, of: name)
            guard !name.asciiLowercased.hasPrefix("_import_") else {
                throw ImportError(.nameTaken, "the table name \(name) is reserved", advice: otherName)
            }
            if let other = owners.updateValue(name, forKey: BytewiseString(PGNames.fitting(name))),
                BytewiseString(other) != BytewiseString(name)
            {
                throw ImportError(
                    .nameTaken,
                    at: label,
                    "the tables \(other) and \(name) would have the same name there",
                    advice: otherName
                )
            }
            if let words = try words(for: name, connection, with: questions), words != table {
                throw ImportError(.nameTaken, at: label, "has \(words) named \(name) already", advice: otherName)
            }
        }
    }

    private static var otherName: MessageText {
        "Give the entity another name with \(.entity), or another table in the model."
    }

    /// - Throws: `ImportError` where a server can have no such name.
    private static func check(_ name: String, of owner: String) throws {
        guard name.isEmpty || name.utf8.contains(0) else { return }
        throw ImportError(
            .nameInvalid,
            name.isEmpty ? "\(owner): a name is empty" : "\(owner): a name has a NUL character",
            advice: "Rename it in the model."
        )
    }

    // MARK: Tables

    /// Makes an entity's table, or makes sure that the one that is there fits, and adds the columns that it lacks.
    ///
    /// A table that an import has made and that never had a row is made again, as the model says. Called within a
    /// transaction.
    ///
    /// - Parameters:
    ///   - rowID: the column that numbers its rows; nil for none.
    ///   - noteAdded: told of the attributes that a table got columns for.
    /// - Returns: whether it was made.
    /// - Throws: `ImportError` where the table does not fit; `PGError`.
    static func prepare(
        _ entity: EntityDescription,
        rowID: PGColumn? = nil,
        _ connection: PGConnection,
        label: String,
        noteAdded: ([AttributeDescription]) -> Void = { _ in }
    ) throws -> Bool {
        try check([entity.table], connection, label: label)
        for attribute in entity.attributes { try check(attribute.column, of: "\(entity.name).\(attribute.name)") }
        let columns = PGColumn.all(of: entity)
        try checkCount(columns.count, entity, label: label)
        if try kind(of: entity.table, connection) == .table {
            guard try dropIfStillEmpty(entity.table, connection) else {
                if let rowID { try checkRowID(rowID, of: entity, connection, label: label) }
                let added = try extend(entity, columns, connection, label: label)
                if !added.isEmpty { noteAdded(added) }
                return false
            }
        }
        let key = rowID.map { "\($0.definition) GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY" }
        let definitions = ([key].compactMap(\.self) + columns.map(\.definition)).joined(separator: ", ")
        connection.post("CREATE TABLE \(quoted(entity.table)) (\(definitions))")
        connection.forget(questions(of: entity.table) + [rowsQuestion(entity.table)])
        return true
    }

    /// Of an entity with an identifier the rows are staged with columns of their own:
    /// `ChunkRows.init(staging:table:_:)`.
    private static func checkCount(_ count: Int, _ entity: EntityDescription, label: String) throws {
        let own = entity.identifier.isEmpty ? 0 : 3 + (count + 62) / 63
        guard count + own > mostColumns else { return }
        throw ImportError(
            .tableUnsuitable,
            at: label,
            "\(entity.name) has \(count.grouped) attributes, and a table there has columns for \((mostColumns - own).grouped) at most",
            advice: "Keep what is used least in one attribute of type json."
        )
    }

    /// Drops a table that an import has made and that never had a row, nor got anything from anybody else.
    ///
    /// - Returns: whether it did.
    private static func dropIfStillEmpty(_ table: String, _ connection: PGConnection) throws -> Bool {
        guard try !hasRows(table, connection),
            try connection.ask("SELECT to_regclass('_import_count') IS NOT NULL").first?.bool(0) == true
        else { return false }
        let isOurs =
            try connection.note(
                """
                SELECT NOT EXISTS (SELECT FROM \(quoted(table))) AND coalesce(bool_or(made_table), false)
                    AND coalesce(sum(inserted), 0) = 0 AND EXISTS (
                    SELECT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                    WHERE n.nspname = current_schema() AND c.relname = $2 AND c.relkind = 'r' AND c.relacl IS NULL
                        AND NOT c.relhastriggers AND NOT c.relhasrules AND NOT c.relhassubclass AND NOT c.relispartition
                        AND NOT c.relrowsecurity AND pg_catalog.pg_get_userbyid(c.relowner) = current_user
                        AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS k WHERE k.conrelid = c.oid)
                        AND NOT EXISTS (
                            SELECT FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
                            WHERE i.indrelid = c.oid AND x.relname <> $3
                        )
                )
                FROM _import_entity LEFT JOIN _import_count USING (job, position) WHERE table_name = $1
                """,
                [.text(table), .text(PGNames.fitting(table)), .text(identifierName(of: table))]
            ).first?.bool(0) ?? false
        guard isOurs else { return false }
        connection.post("SAVEPOINT _import_drop")
        do {
            _ = try connection.note("DROP TABLE \(quoted(table))")
        } catch let failure as PGError where failure.sqlState == "2BP01" {
            // Something depends on it: a view, or a function.
            _ = try connection.execute("ROLLBACK TO SAVEPOINT _import_drop")
            return false
        }
        connection.post("RELEASE SAVEPOINT _import_drop")
        return true
    }
}
