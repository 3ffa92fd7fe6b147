import GRDB
import ImportEngine
import ImportModel

/// Finds out what a migration changes, and what stands against it, by two models and the rows that are there.
struct MigrationPlanner {
    let map: MigrationMapping
    let allowsLoss: Bool
    /// True if it looks for what ends a run by itself, too: values that do not survive, and rows with the same key.
    let isFirst: Bool
    let database: Database
    /// How many rows there are, by what they are selected from.
    private(set) var counted: [String: Int64]
    var steps: [ModelMigration.Step] = []
    /// Per entity of the new model what `pairs` returns.
    private let pairs: [[MigrationMapping.EntityPair]]

    var old: ModelLayout { map.old }
    var new: ModelLayout { map.new }

    /// - Parameter counted: what the first plan has counted, where one was made: only what another program may have changed since
    ///   matters then. nil for the first.
    init(_ map: MigrationMapping, allowsLoss: Bool, counted: [String: Int64]?, _ database: Database) {
        self.map = map
        self.allowsLoss = allowsLoss
        self.isFirst = counted == nil
        self.counted = counted ?? [:]
        self.database = database
        var pairs = [[MigrationMapping.EntityPair]](repeating: [], count: map.new.entities.count)
        for pair in map.targets.flatMap({ $0.sources.flatMap(\.pairs) }) {
            for entity in map.new.hierarchy.chain(of: pair.new) { pairs[entity].append(pair) }
        }
        self.pairs = pairs
    }

    /// All steps.
    ///
    /// - Parameter store: the store's path.
    mutating func survey(of store: String) throws -> [ModelMigration.Step] {
        for entity in new.entities.indices { try addEntity(entity) }
        for relationship in new.relationships.indices { try addStorage(relationship) }
        try addGone()
        try addWaitingLinks()
        try addOpenConflicts(of: store)
        try addUndoableJobs()
        return steps
    }

    mutating func add(
        _ change: ModelMigration.Change,
        _ entity: String,
        _ property: String?,
        _ text: String,
        rows: Int64? = nil,
        _ obstacle: ModelMigration.Obstacle? = nil
    ) {
        steps.append(
            ModelMigration.Step(
                change: change,
                entity: entity,
                property: property,
                text: text,
                rows: rows,
                obstacle: obstacle,
                isRefused: obstacle.map { !($0.isLoss && allowsLoss) } ?? false
            )
        )
    }

    /// Adds a step of a relationship of the new model.
    mutating func add(
        _ change: ModelMigration.Change,
        of relationship: Int,
        _ text: String,
        _ obstacle: ModelMigration.Obstacle
    ) {
        let placement = new.relationships[relationship]
        add(change, new.entities[placement.entity].name, placement.description.name, text, obstacle)
    }

    // MARK: Rows

    /// Rows of old entities that become rows of an entity or its subentities.
    func pairs(of entity: Int) -> [MigrationMapping.EntityPair] { pairs[entity] }

    /// The rows of old entities, all of one table, under the alias `o`.
    func rows(of entities: [Int], _ condition: String? = nil) -> String {
        guard let first = entities.first else { return "(SELECT NULL AS rowid LIMIT 0) AS o" }
        let conditions = [map.condition(entities, ofOld: old.home(of: first), "o"), condition].compactMap(\.self)
        let clause = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
        return "\(map.table(ofOld: first)) AS o\(clause)"
    }

