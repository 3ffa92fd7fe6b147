import ImportModel
import ImportSQLite

/// A column that has, for each row, a value outside of the records of the row's source: `@source.generated`.
///
/// A row has the source of the chunk that inserted it, where the row ids of that chunk are without gaps; else it is null.
struct SourceColumn: Sendable {
    private static let prefix = "@source."

    private let name: String
    let path: String

    /// - Returns: nil where the name is that of an attribute.
    init?(_ name: String) {
        guard name.hasPrefix(Self.prefix) else { return nil }
        self.name = name
        let rest = name.dropFirst(Self.prefix.count)
        path = rest.hasPrefix("$") ? String(rest) : "$.\(rest)"
    }

    /// The column as an attribute of JSON.
    var attribute: AttributeDescription { AttributeDescription(name: name, type: .json, isOptional: true) }

    /// The expression of a query over the table.
    func expression(in table: String) -> String {
        let quoted = table.quotedIdentifier
        return """
            (SELECT CASE WHEN instr(outside.path, '*') OR count(*) > 1 THEN '[' || group_concat(outside.value, ',') || ']' ELSE outside.value END
            FROM main._import_chunk AS chunk
            JOIN main._import_entity AS entity ON entity.job = chunk.job AND entity.position = chunk.entity
            JOIN main._import_outside AS outside ON outside.job = chunk.job AND outside.source = chunk.source
            WHERE \(quoted).rowid BETWEEN chunk.first_rowid AND chunk.last_rowid
                AND chunk.last_rowid - chunk.first_rowid = chunk.inserted - 1
                AND entity.table_name = \(table.sqlLiteral) COLLATE NOCASE AND outside.path = \(path.sqlLiteral)
            GROUP BY chunk.job, chunk.source, chunk.first_byte ORDER BY chunk.job DESC LIMIT 1)
            """
    }
}
