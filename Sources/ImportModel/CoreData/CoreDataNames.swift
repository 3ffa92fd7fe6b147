/// Tells apart names that SQLite would take for the same, though Core Data does not.
enum CoreDataNames {
    /// Gives columns and tables other names where two would have the same: `_reference` for references and links, `_2` for
    /// attributes and entities.
    static func distinguish(_ model: inout ModelDescription) {
        distinguishTables(&model)
        for _ in 0..<16 {
            guard let layout = try? ModelLayout(model) else { return }
            var isChanged = false
            for home in model.entities.indices where layout.home(of: home) == home {
                if distinguishTypes(of: home, layout, &model) || distinguishColumns(of: home, layout, &model) {
                    isChanged = true
                }
            }
            if distinguishJoins(layout, &model) { isChanged = true }
            if !isChanged { return }
        }
    }

    private static func distinguishTables(_ model: inout ModelDescription) {
        var used: Set<[UInt8]> = []
        for index in model.entities.indices {
            model.entities[index].table = free(model.entities[index].table, &used)
        }
    }

    /// The name, or the first of `NAME_2`, `NAME_3` … that is not used; it is used then.
    private static func free(_ name: String, _ used: inout Set<[UInt8]>, suffix: String = "") -> String {
        if used.insert(name.foldedASCII).inserted { return name }
        let base = name + suffix
        if !suffix.isEmpty, used.insert(base.foldedASCII).inserted { return base }
        var number = 2
        while !used.insert("\(base)_\(number)".foldedASCII).inserted { number += 1 }
        return "\(base)_\(number)"
    }

    /// Gives attributes of subentities with the same name columns of their own where they are of different types.
    ///
    /// - Returns: whether a name has changed.
    private static func distinguishTypes(of home: Int, _ layout: ModelLayout, _ model: inout ModelDescription) -> Bool {
        guard layout.isShared(home) else { return false }
        var seen: [AttributeDescription] = []
        var isChanged = false
        for entity in layout.hierarchy.subentities(of: home) {
            for place in model.entities[entity].attributes.indices {
                let attribute = model.entities[entity].attributes[place]
                let other = seen.first { $0.isKept(with: attribute) }
                seen.append(attribute)
                guard let other, other.type != attribute.type else { continue }
                model.entities[entity].attributes[place].column += "_2"
                isChanged = true
            }
        }
        return isChanged
    }

    private static let rowIDs = Set(["rowid", "oid", "_rowid_"].map(\.foldedASCII))

    /// - Returns: whether a name has changed.
    private static func distinguishColumns(
        of home: Int,
        _ layout: ModelLayout,
        _ model: inout ModelDescription
    ) -> Bool {
        var used = rowIDs
        var isChanged = false
        let positions = layout.columnRelationships(of: home).compactMap { layout.positionColumn(of: $0) }
        used.formUnion(positions.map(\.foldedASCII))
        for attribute in layout.tableAttributes(of: home) {
            let column = free(attribute.column, &used)
            if column.hasSameBytes(as: attribute.column) { continue }
            isChanged = true
            for entity in layout.hierarchy.chain(of: home) + layout.hierarchy.subentities(of: home) {
                for place in model.entities[entity].attributes.indices
                where model.entities[entity].attributes[place].isKept(with: attribute) {
                    model.entities[entity].attributes[place].column = column
                }
            }
        }
        for index in layout.columnRelationships(of: home) {
            let old = layout.references(of: index).map(\.name)
            let new = old.map { free($0, &used, suffix: "_reference") }
            if new == old { continue }
            isChanged = true
            let placement = layout.relationships[layout.relationships[index].owner]
            let entity = placement.entity
            for place in model.entities[entity].relationships.indices
            where model.entities[entity].relationships[place].name.hasSameBytes(as: placement.description.name) {
                model.entities[entity].relationships[place].columns = new
            }
        }
        return isChanged
    }

    /// - Returns: whether a name has changed.
    private static func distinguishJoins(_ layout: ModelLayout, _ model: inout ModelDescription) -> Bool {
        var used: Set<[UInt8]> = []
        var isChanged = false
        for (index, entity) in model.entities.enumerated() where layout.home(of: index) == index {
            used.insert(entity.table.foldedASCII)
        }
        for (index, placement) in layout.relationships.enumerated()
        where placement.shape == .join && placement.owner == index {
            let join = layout.join(of: index)
            let table = free(join.table, &used, suffix: "_reference")
            if !table.hasSameBytes(as: join.table) {
                isChanged = true
                let places = model.entities[placement.entity].relationships.indices
                for place in places
                where model.entities[placement.entity].relationships[place].name
                    .hasSameBytes(as: placement.description.name)
                {
                    model.entities[placement.entity].relationships[place].table = table
                }
            }
            let columns = (join.source + join.destination).map(\.name.foldedASCII)
            // The columns are named after the table of the entity.
            if Set(columns).count < columns.count {
                isChanged = true
                model.entities[layout.home(of: placement.entity)].table += "_2"
            }
        }
        return isChanged
    }
}
