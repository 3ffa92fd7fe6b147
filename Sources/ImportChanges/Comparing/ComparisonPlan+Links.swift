import ImportModel
import ImportSources

/// Which objects belong to which, and what is left out.
extension ComparisonPlan {
    mutating func addJoins(_ sides: StatePair<ComparedSchema>, _ places: [BytewiseString: Int]) {
        var seen: Set<BytewiseString> = []
        for join in sides.old.joins + sides.new.joins {
            guard seen.insert(BytewiseString("\(join.entity)\u{0}\(join.name)")).inserted,
                let entity = places[BytewiseString(join.entity)],
                let destination = places[BytewiseString(join.destination)]
            else { continue }
            func own(_ side: StoreState) -> ComparedSchema.Join? {
                sides[side].joins.first {
                    $0.name.hasSameBytes(as: join.name) && $0.entity.hasSameBytes(as: join.entity)
                }
            }
            let both = StatePair(own(.old), own(.new))
            entities[entity].joins.append(
                .init(
                    name: join.name,
                    tables: StatePair(both.old?.table, both.new?.table),
                    columns: StatePair(both.old?.columns ?? [], both.new?.columns ?? []),
                    destination: destination,
                    destinationColumns: StatePair(
                        both.old?.destinationColumns ?? [],
                        both.new?.destinationColumns ?? []
                    ),
                    positions: StatePair(both.old?.position, both.new?.position)
                )
            )
        }
    }

    /// Finds the owner of each entity: the first in the model's order that is not itself owned by it in the end.
    mutating func addOwners(_ sides: StatePair<ComparedSchema>) {
        for child in entities.indices {
            let name = entities[child].name
            let schemas = StoreState.allCases.map { sides[$0].entity(name) }
            let candidates = (schemas[0] ?? schemas[1])?.ownerships ?? []
            let found = candidates.compactMap {
                ownership -> (owner: Int, reference: Int, ownership: ComparedSchema.Ownership)? in
                // Both states must have it, or lack the table.
                for schema in schemas {
                    guard let schema else { continue }
                    let isThere = schema.ownerships.contains {
                        $0.name.hasSameBytes(as: ownership.name) && $0.toOne.hasSameBytes(as: ownership.toOne)
                    }
                    guard isThere else { return nil }
                }
                let reference = entities[child].references.firstIndex { $0.name.hasSameBytes(as: ownership.toOne) }
                return reference.map { (entities[child].references[$0].destination, $0, ownership) }
            }.sorted { ($0.owner, $0.reference) < ($1.owner, $1.reference) }
            guard let chosen = found.first(where: { !isOwned($0.owner, by: child) }) else { continue }
            func position(_ schema: ComparedSchema.Entity?) -> String? {
                schema?.ownerships.first { $0.name.hasSameBytes(as: chosen.ownership.name) }?.position
            }
            entities[child].owner = (chosen.owner, entities[chosen.owner].owned.count)
            entities[chosen.owner].owned.append(
                .init(
                    name: chosen.ownership.name,
                    child: child,
                    reference: chosen.reference,
                    isToMany: chosen.ownership.isToMany,
                    positions: StatePair(position(schemas[0]), position(schemas[1]))
                )
            )
        }
    }

    /// True if an entity is another one, or belongs to it in the end; or is so deep that nothing more should belong to it.
    private func isOwned(_ entity: Int, by other: Int) -> Bool {
        var (next, steps) = (entity, 0)
        while true {
            if next == other || steps > Self.mostLevels { return true }
            guard let owner = entities[next].owner?.entity else { return false }
            (next, steps) = (owner, steps + 1)
        }
    }

    /// How many objects may be inside each other: a line's JSON stays within the depth that is read.
    private static let mostLevels = 100

    // MARK: Options

