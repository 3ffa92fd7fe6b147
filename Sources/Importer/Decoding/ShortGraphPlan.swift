import ImportModel

/// A model of entities that relate to one another, made ready for the short way of decoding: no object says which entity it is
/// of, and no value is made for one or read from around it.
final class ShortGraphPlan {
    /// An entity with its relationships.
    final class Node {
        let index: Int32
        let plan: EntityPlan
        /// How many of the attributes are the entity's own; the others are its columns that refer to others.
        let attributeCount: Int
        let references: [Reference]
        let relationships: [Relationship]
        /// The attributes that are its identifier.
        let identifier: [Int]
        /// What a new object must have beside its identifier.
        let requiresMore: Bool
        var hasIdentifier: Bool { !identifier.isEmpty }
        /// Whether nested objects of it can be laid out: they have no identifier, and nothing but lists of such objects.
        let isLaidOut: Bool
        /// Whether records' own rows can be laid out: the identifier is a single integer, and no record has such an object
        /// nested in it.
        let isLaidOutByKey: Bool
        /// Whether all that it says is in the values of its own attributes.
        let isLeaf: Bool

        fileprivate init(_ node: GraphPlan.Node, _ layout: ModelLayout, isNested: Bool) {
            index = node.plan.index
            plan = node.plan
            attributeCount = node.rows.attributeCount
            identifier = node.plan.identifier
            requiresMore = node.requiresMore
            let relationships = node.relationships.map { Relationship($0, layout) }
            self.relationships = relationships
            isLaidOut =
                node.plan.identifier.isEmpty && relationships.allSatisfy { $0.side == .other && $0.isPositional }
            let types = node.plan.identifier.map { node.plan.attributes[$0].type }
            isLaidOutByKey =
                !isNested && types.count == 1 && [.integer16, .integer32, .integer64].contains(types[0])
            isLeaf =
                !types.isEmpty && node.rows.references.isEmpty && relationships.allSatisfy(\.slots.isEmpty)
            references = node.rows.references.sorted { $0.value.lowerBound < $1.value.lowerBound }.map { owner, range in
                Reference(
                    owner: owner,
                    range: range,
                    position: node.rows.positions[owner] ?? -1,
                    own: relationships.firstIndex { $0.owner == owner && $0.side == .own } ?? -1
                )
            }
        }
    }

    /// Columns that refer to another object.
    struct Reference {
        /// The relationship that has them, among the layout's.
        let owner: Int
        /// Their attributes, and that of the row's index in a list; -1 where there is none.
        let range: Range<Int>
        let position: Int
        /// The entity's own to-one that they are, among its relationships; -1 where the object around states them.
        let own: Int
    }

    /// A relationship.
    final class Relationship {
        let index: Int
        let owner: Int
        let side: GraphPlan.Side
        let destination: Int
        let isToMany: Bool
        let isOptional: Bool
        let isRequired: Bool
        let isPositional: Bool
        let isAppendable: Bool
        let isReplaced: Bool
        let onConflict: ConflictPolicy
        let counts: ClosedRange<Int>
        /// The slots that its value may fill, the first that counts first.
        let slots: [Int]
        let name: String
        /// The attribute of the destination that a scalar names; -1 where that takes more than one.
        let named: Int
        /// The table of its links, among those of a layout; -1 where they are in none.
        let linkTable: Int32
        let hasPosition: Bool

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
            onConflict = description.onConflict
            let least = description.minimumCount ?? 0
            counts = least...max(least, description.maximumCount ?? Int.max)
            slots = relationship.sources.map(\.slot)
            name = description.name
            linkTable = LinkTable.index(of: relationship.index, layout)
            hasPosition = LinkTable(relationship.index, layout)?.position != nil
            named = relationship.named.count == 1 && relationship.namesIdentifier ? relationship.named[0] : -1
        }
    }

    let nodes: [Node]
    /// Whether all of a record may be appended that only has new objects.
    let isAppendable: Bool

    /// - Returns: nil where the model asks for more.
    init?(_ plan: GraphPlan) {
        let layout = plan.layout
        for (index, node) in plan.nodes.enumerated() {
            let entity = node.plan
            guard node.subentities.isEmpty, !node.isAbstract, !layout.isShared(index), !entity.hasGenerated,
                entity.parentSlots.isEmpty, entity.recordKeySlot < 0, entity.indexSlot < 0
            else { return nil }
        }
        for relationship in plan.nodes.flatMap(\.relationships) {
            let description = relationship.description
            let isByValue = relationship.sources.allSatisfy { if case .value = $0 { true } else { false } }
            guard isByValue, description.identity == .identifier, relationship.namesIdentifier else { return nil }
        }
        let nested = plan.nodes.flatMap(\.relationships).filter { !$0.sources.isEmpty }.map(\.destination)
        nodes = plan.nodes.enumerated().map { Node($1, layout, isNested: nested.contains($0)) }
        isAppendable = plan.isAppendable
    }
}
