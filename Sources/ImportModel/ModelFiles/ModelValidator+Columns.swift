/// Columns that several entities have in one table.
extension ModelValidator {
    /// Finds attributes of subentities that are in one column and of different types.
    mutating func checkSharedColumns(of home: Int, _ layout: ModelLayout) {
        guard layout.isShared(home) else { return }
        var seen: [(entity: Int, attribute: AttributeDescription)] = []
        for entity in layout.hierarchy.subentities(of: home) {
            for attribute in layout.entities[entity].attributes {
                guard let other = seen.first(where: { $0.attribute.isKept(with: attribute) }) else {
                    seen.append((entity, attribute))
                    continue
                }
                if other.attribute.type == attribute.type, other.attribute.ownForm == attribute.ownForm { continue }
                let name = "\(layout.entities[other.entity].name).\(attribute.name)"
                let message = "\(name), in the same table and column, is of another type; give it another \"column\""
                note(Mistake(entity: entity, keys: ["attributes", attribute.name], message: message))
            }
        }
    }
}