    package static func check(_ options: DifferenceOptions, _ names: [String], _ sides: StatePair<ComparedSchema>)
        throws
    {
        let asked =
            options.entities + options.roots.map(\.entity) + options.identifiers.keys.sorted()
            + (options.included + options.excluded + options.only).compactMap(\.entity)
        let lineages = StoreState.allCases.flatMap { sides[$0].entities.flatMap(\.lineage) }
        for name in asked where !(names + lineages).contains(where: { $0.hasSameBytes(as: name) }) {
            throw ImportError(
                .unknownEntity,
                "neither store has an entity \(name)\(NameSuggestion.question(for: name, among: names))",
                advice: "They have: \(names.joined(separator: ", ").printable)."
            )
        }
        for property in options.included + options.excluded + options.only {
            let isKnown = StoreState.allCases.contains { side in
                sides[side].entities.contains { entity in
                    guard property.isOf(entity.lineage) else { return false }
                    let joins = sides[side].joins.filter { $0.entity.hasSameBytes(as: entity.name) }.map(\.name)
                    let owned = sides[side].entities.flatMap(\.ownerships).map(\.name)
                    let all = entity.attributes.map(\.name) + entity.toOnes.map(\.name) + joins + owned
                    return all.contains { $0.hasSameBytes(as: property.name) }
                }
            }
            guard !isKnown else { continue }
            throw ImportError(
                .unknownAttribute,
                "\(property.entity ?? "no entity") has no attribute or relationship \(property.name)",
                advice: "Give the name of an attribute or relationship, after the name of its entity or *."
            )
        }
    }

    /// Leaves out what is not asked for.
    package mutating func apply(_ options: DifferenceOptions) {
        let names = options.roots.isEmpty ? options.entities : options.roots.map(\.entity)
        if !names.isEmpty { keep(names, options) }
        for index in entities.indices {
            let lineage = entities[index].lineage
            func isKept(_ property: String) -> Bool { options.keeps(property, of: lineage) }
            // The owner's side decides whether owned objects are told, and the other side is needed for it.
            let inverse = entities[index].owner.map { entities[$0.entity].owned[$0.place].reference }
            entities[index].attributes.removeAll { $0.identifierPlace == nil && !isKept($0.name) }
            entities[index].joins.removeAll { !isKept($0.name) }
            var moved: [Int: Int] = [:]
            var references: [ComparedEntity.Reference] = []
            for (place, var reference) in entities[index].references.enumerated()
            where place == inverse || isKept(reference.name) {
                moved[place] = references.count
                reference.isIncluded = options.includes(reference.name, of: lineage)
                references.append(reference)
            }
            entities[index].references = references
            for place in entities[index].joins.indices {
                entities[index].joins[place].isIncluded = options.includes(
                    entities[index].joins[place].name,
                    of: lineage
                )
            }
            if let owner = entities[index].owner, let inverse, let place = moved[inverse] {
                let owned = entities[owner.entity].owned[owner.place]
                entities[owner.entity].owned[owner.place] = .init(
                    name: owned.name,
                    child: owned.child,
                    reference: place,
                    isToMany: owned.isToMany,
                    positions: owned.positions
                )
            }
        }
        for index in entities.indices { leaveOutOwned(of: index, options) }
        markIncluded()
    }

    /// Leaves what has an owner to that, and finds what is nested in what refers to it.
    private mutating func markIncluded() {
        func isNested(_ destination: Int) -> Bool {
            entities[destination].owner == nil && !entities[destination].isValue && entities[destination].isListed
        }
        for index in entities.indices {
            for place in entities[index].references.indices {
                entities[index].references[place].isIncluded =
                    entities[index].references[place].isIncluded
                    && isNested(entities[index].references[place].destination)
            }
            for place in entities[index].joins.indices {
                entities[index].joins[place].isIncluded =
                    entities[index].joins[place].isIncluded && isNested(entities[index].joins[place].destination)
            }
        }
        for entity in entities where entity.isListed {
            for reference in entity.references where reference.isIncluded {
                entities[reference.destination].isReportedOnce = true
            }
            for join in entity.joins where join.isIncluded { entities[join.destination].isReportedOnce = true }
        }
    }

