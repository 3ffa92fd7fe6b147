import Foundation
import GRDB
import ImportModel

/// What a table asks of its rows that the model does not: constraints, unique indexes and triggers that somebody has
/// given it.
///
/// A row that breaks one makes its record a reject. Foreign keys are not looked at while importing.
package struct TableConstraints {
    /// True if the table may refuse a row that fits the model.
    let canRefuse: Bool
    /// True if an index is over an expression, which may fail for a row.
    let mayFail: Bool
    /// False for a table `WITHOUT ROWID`, whose rows are known by their primary key.
    let hasRowID: Bool
    /// The columns, in lower case, whose affinity may make a number of something else
    /// (<https://www.sqlite.org/datatype3.html#type_affinity>).
    let numericColumns: Set<String>
    /// True if it may compare texts otherwise than by their bytes.
    let mayCollate: Bool
    /// The texts of all triggers that may have a say, which are all of the store's where the table has any.
    private let triggers: [String]
    /// True if the table has triggers; asked for with every row.
    package let hasTriggers: Bool

    /// The defaults of the table's own, which hold where a record lacks the column's key: expressions, by the columns in lower case.
    package let defaults: [String: String]

    /// - Throws: `DatabaseError` when the schema cannot be read.
    package init(of entity: EntityDescription, _ database: Database) throws {
        let table = entity.table
        triggers = try String.fetchAll(
            database.cachedStatement(
                sql: """
                    SELECT coalesce(sql, '') FROM sqlite_master WHERE type = 'trigger' AND EXISTS (
                        SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE
                    )
                    """
            ),
            arguments: [table]
        )
        hasTriggers = !triggers.isEmpty
        let stored = try StoredTable(table, database)
        defaults = stored.columns.reduce(into: [:]) { defaults, column in
            defaults[column.name.asciiLowercased] = column.defaultExpression
        }
        let identifier = entity.identifierColumns
        let definition = try Self.definition(of: table, database)
        mayCollate = definition.contains("collate")
        let key = stored.primaryKey
        hasRowID = stored.hasRowID
        mayFail = stored.indexes.contains { $0.names == nil }
        numericColumns = Set(
            stored.columns.filter { [.numeric, .integer, .real].contains($0.affinity) }.map(\.name.asciiLowercased)
        )
        // A unique index on anything but the identifier, or one that compares texts otherwise than by their bytes.
        canRefuse =
            hasTriggers || !hasRowID || definition.contains("check")
            || stored.columns.contains { $0.isRequired || $0.isComputed }
            || !key.isEmpty && Set(key.folded) != Set(identifier.folded)
            || stored.indexes.contains { $0.isUnique && ($0.isPartial || !$0.isJust(identifier)) }
    }

    /// The statement that made the table, in lower case, without comments and without names and texts in quotes, where it may
    /// have one of the words that are looked for outside of them.
    private static func definition(of table: String, _ database: Database) throws -> String {
        let sql = try String.fetchOne(
            database.cachedStatement(
                sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE"
            ),
            arguments: [table]
        )
        let text = (sql ?? "").asciiLowercased
        // What is taken out leaves a space: a word that is in the rest is in the whole.
        guard text.contains("collate") || text.contains("check") else { return text }
        let quoted = /--[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*\/|"(?:[^"]|"")*"|'(?:[^']|'')*'|`(?:[^`]|``)*`|\[[^\]]*\]/
        return text.replacing(quoted, with: " ")
    }

    // MARK: Refusals

    /// What is said of a record whose row the table refuses.
    package struct Refusal {
        /// The columns that the constraint is on, where SQLite names them and the entity has them.
        package var columns: [String] = []
        package let expected: String
        package let found: String
    }

    /// What it means that nothing was written and nothing failed: a trigger has said `RAISE(IGNORE)`.
    package static let leftOut = Refusal(
        expected: "a record that the table's triggers accept",
        found: "one that they ignore"
    )

    /// What a failed statement means.
    ///
    /// - Parameter code: SQLite's extended result code (<https://www.sqlite.org/rescode.html#extrc>).
    /// - Returns: nil where it was not the row's fault.
    package func refusal(_ code: ResultCode, message: String, of entity: EntityDescription) -> Refusal? {
        // `UNIQUE constraint failed: person.name, person.born`, `CHECK constraint failed: age > 0`.
        let failure = String(message.prefix(300))
        let subject = message.firstRange(of: " failed: ").map { String(message[$0.upperBound...].prefix(200)) } ?? ""
        switch code {
        case .SQLITE_CONSTRAINT_UNIQUE, .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID:
            let columns = Self.columns(subject, of: entity)
            let what = columns.count == 1 ? "a value" : columns.isEmpty ? "a row (\(subject))" : "values together"
            return Refusal(columns: columns, expected: "\(what) that no other row has", found: failure)
        case .SQLITE_CONSTRAINT_NOTNULL:
            let columns = Self.columns(subject, of: entity)
            let place = columns.isEmpty ? " in \(subject)" : ""
            return Refusal(columns: columns, expected: "a value\(place) (NOT NULL)", found: failure)
        case .SQLITE_CONSTRAINT_CHECK:
            return Refusal(expected: "a record that passes CHECK \(subject)", found: failure)
        case .SQLITE_CONSTRAINT_TRIGGER:
            // What a trigger puts together itself may show values.
            let text = message.quoted(by: "'", with: "''")
            let reason = triggers.contains { $0.contains(text) } ? ": \(message.prefix(200))" : ""
            return Refusal(expected: "what the table's triggers require\(reason)", found: "a record that they refuse")
        case .SQLITE_CONSTRAINT_DATATYPE:
            return Refusal(expected: "values of the table's types", found: "others")
        // What an expression of the table fails on: "integer overflow", "malformed JSON".
        case .SQLITE_ERROR, .SQLITE_TOOBIG, .SQLITE_MISMATCH:
            return Refusal(expected: "a record that the table's expressions can be worked out for", found: failure)
        default:
            return nil
        }
    }

    /// The names in a text like `person.name, person.born`, which SQLite does not put in quotes.
    private static func columns(_ subject: String, of entity: EntityDescription) -> [String] {
        let table = entity.table.asciiLowercased + "."
        var columns: [String: String] = [:]
        for column in entity.attributes.map(\.column.asciiLowercased) { columns[table + column] = column }
        let names = subject.components(separatedBy: ", ").map { columns[$0.asciiLowercased] }
        return names.contains(nil) ? [] : names.compactMap(\.self)
    }
}
