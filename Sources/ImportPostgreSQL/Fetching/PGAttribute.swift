import ImportModel
import Importer

/// An attribute with its column.
struct PGAttribute: PredicateTerm {
    let attribute: AttributeDescription
    let column: PGTableColumn

    /// The column as it is compared: what is a text for SQLite, and has no type that compares like one, as text.
    var sql: String {
        switch column.type {
        case .json, .other: "(\(column.quoted))::text"
        default: column.quoted
        }
    }

    /// The column as a text, which is compared by its bytes.
    var text: String { column.type == .text ? "\(sql) COLLATE \"C\"" : "(\(column.quoted))::text COLLATE \"C\"" }

    /// True if values are texts on the server, too.
    var isText: Bool { column.type == .text || column.type == .json || column.type == .other }
}
