import GRDB
import ImportModel

/// The order of an entity's records, in SQL, so that an index serves for it where there is one.
///
/// Records that are equal in all of it stand by row id, in the direction of the last attribute: so an index is read from one end
/// to the other.
struct RecordOrder: Sendable, Hashable {
    /// One column to sort by.
    struct Term: Sendable, Hashable {
        /// The column's name, quoted.
        let column: String
        /// `COLLATE` and a name, with a space before it; empty for row ids.
        let collation: String
        let ascending: Bool
    }

    /// What is sorted by ahead of the row id.
    let terms: [Term]
    /// The direction of the row ids.
    let isRowIDAscending: Bool

    /// - Throws: `ImportError` with `.usage` when the entity has no such attribute.
    init(_ sort: [RecordSort], entity: EntityDescription) throws {
        var terms: [Term] = []
        for sort in sort {
            guard let attribute = entity.attribute(named: sort.attribute) else {
                throw ImportError(noAttribute: sort.attribute, in: entity)
            }
            let collation =
                attribute.type == .decimal ? DecimalText.collation.name : sort.collation.rawValue.uppercased()
            let isText = attribute.declaredType == "TEXT"
            terms.append(
                Term(
                    column: attribute.column.quotedIdentifier,
                    collation: isText ? " COLLATE \(collation)" : "",
                    ascending: sort.ascending
                )
            )
        }
        self.init(terms: terms, isRowIDAscending: sort.last?.ascending ?? true)
    }

    private init(terms: [Term], isRowIDAscending: Bool) {
        self.terms = terms
        self.isRowIDAscending = isRowIDAscending
    }

    /// The same from the other end.
    var reversed: RecordOrder {
        RecordOrder(
            terms: terms.map { Term(column: $0.column, collation: $0.collation, ascending: !$0.ascending) },
            isRowIDAscending: !isRowIDAscending
        )
    }

    /// What stands after `ORDER BY`.
    var sql: String {
        (terms.map { "\($0.column)\($0.collation) \($0.ascending ? "ASC" : "DESC")" }
            + ["rowid \(isRowIDAscending ? "ASC" : "DESC")"]).joined(separator: ", ")
    }

    /// Conditions for the records after one, each with the values that it takes.
    ///
    /// The records of the first condition come first, and so on: all of them together are those after it. There are several
    /// queries where one with `OR` would not be served by an index.
    ///
    /// - Parameter key: the values of the terms' columns, and the row id.
    func conditions(after key: [Record.Value], rowID: Int64) -> [(sql: String, arguments: [Record.Value])] {
        var conditions: [(sql: String, arguments: [Record.Value])] = []
        for length in stride(from: terms.count, through: 0, by: -1) {
            var sql: [String] = []
            var arguments: [Record.Value] = []
            for (term, value) in zip(terms, key).prefix(length) {
                if value.isNull {
                    sql.append("\(term.column) IS NULL")
                } else {
                    sql.append("\(term.column)\(term.collation) = ?")
                    arguments.append(value)
                }
            }
            guard length < terms.count else {
                conditions.append(
                    (
                        (sql + ["rowid \(isRowIDAscending ? ">" : "<") ?"]).joined(separator: " AND "),
                        arguments + [.integer(rowID)]
                    )
                )
                continue
            }
            let (term, value) = (terms[length], key[length])
            switch (term.ascending, value.isNull) {
            case (true, true):
                conditions.append(((sql + ["\(term.column) IS NOT NULL"]).joined(separator: " AND "), arguments))
            case (true, false):
                let condition = "\(term.column)\(term.collation) > ?"
                conditions.append(((sql + [condition]).joined(separator: " AND "), arguments + [value]))
            case (false, false):
                let condition = "\(term.column)\(term.collation) < ?"
                conditions.append(((sql + [condition]).joined(separator: " AND "), arguments + [value]))
                conditions.append(((sql + ["\(term.column) IS NULL"]).joined(separator: " AND "), arguments))
            // Null comes last.
            case (false, true): break
            }
        }
        return conditions
    }
}

extension Record.Value {
    var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}

extension ImportError {
    /// An attribute that an entity does not have.
    init(noAttribute name: String, in entity: EntityDescription) {
        let names = entity.attributes.map(\.name)
        let near = NearName.nearest(to: name, among: names)
        self.init(
            .usage,
            "\(entity.name) has no attribute \(name)" + (near.map { "; did you mean \($0)?" } ?? ""),
            advice: "It has: \(names.joined(separator: ", "))."
        )
    }
}
