extension ModelDescription {
    /// The entity with all entities that it is connected with, in either direction: what records of it may be written to.
    ///
    /// - Returns: the whole model where it has no such entity.
    package func connected(to name: String) -> ModelDescription {
        var connections: [String: Set<String>] = [:]
        func connect(_ one: String, _ other: String) {
            connections[one, default: []].insert(other)
            connections[other, default: []].insert(one)
        }
        for entity in entities {
            // Entities of one table have one set of columns.
            connect(entity.name, "table \(entity.table.asciiLowercased)")
            for relationship in entity.relationships { connect(entity.name, relationship.destination) }
            if let parent = entity.parent { connect(entity.name, parent) }
            for value in entity.subentity?.values ?? [] { connect(entity.name, value.entity) }
        }
        guard entities.contains(where: { $0.name == name }) else { return self }
        var (found, next): (Set<String>, [String]) = ([name], [name])
        while let one = next.popLast() {
            for other in connections[one] ?? [] where found.insert(other).inserted { next.append(other) }
        }
        var connected = self
        connected.entities.removeAll { !found.contains($0.name) }
        return connected
    }
}
