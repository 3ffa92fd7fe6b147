import ImportModel
import Importer

/// What may make a server refuse rows of related entities though their values fit: constraints, indexes, triggers and limits of
/// tables that no import has made.
struct UserConstraints: RelationshipSQL {
    let staged: RelationshipStagingTables

    /// A row of more columns than this may be too large, whatever is in them.
    private static let fewColumns = 400

    /// Texts together that have no more bytes than this are never too long for an index.
    private static let shortBytes = 2_000

    /// What imports make of indexes on a table.
    private struct Known {
        /// Its name, not quoted.
        let table: String
        /// The entity whose rows it has; nil for a join table.
        let entity: Int?
        /// The columns that only one row may have together; more of them only let more rows in.
        var unique: [Set<BytewiseString>] = []
        /// The columns of any of their indexes, whose values are never too long.
        var columns: Set<BytewiseString> = []
        /// Columns that rows always have a value for.
        var filled: Set<BytewiseString> = []

        mutating func add(_ key: [PGColumn], isUnique: Bool) {
            let names = key.map { BytewiseString($0.name) }
            columns.formUnion(names)
            if isUnique, !names.isEmpty { unique.append(Set(names)) }
        }
    }

    private var known: [Known] {
        let entities = tables.homes.map { entity in
            var known = Known(table: tables.layout.table(of: entity), entity: entity)
            known.add(tables.key(of: entity), isUnique: true)
            for reference in tables.references where tables.home(of: reference.holder) == entity {
                let own = Array(tables.columns[entity][reference.columns])
                known.add(own, isUnique: reference.isOneToOne)
                if let position = reference.position {
                    known.add(own + [tables.columns[entity][position]], isUnique: tables.isKeyless(entity))
                }
            }
            // What is told by its place lacks a part of its identifier.
            if !tables.unnamed.contains(where: { tables.home(of: $0.holder) == entity }) {
                known.filled.formUnion(tables.key(of: entity).map { BytewiseString($0.name) })
            }
            // Of a table of several entities not all have the others' attributes.
            for column in tables.places[entity].map({ tables.columns[entity][$0] })
            where !column.attribute.isOptional {
                guard !known.columns.contains(BytewiseString(column.name)) else { continue }
                known.filled.insert(BytewiseString(column.name))
            }
            return known
        }
        let joins = tables.joins.map { join in
            var known = Known(table: tables.layout.join(of: join.making).table, entity: nil)
            known.add(join.sourceColumns + join.destinationColumns, isUnique: true)
            known.filled = known.columns
            return known
        }
        return entities + joins
    }

    /// True if there are any.
    ///
    /// - Parameter isStaged: whether all records are staged, so that it is known how long their texts are.
    /// - Throws: `PGError`.
    func areThere(isStaged: Bool, _ connection: PGConnection) throws -> Bool {
        let keys = try tables.foreignKeys.filter { try PGTables.isOurs($0, connection) }
        let own = keys.map { literal($0.name) } + ["''"]
        let areThere = try known.contains { known in
            try hasConstraints(known, foreignKeys: own, connection)
                || hasIndexes(known, isStaged: isStaged, connection)
        }
        return try areThere || !uniqueIndexes(ofLists: false, connection).isEmpty
    }

    private func hasConstraints(
        _ known: Known,
        foreignKeys: [String],
        _ connection: PGConnection
    ) throws -> Bool {
        let filled = known.filled.map { literal($0.text) } + ["''"]
        return try connection.execute(
            """
            SELECT c.relnatts > \(Self.fewColumns) OR EXISTS (
                SELECT FROM pg_catalog.pg_constraint AS k WHERE c.oid IN (k.conrelid, k.confrelid)
                    AND k.contype IN ('c', 'f', 't', 'x') AND NOT (k.contype = 'f' AND k.conname IN (\(list(foreignKeys))))
            ) OR EXISTS (
                SELECT FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal
            ) OR EXISTS (
                SELECT FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
                WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND (
                    t.typtype = 'd' OR t.typname = 'varchar' AND a.atttypmod >= 0
                    OR a.attnotnull AND a.attname NOT IN (\(list(filled)))
                )
            ) FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = current_schema() AND c.relname = $1
            """,
            [.text(PGNames.fitting(known.table))]
        ).first?.bool(0) ?? false
    }

