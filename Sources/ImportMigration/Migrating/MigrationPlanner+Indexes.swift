import GRDB
import ImportEngine
import ImportModel
import ImportSQLite

/// Indexes that rows with the same key would not let be built.
extension MigrationPlanner {
    mutating func addUniqueIndexes() throws {
        for target in map.targets {
            let entity = new.entities[target.home].name
            for index in target.table.indexes where index.isUnique {
                // The rows of another identifier have been looked at.
                let isKnown =
                    index.isIdentifier && steps.contains { $0.change == .identifierChanged && $0.entity == entity }
                guard !isKnown, let obstacle = try obstacle(to: index, target) else { continue }
                let columns = index.columns.joined(separator: ", ")
                add(.indexesChanged, entity, nil, "must have no two rows with the same \(columns)", obstacle)
            }
        }
    }

    private func obstacle(to index: TableDescription.Index, _ target: MigrationMapping.Target) throws
        -> ModelMigration.Obstacle?
    {
        var parts: [String] = []
        for source in target.sources {
            let cells = try index.columns.map { name in
                try target.table.column(name).map { try map.cell($0, of: target, from: source) } ?? .null
            }
            // A NULL is like no other.
            guard !cells.contains(where: \.isNull) else { continue }
            if target.sources.count == 1, try isUnique(cells, in: source) { return nil }
            let condition = map.condition(source.pairs.map(\.old), ofOld: source.home, "o").map { " WHERE \($0)" } ?? ""
            let key = cells.enumerated().map { "\($1.sql) AS k\($0)" }.joined(separator: ", ")
            parts.append("SELECT o.rowid AS r, \(key) FROM \(map.table(ofOld: source.home)) AS o\(condition)")
        }
        guard !parts.isEmpty else { return nil }
        let isThere = index.columns.indices.map { "k\($0) IS NOT NULL" }.joined(separator: " AND ")
        let all = "SELECT * FROM (\(parts.joined(separator: " UNION ALL "))) WHERE \(isThere)"
        return try sameKeys(all, columns: index.columns.count)
    }

    /// True if an index of the store keeps cells apart already; values that become others stay different.
    private func isUnique(_ cells: [CellExpression], in source: MigrationMapping.Source) throws -> Bool {
        let name = old.table(of: source.home)
        let origins = Set(cells.compactMap { $0.origin.map(ExistingEntity.folded) })
        guard let table = old.tables.first(where: { $0.name.hasSameBytes(as: name) }) else { return false }
        func isWithin(_ columns: [String]) -> Bool {
            !columns.isEmpty && columns.allSatisfy { origins.contains(ExistingEntity.folded($0)) }
        }
        if isWithin(table.primaryKey) { return true }
        return try table.indexes.contains {
            try $0.isUnique && isWithin($0.columns) && StoreSchema.ownIndex(on: $0.columns, name, database) != nil
        }
    }
}
