import GRDB
import ImportModel

/// A column of a table, and what its declared type says of it.
package struct StoredColumn {
    package let name: String
    /// As it is declared; empty where nothing is.
    package let declaration: String
    /// True if the table computes it.
    package let isComputed: Bool
    /// Its place in the table's primary key, from 1; 0 where it is none of it.
    let keyPosition: Int
    /// True if it is `NOT NULL`.
    package let isRequired: Bool
    /// The text of its default; nil where it has none.
    package let defaultText: String?
    /// What its declared type says.
    package let type: DeclaredType
    /// What its first and last rows have; nil where they were not read.
    package internal(set) var rows: ColumnSample?

    /// - Parameter row: of `pragma_table_xinfo`, and of `pragma_table_list`.
    package init(_ row: Row) {
        name = row["name"]
        declaration = row["type"]
        isComputed = row["hidden"] != 0
        keyPosition = row["pk"]
        isRequired = row["notnull"]
        defaultText = row["dflt_value"]
        type = DeclaredType(row["type"], isStrict: row["strict"])
    }

    /// As it is declared, in upper case; empty where nothing is.
    package var declared: String { declaration.uppercased() }

    package var isKey: Bool { keyPosition > 0 }

    /// What its default comes to in a statement; nil where it has none.
    var defaultExpression: String? {
        guard let text = defaultText else { return nil }
        // A name alone is a text, whatever other columns are called; an expression may have a comment in it.
        let words: Set = ["true", "false", "null", "current_time", "current_date", "current_timestamp"]
        let isName =
            text.hasPrefix("\"") || text.wholeMatch(of: /[A-Za-z_]\w*/) != nil && !words.contains(text.asciiLowercased)
        return isName ? text.trimmingCharacters(in: ["\""]).quoted(by: "'", with: "''") : "(\(text)\n)"
    }

    var affinity: DeclaredType.Affinity { DeclaredType.Affinity(declared: declared) }

    /// An attribute for it, where no model describes it.
    package var attribute: AttributeDescription { type.attribute(name, rows) }

    /// True if values of the attribute stay in the column what they are.
    package func holds(_ attribute: AttributeDescription) -> Bool {
        if declared.isEmpty || declared == attribute.declaredType || attribute.isUntyped { return true }
        let wanted = DeclaredType.Affinity(declared: attribute.declaredType)
        guard affinity == .numeric else { return affinity == wanted }
        // Text that looks like a number would become one.
        return switch type {
        case .json: attribute.type == .json
        case .day, .date: attribute.type == .string || attribute.type == .date
        default: wanted == .integer || wanted == .real || [.date, .uuid].contains(attribute.type)
        }
    }
}