    private func hasIndexes(_ known: Known, isStaged: Bool, _ connection: PGConnection) throws -> Bool {
        let rows = try connection.execute(
            """
            SELECT i.indexrelid, i.indisunique, i.indexprs IS NOT NULL OR i.indisexclusion, coalesce(a.attname::text, ''),
                coalesce(t.typname IN ('text', 'varchar', 'bytea', 'numeric'), true)
            FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indrelid
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
                LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = k.number
                LEFT JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
            WHERE n.nspname = current_schema() AND c.relname = $1 AND k.place <= i.indnkeyatts
            """,
            [.text(PGNames.fitting(known.table))]
        )
        var unique: [Int64: Set<BytewiseString>] = [:]
        var texts: [Int64: Set<BytewiseString>] = [:]
        for row in rows {
            let (index, name) = (try row.integer(0), BytewiseString(try row.text(3)))
            if try row.bool(2) { return true }
            if try row.bool(1) { unique[index, default: []].insert(name) }
            if try row.bool(4), !known.columns.contains(name) { texts[index, default: []].insert(name) }
        }
        if unique.values.contains(where: { index in !known.unique.contains { $0.isSubset(of: index) } }) { return true }
        return try isStaged && texts.values.contains { try hasLongTexts($0, known, connection) }
    }

    /// True if records have texts that may be too long for an index.
    private func hasLongTexts(_ names: Set<BytewiseString>, _ known: Known, _ connection: PGConnection) throws
        -> Bool
    {
        guard let entity = known.entity else { return false }
        let lengths = tables.columns[entity].indices
            .filter { names.contains(BytewiseString(tables.columns[entity][$0].name)) }
            .map { "coalesce(octet_length(s.c\($0)::text), 0)" }
        guard !lengths.isEmpty else { return false }
        return try connection.execute(
            """
            SELECT EXISTS (
                SELECT FROM \(stage(of: entity)) AS s WHERE \(lengths.joined(separator: " + ")) > \(Self.shortBytes)
            )
            """
        ).first?.bool(0) ?? false
    }

    // MARK: Foreign keys

    /// A foreign key between tables of the model that no import has made.
    struct ForeignKey {
        /// The entity whose rows have it; nil for a join table.
        let entity: Int?
        /// The table's name, and the same in double quotes where it needs them, as others have theirs.
        fileprivate let relation: String
        fileprivate let table: String
        fileprivate let name: String
        fileprivate let definition: String
        fileprivate let comment: String?
        fileprivate let target: String
        /// Of both tables, in double quotes: those of rows, and those that they lead to.
        fileprivate let columns: [String]
        fileprivate let targetColumns: [String]
        /// A temporary table of what led to nothing before, where it does not hold of all rows (NOT VALID).
        fileprivate var broken: String?

        /// A condition: values lead to nothing, and have not done so before.
        fileprivate func isBroken(_ values: [String]) -> String {
            func has(_ table: String, _ columns: [String]) -> String {
                "EXISTS (SELECT FROM \(table) AS t WHERE \(StagingColumns.areSame(columns.map { "t.\($0)" }, values)))"
            }
            let areSet = values.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
            return "\(areSet) AND NOT \(has(target, targetColumns))"
                + (broken.map { " AND NOT \(has($0, columns))" } ?? "")
        }

        /// Keeps what leads to nothing now, if that is allowed.
        fileprivate mutating func keepBroken(_ number: Int, _ connection: PGConnection) throws {
            guard definition.hasSuffix("NOT VALID") else { return }
            let list = columns.map { "o.\($0)" }
            _ = try connection.execute(
                """
                CREATE TEMPORARY TABLE _import_broken_\(number) ON COMMIT DROP AS
                SELECT DISTINCT \(list.joined(separator: ", ")) FROM \(table) AS o WHERE \(isBroken(list))
                """
            )
            broken = "pg_temp._import_broken_\(number)"
        }

        /// Makes it again; rows that do not keep it are refused.
        func restore(_ connection: PGConnection) throws {
            if broken != nil {
                // The server would look at rows that come later.
                let isBroken = isBroken(columns.map { "o.\($0)" })
                let found = try connection.execute("SELECT EXISTS (SELECT FROM \(table) AS o WHERE \(isBroken))").first
                if try found?.bool(0) == true {
                    throw PGError(
                        sqlState: "23503",
                        message:
                            "insert or update on table \"\(relation)\" violates foreign key constraint \"\(name)\"",
                        table: relation
                    )
                }
            }
            _ = try connection.execute("ALTER TABLE \(table) ADD CONSTRAINT \(name) \(definition)")
            if let comment { _ = try connection.execute(comment) }
        }
    }

