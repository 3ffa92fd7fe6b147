import ImportModel
import ImportSources

/// A model whose entities relate to one another, made ready for decoding.
package final class GraphPlan {
    /// An entity with its relationships.
    package struct Node {
        package let plan: EntityPlan
        package let rows: RowDescription
        /// In the order in which their values are read: those that are inherited first.
        package let relationships: [Relationship]
        /// What a new object must have beside its identifier.
        package let requiresMore: Bool
        /// Per path of the value that names the subentity its slot, and the entities by value, nil for what is left out; of the
        /// nearest ancestor that has any.
        package let subentitySlots: [Int]
        package let subentities: [BytewiseString: Int?]
        /// True if some of them are left out.
        package let leavesOut: Bool
        /// True if a key names the subentity.
        package let isNamedByKey: Bool
        package let isAbstract: Bool
        /// True if something refers to its rows, or lists them.
        package let needsKey: Bool
        /// True if rows of other entities are in its table and have its identifier, so that a stored object may be of one.
        package let isShared: Bool
        /// True if one of these inherits from it: then a stored object decides what a record's is.
        package let isOpen: Bool
        /// By the relationship that owns them, the attributes by which its objects say themselves what they refer to, where imports
        /// leave that of stored objects.
        package let localLinks: [Int: Set<Int>]
        /// The to-ones in its own columns that lead to objects without identifier, with the attribute that holds the row id.
        package let referredByRowID: [(relationship: Int, attribute: Int)]
    }

    /// Where in the store a relationship is, seen from the object that states it.
    package enum Side {
        /// In columns of the object's own row.
        case own
        /// In columns of the rows that it leads to.
        case other
        /// In a join table.
        case join
    }

    /// A relationship as decoding sees it.
    package struct Relationship {
        /// Its index among the layout's.
        package let index: Int
        package let description: RelationshipDescription
        package let side: Side
        /// The relationship whose names its storage has, among the layout's.
        package let owner: Int
        package let inverse: Int?
        package let destination: Int
        /// Per source of its value the slots that fill it.
        package let sources: [Source]
        /// True if its elements have no identifier, so that their indexes tell them apart.
        package let isPositional: Bool
        /// True if an element that lacks its identifier is told by its place: it has no meaning but within the object around it, or
        /// the relationship says so.
        package let isIdentifiedByPosition: Bool
        /// True if a new object must state it.
        package let isRequired: Bool
        /// The attributes of the destination that a scalar names.
        package let named: [Int]
        /// True if these are its identifier.
        package let namesIdentifier: Bool
        /// True if a list of a new object only adds rows: nothing else can have linked anything to it.
        package let isAppendable: Bool
        /// The slot that its value is in, of an object at hand; -1 for none.
        package var slot = -1

        package enum Source {
            case value(slot: Int)
            case members(slot: Int)
            case identifier(slots: [Int])

            /// The slot that names it in errors.
            package var slot: Int {
                switch self {
                case .value(let slot), .members(let slot): slot
                case .identifier(let slots): slots.first ?? 0
                }
            }
        }
    }

    package let layout: ModelLayout
    /// What a record does whose object is there already.
    package let onConflict: ConflictPolicy
    /// In the model's order.
    package let nodes: [Node]

    /// True if records of new objects may be appended to empty tables, without a look at what is there.
    ///
    /// Of a one-to-one a former partner has to be found, and in a table of several entities rows of each of them.
    package let isAppendable: Bool
    /// True if references that lead to nothing make rejects of their records, which are known record by record.
    package let rejectsUnresolved: Bool
    /// The plans of the entities, in the model's order.
    package var plans: [EntityPlan] { nodes.map(\.plan) }

    /// - Parameter model: of entities that relate to one another.
    /// - Throws: `ImportError` as a plan of an entity does, and where the model cannot be laid out in tables.
    package init(_ model: ModelDescription, onConflict: ConflictPolicy, transformers: TransformerRegistry) throws {
        let layout = try ModelLayout(importing: model)
        self.layout = layout
        self.onConflict = onConflict
        rejectsUnresolved = layout.relationships.contains { $0.description.unresolved == .reject }
        isAppendable =
            !rejectsUnresolved
            && layout.relationships.allSatisfy { $0.shape != .oneToOne && $0.description.owner != .local }
            && model.entities.indices.allSatisfy { !layout.isShared($0) && layout.hasTable($0) }
        try Self.checkSupport(of: layout)
        nodes = try model.entities.indices.map { index in
            let rows = layout.rows(of: index)
            let chain = layout.hierarchy.chain(of: index)
            let relationships = layout.relationships(of: index)
            var paths: [AttributePath] = []
            func slots(_ more: [AttributePath]) -> Range<Int> {
                paths += more
                return paths.count - more.count..<paths.count
            }
            let subentity = chain.compactMap { model.entities[$0].subentity }.first
            let subentityPlaces = slots(subentity?.from ?? [])
            // What has named the entity itself, too: it is read.
            _ = slots(chain.flatMap { model.entities[$0].subentity?.from ?? [] })
            let sources = relationships.map { relationship in
                layout.relationships[relationship].description.from.map { source in
                    switch source {
                    case .value(let path): (source, slots([path]))
                    case .members(let path): (source, slots([path]))
                    case .identifier(let paths): (source, slots(paths))
                    }
                }
            }
            let plan = try EntityPlan(
                entity: rows.entity,
                index: index,
                onConflict: onConflict,
                replaced: rows.attributeCount,
                otherPaths: paths,
                transformers: transformers
            )
            plan.positions = rows.positions.compactMap { owner, position in
                rows.references[owner].map { ($0, position) }
            }
            plan.parentColumns = rows.references.reduce(into: []) { columns, reference in
                guard layout.relationships[reference.key].shape == .ownedDestination else { return }
                columns.formUnion(reference.value)
                columns.formUnion([rows.positions[reference.key]].compactMap { $0 })
            }
            var subentities: [BytewiseString: Int?] = [:]
            for value in subentity?.values ?? [] {
                subentities[BytewiseString(value.value)] = .some(
                    value.entity.flatMap { layout.hierarchy.index(of: $0) }
                )
            }
            return Node(
                plan: plan,
                rows: rows,
                relationships: zip(relationships, sources).map { relationship, sources in
                    Self.relationship(
                        relationship,
                        sources.map { Relationship.Source($0.0, $0.1.map { plan.otherSlots[$0] }) },
                        layout
                    )
                },
                requiresMore: !layout.hierarchy.requirements(of: index).isEmpty,
                subentitySlots: subentityPlaces.map { plan.otherSlots[$0] },
                subentities: subentities,
                leavesOut: subentities.values.contains { $0 == nil },
                isNamedByKey: subentity?.isByKey ?? false,
                isAbstract: model.entities[index].isAbstract,
                needsKey: !rows.isKeyless && !rows.entity.identifier.isEmpty,
                isShared: layout.isShared(index) && !rows.entity.identifier.isEmpty,
                isOpen: layout.isShared(index) && !rows.entity.identifier.isEmpty
                    && layout.hierarchy.subentities(of: index).count > 1,
                localLinks: Self.localLinks(relationships, rows, layout),
                referredByRowID: relationships.compactMap { index in
                    let placement = layout.relationships[index]
                    guard placement.owner == index, placement.shape == .oneToMany || placement.shape == .oneToOne,
                        layout.hierarchy.identifier(of: placement.destination).isEmpty
                    else { return nil }
                    return rows.references[index].map { (index, $0.lowerBound) }
                }
            )
        }
    }

    private static func localLinks(_ relationships: [Int], _ rows: RowDescription, _ layout: ModelLayout)
        -> [Int: Set<Int>]
    {
        var links: [Int: Set<Int>] = [:]
        for index in relationships {
            let placement = layout.relationships[index]
            guard placement.description.owner == .local, placement.owner == index,
                let columns = rows.references[index]
            else { continue }
            links[index] = Set(columns).union([rows.positions[index]].compactMap { $0 })
        }
        return links
    }

    /// - Throws: `ImportError` where a relationship says what imports do not do yet.
    private static func checkSupport(of layout: ModelLayout) throws {
        for (index, placement) in layout.relationships.enumerated() {
            let isKeyless = layout.hierarchy.identifier(of: placement.destination).isEmpty
            guard !placement.description.by.isEmpty, isKeyless, placement.owner != index || placement.shape == .join
            else { continue }
            throw ImportError(
                .modelInvalid,
                "\(layout.name(of: index)): \"by\" is not supported by imports yet",
                advice: "Leave it out of the model."
            )
        }
    }

    private static func relationship(
        _ index: Int,
        _ sources: [Relationship.Source],
        _ layout: ModelLayout
    ) -> Relationship {
        let placement = layout.relationships[index]
        let side: Side =
            switch placement.shape {
            case .join: .join
            case .source: .own
            case .ownedDestination: .other
            case .oneToMany, .oneToOne: placement.owner == index ? .own : .other
            }
        let identifier = layout.hierarchy.identifier(of: placement.destination)
        let attributes = layout.hierarchy.attributes(of: placement.destination)
        let names = placement.description.by.isEmpty ? identifier : placement.description.by
        let inverse = placement.inverse.map { layout.relationships[$0].description }
        let namesIdentifier =
            placement.description.by.isEmpty || names.map(BytewiseString.init) == identifier.map(BytewiseString.init)
        return Relationship(
            index: index,
            description: placement.description,
            side: side,
            owner: placement.owner,
            inverse: placement.inverse,
            destination: placement.destination,
            sources: sources,
            isPositional: identifier.isEmpty,
            isIdentifiedByPosition: placement.description.identity == .position
                || identifier.contains(EntityDescription.parentIdentifier)
                    && layout.parentRelationship(of: placement.destination) == placement.owner,
            isRequired: !placement.description.isOptional && !placement.description.isToMany
                && inverse?.from.isEmpty != false,
            named: names.compactMap { name in attributes.firstIndex { BytewiseString($0.name) == BytewiseString(name) }
            },
            namesIdentifier: namesIdentifier,
            isAppendable: namesIdentifier && inverse?.from.isEmpty != false && placement.inverse != index
                && (side == .join ? !identifier.isEmpty : side == .other && identifier.isEmpty)
        )
    }
}

extension GraphPlan.Relationship.Source {
    fileprivate init(_ source: RelationshipDescription.Source, _ slots: [Int]) {
        switch source {
        case .value: self = .value(slot: slots[0])
        case .members: self = .members(slot: slots[0])
        case .identifier: self = .identifier(slots: slots)
        }
    }
}

extension ModelDescription {
    /// True if references that lead to nothing make rejects of their records.
    package var rejectsUnresolved: Bool {
        entities.contains { $0.relationships.contains { $0.unresolved == .reject } }
    }
}

extension ModelLayout {
    /// The layout of a model that is imported with.
    ///
    /// - Throws: `ImportError` where it cannot be laid out, which a checked model always can.
    package init(importing model: ModelDescription) throws {
        do throws(LayoutError) {
            try self.init(model)
        } catch {
            throw ImportError(
                .modelInvalid,
                "\(model.entities[error.entity].name): \(error.message)",
                advice: "\(call: .checkingModel) names all mistakes of a model file."
            )
        }
    }
}
