import ImportModel
import Importer

/// The relationships that imports into a server do not have yet: a model with one of them is refused before anything is written.
struct RelationshipSupport {
    private let graph: GraphPlan
    private let label: String

    init(_ graph: GraphPlan, label: String) {
        self.graph = graph
        self.label = label
    }

    private var layout: ModelLayout { graph.layout }

    /// - Throws: `ImportError` that names the first.
    func check() throws {
        for entity in layout.entities.indices { try check(entity) }
        for relationship in layout.relationships.indices { try check(relationship: relationship) }
        try checkCircles()
    }

    private func check(_ index: Int) throws {
        let entity = layout.entities[index]
        let identifier = layout.hierarchy.identifier(of: index)
        if graph.onConflict == .replace, sharesObjects(index) {
            throw error("\(.onConflict) replace beside \(entity.name), which shares its table and identifier")
        }
        if layout.isShared(index), identifier.contains(EntityDescription.parentIdentifier),
            layout.parentRelationship(of: index) != layout.parentRelationship(of: layout.home(of: index))
        {
            throw error("\(entity.name), which is identified within other objects than what it inherits from")
        }
        if identifier.contains(EntityDescription.parentIdentifier),
            let parent = layout.parentRelationship(of: index), isKeyless(layout.target(of: parent))
        {
            throw error("\(entity.name), which is identified within objects without identifier")
        }
        let isJSON = graph.plans[index].identifier.contains { graph.plans[index].attributes[$0].type == .json }
        if isJSON { throw error("\(entity.name), whose identifier is json") }
    }

    /// Whether what an object is depends on the records before it.
    private func sharesObjects(_ entity: Int) -> Bool { layout.isShared(entity) && !isKeyless(entity) }

    private func isKeyless(_ entity: Int) -> Bool { layout.hierarchy.identifier(of: entity).isEmpty }

    private func check(relationship index: Int) throws {
        let placement = layout.relationships[index]
        let description = placement.description
        let name = layout.name(of: index)
        let isKeyless = isKeyless(placement.destination)
        let isElement = self.isKeyless(layout.relationships[placement.owner].entity)
        if placement.shape == .oneToOne {
            let owner = layout.relationships[placement.owner]
            if self.isKeyless(owner.destination), !self.isKeyless(owner.entity) || placement.inverse == index {
                throw error("\(name), a one-to-one with objects without identifier")
            }
        }
        if RelatedTables(graph).names.contains(where: { $0.relationship == index }) { try checkNames(index) }
        if description.owner == .local { try checkLocal(index) }
        if description.onConflict == .replace, sharesObjects(placement.destination) {
            throw error("\(name) with \"onConflict\": \"replace\"")
        }
        if description.onConflict == .ignore { try checkSkipping(index) }
        if description.unresolved == .reject { try checkRejecting(index) }
        if description.list == .union { try checkUnion(index) }
        if description.identity == .position, !isKeyless { throw error("\(name) with \"identity\": \"position\"") }
        switch placement.shape {
        case .source where isKeyless:
            throw error("\(name), a to-one to objects without identifier")
        case .oneToMany where placement.owner == index && isKeyless && !self.isKeyless(placement.entity):
            try check(referring: index)
        case .oneToMany where isElement, .oneToOne where isElement: try check(element: index)
        case .source, .ownedDestination, .oneToMany, .oneToOne, .join: break
        }
    }

    /// Objects that are named by other attributes than the identifier: what waits for one is kept by the identifiers of both.
    private func checkNames(_ index: Int) throws {
        let (placement, name) = (layout.relationships[index], layout.name(of: index))
        let description = placement.description
        if layout.hierarchy.isOwned(placement.destination) {
            throw error("\(name) with \"by\", which leads to objects without identifier, or identified within others")
        }
        if isKeyless(placement.entity) { throw error("\(name) with \"by\", of objects without identifier") }
        let sides = [index, placement.inverse].compactMap { $0.map { layout.relationships[$0].description } }
        if sides.contains(where: { $0.owner == .local }) {
            throw error("\(name) with \"by\" and \"owner\": \"local\"")
        }
        if description.list == .union { throw error("\(name) with \"by\" and \"list\": \"union\"") }
        if description.unresolved == .reject { throw error("\(name) with \"by\" and \"unresolved\": \"reject\"") }
        if placement.shape == .oneToOne, placement.inverse == index {
            throw error("\(name) with \"by\", a one-to-one that is its own inverse")
        }
        // What is left out of a record names nothing, and has no values by which it is named.
        let policies = layout.relationships.map(\.description.onConflict).filter { [.ignore, .error].contains($0) }
        if let policy = policies.first?.rawValue {
            throw error("\(name) with \"by\" beside \"onConflict\": \"\(policy)\"")
        }
    }

    /// Nested objects that are left out of their records.
    private func checkSkipping(_ index: Int) throws {
        let tables = RelatedTables(graph)
        let other =
            tables.referring.first?.owner ?? tables.listed.first(where: \.isMirrored)?.owner
            ?? layout.relationships.firstIndex { $0.description.list == .union || $0.description.owner == .local }
        guard let other else { return }
        throw error("\(layout.name(of: index)) with \"onConflict\": \"ignore\" beside \(layout.name(of: other))")
    }

    /// To-ones in columns that lead to objects without identifier.
    private func check(referring index: Int) throws {
        let placement = layout.relationships[index]
        let (name, tables) = (layout.name(of: index), RelatedTables(graph))
        let isListed = placement.inverse.map { !layout.relationships[$0].description.from.isEmpty } ?? false
        if placement.description.owner == .local {
            throw error("\(name) with \"owner\": \"local\", a to-one to objects without identifier")
        }
        let rule = placement.inverse.map { layout.relationships[$0].deleteRule }
        if isListed, rule != .nullify, tables.areElements(placement.destination) {
            throw error("\(name), a to-one to objects without identifier that are listed and have lists themselves")
        }
    }

