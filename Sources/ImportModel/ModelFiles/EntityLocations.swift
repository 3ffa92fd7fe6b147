/// Where in a model file the entities, and what they say of one another, are.
struct EntityLocations {
    private let entities: [ModelReader.Member]

    init(_ entities: [ModelReader.Member]) {
        self.entities = entities
    }

    /// The place of a mistake: what it is about, or the innermost thing around that is there.
    func location(of mistake: ModelValidator.Mistake) -> ModelFileLocation {
        var (value, location) = (entities[mistake.entity].value, entities[mistake.entity].location)
        for key in mistake.keys {
            guard case .object(let members) = value,
                let index = members.firstIndex(where: { $0.key.hasSameBytes(as: key) })
            else { return location }
            (value, location) = (members[index].value, location.key(members[index].key, at: index))
        }
        guard let index = mistake.index, case .array(let elements) = value, elements.indices.contains(index) else {
            return location
        }
        return location.index(index)
    }
}
