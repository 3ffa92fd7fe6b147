/// Where the objects and links of a model are kept: which tables, columns, keys and indexes.
///
/// A reference holds the identifier of the object that it leads to, so that nothing has to be looked up for it and objects may
/// come in any order. Objects without identifier that something refers to get a key of their own, `row_id`.
package struct ModelLayout: Sendable {
    package let hierarchy: EntityHierarchy
    /// The model's relationships: entities in its order, in each those that it declares.
    package let relationships: [RelationshipStorage]
    /// The index of the first relationship that an entity declares.
    private let firstRelationship: [Int]
    /// The entities that relationships lead to or start from, so that their subentities are in their tables.
    private let anchors: Set<Int>
    /// The tables, in lower case, whose rows have no identifier and are referred to.
    private let keylessTables: Set<[UInt8]>
    /// All tables: those of entities in the model's order, then join tables in the order of the relationships.
    package private(set) var tables: [TableDescription] = []

    /// - Throws: `LayoutError` where a relationship leads nowhere, its inverse is not there, or a key has no end.
    package init(_ model: ModelDescription) throws(LayoutError) {
        let hierarchy = EntityHierarchy(model.entities)
        let draft = try RelationshipPlanner(hierarchy)
        self.hierarchy = hierarchy
        firstRelationship = draft.firstRelationship
        var placements = draft.placements()
        let anchors = Self.anchors(placements)
        self.anchors = anchors
        Self.distinguishTwins(&placements, hierarchy, anchors)
        relationships = placements
        keylessTables = Self.keylessTables(placements, hierarchy, anchors)
        for entity in model.entities.indices where hasEndlessKey(entity) {
            let message =
                "@parent: its key would have no end, as the object around it is identified by one of its own kind"
            throw LayoutError(entity: entity, message: message)
        }
        tables = allTables()
    }

    /// True if an entity is identified by an object that is, in the end, identified by one of the entity.
    private func hasEndlessKey(_ entity: Int) -> Bool {
        var seen: Set<Int> = []
        var next = entity
        while hierarchy.identifier(of: next).contains(where: EntityDescription.parentIdentifier.hasSameBytes),
            let relationship = parentRelationship(of: next)
        {
            guard seen.insert(next).inserted else { return true }
            next = target(of: relationship)
        }
        return false
    }

    package var entities: [EntityDescription] { hierarchy.entities }

    // MARK: Entities

    /// The index of the entity in whose table the rows of an entity are.
    package func home(of entity: Int) -> Int { Self.home(of: entity, hierarchy, anchors) }

    private static func home(of entity: Int, _ hierarchy: EntityHierarchy, _ anchors: Set<Int>) -> Int {
        hierarchy.chain(of: entity).last { anchors.contains($0) } ?? entity
    }

    /// The name of the table in which the rows of an entity are.
    package func table(of entity: Int) -> String { entities[home(of: entity)].table }

    /// True if the rows of several entities are in an entity's table.
    package func isShared(_ entity: Int) -> Bool {
        let home = home(of: entity)
        // Subentities of one that nothing refers to have tables of their own.
        return anchors.contains(home) && hierarchy.subentities(of: home).count > 1
    }

    /// True if an entity has a table at all: an abstract one that nothing refers to has none.
    package func hasTable(_ entity: Int) -> Bool {
        home(of: entity) != entity || !entities[entity].isAbstract || anchors.contains(entity)
    }

    /// The relationships that an entity has, by their indexes: those that are inherited first.
    package func relationships(of entity: Int) -> [Int] {
        hierarchy.chain(of: entity).reversed().flatMap { ancestor in
            entities[ancestor].relationships.indices.map { firstRelationship[ancestor] + $0 }
        }
    }

    /// The attributes whose columns are in the table of an entity's rows.
    func tableAttributes(of entity: Int) -> [AttributeDescription] {
        let home = home(of: entity)
        var attributes = hierarchy.attributes(of: home)
        guard isShared(home) else { return attributes }
        for subentity in hierarchy.subentities(of: home) {
            for attribute in entities[subentity].attributes
            where !attributes.contains(where: { $0.isKept(with: attribute) }) {
                attributes.append(attribute)
            }
        }
        return attributes
    }

    /// The column with the name of each row's entity; nil where the table has rows of one only.
    package func entityColumn(of entity: Int) -> String? {
        isShared(entity) ? freeName("entity", in: entity) : nil
    }

    /// The column that is the key of rows without identifier; nil where they have one or nothing needs a key.
    package func rowIDColumn(of entity: Int) -> String? {
        keylessTables.contains(table(of: entity).foldedASCII) ? freeName("row_id", in: entity) : nil
    }

    private func freeName(_ name: String, in entity: Int) -> String {
        let taken = Set(tableAttributes(of: entity).map { $0.column.foldedASCII })
        var (candidate, number) = (name, 2)
        while taken.contains(candidate.foldedASCII) { (candidate, number) = ("\(name)_\(number)", number + 1) }
        return candidate
    }

    /// The columns by which a row of an entity is referred to, each with the attribute that says how it is stored.
    package func key(of entity: Int) -> [TableDescription.Column] {
        let identifier = hierarchy.identifier(of: entity)
        guard !identifier.isEmpty else {
            let name = freeName("row_id", in: entity)
            let attribute = AttributeDescription(name: name, type: .integer64, from: [])
            return [TableDescription.Column(name: name, role: .rowID, attribute: attribute)]
        }
        let attributes = hierarchy.attributes(of: entity)
        return identifier.flatMap { name in
            if name.hasSameBytes(as: EntityDescription.parentIdentifier) {
                return parentRelationship(of: entity).map { references(of: $0) } ?? []
            }
            guard let attribute = attributes.first(where: { $0.name.hasSameBytes(as: name) }) else { return [] }
            return [TableDescription.Column(name: attribute.column, role: .attribute, attribute: attribute)]
        }
    }

    /// The relationship whose columns are `@parent` in the identifier of an entity, by its index.
    package func parentRelationship(of entity: Int) -> Int? {
        let chain = hierarchy.chain(of: entity)
        return relationships.indices.first { index in
            // A to-one without other side says nothing of what its object is nested in.
            relationships[index].owner == index && relationships[index].shape != .source
                && relationships[index].holder.map { chain.contains($0) } == true
        }
    }

    // MARK: Relationships

    /// `order.lines`.
    package func name(of relationship: Int) -> String {
        let placement = relationships[relationship]
        return "\(entities[placement.entity].name).\(placement.description.name)"
    }

    /// The index of the entity that the columns of a relationship refer to.
    package func target(of relationship: Int) -> Int {
        let owner = relationships[relationships[relationship].owner]
        return owner.shape == .ownedDestination ? owner.entity : owner.destination
    }

    /// The columns that hold a relationship; none where it is in a join table.
    package func references(of relationship: Int) -> [TableDescription.Column] {
        let placement = relationships[relationship]
        guard placement.shape != .join else { return [] }
        let names = relationships[placement.owner].description.columns
        return key(of: target(of: relationship)).enumerated().map { index, column in
            let name = names.indices.contains(index) ? names[index] : "\(placement.base)_\(column.name)"
            return Self.column(name, .reference, like: column.attribute)
        }
    }

    static func column(
        _ name: String,
        _ role: TableDescription.Role,
        like attribute: AttributeDescription
    ) -> TableDescription.Column {
        let own = AttributeDescription(
            name: name,
            type: attribute.type,
            isOptional: true,
            from: [],
            fraction: attribute.fraction,
            storage: attribute.storage
        )
        return TableDescription.Column(name: name, role: role, attribute: own)
    }

    /// The side of a relationship in columns that has the list, by its index; nil where neither has one.
    package func list(of relationship: Int) -> Int? {
        let placement = relationships[relationship]
        switch placement.shape {
        case .ownedDestination: return placement.owner
        case .oneToMany: return relationships[placement.owner].inverse
        case .source, .oneToOne, .join: return nil
        }
    }

    /// The column with the index of each row in its list; nil where there is none.
    package func positionColumn(of relationship: Int) -> String? {
        guard let list = list(of: relationship), let holder = relationships[relationship].holder else { return nil }
        let side = relationships[list]
        let hasPosition =
            hierarchy.identifier(of: holder).isEmpty || side.description.identity == .position
            || side.description.isToMany && side.isOrdered
        return hasPosition ? "\(relationships[relationship].base)_position" : nil
    }

    // MARK: Making one

    /// The entities whose tables have the rows of their subentities, too.
    private static func anchors(_ placements: [RelationshipStorage]) -> Set<Int> {
        var anchors = Set(placements.map(\.destination))
        for placement in placements
        where placement.inverse == nil && [.ownedDestination, .join].contains(placement.shape) {
            anchors.insert(placement.entity)
        }
        return anchors
    }

    /// Two relationships from one entity to one owned table are told apart by their own names.
    private static func distinguishTwins(
        _ placements: inout [RelationshipStorage],
        _ hierarchy: EntityHierarchy,
        _ anchors: Set<Int>
    ) {
        struct Pair: Hashable {
            let source: Int
            let table: [UInt8]
        }
        func pair(_ placement: RelationshipStorage) -> Pair {
            let home = home(of: placement.destination, hierarchy, anchors)
            return Pair(source: placement.entity, table: hierarchy.entities[home].table.foldedASCII)
        }
        let owned = placements.indices.filter { placements[$0].shape == .ownedDestination }
        let groups = Dictionary(grouping: owned) { pair(placements[$0]) }
        for group in groups.values where group.count > 1 {
            for index in group {
                let entity = hierarchy.entities[placements[index].entity].name
                placements[index].base = "\(entity)_\(placements[index].description.name)"
            }
        }
    }

    private static func keylessTables(
        _ placements: [RelationshipStorage],
        _ hierarchy: EntityHierarchy,
        _ anchors: Set<Int>
    ) -> Set<[UInt8]> {
        var tables: Set<[UInt8]> = []
        func add(_ entity: Int) {
            tables.insert(hierarchy.entities[home(of: entity, hierarchy, anchors)].table.foldedASCII)
        }
        for placement in placements {
            var ends = [placement.entity, placement.destination]
            if placement.shape != .join { ends = placement.holder == ends[0] ? [ends[1]] : [ends[0]] }
            for end in ends where hierarchy.identifier(of: end).isEmpty { add(end) }
        }
        for entity in hierarchy.entities.indices where hierarchy.attributes(of: entity).isEmpty { add(entity) }
        return tables
    }
}

extension AttributeDescription {
    /// True if two entities in one table have it in the same column.
    func isKept(with other: AttributeDescription) -> Bool {
        name.hasSameBytes(as: other.name) && column.equalsFoldingASCII(other.column)
    }
}