    func count(_ from: String) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT count(*) FROM \(from)") ?? 0
    }

    /// How many rows of old entities there are.
    func count(
        _ pairs: [MigrationMapping.EntityPair],
        where condition: (MigrationMapping.EntityPair) throws -> String? = { _ in nil }
    )
        throws
        -> Int64
    {
        try pairs.reduce(0) { $0 + (try count(rows(of: [$1.old], condition($1)))) }
    }

    /// How many rows of old entities there are, as far as it is only said of a step: as the first plan has counted them.
    mutating func reportedCount(_ pairs: [MigrationMapping.EntityPair]) throws -> Int64 {
        try pairs.reduce(0) { sum, pair in
            let rows = rows(of: [pair.old])
            let number = try counted[rows] ?? count(rows)
            counted[rows] = number
            return sum + number
        }
    }

    /// An obstacle where some rows of old entities meet a condition.
    func obstacle(
        _ pairs: [MigrationMapping.EntityPair],
        _ reason: String,
        isLoss: Bool = false,
        advice: String? = nil,
        where condition: (MigrationMapping.EntityPair) throws -> String?
    ) throws -> ModelMigration.Obstacle? {
        let count = try count(pairs, where: condition)
        guard count > 0 else { return nil }
        var rows: [ModelMigration.Row] = []
        for pair in pairs where rows.count < 3 {
            rows += try firstRows(of: pair.old, condition(pair), limit: 3 - rows.count)
        }
        return ModelMigration.Obstacle(reason: reason, count: count, rows: rows, isLoss: isLoss, advice: advice)
    }

    /// The first rows of an old entity that meet a condition, by their row ids.
    func firstRows(of entity: Int, _ condition: String?, limit: Int = 3) throws -> [ModelMigration.Row] {
        let key = old.hierarchy.identifier(of: entity).isEmpty ? [] : map.oldKey(entity, "o")
        let columns = (["o.rowid"] + key).joined(separator: ", ")
        let sql = "SELECT \(columns) FROM \(rows(of: [entity], condition)) ORDER BY o.rowid LIMIT \(limit)"
        return try rows(sql)
    }

    /// The rows that a query returns: their row ids, then their identifiers.
    func rows(_ sql: String) throws -> [ModelMigration.Row] {
        try Row.fetchAll(database, sql: sql).map { row in
            let values = Array(row.databaseValues)
            return ModelMigration.Row(
                rowID: Int64.fromDatabaseValue(values[0]),
                identifier: values.dropFirst().map(\.plainText)
            )
        }
    }

    // MARK: Entities

    private mutating func addEntity(_ entity: Int) throws {
        let description = new.entities[entity]
        let name = description.name
        guard let before = map.match.entities[entity] else {
            add(.entityAdded, name, nil, description.isAbstract ? "is new, and abstract" : "is new")
            return
        }
        let former = old.entities[before]
        if !former.name.hasSameBytes(as: name) { add(.entityRenamed, name, nil, "is renamed from \(former.name)") }
        try addTable(entity, before)
        try addIdentifier(entity, before)
        for attribute in description.attributes { try addAttribute(attribute, of: entity) }
        for (index, placement) in new.relationships.enumerated() where placement.entity == entity {
            try addRelationship(index)
        }
        if description.indexes != former.indexes { add(.indexesChanged, name, nil, "has other indexes") }
        if isReadOtherwise(description, former) {
            add(.readingChanged, name, nil, "is read from records in another way")
        }
    }

    /// True if entities differ in what no row has.
    private func isReadOtherwise(_ one: EntityDescription, _ other: EntityDescription) -> Bool {
        one.records != other.records || one.subentity != other.subentity || one.together != other.together
            || one.userInfo != other.userInfo
            || one.isAbstract != other.isAbstract || one.parent != other.parent
    }

    private mutating func addTable(_ entity: Int, _ before: Int) throws {
        let name = new.entities[entity].name
        guard new.hasTable(entity) || old.hasTable(before) else { return }
        let (table, former) = (new.table(of: entity), old.table(of: before))
        let pair = MigrationMapping.EntityPair(old: before, new: entity)
        guard let target = map.target(ofNew: entity),
            let source = target.sources.first(where: { $0.pairs.contains(pair) })
        else { return }
        let isMoved = target.sources.count > 1 || !source.isWhole
        if isMoved {
            let rows = try reportedCount([pair])
            let isSame = ExistingEntity.folded(table) == ExistingEntity.folded(former)
            if !isSame {
                add(.tableChanged, name, nil, "has its rows in the table \(table) instead of \(former)", rows: rows)
            }
        } else if new.home(of: entity) == entity, !table.hasSameBytes(as: former) {
            add(.storageRenamed, name, nil, "has its rows in the table \(table), which is renamed from \(former)")
        }
    }

    private mutating func addIdentifier(_ entity: Int, _ before: Int) throws {
        guard new.home(of: entity) == entity, let target = map.target(ofNew: entity) else { return }
        let pair = MigrationMapping.EntityPair(old: before, new: entity)
        let names = new.hierarchy.identifier(of: entity)
        let former = old.hierarchy.identifier(of: before)
        let isSame =
            names.count == former.count
            && zip(names, former).allSatisfy { now, then in
                now.hasSameBytes(as: then) && now.hasSameBytes(as: EntityDescription.parentIdentifier)
                    || map.match.attribute(now, of: entity, in: before)?.name.hasSameBytes(as: then) == true
            }
        let isMerged = target.sources.count > 1
        guard !isSame || isMerged else { return }
        let now = names.isEmpty ? "none" : names.joined(separator: ", ")
        let then = former.isEmpty ? "none" : former.joined(separator: ", ")
        let rows = try reportedCount(pairs(of: entity))
        var obstacle: ModelMigration.Obstacle?
        if !names.isEmpty { obstacle = try identifierObstacle(pair, target) }
        guard !isSame || obstacle != nil else { return }
        add(
            .identifierChanged,
            new.entities[entity].name,
            nil,
            "has the identifier \(now) instead of \(then)",
            rows: rows,
            obstacle
        )
    }

    /// Rows whose new identifier is null, or that of another row.
    private func identifierObstacle(_ pair: MigrationMapping.EntityPair, _ target: MigrationMapping.Target) throws
        -> ModelMigration.Obstacle?
    {
        let pairs = target.sources.flatMap(\.pairs)
        let missing = try obstacle(pairs, "these have no value for it") { pair in
            try map.key(pair, "o").map { "\($0.sql) IS NULL" }.joined(separator: " OR ").inParentheses
        }
        if missing != nil || !isFirst { return missing }
        let parts = try pairs.map { pair in
            let key = try map.key(pair, "o").enumerated().map { "\($1.sql) AS k\($0)" }.joined(separator: ", ")
            return "SELECT o.rowid AS r, \(key) FROM \(rows(of: [pair.old]))"
        }
        return try sameKeys(parts.joined(separator: " UNION ALL "), columns: new.key(of: pair.new).count)
    }

    /// Rows that have the same key as another one.
    ///
    /// - Parameters:
    ///   - all: a query of row ids `r` and keys `k0`, `k1` ….
    ///   - columns: how many columns the key has.
    func sameKeys(_ all: String, columns: Int) throws -> ModelMigration.Obstacle? {
        let key = (0..<columns).map { "k\($0)" }.joined(separator: ", ")
        let several = "(SELECT \(key) FROM (\(all)) GROUP BY \(key) HAVING count(*) > 1)"
        let twice = try count("(\(all)) WHERE (\(key)) IN \(several)")
        guard twice > 0 else { return nil }
        let first = try rows("SELECT r, \(key) FROM (\(all)) WHERE (\(key)) IN \(several) ORDER BY r LIMIT 3")
        return ModelMigration.Obstacle(reason: "these have the same as another row", count: twice, rows: first)
    }
}

extension DatabaseValue {
    /// The value for a person.
    var plainText: String {
        switch storage {
        case .null: "NULL"
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .string(let text): text
        case .blob(let data): "\(data.count.grouped) bytes"
        }
    }
}

extension String {
    var inParentheses: String { "(\(self))" }
}
