/// The indexes that the entities of a model ask for.
extension ModelLayout {
    /// The columns of an index in the table of an entity's rows.
    ///
    /// - Parameters:
    ///   - names: of attributes, inherited ones too, and of relationships.
    /// - Returns: nil where one of them has no column there: it is unknown, or a relationship that is kept elsewhere.
    package func indexedColumns(_ names: [String], of entity: Int) -> [String]? {
        let attributes = hierarchy.attributes(of: entity)
        var columns: [String] = []
        for name in names {
            if let attribute = attributes.first(where: { $0.name.hasSameBytes(as: name) }) {
                columns.append(attribute.column)
                continue
            }
            let found = relationships(of: entity).first { index in
                relationships[index].description.name.hasSameBytes(as: name)
            }
            guard let found, relationships[found].owner == found,
                [.source, .oneToMany, .oneToOne].contains(relationships[found].shape)
            else { return nil }
            columns += references(of: found).map(\.name)
        }
        return columns
    }

    /// All indexes that entities ask for, each with the table in which it is; in the model's order, none of them twice.
    package var wantedIndexes: [(table: String, columns: [String])] {
        var wanted: [(table: String, columns: [String])] = []
        for entity in entities.indices where hasTable(entity) || isShared(entity) {
            // Subentities have their own tables, and what they inherit there too.
            for ancestor in hierarchy.chain(of: entity).reversed() {
                for names in entities[ancestor].indexes {
                    guard let columns = indexedColumns(names, of: entity) else { continue }
                    let table = table(of: entity)
                    if !wanted.contains(where: { $0.table == table && $0.columns == columns }) {
                        wanted.append((table, columns))
                    }
                }
            }
        }
        return wanted
    }
}