    /// Without a relationship, the objects that it leads to are not told either.
    private mutating func leaveOutOwned(of index: Int, _ options: DifferenceOptions) {
        let lineage = entities[index].lineage
        var kept: [ComparedEntity.Owned] = []
        for owned in entities[index].owned {
            if options.keeps(owned.name, of: lineage) { kept.append(owned) } else { leaveOut(owned.child) }
        }
        entities[index].owned = kept
        for (place, owned) in kept.enumerated() { entities[owned.child].owner = (index, place) }
    }

    private mutating func leaveOut(_ index: Int) {
        entities[index].isListed = false
        entities[index].owner = nil
        for owned in entities[index].owned { leaveOut(owned.child) }
    }

    /// Keeps some entities with all that they own, and what included references lead to; their owners are references then.
    private mutating func keep(_ names: [String], _ options: DifferenceOptions) {
        let wanted = entities.indices.filter { index in
            names.contains { name in entities[index].lineage.contains { $0.hasSameBytes(as: name) } }
        }
        var kept: Set<Int> = []
        func add(_ more: [Int]) {
            var next = more.filter { kept.insert($0).inserted }
            while let index = next.popLast() {
                for owned in entities[index].owned where kept.insert(owned.child).inserted { next.append(owned.child) }
            }
        }
        add(wanted)
        // Where it begins with what is owned, the owner owns it no longer.
        for index in kept {
            guard let owner = entities[index].owner, !kept.contains(owner.entity) else { continue }
            entities[owner.entity].owned.remove(at: owner.place)
            for (place, owned) in entities[owner.entity].owned.enumerated() {
                entities[owned.child].owner = (owner.entity, place)
            }
            entities[index].owner = nil
        }
        let begun = kept
        while true {
            let reached = kept.flatMap { index in
                let lineage = entities[index].lineage
                return entities[index].references.filter { options.includes($0.name, of: lineage) }.map(\.destination)
                    + entities[index].joins.filter { options.includes($0.name, of: lineage) }.map(\.destination)
            }.filter { !kept.contains($0) }
            if reached.isEmpty { break }
            add(reached)
        }
        for index in entities.indices {
            if !kept.contains(index) {
                entities[index].isListed = false
                entities[index].owned = []
                entities[index].owner = nil
            } else {
                entities[index].isOpened = options.roots.isEmpty ? begun.contains(index) : wanted.contains(index)
                if let owner = entities[index].owner, !kept.contains(owner.entity) { entities[index].owner = nil }
            }
            let roots = options.roots.filter { root in
                entities[index].lineage.contains { $0.hasSameBytes(as: root.entity) }
            }
            let identifiers = roots.compactMap(\.identifier)
            if !roots.isEmpty, identifiers.count == roots.count { entities[index].roots = identifiers }
        }
    }
}

extension DifferenceOptions.Property {
    /// True if it is of an entity with these names, its own and those that it inherits from.
    func isOf(_ lineage: [String]) -> Bool {
        entity.map { entity in lineage.contains { $0.hasSameBytes(as: entity) } } ?? true
    }
}

extension DifferenceOptions {
    fileprivate func includes(_ property: String, of lineage: [String]) -> Bool {
        included.contains { $0.name.hasSameBytes(as: property) && $0.isOf(lineage) }
    }

    fileprivate func keeps(_ property: String, of lineage: [String]) -> Bool {
        if includes(property, of: lineage) { return true }
        if excluded.contains(where: { $0.name.hasSameBytes(as: property) && $0.isOf(lineage) }) { return false }
        let own = only.filter { $0.isOf(lineage) }
        return own.isEmpty || own.contains { $0.name.hasSameBytes(as: property) }
    }
}
