/// What the indexes of entities are of.
extension ModelCheck {
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

    private static func reason(_ name: String, _ entity: Int, _ layout: ModelLayout) -> String {
        let indexes = layout.relationships(of: entity)
        if indexes.contains(where: { layout.relationships[$0].description.name.hasSameBytes(as: name) }) {
            return
                "\(name) has no column in the table of \(layout.entities[entity].name), as its links are kept elsewhere"
        }
        let known =
            layout.hierarchy.attributes(of: entity).map(\.name)
            + indexes.map { layout.relationships[$0].description.name }
        let hint = NearName.nearest(to: name, among: known).map { "; perhaps \"\($0)\" is meant" } ?? ""
        return "there is no attribute or to-one relationship \(name)" + hint
    }
}
