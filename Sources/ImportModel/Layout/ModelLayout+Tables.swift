/// The tables of a model.
extension ModelLayout {
    /// What `tables` has.
    func allTables() -> [TableDescription] {
        var tables: [TableDescription] = []
        var homes: [[UInt8]: Int] = [:]
        for entity in entities.indices where hasTable(entity) {
            let home = home(of: entity)
            guard homes.updateValue(home, forKey: table(of: entity).foldedASCII) == nil else { continue }
            tables.append(table(ofHome: home))
        }
        let joins = relationships.indices.filter { relationships[$0].shape == .join && relationships[$0].owner == $0 }
        return tables + joins.map { joinTable(of: $0) }
    }

    /// The table of the rows of an entity that is its own home.
    private func table(ofHome home: Int) -> TableDescription {
        var table = TableDescription(name: entities[home].table, isJoin: false)
        let rowID = rowIDColumn(of: home)
        if let rowID {
            let attribute = AttributeDescription(name: rowID, type: .integer64, from: [])
            table.columns.append(TableDescription.Column(name: rowID, role: .rowID, attribute: attribute))
            table.primaryKey = [rowID]
        }
        table.columns += tableAttributes(of: home).map {
            TableDescription.Column(name: $0.column, role: .attribute, attribute: $0)
        }
        if let entity = entityColumn(of: home) {
            let attribute = AttributeDescription(name: entity, type: .string, from: [])
            table.columns.append(TableDescription.Column(name: entity, role: .entity, attribute: attribute))
        }
        addIdentifier(of: home, to: &table)
        for relationship in columnRelationships(of: home) { add(relationship, of: home, to: &table) }
        return table
    }

    private func addIdentifier(of home: Int, to table: inout TableDescription) {
        let identifier = hierarchy.identifier(of: home)
        guard !identifier.isEmpty else { return }
        let key = key(of: home)
        if identifier.count == 1, let column = key.first, key.count == 1, column.role == .attribute,
            [.integer16, .integer32, .integer64].contains(column.attribute.type)
        {
            table.primaryKey = [column.name]
        } else {
            // The columns of the object around it come first.
            let references = key.filter { $0.role == .reference }
            let others = key.filter { $0.role != .reference }
            table.indexes.append(
                TableDescription.Index(
                    name: "\(table.name)_identifier",
                    columns: (references + others).map(\.name),
                    isUnique: true,
                    isIdentifier: true
                )
            )
        }
    }

    /// The relationships whose columns are in the table of an entity that is its own home, by their owners' indexes: those that
    /// its entities declare, then those that nest its rows elsewhere.
    package func columnRelationships(of home: Int) -> [Int] {
        var here = Set(hierarchy.chain(of: home))
        if isShared(home) { here.formUnion(hierarchy.subentities(of: home)) }
        let own = relationships.indices.filter { index in
            relationships[index].owner == index && relationships[index].holder.map { here.contains($0) } == true
        }
        func isDeclared(_ index: Int) -> Bool {
            relationships[index].shape != .ownedDestination && here.contains(relationships[index].entity)
        }
        return own.filter(isDeclared) + own.filter { !isDeclared($0) }
    }

    private func add(_ relationship: Int, of home: Int, to table: inout TableDescription) {
        let references = references(of: relationship)
        let names = references.map(\.name)
        table.columns += references
        let position = positionColumn(of: relationship)
        if let position {
            let attribute = AttributeDescription(name: position, type: .integer64, isOptional: true, from: [])
            table.columns.append(TableDescription.Column(name: position, role: .position, attribute: attribute))
        }
        let target = target(of: relationship)
        table.foreignKeys.append(
            TableDescription.ForeignKey(
                columns: names,
                table: self.table(of: target),
                referenced: key(of: target).map(\.name),
                action: deleteAction(of: relationship)
            )
        )
        let isPositional = hierarchy.identifier(of: home).isEmpty
        let isOneToOne = relationships[relationship].shape == .oneToOne
        table.indexes.append(
            TableDescription.Index(
                name: "\(table.name)_\(relationships[relationship].base)",
                columns: names + (isPositional ? [position].compactMap { $0 } : []),
                isUnique: isOneToOne || isPositional && position != nil
            )
        )
    }

