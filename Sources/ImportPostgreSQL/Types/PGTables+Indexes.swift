import ImportModel
import Importer

/// The indexes of tables on a server.
extension PGTables {
    // MARK: Identifiers

    /// The name of the unique index of a table's identifier.
    static func identifierName(of table: String) -> String { PGNames.fitting("\(table)_identifier") }

    /// The statement that makes the unique index of an entity's identifier.
    ///
    /// - Parameter name: nothing in the schema has it; nil for the table's with `_identifier` after it.
    static func identifierIndex(of entity: EntityDescription, named name: String? = nil) -> String {
        let keys = identifierColumns(of: entity).map(key).joined(separator: ", ")
        let name = PGNames.quoted(name ?? identifierName(of: entity.table))
        return "CREATE UNIQUE INDEX \(name) ON \(quoted(entity.table)) (\(keys))"
    }

    private static func identifierColumns(of entity: EntityDescription) -> [PGColumn] {
        let columns = PGColumn.all(of: entity)
        return entity.identifier.compactMap { name in
            columns.first { BytewiseString($0.attribute.name) == BytewiseString(name) }
        }
    }

    /// A column as an index has it: `json` has no order of its own, and is compared as text.
    private static func key(_ column: PGColumn) -> String {
        column.type == .json ? "((\(column.quoted))::text)" : column.quoted
    }

    /// Makes sure that no two rows of an entity's table have the same identifier, and that one is found quickly.
    ///
    /// Called within a transaction.
    ///
    /// - Parameter questions: what is asked with its own.
    /// - Throws: `ImportError` where rows have the same identifier already; `PGError`.
    static func prepareIdentifier(
        of entity: EntityDescription,
        _ connection: PGConnection,
        label: String,
        with questions: [PGStatement] = []
    ) throws {
        let columns = identifierColumns(of: entity)
        guard !columns.isEmpty else { return }
        let indexes = try self.indexes(of: entity.table, connection, with: questions)
        let wanted = Set(columns.map { BytewiseString($0.name) })
        if indexes.contains(where: { $0.isUnique && Set($0.columns.map { BytewiseString($0) }) == wanted }) { return }
        // `IF NOT EXISTS` would be content with a table or a view of that name.
        var name = identifierName(of: entity.table)
        var number = 2
        while try kind(of: name, connection) != nil {
            // One on the text of json has no columns that are known.
            if columns.contains(where: { $0.type == .json }), indexes.contains(where: { $0.name == name }) { return }
            name = PGNames.fitting("\(entity.table)_identifier_\(number)")
            number += 1
        }
        do {
            _ = try connection.note(identifierIndex(of: entity, named: name))
            connection.forget(Self.questions(of: entity.table) + [kindQuestion(name)])
        } catch let failure as PGError where failure.sqlState == "23505" {
            throw ImportError(
                .identifierNotUnique,
                at: label,
                "rows of \(entity.table) already have the same \(columns.map(\.name).joined(separator: ", "))",
                advice: "Give another identifier, or import into another table or schema. Nothing was written."
            )
        }
    }

    /// True if one object of an entity's table may be refused for another one: there is something that only one may have beside
    /// the identifier, or rows refer to rows of the same table.
    ///
    /// - Throws: `PGError`.
    static func hasRivals(_ entity: EntityDescription, _ connection: PGConnection) throws -> Bool {
        let rows = try connection.ask(rivalsQuestion(entity.table))
        // Objects that differ in the identifier differ in more columns, too. Of json an index has the text, which has no name.
        let wanted = Set(identifierColumns(of: entity).map { BytewiseString($0.type == .json ? "" : $0.name) })
        var found: [Int64: Set<BytewiseString>] = [:]
        for row in rows {
            if try row.bool(1) { return true }
            found[try row.integer(0), default: []].insert(BytewiseString(try row.text(2)))
        }
        return found.values.contains { !wanted.isSubset(of: $0) }
    }

    static func rivalsQuestion(_ table: String) -> PGStatement {
        PGStatement(
            """
            SELECT i.indexrelid, i.indisexclusion, coalesce(a.attname::text, '')
            FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indrelid
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
                LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.number
            WHERE n.nspname = current_schema() AND c.relname = $1 AND (i.indisunique OR i.indisexclusion)
                AND k.place <= i.indnkeyatts
            UNION ALL
            SELECT k.oid, true, '' FROM pg_catalog.pg_constraint AS k
                JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND c.relname = $1 AND k.contype = 'f' AND k.confrelid = k.conrelid
            """,
            [.text(PGNames.fitting(table))],
            isAboutTables: true
        )
    }

    // MARK: Indexes that are wanted

    /// What has become of the indexes that are wanted of an entity.
    struct BuiltIndexes {
        /// The names of those that were built.
        var built: [String] = []
        /// Those that cannot be, as they have a value which is too long: their attributes, `a,b`.
        var leftOut: [String] = []
        /// The attributes of all others.
        var there: [String] = []
    }

