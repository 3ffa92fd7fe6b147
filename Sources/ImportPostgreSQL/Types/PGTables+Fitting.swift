import ImportModel
import Importer

/// Whether a table that is there takes an entity's values.
extension PGTables {
    /// A column of a table that is there.
    struct Stored {
        let name: String
        /// As the server writes it: `numeric(10,2)`; of a domain the type below.
        let words: String
        /// The type's name in `pg_type`; of a domain that of the type below.
        let type: String
        /// What the type is limited to (`pg_attribute.atttypmod`), of dates the digits after the second; -1 for
        /// nothing.
        let limit: Int64
        /// True if it is computed from others.
        let isComputed: Bool
        /// True if a row must have a value for it that nothing else gives: no default, no trigger.
        let isRequired: Bool
        /// Its collation, quoted; nil for the database's, or none.
        let collation: String?
        /// True if that takes texts of different bytes for equal.
        let isLoose: Bool

        /// True if COPY's binary format has the values of a type for it, and they stay what they are.
        func takes(_ wanted: PGType) -> Bool {
            switch wanted {
            // The bytes are the same; what is too long is refused row by row.
            case .text: type == wanted.catalogName || type == "varchar"
            // Of the type, and not rounded to fewer digits.
            case .numeric: type == wanted.catalogName && limit < 0
            case .timestamptz, .timestamp: type == wanted.catalogName && (limit < 0 || limit >= 3)
            case .timestamptz6, .timestamp6: type == wanted.catalogName && (limit < 0 || limit >= 6)
            case .smallint, .integer, .bigint, .real, .double, .boolean, .uuid, .bytea, .json:
                type == wanted.catalogName
            }
        }
    }

    /// The columns of a table, and how many it has ever had: those that are dropped still count.
    static func columns(
        of table: String,
        _ connection: PGConnection,
        with questions: [PGStatement] = []
    ) throws -> (columns: [Stored], count: Int) {
        let rows = try connection.ask(columnsQuestion(table), with: questions)
        let columns = try rows.filter { try !$0.bool(5) }.map {
            Stored(
                name: try $0.text(0),
                words: try $0.text(1),
                type: try $0.text(2),
                limit: try $0.integer(3),
                isComputed: try $0.bool(4),
                isRequired: try $0.bool(6),
                collation: try $0.optionalText(7),
                isLoose: try $0.bool(8)
            )
        }
        return (columns, rows.count)
    }

    static func columnsQuestion(_ table: String) -> PGStatement {
        PGStatement(
            """
            SELECT a.attname, pg_catalog.format_type(coalesce(b.oid, t.oid), l.typmod),
                coalesce(b.typname, t.typname), l.typmod, a.attgenerated <> '', a.attisdropped,
                (a.attnotnull OR t.typnotnull) AND NOT a.atthasdef AND t.typdefaultbin IS NULL AND a.attidentity = ''
                    AND NOT EXISTS (
                        SELECT FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid = c.oid AND g.tgenabled <> 'D'
                            -- For each row, before, and on INSERT.
                            AND NOT g.tgisinternal AND g.tgtype & 7 = 7
                    ),
                CASE WHEN o.collname <> 'default' THEN quote_ident(s.nspname) || '.' || quote_ident(o.collname) END,
                coalesce(NOT o.collisdeterministic, false)
            FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                LEFT JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
                LEFT JOIN pg_catalog.pg_type AS b ON b.oid = t.typbasetype
                LEFT JOIN pg_catalog.pg_collation AS o ON o.oid = a.attcollation
                LEFT JOIN pg_catalog.pg_namespace AS s ON s.oid = o.collnamespace
                CROSS JOIN LATERAL (
                    SELECT CASE WHEN b.oid IS NULL THEN a.atttypmod ELSE t.typtypmod END AS typmod
                ) AS l
            WHERE n.nspname = current_schema() AND c.relname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0
            ORDER BY a.attnum
            """,
            [.text(PGNames.fitting(table))],
            isAboutTables: true
        )
    }

