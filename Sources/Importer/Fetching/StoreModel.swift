import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// The model of a store, in the form of a model file.
///
/// An import without a model starts from it.
public struct StoreModel: Sendable {
    /// The entities, in the order in which their tables were first described.
    public let model: ModelDescription
    /// Descriptions of what the model leaves out.
    public let notices: [String]

    /// Reads the model of a store.
    ///
    /// A table that no import has written is described by the declared types of its columns, if it is in `names` or the store has no
    /// other tables.
    ///
    /// - Parameters:
    ///   - store: the SQLite file's path.
    ///   - names: entities or tables; none for all that imports have written.
    /// - Throws: `ImportError` with `.noInput` when there is no such store, entity or table; another when the store cannot
    ///   be read.
    public init(of store: any FileLocation, entities names: [String] = []) throws {
        let store = store.filePath
        self = try ImportError.explaining(store) {
            try StoreConnection.reader(store).read { database in
                try BookkeepingSchema.checkFormat(database, store: store)
                return try StoreModel(store, names, database)
            }
        }
    }

    private init(_ store: String, _ names: [String], _ database: Database) throws {
        let described = try StoredEntities.described(database).map(\.entity)
        let layout = try StoredEntities.layout(database)
        let tables = Set(
            described.map { ExistingEntity.folded($0.table) }
                + (layout?.tables.map { ExistingEntity.folded($0.name) } ?? [])
        )
        let own = try String.fetchAll(
            database,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                    AND name NOT LIKE '\\_import\\_%' ESCAPE '\\' ORDER BY rowid
                """
        ).filter { !tables.contains(ExistingEntity.folded($0)) }
        var notices: [String] = []
        var wanted = names
        if names.isEmpty {
            wanted = described.isEmpty ? own : Self.names(of: described, layout)
            if !described.isEmpty, !own.isEmpty {
                notices.append("left out, as no import has written them: \(own.joined(separator: ", "))")
            }
        }
        if let layout { wanted = layout.closed(wanted, &notices) }
        var entities: [EntityDescription] = []
        for name in wanted {
            if let layout, let index = layout.index(ofEntityOrTable: name) {
                entities.append(try Self.related(index, layout, database, &notices))
                continue
            }
            guard let stored = try StoredEntities.continued(name, database) else {
                let isKnown = described.contains {
                    BytewiseString($0.name) == BytewiseString(name)
                        || ExistingEntity.folded($0.table) == ExistingEntity.folded(name)
                }
                guard isKnown else { throw Self.unknown(name, store, described.map(\.name) + own) }
                notices.append("\(name): left out, as it never had a row; its model will be inferred again")
                continue
            }
            let columns = try StoredTable(stored.entity.table, database)
            entities.append(Self.printed(stored, columns, &notices))
        }
        guard !entities.isEmpty else {
            throw ImportError(
                .storeEmpty,
                at: store,
                "holds no model",
                advice: "\(notices.first ?? "Import something first.")"
            )
        }
        model = ModelDescription(entities: Self.withDistinctPaths(entities))
        self.notices = notices
    }

    /// The names of all entities: those that relate to one another as their models have them, then all others.
    private static func names(of described: [EntityDescription], _ layout: ModelLayout?) -> [String] {
        guard let layout else { return described.map(\.name) }
        let others = described.filter { layout.hierarchy.index(of: $0.name) == nil }
        return layout.entities.map(\.name) + others.map(\.name)
    }

    /// An entity that relates to others as its model has it, with the columns that no model describes.
    private static func related(
        _ index: Int,
        _ layout: ModelLayout,
        _ database: Database,
        _ notices: inout [String]
    ) throws -> EntityDescription {
        var entity = layout.entities[index]
        guard let stored = try StoredEntities.continued(entity.name, database) else { return entity }
        let columns = try StoredTable(stored.entity.table, database)
        let table = layout.tables.first {
            ExistingEntity.folded($0.name) == ExistingEntity.folded(stored.entity.table)
        }
        let own = entity.attributes.map { ExistingEntity.folded($0.column) }
        for place in entity.attributes.indices where !stored.isRequired(entity.attributes[place]) {
            entity.attributes[place].isOptional = true
        }
        // Columns that hold links are the relationships'.
        entity.attributes += printed(stored, columns, &notices).attributes.filter { attribute in
            table?.column(attribute.column) == nil && !own.contains(ExistingEntity.folded(attribute.column))
        }
        return entity
    }

    /// The entity as a file has it: what was only observed is not demanded.
    private static func printed(
        _ stored: ExistingEntity,
        _ columns: StoredTable,
        _ notices: inout [String]
    ) -> EntityDescription {
        var entity = stored.entity
        entity.attributes = entity.attributes.compactMap { attribute in
            var attribute = attribute
            let column = ExistingEntity.folded(attribute.column)
            if !stored.isRequired(attribute) { attribute.isOptional = true }
            guard stored.undescribed.contains(column) else { return attribute }
            guard let text = columns.column(attribute.column)?.defaultText else {
                return attribute
            }
            if let value = DeclaredType.literal(text) {
                attribute.defaultValue = value == .null ? nil : value
                if value == .null || (try? attribute.coerce(value)) != nil { return attribute }
            }
            notices.append("\(entity.name).\(attribute.name): left out, as the table computes its default")
            return nil
        }
        for name in stored.computed {
            notices.append("\(entity.name).\(name): left out, as the table computes it")
        }
        return entity
    }

    /// Where entities have the same record path, it does not say which of them is meant.
    private static func withDistinctPaths(_ entities: [EntityDescription]) -> [EntityDescription] {
        var counts: [String: Int] = [:]
        for path in entities.compactMap(\.records?.description) { counts[path, default: 0] += 1 }
        return entities.map { entity in
            var entity = entity
            if let path = entity.records?.description, counts[path] != 1 { entity.records = nil }
            return entity
        }
    }

    private static func unknown(_ name: String, _ store: String, _ names: [String]) -> ImportError {
        return ImportError(
            .entityNotFound,
            at: store,
            "has no entity \(name)\(NameSuggestion.question(for: name, among: names))",
            advice: names.isEmpty ? "It has no tables." : "It has: \(names.joined(separator: ", "))."
        )
    }
}

extension ModelLayout {
    fileprivate func index(ofEntityOrTable name: String) -> Int? {
        hierarchy.index(of: name) ?? home(ofTable: ExistingEntity.folded(name))
    }

    /// Names of entities with those of all that they relate to, inherit from or may be.
    fileprivate func closed(_ names: [String], _ notices: inout [String]) -> [String] {
        var all = names
        var next = 0
        while next < all.count {
            if let index = index(ofEntityOrTable: all[next]) {
                let entity = entities[index]
                let others =
                    entity.relationships.map(\.destination) + [entity.parent].compactMap { $0 }
                    + (entity.subentity?.values.compactMap(\.entity) ?? [])
                for other in others
                where !all.contains(where: { self.index(ofEntityOrTable: $0) == hierarchy.index(of: other) }) {
                    notices.append("\(other): is included, as \(entity.name) relates to it")
                    all.append(other)
                }
            }
            next += 1
        }
        return all
    }
}