    /// Builds the indexes that the model or the import asks for and that do not exist yet, if the entity has their
    /// attributes.
    ///
    /// Done again, it changes nothing. One that has a value which is too long for an index is left out: it would help
    /// to find rows, but they are all there. Called within a transaction.
    ///
    /// - Throws: `PGError`.
    static func buildIndexes(
        of entity: EntityDescription,
        _ wanted: StoreIndexes,
        _ connection: PGConnection
    ) throws -> BuiltIndexes {
        let columns = PGColumn.all(of: entity)
        var lists: [[PGColumn]] = []
        for names in entity.indexes + wanted.wanted {
            let list = names.compactMap { name in
                columns.first { BytewiseString($0.attribute.name) == BytewiseString(name) }
            }
            let isKnown = lists.contains { $0.map(\.name) == list.map(\.name) }
            if list.count == names.count, !list.isEmpty, !isKnown { lists.append(list) }
        }
        var built = BuiltIndexes()
        for list in lists {
            let attributes = list.map(\.attribute.name).joined(separator: ",")
            do {
                if let name = try build(list, on: entity.table, connection) { built.built.append(name) }
                built.there.append(attributes)
            } catch is ValueTooLong {
                built.leftOut.append(attributes)
            }
        }
        return built
    }

    /// A value is too long for an index.
    private struct ValueTooLong: Error {}

    /// - Returns: the name of the index; nil where there is one on just these columns.
    /// - Throws: `ValueTooLong`, `PGError`.
    private static func build(
        _ columns: [PGColumn],
        on table: String,
        _ connection: PGConnection
    ) throws -> String? {
        let indexes = try self.indexes(of: table, connection)
        let keys = columns.map { BytewiseString($0.name) }
        if indexes.contains(where: { $0.columns.map { BytewiseString($0) } == keys }) { return nil }
        let wanted = ([table] + columns.map(\.attribute.column)).joined(separator: "_")
        var name = PGNames.fitting(wanted)
        var number = 2
        while try kind(of: name, connection) != nil {
            // One on the text of json has no columns that are known.
            if columns.contains(where: { $0.type == .json }), indexes.contains(where: { $0.name == name }) {
                return nil
            }
            name = PGNames.fitting("\(wanted)_\(number)")
            number += 1
        }
        let list = columns.map(key).joined(separator: ", ")
        _ = try connection.execute("SAVEPOINT _import_index")
        do {
            _ = try connection.execute(
                "CREATE INDEX IF NOT EXISTS \(PGNames.quoted(name)) ON \(quoted(table)) (\(list))"
            )
        } catch let failure as PGError where failure.sqlState == "54000" {
            _ = try connection.execute("ROLLBACK TO SAVEPOINT _import_index")
            throw ValueTooLong()
        }
        _ = try connection.execute("RELEASE SAVEPOINT _import_index")
        return name
    }

    /// An index that is there.
    struct Index {
        let name: String
        let isUnique: Bool
        /// True if it has no other columns, and no constraint has or needs it.
        let isPlain: Bool
        /// What it is on, in its order; empty where it is on something else than columns as they are.
        let columns: [String]
    }

    /// The indexes over all rows of a table that are valid, and order as the columns' types do.
    static func indexes(
        of table: String,
        _ connection: PGConnection,
        with questions: [PGStatement] = []
    ) throws -> [Index] {
        let rows = try connection.ask(indexesQuestion(table), with: questions)
        var indexes: [Index] = []
        var current: [(column: String?, isPlain: Bool)] = []
        for (place, row) in rows.enumerated() {
            current.append((try row.optionalText(2), try row.bool(3)))
            let name = try row.text(0)
            if place + 1 < rows.count, try rows[place + 1].text(0) == name { continue }
            let columns = current.allSatisfy(\.isPlain) ? current.compactMap(\.column) : []
            let isPlain = columns.count == current.count
            indexes.append(
                Index(
                    name: name,
                    isUnique: try row.bool(1),
                    isPlain: try row.bool(4),
                    columns: isPlain ? columns : []
                )
            )
            current.removeAll()
        }
        return indexes
    }

    static func indexesQuestion(_ table: String) -> PGStatement {
        PGStatement(
            """
            SELECT x.relname, i.indisunique, a.attname, coalesce(k.option = 0 AND o.opcdefault
                AND k.sorting = a.attcollation, false), i.indnatts = i.indnkeyatts AND NOT EXISTS (
                SELECT FROM pg_catalog.pg_constraint WHERE conindid = i.indexrelid)
            FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
                JOIN pg_catalog.pg_class AS c ON c.oid = i.indrelid
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                JOIN pg_catalog.pg_am AS m ON m.oid = x.relam
                CROSS JOIN LATERAL unnest(
                    i.indkey::int2[], i.indclass::oid[], i.indoption::int2[], i.indcollation::oid[]
                ) WITH ORDINALITY AS k (number, class, option, sorting, place)
                LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.number
                LEFT JOIN pg_catalog.pg_opclass AS o ON o.oid = k.class
            WHERE n.nspname = current_schema() AND c.relname = $1 AND i.indpred IS NULL AND i.indisvalid
                AND m.amname = 'btree' AND k.place <= i.indnkeyatts
            ORDER BY x.relname, k.place
            """,
            [.text(PGNames.fitting(table))],
            isAboutTables: true
        )
    }
}
