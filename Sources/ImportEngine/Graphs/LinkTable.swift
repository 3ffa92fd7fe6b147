import ImportModel

/// The links of a relationship as rows: they are laid out beside those of objects, in a table after those of the entities.
package struct LinkTable {
    /// The columns of its join table that refer to the object that states a link, and to the other one, and that of the index
    /// in the list; nil where there is none.
    package let own: [TableDescription.Column]
    package let other: [TableDescription.Column]
    package let position: String?
    package let table: String

    /// - Returns: nil where the relationship has no join table.
    package init?(_ relationship: Int, _ layout: ModelLayout) {
        guard layout.relationships[relationship].shape == .join else { return nil }
        let join = layout.join(of: relationship)
        let isMaking = layout.relationships[relationship].owner == relationship
        own = isMaking ? join.source : join.destination
        other = isMaking ? join.destination : join.source
        position = isMaking ? join.position : join.inversePosition
        table = join.table
    }

    /// Its index among the tables of a layout; -1 where the relationship has no join table.
    package static func index(of relationship: Int, _ layout: ModelLayout) -> Int32 {
        guard layout.relationships[relationship].shape == .join else { return -1 }
        let before = layout.relationships[..<relationship].count { $0.shape == .join }
        return Int32(layout.entities.count + before)
    }

    /// Those of all relationships, in the order of their indexes.
    package static func all(of layout: ModelLayout) -> [LinkTable] {
        layout.relationships.indices.compactMap { LinkTable($0, layout) }
    }

    /// The names of its columns, in the order of the cells of a link.
    package var columns: [String] { (own + other).map(\.name) + [position].compactMap { $0 } }

    /// The plan of its rows.
    ///
    /// - Parameter index: its own among the tables of a layout.
    package func plan(index: Int) throws -> EntityPlan {
        var attributes = (own + other).map(\.attribute)
        if let position { attributes.append(AttributeDescription(name: position, type: .integer64, from: [])) }
        return try EntityPlan(entity: EntityDescription(name: table, attributes: attributes), index: index)
    }
}