    /// Makes sure that a table takes an entity's values, and adds the columns that it lacks.
    ///
    /// - Returns: the attributes that it got columns for.
    /// - Throws: `ImportError` where it does not take them; `PGError`.
    static func extend(
        _ entity: EntityDescription,
        _ columns: [PGColumn],
        _ connection: PGConnection,
        label: String
    ) throws -> [AttributeDescription] {
        let (stored, count) = try Self.columns(of: entity.table, connection)
        var added: [PGColumn] = []
        for column in columns {
            guard let found = stored.first(where: { BytewiseString($0.name) == BytewiseString(column.name) }) else {
                try checkCase(of: column, stored, entity, label: label)
                added.append(column)
                continue
            }
            guard !found.isComputed else { throw disagreement(entity, column, "is computed there", label: label) }
            guard found.takes(column.type) else {
                let text = "is \(column.type.declaration) now and \(found.words) there"
                throw disagreement(entity, column, text, label: label)
            }
        }
        try checkRequired(stored, columns, entity, connection, label: label)
        guard count + added.count <= mostColumns else {
            throw ImportError(
                .tableUnsuitable,
                at: label,
                """
                \(entity.name): the table \(entity.table) has had \(count) columns, and with \(added.count) new ones \
                it would have more than \(mostColumns)
                """,
                advice: """
                    Keep what is used least in one attribute of type json, or import into another table. Nothing \
                    was written.
                    """
            )
        }
        guard !added.isEmpty else { return [] }
        let additions = added.map { "ADD COLUMN \($0.definition)" }.joined(separator: ", ")
        _ = try connection.execute("ALTER TABLE \(quoted(entity.table)) \(additions)")
        return added.map(\.attribute)
    }

    /// Makes sure that the rows of a table that is there are numbered.
    static func checkRowID(
        _ rowID: PGColumn,
        of entity: EntityDescription,
        _ connection: PGConnection,
        label: String
    ) throws {
        let isNumbered = try connection.execute(
            """
            SELECT pg_get_serial_sequence($1, $2) IS NOT NULL FROM pg_catalog.pg_attribute
            WHERE attrelid = $1::regclass AND attname = $2
            """,
            [.text(quoted(entity.table)), .text(rowID.name)]
        ).first?.bool(0)
        guard isNumbered != true else { return }
        throw ImportError(
            .tableUnsuitable,
            at: label,
            "the table \(entity.table) has no numbered column \(rowID.name), by which others could refer to its rows",
            advice: "Import into another table, or give \(entity.name) an identifier. Nothing was written."
        )
    }

    /// Where a column must have a value that the model does not have, every row would be refused; records of objects that
    /// are there are merged all the same.
    private static func checkRequired(
        _ stored: [Stored],
        _ columns: [PGColumn],
        _ entity: EntityDescription,
        _ connection: PGConnection,
        label: String
    ) throws {
        let names = Set(columns.map { BytewiseString($0.name) })
        guard let column = stored.first(where: { $0.isRequired && !names.contains(BytewiseString($0.name)) }),
            try entity.identifier.isEmpty || !hasRows(entity.table, connection)
        else { return }
        throw ImportError(
            .tableUnsuitable,
            at: label,
            """
            the column \(column.name) of the table \(entity.table) is NOT NULL without a default, and \(entity.name) has no \
            attribute for it: every row would be refused
            """,
            advice: """
                Give a model (\(.model)) that has it, give the column a default, or import into another table or \
                schema. Nothing was written.
                """
        )
    }

    /// A name that was made without quotes is in lower case: a second column beside it is not what is meant.
    private static func checkCase(
        of column: PGColumn,
        _ stored: [Stored],
        _ entity: EntityDescription,
        label: String
    ) throws {
        let lower = column.name.asciiLowercased
        guard let near = stored.first(where: { BytewiseString($0.name.asciiLowercased) == BytewiseString(lower) })
        else { return }
        throw disagreement(
            entity,
            column,
            "is the column \(column.name) now and \(near.name) there: the server tells upper and lower case apart",
            label: label
        )
    }

    private static func disagreement(
        _ entity: EntityDescription,
        _ column: PGColumn,
        _ text: String,
        label: String
    ) -> ImportError {
        ImportError(
            .tableUnsuitable,
            at: label,
            "\(entity.name).\(column.attribute.name) (column \(column.name) of the table \(entity.table)) \(text)",
            advice: """
                Give a model (\(.model)) that agrees, change the column, or import into another table or schema. \
                Nothing was written.
                """
        )
    }
}
