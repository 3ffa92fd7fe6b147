/// The rows of an entity as they are written: every column of theirs is an attribute.
///
/// What is no attribute of the entity has a name with an `@` before that of its column, and is read from nothing in the JSON.
package struct RowDescription: Sendable {
    /// The entity with its inherited attributes, then the other columns in the order of the table.
    package let entity: EntityDescription
    /// How many of the attributes are the entity's own or inherited.
    package let attributeCount: Int
    /// The attribute that is the row's entity; nil where the table has rows of one only.
    package let entityColumn: Int?
    /// By the relationship that owns them, the attributes that are its reference columns.
    package let references: [Int: Range<Int>]
    /// By the relationship that owns it, the attribute that is its position.
    package let positions: [Int: Int]
    /// True if a row is known by its `row_id` alone.
    package let isKeyless: Bool
}

extension ModelLayout {
    /// The rows of an entity.
    package func rows(of entity: Int) -> RowDescription {
        let home = home(of: entity)
        var row = entities[entity]
        row.table = table(of: entity)
        row.attributes = hierarchy.attributes(of: entity)
        row.relationships = []
        let attributeCount = row.attributes.count
        func add(_ column: TableDescription.Column, default value: JSONValue? = nil) -> Int {
            var attribute = column.attribute
            attribute.name = "@\(column.name)"
            attribute.column = column.name
            attribute.isOptional = true
            attribute.defaultValue = value
            row.attributes.append(attribute)
            return row.attributes.count - 1
        }
        var entityPlace: Int?
        if let name = entityColumn(of: entity) {
            let attribute = AttributeDescription(name: name, type: .string, from: [])
            let column = TableDescription.Column(name: name, role: .entity, attribute: attribute)
            entityPlace = add(column, default: .string(entities[entity].name))
        }
        var references: [Int: Range<Int>] = [:]
        var positions: [Int: Int] = [:]
        let chain = hierarchy.chain(of: entity)
        for relationship in columnRelationships(of: home)
        where relationships[relationship].holder.map({ chain.contains($0) }) == true {
            let first = row.attributes.count
            for column in self.references(of: relationship) { _ = add(column) }
            references[relationship] = first..<row.attributes.count
            guard let position = positionColumn(of: relationship) else { continue }
            let attribute = AttributeDescription(name: position, type: .integer64, from: [])
            positions[relationship] = add(
                TableDescription.Column(name: position, role: .position, attribute: attribute)
            )
        }
        row.identifier = hierarchy.identifier(of: entity).flatMap { name in
            guard name.hasSameBytes(as: EntityDescription.parentIdentifier) else { return [name] }
            return parentRelationship(of: entity).flatMap { references[$0] }.map { row.attributes[$0].map(\.name) }
                ?? []
        }
        return RowDescription(
            entity: row,
            attributeCount: attributeCount,
            entityColumn: entityPlace,
            references: references,
            positions: positions,
            isKeyless: row.identifier.isEmpty && rowIDColumn(of: entity) != nil
        )
    }
}
