import ImportModel
import ImportSources

/// The entity of some records, and those of the arrays within them that become tables.
package struct InferredEntities {
    /// What became of the arrays of objects within records, by their keys from the record on.
    package struct Arrays {
        /// Those that are tables.
        package var tables: [[String]] = []
        /// Those that could have been, but were not named.
        package var unnamed: [[String]] = []
        /// Those that stay JSON; why, in words.
        package var asJSON: [(keys: [String], reason: String)] = []
    }

    private var statistics: EntityStatistics
    private let rules: NestingRules
    private var names: TableNames
    /// The entity of the records first, then its children, each with its own behind it.
    package private(set) var entities: [EntityDescription] = []
    /// In the order of the entities and their attributes.
    package private(set) var notices: [InferenceNotice] = []
    private(set) var arrays = Arrays()

    /// The entities of records.
    ///
    /// - Parameters:
    ///   - statistics: of all records.
    ///   - name: the entity's.
    ///   - records: where its records are, to be kept in the model.
    ///   - keyNames: of the attributes of keys further out, the innermost first.
    ///   - stored: what the store has of it, which decides; nil for nothing.
    ///   - identifier: per attribute of its identifier the names that it may have.
    ///   - rules: what becomes of objects and arrays.
    ///   - names: of child tables.
    package init(
        of statistics: EntityStatistics,
        named name: String,
        records: RecordPath? = nil,
        keyNames: [String] = [],
        continuing stored: ExistingEntity? = nil,
        identifier: [[String]] = [],
        rules: NestingRules,
        names: inout TableNames
    ) throws {
        self.statistics = statistics
        self.rules = rules
        self.names = names
        if rules.reading == .found { self.statistics.settleContainers() }
        var inference = EntityInference(
            statistics: self.statistics,
            name: name,
            rules: rules,
            keyNames: keyNames,
            isIdentified: !identifier.isEmpty
        )
        var entity = EntityDescription(name: name, records: records, attributes: [])
        if let stored {
            entity = stored.entity
            entity.name = name
            entity.records = records ?? entity.records
            entity.attributes = inference.attributes(continuing: stored)
            if stored.isForeign, !stored.isGiven { inference.chooseIdentifier(of: &entity, stored) }
        } else {
            entity.attributes = inference.attributes()
        }
        try add(entity, inference, stored, identifier)
        names = self.names
    }

    /// Adds an entity, and the entities of its arrays.
    private mutating func add(
        _ entity: EntityDescription,
        _ inference: EntityInference,
        _ stored: ExistingEntity?,
        _ identifier: [[String]] = []
    ) throws {
        var entity = entity
        notices += inference.notices
        note(inference)
        var children =
            stored?.entity.relationships.map { relationship in
                (relationship.destination, keys: relationship.listKeys, element: element(of: relationship, inference))
            } ?? []
        for (list, destination) in zip(inference.lists, try tables(of: inference.lists, in: entity.name)) {
            entity.relationships.append(
                RelationshipDescription(
                    name: list.name,
                    destination: destination,
                    isToMany: true,
                    from: [.value(AttributePath(keys: list.column.keys))],
                    isOrdered: true,
                    deleteRule: .cascade
                )
            )
            children.append((destination, list.column.keys, list.column.element))
        }
        entities.append(entity)
        let references = try Self.references(to: entity, identifier)
        for (name, keys, element) in children {
            let prefix = inference.prefix + keys
            arrays.tables.append(prefix)
            let known = stored?.children[BytewiseString(name)]
            guard let element else {
                if let known { try keep(known) }
                continue
            }
            var inference = EntityInference(
                statistics: statistics,
                name: name,
                rules: rules,
                root: element,
                prefix: prefix
            )
            var child = EntityDescription(name: name, attributes: [])
            if let known {
                child = known.entity
                child.attributes = inference.attributes(continuing: known)
            } else {
                child.attributes = inference.attributes(besides: references)
            }
            try add(child, inference, known)
        }
    }

    /// The names of the tables of arrays, in their order: a key that may be a name itself keeps it.
    private mutating func tables(of lists: [EntityInference.List], in entity: String) throws -> [String] {
        var tables = try lists.map { list in
            list.column.keys.count == 1 ? try names.name(for: list.column.keys, of: entity) : ""
        }
        for (index, list) in lists.enumerated() where tables[index].isEmpty {
            tables[index] = try names.name(for: list.column.keys, of: entity)
        }
        let renamed = zip(lists, tables).filter { "\(entity)_\(ColumnNames.wanted(for: $0.column.keys))" != $1 }
        if !renamed.isEmpty {
            let names = renamed.map { "\(AttributePath(keys: $0.column.keys)) is the table \($1)" }
            notices.append(InferenceNotice(entity: entity, path: .record, finding: .renamed(names)))
        }
        return tables
    }

    /// Adds an entity that the store has, and no record has an object of.
    private mutating func keep(_ stored: ExistingEntity) throws {
        entities.append(stored.entity)
        for relationship in stored.entity.relationships {
            if let child = stored.children[BytewiseString(relationship.destination)] { try keep(child) }
        }
    }

    /// Where the elements of a relationship that the store has were met; nil where there are none.
    private func element(of relationship: RelationshipDescription, _ inference: EntityInference) -> Int? {
        let path = statistics.path(of: AttributePath(keys: relationship.listKeys), below: inference.root)
        guard let path, case let element = Int(statistics.paths[path].element), element >= 0,
            statistics.paths[element].objects > 0
        else { return nil }
        return element
    }

    /// The columns of child tables that refer to an entity's rows.
    private static func references(to entity: EntityDescription, _ identifier: [[String]]) throws -> [String] {
        var entity = entity
        if entity.identifier.isEmpty {
            entity.identifier = identifier.compactMap { candidates in
                candidates.lazy.compactMap { entity.attributes.firstIndex(named: $0) }.first
                    .map { entity.attributes[$0].name }
            }
        }
        entity.relationships = []
        let layout = try ModelLayout(importing: ModelDescription(entities: [entity]))
        return layout.key(of: 0).map { "\(entity.name)_\($0.name)" } + ["\(entity.name)_position"]
    }

    private mutating func note(_ inference: EntityInference) {
        for (keys, decision) in inference.decisions {
            switch decision {
            case .value, .table: break
            case .unnamed: arrays.unnamed.append(keys)
            case .kept(let reason): arrays.asJSON.append((keys, reason))
            case .tooDeep:
                arrays.asJSON.append((keys, "there would be more levels of child tables than \(rules.depth)"))
            }
        }
    }
}

extension RelationshipDescription {
    /// The keys of the array that it is read from; none where it is from anything else.
    fileprivate var listKeys: [String] {
        if case .value(let path)? = from.first { return path.keys }
        return []
    }
}
