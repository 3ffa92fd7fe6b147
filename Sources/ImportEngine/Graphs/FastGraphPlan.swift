import ImportModel

/// A model of entities that relate to one another, made ready for the short way of decoding: no object says which entity it is
/// of, and no value is made for one or read from around it.
package final class FastGraphPlan {
    // All of these are trivial, and in memory of their own: they are read for each object, and each look at a class or an array
    // would be counted.

    /// An entity with its relationships.
    package struct Node {
        package let index: Int32
        /// How many attributes its rows have, and how many words their presence masks take.
        package let width: Int
        var presenceWords: Int { (width + 63) / 64 }
        package let references: UnsafeBufferPointer<Reference>
        package let relationships: UnsafeBufferPointer<Relationship>
        /// The attributes that are its identifier.
        package let identifier: UnsafeBufferPointer<Int>
        package var hasIdentifier: Bool { !identifier.isEmpty }
        /// The slot of the value itself, where the entity's objects may be scalars; -1 where they are not.
        let elementSlot: Int
        /// What a record does whose object is there already.
        package let onConflict: ConflictPolicy
        /// True if nested objects of it can be laid out: they have no identifier, and nothing but lists of such objects.
        package let isLaidOut: Bool
        /// True if records' own rows can be laid out: the identifier is a single integer, and no record has such an object
        /// nested in it.
        let isLaidOutByKey: Bool
        /// True if all that it says is in the values of its own attributes.
        let isLeaf: Bool

        fileprivate init(_ node: GraphPlan.Node, _ layout: ModelLayout, isNested: Bool) {
            index = node.plan.index
            width = node.plan.attributes.count
            identifier = .copy(of: node.plan.identifier)
            elementSlot = node.plan.elementSlot
            onConflict = node.plan.onConflict
            let relationships = node.relationships.map { Relationship($0, layout) }
            self.relationships = .copy(of: relationships)
            isLaidOut =
                node.plan.identifier.isEmpty && relationships.allSatisfy { $0.side == .other && $0.isPositional }
            let types = node.plan.identifier.map { node.plan.attributes[$0].type }
            isLaidOutByKey =
                !isNested && types.count == 1 && [.integer16, .integer32, .integer64].contains(types[0])
            isLeaf =
                !types.isEmpty && node.rows.references.isEmpty && relationships.allSatisfy(\.slots.isEmpty)
            let references = node.rows.references.sorted { $0.value.lowerBound < $1.value.lowerBound }
            self.references = .copy(
                of: references.map { owner, range in
                    Reference(
                        owner: owner,
                        range: range,
                        position: node.rows.positions[owner] ?? -1,
                        own: relationships.firstIndex { $0.owner == owner && $0.side == .own } ?? -1
                    )
                }
            )
        }

        fileprivate func deallocate() {
            for relationship in relationships { relationship.slots.deallocate() }
            relationships.deallocate()
            references.deallocate()
            identifier.deallocate()
        }
    }

    /// Columns that refer to another object.
    package struct Reference {
        /// The relationship that has them, among the layout's.
        package let owner: Int
        /// Their attributes, and that of the row's index in a list; -1 where there is none.
        package let range: Range<Int>
        package let position: Int
        /// The entity's own to-one that they are, among its relationships; -1 where the object around states them.
        package let own: Int
    }

    /// A relationship.
    package struct Relationship {
        package let index: Int
        package let owner: Int
        package let side: GraphPlan.Side
        package let destination: Int
        package let isToMany: Bool
        package let isOptional: Bool
        package let isRequired: Bool
        package let isPositional: Bool
        package let isAppendable: Bool
        package let isReplaced: Bool
        /// True if it is a list of what the object owns.
        let isOwnedList: Bool
        package let onConflict: ConflictPolicy
        package let counts: ClosedRange<Int>
        /// The slots that its value may fill, the first that counts first.
        package let slots: UnsafeBufferPointer<Int>
        /// The attribute of the destination that a scalar names; -1 where that takes more than one.
        package let named: Int
        /// The table of its links, among those of a layout; -1 where they are in none.
        package let linkTable: Int32
        package let hasPosition: Bool

        fileprivate init(_ relationship: GraphPlan.Relationship, _ layout: ModelLayout) {
            let description = relationship.description
            index = relationship.index
            owner = relationship.owner
            side = relationship.side
            destination = relationship.destination
            isToMany = description.isToMany
            isOptional = description.isOptional
            isRequired = relationship.isRequired
            isPositional = relationship.isPositional
            isAppendable = relationship.isAppendable
            isReplaced = !description.from.isEmpty
            isOwnedList = layout.relationships[relationship.index].isOwnedList
            onConflict = description.onConflict
            let least = description.minimumCount ?? 0
            counts = least...max(least, description.maximumCount ?? Int.max)
            slots = .copy(of: relationship.sources.map(\.slot))
            linkTable = LinkTable.index(of: relationship.index, layout)
            hasPosition = LinkTable(relationship.index, layout)?.position != nil
            named = relationship.named.count == 1 && relationship.namesIdentifier ? relationship.named[0] : -1
        }
    }

    /// Lives as long as the plan, which its readers hold.
    package let nodes: UnsafeBufferPointer<Node>
    /// The indexes of the entities whose records' own rows can be laid out.
    package let keyed: Set<Int32>
    /// The entities' plans, by their indexes.
    package let plans: [EntityPlan]
    /// The names of the layout's relationships.
    package let names: [String]
    /// True if all of a record may be appended that only has new objects.
    package let isAppendable: Bool

    /// - Returns: nil where the model asks for more.
    package init?(_ plan: GraphPlan) {
        let layout = plan.layout
        for (index, node) in plan.nodes.enumerated() {
            let entity = node.plan
            guard node.subentities.isEmpty, !node.isAbstract, !layout.isShared(index), !entity.hasGenerated,
                entity.parentSlots.isEmpty, entity.recordKeySlot < 0, entity.outerKeySlots.isEmpty,
                entity.indexSlot < 0
            else { return nil }
        }
        for relationship in plan.nodes.flatMap(\.relationships) {
            let description = relationship.description
            let isByValue = relationship.sources.allSatisfy { if case .value = $0 { true } else { false } }
            guard isByValue, description.identity == .identifier, relationship.namesIdentifier else { return nil }
        }
        let nested = plan.nodes.flatMap(\.relationships).filter { !$0.sources.isEmpty }.map(\.destination)
        nodes = .copy(of: plan.nodes.enumerated().map { Node($1, layout, isNested: nested.contains($0)) })
        keyed = Set(nodes.filter(\.isLaidOutByKey).map(\.index))
        plans = plan.plans
        names = layout.relationships.map(\.description.name)
        isAppendable = plan.isAppendable
    }

    deinit {
        for node in nodes { node.deallocate() }
        nodes.deallocate()
    }
}
