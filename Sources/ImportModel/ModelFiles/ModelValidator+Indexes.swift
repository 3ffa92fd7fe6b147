/// What the indexes of entities are of.
extension ModelValidator {
    /// Finds names in indexes that are no columns of the entity's table.
    mutating func checkIndexes(_ layout: ModelLayout) {
        for (index, entity) in layout.entities.enumerated() {
            for (number, names) in entity.indexes.enumerated() {
                for name in names where layout.indexedColumns([name], of: index) == nil {
                    note(
                        Mistake(
                            entity: index,
                            keys: ["indexes"],
                            index: number,
                            message: Self.reason(name, index, layout)
                        )
                    )
                }
            }
        }
    }

    /// Finds names in groups that are no attributes, or that nothing changes.
    mutating func checkGroups(_ layout: ModelLayout) {
        for (index, entity) in layout.entities.enumerated() {
            let known = layout.hierarchy.attributes(of: index).map(\.name)
            let identifier = layout.hierarchy.chain(of: index).flatMap { layout.entities[$0].identifier }
            var grouped: [String] = []
            for (number, names) in entity.together.enumerated() {
                for name in names {
                    let message: String
                    if !known.contains(where: name.hasSameBytes) {
                        let hint =
                            NameSuggestion.nearest(to: name, among: known).map { "; perhaps \"\($0)\" is meant" } ?? ""
                        message = "there is no attribute \(name)" + hint
                    } else if identifier.contains(where: name.hasSameBytes) {
                        message = "\(name) is part of the identifier, which does not change"
                    } else if grouped.contains(where: name.hasSameBytes) {
                        message = "\(name) is in another group, too"
                    } else {
                        continue
                    }
                    note(Mistake(entity: index, keys: ["together"], index: number, message: message))
                }
                grouped += names
            }
        }
    }

    private static func reason(_ name: String, _ entity: Int, _ layout: ModelLayout) -> String {
        let indexes = layout.relationships(of: entity)
        if indexes.contains(where: { layout.relationships[$0].description.name.hasSameBytes(as: name) }) {
            return
                "\(name) has no column in the table of \(layout.entities[entity].name), as its links are kept elsewhere"
        }
        let known =
            layout.hierarchy.attributes(of: entity).map(\.name)
            + indexes.map { layout.relationships[$0].description.name }
        let hint = NameSuggestion.nearest(to: name, among: known).map { "; perhaps \"\($0)\" is meant" } ?? ""
        return "there is no attribute or to-one relationship \(name)" + hint
    }
}
