import GRDB
import ImportModel

/// The model that a store holds: what an import without a model begins from, as a model file has it.
public struct StoreModel: Sendable {
    /// The entities, in the order in which their tables were first described.
    public let model: ModelDescription
    /// What the model leaves out, in words.
    public let notices: [String]

    /// Reads it.
    ///
    /// A table that no import has written is described by the declared types of its columns, where it is named or the
    /// store has no others.
    ///
    /// - Parameters:
    ///   - store: the SQLite file's path.
    ///   - names: entities or tables; none for all that imports have written.
    /// - Throws: `ImportError` with `.noInput` when there is no such store, entity or table; another when the store cannot
    ///   be read.
    public init(of store: String, entities names: [String] = []) throws {
        do {
            let database = try StoreConnection.reader(store)
            self = try database.read { database in
                try StoreSchema.checkFormat(database, store: store)
                return try StoreModel(store, names, database)
            }
        } catch let error as DatabaseError {
            throw ImportError(store: store, error)
        }
    }

    private init(_ store: String, _ names: [String], _ database: Database) throws {
        let described = try StoredEntities.described(database).map(\.entity)
        let tables = Set(described.map { ContinuedEntity.folded($0.table) })
        let own = try String.fetchAll(
            database,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                    AND name NOT LIKE '\\_import\\_%' ESCAPE '\\' ORDER BY rowid
                """
        ).filter { !tables.contains(ContinuedEntity.folded($0)) }
        var notices: [String] = []
        var wanted = names
        if names.isEmpty {
            wanted = described.isEmpty ? own : described.map(\.name)
            if !described.isEmpty, !own.isEmpty {
                notices.append("left out, as no import has written them: \(own.joined(separator: ", "))")
            }
        }
        var entities: [EntityDescription] = []
        for name in wanted {
            guard let stored = try StoredEntities.continued(name, database) else {
                let isKnown = described.contains {
                    ExactText($0.name) == ExactText(name)
                        || ContinuedEntity.folded($0.table) == ContinuedEntity.folded(name)
                }
                guard isKnown else { throw Self.unknown(name, store, described.map(\.name) + own) }
                notices.append("\(name): left out, as it never had a row; its model will be inferred again")
                continue
            }
            let columns = try StoredColumn.all(of: stored.entity.table, database)
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

    /// The entity as a file has it: what was only observed is not demanded.
    private static func printed(
        _ stored: ContinuedEntity,
        _ columns: [StoredColumn],
        _ notices: inout [String]
    ) -> EntityDescription {
        var entity = stored.entity
        entity.attributes = entity.attributes.compactMap { attribute in
            var attribute = attribute
            let column = ContinuedEntity.folded(attribute.column)
            if !stored.isRequired(attribute) { attribute.isOptional = true }
            guard stored.undescribed.contains(column) else { return attribute }
            if stored.untyped.contains(column) { attribute.type = .string }
            guard let text = columns.first(where: { ContinuedEntity.folded($0.name) == column })?.defaultText else {
                return attribute
            }
            if let value = StoredColumn.literal(text) {
                attribute.defaultValue = value == .null ? nil : value
                if value == .null || (try? attribute.coerce(value)) != nil { return attribute }
            }
            notices.append("\(entity.name).\(attribute.name): left out, as the table works its default out")
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
        let near = NearName.nearest(to: name, among: names)
        return ImportError(
            .entityNotFound,
            at: store,
            "has no entity \(name)\(near.map { "; did you mean \($0)?" } ?? "")",
            advice: names.isEmpty ? "It has no tables." : "It has: \(names.joined(separator: ", "))."
        )
    }
}
