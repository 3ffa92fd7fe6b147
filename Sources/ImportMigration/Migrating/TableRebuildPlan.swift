import ImportEngine
import ImportModel
import ImportSources

/// How the tables of a store become those of another model: what is renamed, what gets columns, and what is made again.
///
/// What can be done by changing the schema alone is done so; other tables are created again and filled from the old ones.
struct TableRebuildPlan {
    /// A table that is renamed or gets columns, and keeps its rows where they are.
    struct AlteredTable {
        let table: TableDescription
        let added: [TableDescription.Column]
    }

    /// A table that is made.
    struct RebuiltTable {
        let table: TableDescription
        /// Its rows: what comes before the cells, the sources and where the cells come from.
        let target: MigrationMapping.Target?
        /// The relationship whose links it has.
        let relationship: Int?
        /// The old table that it follows; nil for none, or several.
        let former: String?
    }

    private(set) var altered: [AlteredTable] = []
    private(set) var rebuilt: [RebuiltTable] = []
    /// The tables that go, by their old names.
    private(set) var dropped: [String] = []
    /// Old table names, and the new ones.
    private(set) var renamedTables: [(from: String, to: String)] = []
    /// Columns, by the old names of table and column.
    private(set) var renamedColumns: [(table: String, from: String, to: String)] = []
    /// What everything is called after the renaming.
    private(set) var names = CurrentNames()

    private let map: MigrationMapping
    private let oldTables: [BytewiseString: TableDescription]

    /// - Parameter map: with the old names.
    init(_ map: MigrationMapping) throws {
        self.map = map
        oldTables = Dictionary(
            map.old.tables.map { (ExistingEntity.folded($0.name), $0) },
            uniquingKeysWith: { first, _ in first }
        )
        let followers = Self.followers(map)
        for target in map.targets {
            if let source = followers[target.home] { try rename(target, from: source) }
        }
        for join in map.joins { renameJoin(join.relationship, join.table) }
        var keptNames: Set<BytewiseString> = []
        for target in map.targets {
            let source = followers[target.home]
            let former = source.map { map.old.table(of: $0.home) }
            if let source, let former, let added = try addedColumns(target, source) {
                altered.append(AlteredTable(table: target.table, added: added))
                keptNames.insert(ExistingEntity.folded(former))
            } else {
                rebuilt.append(RebuiltTable(table: target.table, target: target, relationship: nil, former: former))
            }
        }
        for join in map.joins {
            let former = formerJoin(join.relationship)
            if let former, try isKept(join.relationship, join.table, former) {
                altered.append(AlteredTable(table: join.table, added: []))
                keptNames.insert(ExistingEntity.folded(former))
            } else {
                rebuilt.append(
                    RebuiltTable(table: join.table, target: nil, relationship: join.relationship, former: former)
                )
            }
        }
        dropped = map.old.tables.map(\.name).filter { name in
            let name = ExistingEntity.folded(name)
            return map.present.contains(name) && !keptNames.contains(name)
        }
        let taken = Set(renamedTables.map { ExistingEntity.folded($0.to) })
        let moved = Set(renamedTables.map { ExistingEntity.folded($0.from) })
        for (place, name) in dropped.enumerated()
        where taken.contains(ExistingEntity.folded(name)) && !moved.contains(ExistingEntity.folded(name)) {
            note(table: name, "_import_gone_\(place)")
        }
    }

    /// The targets that all rows of an old table get into, and no others.
    private static func followers(_ map: MigrationMapping) -> [Int: MigrationMapping.Source] {
        var uses: [Int: Int] = [:]
        for source in map.targets.flatMap(\.sources) { uses[source.home, default: 0] += 1 }
        var followers: [Int: MigrationMapping.Source] = [:]
        for target in map.targets where target.sources.count == 1 {
            let source = target.sources[0]
            if source.isWhole, uses[source.home] == 1 { followers[target.home] = source }
        }
        return followers
    }

    // MARK: Renaming

    private mutating func rename(_ target: MigrationMapping.Target, from source: MigrationMapping.Source) throws {
        let former = map.old.table(of: source.home)
        if !former.hasSameBytes(as: target.table.name) { note(table: former, target.table.name) }
        let first = renamedColumns.count
        for column in target.table.columns {
            guard let old = try map.cell(column, of: target, from: source).origin else { continue }
            note(column: old, of: former, column.name)
        }
        // What goes makes way for what has its name now.
        let taken = Set(renamedColumns[first...].map { ExistingEntity.folded($0.to) })
        for (place, column) in (oldTables[ExistingEntity.folded(former)]?.columns ?? []).enumerated()
        where taken.contains(ExistingEntity.folded(names.column(column.name, of: former))) {
            note(column: column.name, of: former, "_import_gone_\(place)")
        }
    }

