import ImportEngine
import ImportModel
import ImportSources

/// What the tables and columns of the old model are called at the moment: as it says, or after they were renamed.
struct CurrentNames: Sendable {
    private var tables: [BytewiseString: String] = [:]
    private var columns: [BytewiseString: [BytewiseString: String]] = [:]

    /// The present name of a table.
    func table(_ name: String) -> String { tables[ExistingEntity.folded(name)] ?? name }

    /// The present name of a column.
    func column(_ name: String, of table: String) -> String {
        columns[ExistingEntity.folded(table)]?[ExistingEntity.folded(name)] ?? name
    }

    func isRenamed(column: String, of table: String) -> Bool {
        columns[ExistingEntity.folded(table)]?[ExistingEntity.folded(column)] != nil
    }

    mutating func rename(table: String, to name: String) { tables[ExistingEntity.folded(table)] = name }

    mutating func rename(column: String, of table: String, to name: String) {
        columns[ExistingEntity.folded(table), default: [:]][ExistingEntity.folded(column)] = name
    }
}

/// An SQL expression for a cell of a new row.
struct CellExpression: Hashable, Sendable {
    let sql: String
    /// The old column that it is nothing but; nil where it is more.
    var column: String?
    /// The old column whose values it has, as they are or in another form; nil where it has no single one.
    var origin: String?
    /// True if it is NULL in every row.
    var isNull: Bool { sql == "NULL" }

    static let null = CellExpression(sql: "NULL")

    init(sql: String, column: String? = nil, origin: String? = nil) {
        self.sql = sql
        self.column = column
        self.origin = origin ?? column
    }
}