    /// What the foreign key of a relationship in columns does: the rule of the side that has no column.
    private func deleteAction(of relationship: Int) -> TableDescription.DeleteAction {
        let owner = relationships[relationships[relationship].owner]
        let isMandatory = owner.shape != .ownedDestination && !owner.description.isOptional
        let rule: RelationshipDescription.DeleteRule =
            switch owner.shape {
            case .ownedDestination: owner.deleteRule
            case .source, .join: .nullify
            case .oneToMany, .oneToOne: owner.inverse.map { relationships[$0].deleteRule } ?? .nullify
            }
        switch rule {
        case .nullify: return isMandatory ? .restrict : .setNull
        case .cascade: return .cascade
        case .deny: return .restrict
        case .noAction: return .noActionDeferred
        }
    }

    // MARK: Join tables

    /// The names in the join table of a relationship.
    package struct Join: Sendable {
        package let table: String
        /// The columns that refer to the side that makes the table, and to the other one.
        package let source: [TableDescription.Column]
        package let destination: [TableDescription.Column]
        /// The columns of the index in the lists of either side; nil where the order is not kept.
        package let position: String?
        package let inversePosition: String?
    }

    /// The join table of a relationship, seen from the side that makes it.
    package func join(of relationship: Int) -> Join {
        let index = relationships[relationship].owner
        let owner = relationships[index]
        let inverse = owner.inverse.map { relationships[$0] }
        let home = entities[owner.entity].table
        func columns(_ base: String, of entity: Int) -> [TableDescription.Column] {
            key(of: entity).map { Self.column("\(base)_\($0.name)", .reference, like: $0.attribute) }
        }
        let hasPosition = owner.isOrdered || hierarchy.identifier(of: owner.destination).isEmpty
        // Where it is its own inverse, there is a row for each direction.
        let hasInverse =
            owner.inverse != index
            && inverse.map { $0.isOrdered || hierarchy.identifier(of: owner.entity).isEmpty } == true
        return Join(
            table: owner.description.table ?? inverse?.description.table ?? "\(home)_\(owner.description.name)",
            source: columns(home, of: owner.entity),
            destination: columns(owner.description.name, of: owner.destination),
            position: hasPosition ? "position" : nil,
            inversePosition: hasInverse ? "inverse_position" : nil
        )
    }

    private func joinTable(of relationship: Int) -> TableDescription {
        let owner = relationships[relationship]
        let join = join(of: relationship)
        var table = TableDescription(name: join.table, isJoin: true)
        table.columns = join.source + join.destination
        table.primaryKey = table.columns.map(\.name)
        for name in [join.position, join.inversePosition].compactMap({ $0 }) {
            let attribute = AttributeDescription(name: name, type: .integer64, isOptional: true, from: [])
            table.columns.append(TableDescription.Column(name: name, role: .position, attribute: attribute))
        }
        table.indexes = [
            TableDescription.Index(
                name: "\(join.table)_inverse",
                columns: join.destination.map(\.name),
                isUnique: false
            )
        ]
        func action(_ rule: RelationshipDescription.DeleteRule?) -> TableDescription.DeleteAction {
            rule == .deny ? .restrict : .cascade
        }
        let ends = [
            (join.source, owner.entity, owner.description.deleteRule),
            (join.destination, owner.destination, owner.inverse.map { relationships[$0].deleteRule }),
        ]
        table.foreignKeys = ends.map { columns, entity, rule in
            TableDescription.ForeignKey(
                columns: columns.map(\.name),
                table: self.table(of: entity),
                referenced: key(of: entity).map(\.name),
                action: action(rule)
            )
        }
        return table
    }
}