    private mutating func renameJoin(_ relationship: Int, _ table: TableDescription) {
        guard let former = formerJoin(relationship), let cells = try? map.links(of: relationship)?.cells else { return }
        if !former.hasSameBytes(as: table.name) { note(table: former, table.name) }
        for (cell, column) in zip(cells, table.columns) {
            if let old = cell.origin { note(column: old, of: former, column.name) }
        }
    }

    private mutating func note(table: String, _ name: String) {
        renamedTables.append((table, name))
        names.rename(table: table, to: name)
    }

    private mutating func note(column: String, of table: String, _ name: String) {
        guard !column.hasSameBytes(as: name), !names.isRenamed(column: column, of: table) else { return }
        renamedColumns.append((table, column, name))
        names.rename(column: column, of: table, to: name)
    }

    /// The join table whose links a join table has; nil where they were not in one, or it has several followers.
    private func formerJoin(_ relationship: Int) -> String? {
        guard let links = map.match.links(of: relationship), map.old.relationships[links.owner].shape == .join else {
            return nil
        }
        let users = map.joins.filter { map.match.links(of: $0.relationship)?.owner == links.owner }
        let table = map.old.join(of: links.owner).table
        guard users.count == 1, map.present.contains(ExistingEntity.folded(table)) else { return nil }
        return table
    }

    // MARK: Keeping

    /// The columns that a table gets, if that is all that it takes beside new names; nil where it has to be made again.
    private func addedColumns(_ target: MigrationMapping.Target, _ source: MigrationMapping.Source) throws
        -> [TableDescription.Column]?
    {
        guard let old = oldTables[ExistingEntity.folded(map.old.table(of: source.home))] else { return nil }
        var (added, used): ([TableDescription.Column], Set<BytewiseString>) = ([], [])
        for column in target.table.columns {
            let cell = try map.cell(column, of: target, from: source)
            if cell.isNull {
                added.append(column)
            } else {
                guard let name = cell.column, used.insert(ExistingEntity.folded(name)).inserted,
                    let before = old.column(name), before.attribute.declaredType == column.attribute.declaredType
                else { return nil }
            }
        }
        let isComplete = old.columns.allSatisfy { used.contains(ExistingEntity.folded($0.name)) }
        let hasKey =
            Set(old.primaryKey.map { folded($0, of: old) }) == Set(target.table.primaryKey.map(ExistingEntity.folded))
        // An identifier may be the primary key, which stays with its table.
        let identifier = old.indexes.first(where: \.isIdentifier)?.columns.map { folded($0, of: old) }
        let hasIdentifier =
            identifier == nil
            || identifier == target.table.indexes.first(where: \.isIdentifier)?.columns.map(ExistingEntity.folded)
        guard isComplete, hasKey, hasIdentifier, canKeepKeys(of: old, in: target.table, added) else { return nil }
        return added
    }

    private func isKept(_ relationship: Int, _ table: TableDescription, _ former: String) throws -> Bool {
        guard let old = oldTables[ExistingEntity.folded(former)], let cells = try map.links(of: relationship)?.cells,
            cells.count == old.columns.count
        else { return false }
        let isPlain = zip(cells, old.columns).allSatisfy { cell, column in
            cell.column.map { ExistingEntity.folded($0) == ExistingEntity.folded(column.name) } == true
        }
        let types = zip(old.columns, table.columns).allSatisfy {
            $0.attribute.declaredType == $1.attribute.declaredType
        }
        return isPlain && types && old.primaryKey.count == table.primaryKey.count && canKeepKeys(of: old, in: table, [])
    }

    private func folded(_ column: String, of table: TableDescription) -> BytewiseString {
        ExistingEntity.folded(names.column(column, of: table.name))
    }

    /// True if a table's foreign keys are those that it needs, but for those of columns that it gets.
    private func canKeepKeys(
        of old: TableDescription,
        in new: TableDescription,
        _ added: [TableDescription.Column]
    ) -> Bool {
        let before = Set(
            old.foreignKeys.map { key in
                ForeignKey(
                    columns: key.columns.map { folded($0, of: old) },
                    table: ExistingEntity.folded(names.table(key.table)),
                    referenced: key.referenced.map { ExistingEntity.folded(names.column($0, of: key.table)) },
                    action: key.action
                )
            }
        )
        let after = new.foreignKeys.map { key in
            ForeignKey(
                columns: key.columns.map(ExistingEntity.folded),
                table: ExistingEntity.folded(key.table),
                referenced: key.referenced.map(ExistingEntity.folded),
                action: key.action
            )
        }
        let own = Set(added.map { ExistingEntity.folded($0.name) })
        return before.isSubset(of: after)
            && after.allSatisfy { before.contains($0) || $0.columns.count == 1 && own.contains($0.columns[0]) }
    }

    private struct ForeignKey: Hashable {
        let columns: [BytewiseString]
        let table: BytewiseString
        let referenced: [BytewiseString]
        let action: TableDescription.DeleteAction
    }
}
