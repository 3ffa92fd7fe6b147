import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Where the rows of the new model's tables come from, and what their cells are made of.
///
/// All expressions are over the old tables.
struct MigrationMapping: Sendable {
    /// An entity of the old model and what it is in the new one.
    struct EntityPair: Hashable, Sendable {
        let old: Int
        let new: Int
    }

    /// Rows of an old table that get into a new one.
    struct Source: Sendable {
        /// The entity whose table it is, in the old model.
        let home: Int
        let pairs: [EntityPair]
        /// True if all of the table's rows are meant.
        let isWhole: Bool
    }

    /// A table of the new model.
    struct Target: Sendable {
        /// The entity whose table it is, in the new model.
        let home: Int
        let table: TableDescription
        let sources: [Source]
    }

    let match: ModelMatch
    let transformers: TransformerRegistry
    /// The tables of entities.
    let targets: [Target]
    /// The join tables, each with the relationship that makes it.
    let joins: [(relationship: Int, table: TableDescription)]
    /// The tables of the old model that the store has, in lower case.
    let present: Set<BytewiseString>
    /// The index in `targets`, by the target's home.
    private let places: [Int: Int]
    /// Per entity of the new model whose rows were there, its attributes by their columns, in lower case.
    private let attributes: [Int: [BytewiseString: AttributeDescription]]
    /// What the old tables and columns are called at the moment.
    var names = CurrentNames()

    var old: ModelLayout { match.old }
    var new: ModelLayout { match.new }

    init(_ match: ModelMatch, present: Set<BytewiseString>, _ transformers: TransformerRegistry) {
        self.match = match
        self.present = present
        self.transformers = transformers
        let new = match.new
        let tables = new.tables
        var targets: [Target] = []
        for table in tables where !table.isJoin {
            guard let home = new.home(ofTable: ExistingEntity.folded(table.name)) else { continue }
            targets.append(Target(home: home, table: table, sources: Self.sources(of: home, match, present)))
        }
        self.targets = targets
        places = Dictionary(targets.enumerated().map { ($1.home, $0) }) { first, _ in first }
        var attributes: [Int: [BytewiseString: AttributeDescription]] = [:]
        for pair in targets.flatMap({ $0.sources.flatMap(\.pairs) }) {
            attributes[pair.new] = Dictionary(
                new.hierarchy.attributes(of: pair.new).map { (ExistingEntity.folded($0.column), $0) },
                uniquingKeysWith: { first, _ in first }
            )
        }
        self.attributes = attributes
        joins = new.relationships.indices.compactMap { index in
            guard new.relationships[index].shape == .join, new.relationships[index].owner == index else { return nil }
            let name = new.join(of: index).table
            return tables.first { $0.isJoin && $0.name.hasSameBytes(as: name) }.map { (index, $0) }
        }
    }

    /// The entities whose rows are in the table of an entity that is its own home.
    static func entities(ofHome home: Int, _ layout: ModelLayout) -> [Int] {
        layout.hierarchy.subentities(of: home).filter { layout.home(of: $0) == home }
    }

    private static func sources(of home: Int, _ match: ModelMatch, _ present: Set<BytewiseString>) -> [Source] {
        var pairs: [Int: [EntityPair]] = [:]
        for entity in Self.entities(ofHome: home, match.new) {
            guard let before = match.entities[entity], match.old.hasTable(before),
                present.contains(ExistingEntity.folded(match.old.table(of: before)))
            else { continue }
            pairs[match.old.home(of: before), default: []].append(EntityPair(old: before, new: entity))
        }
        let first = match.entities[home].map { match.old.home(of: $0) }
        // The table's own rows keep their row ids, and so come first.
        let order = pairs.keys.sorted { ($0 == first ? -1 : $0) < ($1 == first ? -1 : $1) }
        return order.map { source in
            let all = Self.entities(ofHome: source, match.old).filter { !match.old.entities[$0].isAbstract }
            let own = pairs[source] ?? []
            return Source(
                home: source,
                pairs: own,
                isWhole: all.allSatisfy { entity in own.contains { $0.old == entity } }
            )
        }
    }

    // MARK: Names

    /// The present name of an old entity's table, quoted.
    func table(ofOld entity: Int) -> String { names.table(old.table(of: entity)).quotedIdentifier }

    /// An old column under an alias, as an expression.
    func column(_ name: String, of table: String, _ alias: String) -> CellExpression {
        CellExpression(sql: "\(alias).\(names.column(name, of: table).quotedIdentifier)", column: name)
    }

    /// The condition that a row under an alias is of one of some old entities; nil for all rows of its table.
    func condition(_ entities: [Int], ofOld home: Int, _ alias: String) -> String? {
        guard let column = old.entityColumn(of: home) else { return nil }
        let all = Self.entities(ofHome: home, old)
        guard !all.allSatisfy({ entities.contains($0) || old.entities[$0].isAbstract }) else { return nil }
        let list = entities.map { old.entities[$0].name.sqlLiteral }.joined(separator: ", ")
        return "\(self.column(column, of: old.table(of: home), alias).sql) IN (\(list))"
    }

    /// What is added to the row ids of rows that get into a new table after others.
    func offset(of source: Int, in target: Target) -> String {
        let before = target.sources.prefix { $0.home != source }
        return before.map { " + (SELECT coalesce(max(rowid), 0) FROM \(table(ofOld: $0.home)))" }.joined()
    }

    /// The table that an entity of the new model has its rows in.
    func target(ofNew entity: Int) -> Target? {
        places[new.home(of: entity)].map { targets[$0] }
    }

    /// The attribute of an entity of the new model that is in a column; nil for none.
    func attribute(inColumn column: String, of entity: Int) -> AttributeDescription? {
        if let attributes = attributes[entity] { return attributes[ExistingEntity.folded(column)] }
        return new.hierarchy.attributes(of: entity).first {
            ExistingEntity.folded($0.column) == ExistingEntity.folded(column)
        }
    }
}
