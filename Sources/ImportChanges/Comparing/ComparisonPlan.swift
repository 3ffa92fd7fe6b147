import ImportEngine
import ImportModel
import ImportSources

/// Either of the two states.
package enum StoreState: Int, CaseIterable {
    case old, new
    package var other: StoreState { self == .old ? .new : .old }
}

/// What there is of something in either of the states.
package struct StatePair<Value> {
    package var old: Value
    package var new: Value

    package init(_ old: Value, _ new: Value) {
        self.old = old
        self.new = new
    }

    package subscript(side: StoreState) -> Value {
        get { side == .old ? old : new }
        set { if side == .old { old = newValue } else { new = newValue } }
    }
}

extension StatePair: Sendable where Value: Sendable {}

/// An entity of either store, and where each keeps what is compared.
package struct ComparedEntity {
    package struct Attribute {
        package let name: String
        package let description: AttributeDescription?
        /// Nil where a state lacks it.
        package let columns: StatePair<String?>
        /// Its place among the identifier's parts; nil for none of them.
        let identifierPlace: Int?
        package var isShared: Bool { columns.old != nil && columns.new != nil }
    }

    package struct Reference {
        package let name: String
        package let columns: StatePair<[String]>
        /// The index of the entity that it leads to.
        package let destination: Int
        /// True if the change of the object that it leads to is nested.
        var isIncluded = false
    }

    /// What it owns by a relationship.
    package struct Owned {
        package let name: String
        /// The index of the entity that is owned.
        package let child: Int
        /// The place of the child's reference to the owner.
        package let reference: Int
        package let isToMany: Bool
        package let positions: StatePair<String?>
        package var isOrdered: Bool { positions.old != nil || positions.new != nil }
    }

    package struct Join {
        package let name: String
        package let tables: StatePair<String?>
        package let columns: StatePair<[String]>
        package let destination: Int
        package let destinationColumns: StatePair<[String]>
        package let positions: StatePair<String?>
        /// True if the changes of the objects that it leads to are nested.
        var isIncluded = false
        package var isOrdered: Bool { positions.old != nil || positions.new != nil }
    }

    package var name: String
    /// What either state has of it; nil where it lacks the table.
    package var stored: StatePair<ComparedSchema.Entity?>
    package var identifier: [String]
    var identifierIsUnique: StatePair<Bool>
    var identifierMayBeNull: StatePair<Bool>
    /// Those that both states have first, but for those of the identifier.
    package var attributes: [Attribute]
    package var references: [Reference]
    package var owned: [Owned] = []
    package var joins: [Join] = []
    /// The index of its owner's entity, and the place of its relationship there.
    package var owner: (entity: Int, place: Int)?
    /// True if its objects are told.
    package var isListed = true
    /// True if those that nobody owns are told by themselves, or only where an included reference leads to them.
    var isOpened = true
    /// The only objects that are told by themselves, by their identifiers as people write them; nil for all.
    package var roots: [[String]]?
    /// True if its objects may be nested in those that refer to them, so that it is kept which have been told.
    var isReportedOnce = false

    /// True if its objects are values of their owner.
    var isValue: Bool { identifier.isEmpty }
    /// Its own name, and those of the entities that it inherits from.
    var lineage: [String] { (stored.new ?? stored.old)?.lineage ?? [name] }
    var together: [[String]] { (stored.new ?? stored.old)?.together ?? [] }
    package func identifierColumns(_ side: StoreState) -> [String] { stored[side]?.identifier.map(\.column) ?? [] }

    /// The columns by which rows of other tables refer to its rows.
    package func keyColumns(_ side: StoreState) -> [String] {
        isValue ? [stored[side]?.rowKey ?? "rowid"] : identifierColumns(side)
    }
}