    /// Records that refer to nothing by a foreign key which cannot be made again for that, the first of them.
    ///
    /// - Parameter most: how many at most, from 1.
    /// - Returns: their ordinals; none where they say so in some other way than by their own columns.
    func recordsBreaking(_ key: ForeignKey, most: Int, _ connection: PGConnection) throws -> [Int64] {
        let records = stages(of: key).compactMap { stage, columns -> String? in
            let own = key.columns.compactMap { name in columns.firstIndex { $0.quoted == name } }
            guard own.count == key.columns.count else { return nil }
            let values = own.map { "s.c\($0)" }
            return """
                SELECT s._ordinal FROM \(stage) AS s WHERE \(key.isBroken(values)) AND EXISTS (
                    SELECT FROM \(key.table) AS o WHERE \(same(key.columns.map { "o.\($0)" }, values)))
                """
        }
        guard !records.isEmpty else { return [] }
        return try connection.execute(
            "\(records.joined(separator: " UNION ")) ORDER BY 1 LIMIT $1",
            [.integer(Int64(most))]
        ).map { try $0.integer(0) }
    }

    /// The staging tables of what is in the table of a foreign key, with the columns that they have.
    private func stages(of key: ForeignKey) -> [(stage: String, columns: [PGColumn])] {
        if let entity = key.entity {
            let home = tables.home(of: entity)
            let unnamed = tables.unnamed.filter { tables.home(of: $0.holder) == home }
                .map { staged.unnamed($0).quoted }
            return ([stage(of: entity)] + unnamed).map { ($0, tables.columns[entity]) }
        }
        return tables.joins.filter { $0.table == PGNames.quoted(key.relation) }.flatMap { join in
            let (source, destination) = (join.sourceColumns, join.destinationColumns)
            let inverse = join.inverse.map { ($0, destination + source) }
            let sides = [(join.making, source + destination), inverse].compactMap(\.self)
            return sides.filter { staged.linking.contains($0.0) }.map { (staged.links($0.0).quoted, $0.1) }
        }
    }

    /// The columns of a constraint, as JSON.
    private func columns(_ table: String, _ numbers: String) -> String {
        """
        (SELECT json_agg('"' || replace(a.attname, '"', '""') || '"' ORDER BY e.place)
        FROM unnest(k.\(numbers)) WITH ORDINALITY AS e (number, place)
            JOIN pg_catalog.pg_attribute AS a ON a.attrelid = k.\(table) AND a.attnum = e.number)::text
        """
    }

    /// Takes the foreign keys away that rows may break until all of them are there.
    ///
    /// - Returns: what is to be made again in the same transaction.
    func takeAwayForeignKeys(_ connection: PGConnection) throws -> [ForeignKey] {
        let names = list(known.map { literal(PGNames.fitting($0.table)) })
        var keys = try connection.execute(
            """
            SELECT c.relname, k.conrelid::regclass::text, quote_ident(k.conname), pg_catalog.pg_get_constraintdef(k.oid),
                k.confrelid::regclass::text, \(columns("conrelid", "conkey")), \(columns("confrelid", "confkey")),
                (SELECT format('COMMENT ON CONSTRAINT %I ON %s IS %L', k.conname, k.conrelid::regclass, description)
                FROM obj_description(k.oid, 'pg_constraint') AS said (description) WHERE description IS NOT NULL)
            FROM pg_catalog.pg_constraint AS k
                JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid AND c.relname IN (\(names))
                JOIN pg_catalog.pg_class AS d ON d.oid = k.confrelid AND d.relname IN (\(names))
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace AND n.oid = d.relnamespace
            WHERE n.nspname = current_schema() AND k.contype = 'f' AND k.conparentid = 0
            """
        ).map { row in
            let table = try row.text(0)
            return ForeignKey(
                entity: tables.columns.indices.first { PGNames.fitting(tables.layout.table(of: $0)) == table },
                relation: table,
                table: try row.text(1),
                name: try row.text(2),
                definition: try row.text(3),
                comment: try row.optionalText(7),
                target: try row.text(4),
                columns: try BookkeepingJSON.decode([String].self, row.text(5)),
                targetColumns: try BookkeepingJSON.decode([String].self, row.text(6))
            )
        }
        for number in keys.indices { try keys[number].keepBroken(number, connection) }
        for key in keys { _ = try connection.execute("ALTER TABLE \(key.table) DROP CONSTRAINT \(key.name)") }
        return keys
    }
}
