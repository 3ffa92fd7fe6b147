import ImportModel
import Importer

/// How the statements that settle relationships spell rows, columns and keys.
protocol RelationshipSQL {
    var staged: RelationshipStagingTables { get }
}

extension RelationshipSQL {
    var tables: RelationshipTables { staged.tables }

    /// Columns of a row of a staging table.
    func columns(_ row: String, _ range: Range<Int>) -> [String] { range.map { "\(row).c\($0)" } }

    /// Columns, with commas between them.
    func list(_ columns: [String]) -> String { columns.joined(separator: ", ") }

    /// A condition: each of them is equal to the other one in its place.
    func same(_ left: [String], _ right: [String]) -> String { StagingColumns.areSame(left, right) }

    /// A condition: none of them is NULL.
    func areSet(_ columns: [String]) -> String {
        columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
    }

    /// The staging table of an entity's rows.
    func stage(of entity: Int) -> String {
        PGTables.quoted(StagingName.rows(of: staged.job, tables.home(of: entity)))
    }

    /// The number of the entity that a row of an entity's table is of.
    ///
    /// - Parameter value: the row's value of a column, by its index.
    func subentity(_ entity: Int, _ value: (Int) -> String) -> String {
        tables.stagedSubentities(of: entity).map { $0.number(value($0.column)) } ?? "\(tables.home(of: entity))"
    }

    /// The same of a row of a staging table, and of the table itself.
    func subentity(ofStaged row: String, _ entity: Int) -> String { subentity(entity) { "\(row).c\($0)" } }
    func subentity(ofStored row: String, _ entity: Int) -> String {
        subentity(entity) { "\(row).\(tables.columns[entity][$0].quoted)" }
    }

    /// Columns of a row of a table.
    func quoted(_ columns: [PGColumn], of row: String) -> [String] { columns.map { "\(row).\($0.quoted)" } }

    /// Comparable: `json` has no equality.
    func compared(_ value: String, _ column: PGColumn) -> String {
        column.type == .json ? "(\(value))::text" : value
    }

    /// A key as `_import_link` and `_import_stub` have it.
    func key(_ columns: [String]) -> String { "json_build_array(\(list(columns)))" }

    /// A part of a key that is kept as JSON.
    func part(_ name: String, _ index: Int, _ column: PGColumn) -> String {
        "(\(name)->>\(index))::\(column.type.declaration)"
    }

    /// A condition: a row lacks a part of its identifier beside what it refers to.
    func isUnnamed(_ reference: RelationshipTables.Reference, _ row: String) -> String {
        let own = tables.keyPlaces(of: reference.holder).filter { !reference.columns.contains($0) }
        let isLacking = own.map { "\(row).\(tables.columns[reference.holder][$0].quoted) IS NULL" }
        return isLacking.isEmpty ? "false" : "(\(isLacking.joined(separator: " OR ")))"
    }

    /// A text in single quotes.
    func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
