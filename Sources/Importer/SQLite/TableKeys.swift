import GRDB
import ImportModel

/// The keys of a table.
struct TableKeys {
    struct Key {
        let columns: [String]
        let isPrimary: Bool
    }

    /// The primary key first.
    private(set) var all: [Key] = []
    private var notNull: Set<ExactText> = []

    init(_ table: String, _ database: Database) throws {
        let columns = try Row.fetchAll(
            database,
            sql: "SELECT name, type, \"notnull\" AS required, pk FROM pragma_table_xinfo(?)",
            arguments: [table]
        )
        let primary = columns.filter { ($0["pk"] as Int) > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }
        if !primary.isEmpty { all.append(Key(columns: primary.map { $0["name"] }, isPrimary: true)) }
        let isWithoutRowID =
            try Bool.fetchOne(
                database,
                sql: "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
                arguments: [table]
            ) ?? false
        let isRowID = primary.count == 1 && (primary[0]["type"] as String).uppercased() == "INTEGER"
        for column in columns {
            let isKey = (column["pk"] as Int) > 0
            if column["required"] || isKey && (isWithoutRowID || isRowID) {
                notNull.insert(ContinuedEntity.folded(column["name"]))
            }
        }
        let indexes = try Row.fetchAll(
            database,
            sql:
                "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND NOT partial AND origin <> 'pk' ORDER BY name",
            arguments: [table]
        )
        for index in indexes {
            let names = try Row.fetchAll(
                database,
                sql: "SELECT name FROM pragma_index_info(?) ORDER BY seqno",
                arguments: [index["name"] as String]
            ).map { $0["name"] as String? }
            if !names.contains(nil) { all.append(Key(columns: names.compactMap(\.self), isPrimary: false)) }
        }
    }

    func isNeverNull(_ column: String) -> Bool { notNull.contains(ContinuedEntity.folded(column)) }

    /// The columns that identify a row by themselves: the primary key, or the only unique index without nulls; nil for none.
    var identifier: [String]? {
        if let primary = all.first(where: \.isPrimary) { return primary.columns }
        let unique = all.filter { $0.columns.allSatisfy(isNeverNull) }
        return unique.count == 1 ? unique[0].columns : nil
    }
}
