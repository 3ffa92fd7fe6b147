import GRDB

/// A column of a unique index, with the collation that tells its values apart.
struct UniqueColumns {
    let name: String
    let collation: String

    /// Those of each index of a table that is of columns alone and of all rows; of the primary key, too.
    static func all(of table: String, _ database: Database) throws -> [[UniqueColumns]] {
        let indexes = try String.fetchAll(
            database,
            sql: "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND NOT partial ORDER BY seq",
            arguments: [table]
        )
        var all: [[UniqueColumns]] = []
        for index in indexes {
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT name, coll FROM pragma_index_xinfo(?) WHERE \"key\" ORDER BY seqno",
                arguments: [index]
            )
            let columns = rows.compactMap { row -> UniqueColumns? in
                guard let name = row["name"] as String? else { return nil }
                return UniqueColumns(name: name, collation: row["coll"] ?? "BINARY")
            }
            if columns.count == rows.count, !columns.isEmpty { all.append(columns) }
        }
        // A row id has no index.
        let primary = try Row.fetchAll(
            database,
            sql: "SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk",
            arguments: [table]
        ).map { UniqueColumns(name: $0["name"], collation: "BINARY") }
        let names = Set(primary.map { ContinuedEntity.folded($0.name) })
        if !primary.isEmpty, !all.contains(where: { Set($0.map { ContinuedEntity.folded($0.name) }) == names }) {
            all.append(primary)
        }
        return all
    }
}

extension ObjectChange {
    /// Whether the change gives an attribute or a reference another value.
    func says(_ name: String) -> Bool {
        attributes.contains { $0.name.hasSameBytes(as: name) && $0.new != nil }
            || references.contains { $0.name.hasSameBytes(as: name) }
    }

    /// The new value of an attribute, or of a part of the identifier that a reference leads to; nil where nothing is said of it.
    func value(_ name: String, _ place: Int) -> StoredValue? {
        if let attribute = attributes.first(where: { $0.name.hasSameBytes(as: name) }) { return attribute.new }
        if let part = identifier.values.first(where: { $0.name.hasSameBytes(as: name) }) { return part.value }
        for reference in references where reference.name.hasSameBytes(as: name) {
            switch reference.content {
            case .toOne(_, .object(let object)?):
                return object.values.indices.contains(place) ? object.values[place].value : nil
            case .toOne(_, .null?): return .null
            case .toOne(_, nil), .toMany: return nil
            }
        }
        return nil
    }
}
