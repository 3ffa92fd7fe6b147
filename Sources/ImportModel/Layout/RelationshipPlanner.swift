/// Finds out how each relationship of a model is stored.
struct RelationshipPlanner {
    private struct Side {
        let entity: Int
        let description: RelationshipDescription
        let destination: Int
        let inverse: Int?
    }

    private let hierarchy: EntityHierarchy
    private var sides: [Side] = []
    /// The index of the first relationship that an entity declares.
    let firstRelationship: [Int]

    /// - Throws: `LayoutError` where a relationship leads nowhere or its inverse is not there.
    init(_ hierarchy: EntityHierarchy) throws(LayoutError) {
        self.hierarchy = hierarchy
        var first: [Int] = []
        var count = 0
        for entity in hierarchy.entities {
            first.append(count)
            count += entity.relationships.count
        }
        firstRelationship = first
        for (index, entity) in hierarchy.entities.enumerated() {
            for relationship in entity.relationships { sides.append(try side(relationship, of: index)) }
        }
    }

    private func side(_ relationship: RelationshipDescription, of entity: Int) throws(LayoutError) -> Side {
        func error(_ message: String) -> LayoutError {
            LayoutError(entity: entity, message: "\(relationship.name): \(message)")
        }
        guard let destination = hierarchy.index(of: relationship.destination) else {
            throw error("there is no entity \(relationship.destination)")
        }
        var inverse: Int?
        if let name = relationship.inverse {
            guard let other = hierarchy.relationship(name, of: destination) else {
                throw error("\(relationship.destination) has no relationship \(name)")
            }
            inverse = firstRelationship[other.entity] + other.index
        }
        return Side(entity: entity, description: relationship, destination: destination, inverse: inverse)
    }

    /// Every relationship with its place.
    func placements() -> [RelationshipStorage] {
        sides.indices.map { index in
            let (shape, owner) = shape(of: index)
            let holder: Int? =
                switch shape {
                case .join: nil
                case .ownedDestination: sides[index].destination
                case .source, .oneToMany, .oneToOne: sides[owner].entity
                }
            let base =
                switch shape {
                case .join: ""
                case .ownedDestination: hierarchy.entities[sides[index].entity].name
                case .source, .oneToMany, .oneToOne: sides[owner].description.name
                }
            return RelationshipStorage(
                entity: sides[index].entity,
                description: sides[index].description,
                destination: sides[index].destination,
                inverse: sides[index].inverse,
                shape: shape,
                owner: owner,
                holder: holder,
                base: base,
                isOrdered: isOrdered(index, owner: owner)
            )
        }
    }

    private func shape(of index: Int) -> (RelationshipStorage.Shape, owner: Int) {
        let side = sides[index]
        guard let inverse = side.inverse else {
            if hierarchy.isOwned(side.destination) { return (.ownedDestination, index) }
            return (side.description.isToMany ? .join : .source, index)
        }
        switch (side.description.isToMany, sides[inverse].description.isToMany) {
        case (true, true): return (.join, min(index, inverse))
        case (true, false): return (.oneToMany, inverse)
        case (false, true): return (.oneToMany, index)
        case (false, false): return (.oneToOne, column(ofPair: min(index, inverse), max(index, inverse)))
        }
    }

    /// The one of two to-ones that has the column.
    private func column(ofPair first: Int, _ second: Int) -> Int {
        func only(_ test: (_ side: Int, _ other: Int) -> Bool) -> Int? {
            switch (test(first, second), test(second, first)) {
            case (true, false): first
            case (false, true): second
            default: nil
            }
        }
        if first == second { return first }
        return only { side, _ in hierarchy.isOwned(sides[side].entity) }
            ?? only { _, other in sides[other].description.deleteRule == .cascade }
            ?? only { side, _ in !sides[side].description.isOptional } ?? first
    }

    private func isOrdered(_ index: Int, owner: Int) -> Bool {
        let side = sides[index]
        if let isOrdered = side.description.isOrdered { return isOrdered }
        let isSecond =
            side.inverse.map { side.description.isToMany && sides[$0].description.isToMany } == true && owner != index
        return !isSecond && !side.description.from.isEmpty
    }
}