    /// Lists of objects without identifier that have another side.
    private func check(element index: Int) throws {
        let placement = layout.relationships[index]
        let owner = layout.relationships[placement.owner]
        let name = layout.name(of: index)
        let isListed = owner.inverse.map { !layout.relationships[$0].description.from.isEmpty } ?? false
        if isListed, !owner.description.from.isEmpty, placement.description.owner == .local {
            throw error("\(name) with \"owner\": \"local\", of objects without identifier that may say whose they are")
        }
        if placement.owner == index, isListed, !placement.description.from.isEmpty {
            if [.cascade, .deny].contains(placement.deleteRule) || placement.description.unresolved == .reject {
                throw error(
                    "\(name) with \"deleteRule\" or \"unresolved\", of objects without identifier that are listed, too"
                )
            }
        }
        guard placement.owner != index, isKeyless(owner.destination), !placement.description.from.isEmpty else {
            return
        }
        if ![.cascade, .nullify].contains(placement.deleteRule) || placement.description.list == .union {
            throw error("\(name) with \"deleteRule\" or \"list\", from and to objects without identifier")
        }
    }

    /// References of objects without identifier, of which it is not known any more which record has stated them.
    private func checkRejecting(_ index: Int) throws {
        let (holder, tables) = (layout.relationships[index].entity, RelatedTables(graph))
        guard isKeyless(holder) else { return }
        let rejecting = "\(layout.name(of: index)) with \"unresolved\": \"reject\""
        if !tables.circle(of: tables.home(of: holder)).isEmpty {
            throw error("\(rejecting), of objects that are nested in their own kind")
        }
        if tables.referring.contains(where: { tables.home(of: $0.target) == tables.home(of: holder) }) {
            throw error("\(rejecting), of objects without identifier that to-ones lead to")
        }
    }

    /// Links that imports leave as they are.
    private func checkLocal(_ index: Int) throws {
        let placement = layout.relationships[index]
        let local = "\(layout.name(of: index)) with \"owner\": \"local\""
        if isKeyless(placement.entity) { throw error("\(local) of objects without identifier") }
        let isElement = isKeyless(placement.destination)
        if placement.shape == .join || placement.owner == index && placement.shape != .ownedDestination {
            if isElement { throw error("\(local) that leads to objects without identifier") }
            return
        }
        // What is an element of such a list alone is left out with all that is nested in it.
        if isElement {
            guard !hasIdentified(within: placement.destination) else {
                throw error("\(local), in whose elements objects with an identifier may be nested")
            }
        } else if placement.description.identity == .position
            || layout.hierarchy.identifier(of: placement.destination).contains(EntityDescription.parentIdentifier)
        {
            throw error("\(local), whose elements may be told by their place")
        }
    }

    /// Whether objects with an identifier may be nested in elements without one.
    private func hasIdentified(within element: Int) -> Bool {
        var (seen, open) = (Set<Int>(), [element])
        while let next = open.popLast() {
            for entity in layout.hierarchy.subentities(of: next) where seen.insert(entity).inserted {
                for index in layout.relationships(of: entity)
                where !layout.relationships[index].description.from.isEmpty {
                    guard isKeyless(layout.relationships[index].destination) else { return true }
                    open.append(layout.relationships[index].destination)
                }
            }
        }
        return false
    }

    /// Lists that only add to what is there.
    private func checkUnion(_ index: Int) throws {
        let placement = layout.relationships[index]
        let isParent = layout.hierarchy.identifier(of: placement.destination).contains(
            EntityDescription.parentIdentifier
        )
        let tables = RelatedTables(graph)
        let isInColumns = placement.shape != .join && !isKeyless(placement.destination)
        let hasPosition = isInColumns && tables.reference(placement.owner)?.position != nil
        // What an object says of its own place in a list is not what the list says.
        let isStated = placement.inverse.map { !layout.relationships[$0].description.from.isEmpty } ?? false
        let join = placement.shape == .join ? tables.join(placement.owner) : nil
        let isOrderedJoin = (placement.owner == index ? join?.position : join?.inversePosition) != nil
        let isOrdered = hasPosition || isOrderedJoin
        if isOrdered, isStated {
            throw error("\(layout.name(of: index)) with \"list\": \"union\", which its objects state, too")
        }
        let isByPlace = hasPosition && (isParent || placement.description.identity == .position)
        if hasPosition, isKeyless(placement.entity) {
            throw error("\(layout.name(of: index)) with \"list\": \"union\" of objects without identifier")
        }
        guard placement.description.isToMany, !isByPlace else {
            throw error("\(layout.name(of: index)) with \"list\": \"union\", whose elements may be told by their place")
        }
    }

    /// Lists that only add, or are left as they are, of objects without identifier that are nested in such of their own kind.
    private func checkCircles() throws {
        let tables = RelatedTables(graph)
        for reference in tables.elements where !tables.circle(of: reference.holder).isEmpty {
            guard let list = reference.list else { continue }
            let isLocal = layout.relationships[list].description.owner == .local
            guard tables.isUnion(list) || isLocal else { continue }
            let key = isLocal ? "\"owner\": \"local\"" : "\"list\": \"union\""
            throw error("\(layout.name(of: list)) with \(key), of objects that are nested in their own kind")
        }
    }

    private func error(_ what: ImportText) -> ImportError {
        ImportError(
            .optionsConflict,
            at: label,
            "\(what), cannot be had in a server's schema yet",
            advice: "Import into a SQLite store."
        )
    }
}
