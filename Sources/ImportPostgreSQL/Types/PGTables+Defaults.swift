import ImportModel
import Importer

extension PGTables {
    /// A model with the defaults that the columns of its tables have, for records that lack their keys.
    ///
    /// COPY takes a value for each column that any record has. So a default is worked out once for each process; one that every row
    /// computes for each row, as from a sequence, is left out.
    static func withDefaults(
        _ model: ModelDescription,
        _ connection: PGConnection
    ) throws -> ModelDescription {
        var model = model
        let questions = model.entities.map { defaultsQuestion($0.table) }
        for index in model.entities.indices {
            for row in try connection.ask(questions[index], with: questions) {
                let name = try BytewiseString(row.text(0))
                guard
                    let place = model.entities[index].attributes.firstIndex(where: {
                        BytewiseString(PGNames.fitting($0.column)) == name
                    })
                else { continue }
                let attribute = model.entities[index].attributes[place]
                guard attribute.defaultValue == nil, !attribute.isGenerated,
                    let text = try connection.ask("SELECT to_jsonb(\(row.text(1)))").first?.optionalText(0),
                    let value = try? JSONValue(parsing: Array(text.utf8)), (try? attribute.coerce(value)) != nil
                else { continue }
                model.entities[index].attributes[place].defaultValue = value
            }
        }
        return model
    }

    static func defaultsQuestion(_ table: String) -> PGStatement {
        PGStatement(
            """
            SELECT a.attname, d.text FROM pg_catalog.pg_attribute AS a CROSS JOIN LATERAL (
                SELECT pg_catalog.pg_get_expr(adbin, adrelid) AS text FROM pg_catalog.pg_attrdef
                WHERE adrelid = a.attrelid AND adnum = a.attnum
            ) AS d
            WHERE a.attrelid = to_regclass($1) AND a.attgenerated = '' AND NOT EXISTS (
                SELECT FROM pg_catalog.pg_proc WHERE provolatile = 'v' AND strpos(d.text, proname || '(') > 0
            )
            """,
            [.text(quoted(table))],
            isAboutTables: true
        )
    }
}
