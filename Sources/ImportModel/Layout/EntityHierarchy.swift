/// The entities of a model by name, and what they inherit.
package struct EntityHierarchy: Sendable {
    /// In the model's order.
    package let entities: [EntityDescription]
    private let indexes: [[UInt8]: Int]
    /// Per entity what `chain` and `subentities` return.
    private let chains: [[Int]]
    private let descendants: [[Int]]

    package init(_ entities: [EntityDescription]) {
        self.entities = entities
        var indexes: [[UInt8]: Int] = [:]
        for (index, entity) in entities.enumerated() where indexes[Array(entity.name.utf8)] == nil {
            indexes[Array(entity.name.utf8)] = index
        }
        self.indexes = indexes
        let named = entities.map { $0.parent.flatMap { indexes[Array($0.utf8)] } }
        let parents = named.indices.map { index -> Int? in
            var (next, steps) = (named[index], 0)
            while let parent = next, steps <= named.count {
                if parent == index { return nil }
                (next, steps) = (named[parent], steps + 1)
            }
            return steps > named.count ? nil : named[index]
        }
        chains = parents.indices.map { entity in
            var chain = [entity]
            while let parent = parents[chain[chain.count - 1]] { chain.append(parent) }
            return chain
        }
        var descendants = [[Int]](repeating: [], count: entities.count)
        for (entity, chain) in chains.enumerated() {
            for ancestor in chain { descendants[ancestor].append(entity) }
        }
        self.descendants = descendants
    }

    /// The index of the entity with a name; nil for none.
    package func index(of name: String) -> Int? { indexes[Array(name.utf8)] }

    /// An entity and its ancestors, inwards to outwards.
    package func chain(of entity: Int) -> [Int] { chains[entity] }

    /// An entity and all that inherit from it, in the model's order.
    package func subentities(of entity: Int) -> [Int] { descendants[entity] }

    /// The attributes of an entity, those that are inherited first.
    package func attributes(of entity: Int) -> [AttributeDescription] {
        let chain = chain(of: entity)
        if chain.count == 1 { return entities[entity].attributes }
        var attributes: [AttributeDescription] = []
        var places: [[UInt8]: Int] = [:]
        for ancestor in chain.reversed() {
            for attribute in entities[ancestor].attributes {
                let name = Array(attribute.name.utf8)
                if let place = places[name] {
                    attributes[place] = attribute
                } else {
                    places[name] = attributes.count
                    attributes.append(attribute)
                }
            }
        }
        return attributes
    }

    /// The names of the attributes by which two objects of an entity are the same; empty for none.
    package func identifier(of entity: Int) -> [String] {
        chain(of: entity).map { entities[$0].identifier }.first { !$0.isEmpty } ?? []
    }

    /// True if objects of an entity belong to the object that they are nested in.
    package func isOwned(_ entity: Int) -> Bool {
        let identifier = identifier(of: entity)
        return identifier.isEmpty || identifier.contains(EntityDescription.parentIdentifier)
    }

    /// The entity that declares a relationship which an entity has, and its index there.
    package func relationship(_ name: String, of entity: Int) -> (entity: Int, index: Int)? {
        for ancestor in chain(of: entity) {
            let relationships = entities[ancestor].relationships
            if let index = relationships.firstIndex(where: { $0.name.hasSameBytes(as: name) }) {
                return (ancestor, index)
            }
        }
        return nil
    }

    /// True if one of two entities is the other or inherits from it.
    func isKind(_ one: Int, _ other: Int) -> Bool { chain(of: one).contains(other) || chain(of: other).contains(one) }

    /// The names of what a new object must have beside its identifier: attributes without default, and mandatory to-ones.
    package func requirements(of entity: Int) -> [String] {
        let identifier = identifier(of: entity)
        let attributes = attributes(of: entity).filter { attribute in
            !attribute.isOptional && attribute.defaultValue == nil && !attribute.isGenerated
                && !identifier.contains(where: attribute.name.hasSameBytes)
        }
        let relationships = chain(of: entity).reversed().flatMap { entities[$0].relationships }
        return attributes.map(\.name) + relationships.filter { !$0.isOptional && !$0.isToMany }.map(\.name)
    }
}