/// What is compared: the entities of both stores, and how they belong together.
package struct ComparisonPlan {
    package var entities: [ComparedEntity] = []
    /// Attributes that only one state has, by entity.
    package var only: [StatePair<[String]>] = []

    /// The indexes of the entities whose objects are told, owners first, and then those with included references.
    package var sections: [Int] {
        var rest = entities.indices.filter { !entities[$0].isValue && entities[$0].isListed }
        var sections: [Int] = []
        while !rest.isEmpty {
            func isLater(_ index: Int) -> Bool { entities[index].owner.map { rest.contains($0.entity) } ?? false }
            let next =
                rest.firstIndex { index in
                    !isLater(index) && !rest.contains { $0 != index && includes($0, index) }
                } ?? rest.firstIndex { !isLater($0) }
            sections.append(rest.remove(at: next ?? 0))
        }
        return sections
    }

    /// True if included references lead from an entity, or from what it owns, to another.
    private func includes(_ index: Int, _ other: Int) -> Bool {
        let entity = entities[index]
        return entity.references.contains { $0.isIncluded && $0.destination == other }
            || entity.joins.contains { $0.isIncluded && $0.destination == other }
            || entity.owned.contains { $0.child != index && includes($0.child, other) }
    }

    /// - Throws: `ImportError` with `.badInput` where entities cannot be compared, `.usage` for names that neither store has.
    package init(_ old: ComparedSchema, _ new: ComparedSchema, _ options: DifferenceOptions) throws {
        var names: [String] = []
        for name in old.entities.map(\.name) + new.entities.map(\.name)
        where !names.contains(where: { $0.hasSameBytes(as: name) }) {
            names.append(name)
        }
        let sides = StatePair(old, new)
        try Self.check(options, names, sides)
        var places: [BytewiseString: Int] = [:]
        for (index, name) in names.enumerated() { places[BytewiseString(name)] = index }
        for name in names {
            let both = StatePair(old.entity(name), new.entity(name))
            let (entity, only) = try Self.merged(name, both, places, sides)
            entities.append(entity)
            self.only.append(only)
        }
        addJoins(sides, places)
        addOwners(sides)
        apply(options)
        try checkIdentifiers(sides)
    }

    // MARK: Entities

    private static func merged(
        _ name: String,
        _ both: StatePair<ComparedSchema.Entity?>,
        _ places: [BytewiseString: Int],
        _ stores: StatePair<ComparedSchema>
    ) throws -> (ComparedEntity, StatePair<[String]>) {
        var sides = both
        // Where only one state knows what a column refers to, it is an attribute like others.
        for side in StoreState.allCases {
            guard var own = sides[side], let other = both[side.other] else { continue }
            own.toOnes.removeAll { toOne in
                let isShared = other.toOnes.contains {
                    BytewiseString($0.name) == BytewiseString(toOne.name)
                        && $0.destination.hasSameBytes(as: toOne.destination)
                }
                if isShared { return false }
                for column in toOne.columns where !own.attributes.contains(where: { $0.column == column }) {
                    own.attributes.append(.init(name: column, column: column, description: nil))
                }
                return true
            }
            sides[side] = own
        }
        let (old, new) = (sides.old, sides.new)
        guard let any = old ?? new else { throw ImportError(.fault, "an entity of no store") }
        if let old, let new, !old.identifier.isEmpty || !new.identifier.isEmpty,
            old.identifier.map({ BytewiseString($0.name) }) != new.identifier.map({ BytewiseString($0.name) })
        {
            func text(_ entity: ComparedSchema.Entity) -> String {
                entity.identifier.isEmpty
                    ? "nothing" : entity.identifier.map(\.name).joined(separator: ", ").printable
            }
            throw ImportError(
                .storesIncomparable,
                "\(name.printable) is identified by \(text(old)) in \(stores.old.store), and by \(text(new)) in \(stores.new.store)",
                advice: "Say which attributes identify it, for both stores."
            )
        }
        var attributes = Self.attributes(old, new)
        let only = StatePair(
            old == nil || new == nil ? [] : attributes.filter { $0.columns.new == nil }.map(\.name),
            old == nil || new == nil ? [] : attributes.filter { $0.columns.old == nil }.map(\.name)
        )
        // An attribute whose column is in a reference is told as that.
        let referring = StatePair(Self.referring(old), Self.referring(new))
        attributes.removeAll { attribute in
            attribute.identifierPlace == nil
                && StoreState.allCases.allSatisfy { side in
                    attribute.columns[side].map { referring[side].contains(ExistingEntity.folded($0)) } ?? true
                }
        }
        let references = any.toOnes.compactMap { toOne -> ComparedEntity.Reference? in
            guard let destination = places[BytewiseString(toOne.destination)] else { return nil }
            func columns(_ entity: ComparedSchema.Entity?) -> [String] {
                entity?.toOnes.first { BytewiseString($0.name) == BytewiseString(toOne.name) }?.columns ?? []
            }
            return .init(name: toOne.name, columns: StatePair(columns(old), columns(new)), destination: destination)
        }
        let entity = ComparedEntity(
            name: name,
            stored: sides,
            identifier: any.identifier.map(\.name),
            identifierIsUnique: StatePair(old?.isUnique ?? true, new?.isUnique ?? true),
            identifierMayBeNull: StatePair(old?.mayBeNull ?? false, new?.mayBeNull ?? false),
            attributes: attributes,
            references: references
        )
        return (entity, only)
    }

    private static func referring(_ entity: ComparedSchema.Entity?) -> Set<BytewiseString> {
        Set(entity?.toOnes.flatMap(\.columns).map(ExistingEntity.folded) ?? [])
    }

    private static func attributes(
        _ old: ComparedSchema.Entity?,
        _ new: ComparedSchema.Entity?
    ) -> [ComparedEntity.Attribute] {
        let identifier = (old ?? new)?.identifier.map { BytewiseString($0.name) } ?? []
        var names: [BytewiseString] = []
        var found: [BytewiseString: StatePair<ComparedSchema.Attribute?>] = [:]
        for (side, entity) in [(StoreState.old, old), (.new, new)] {
            for attribute in entity?.attributes ?? [] {
                let name = BytewiseString(attribute.name)
                if found[name] == nil { names.append(name) }
                if found[name, default: StatePair(nil, nil)][side] == nil {
                    found[name, default: StatePair(nil, nil)][side] = attribute
                }
            }
        }
        return names.map { name in
            let both = found[name] ?? StatePair(nil, nil)
            let descriptions = (both.old?.description, both.new?.description)
            let isSame =
                both.old == nil || both.new == nil
                || descriptions.0?.type == descriptions.1?.type && descriptions.0?.ownForm == descriptions.1?.ownForm
                    && descriptions.0?.bits == descriptions.1?.bits
            return .init(
                name: name.text,
                description: isSame ? descriptions.0 ?? descriptions.1 : nil,
                columns: StatePair(both.old?.column, both.new?.column),
                identifierPlace: identifier.firstIndex(of: name)
            )
        }
    }

    private func checkIdentifiers(_ stores: StatePair<ComparedSchema>) throws {
        for entity in entities where entity.isValue && entity.owner == nil && entity.isListed {
            let store = entity.stored.old == nil ? stores.new.store : stores.old.store
            throw ImportError(
                .identifierUnknown,
                at: store,
                "cannot match objects of \(entity.name.printable): it has no identifier, primary key or single unique index",
                advice: """
                    Name the attributes that identify its objects, as in \(.identifier, "\(entity.name.printable):A,B"); import it with \
                    a model that has an identifier; or give its rows generated UUIDs.
                    """
            )
        }
    }
}
