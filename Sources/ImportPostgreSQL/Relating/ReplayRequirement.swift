import ImportModel
import Importer

/// The relationships that statements over whole tables do not settle: records are taken one after the other where a model has one
/// of them (`ReplaySettlement`).
struct ReplayRequirement {
    /// What needs it.
    private struct Found: Error {
        let what: String
    }

    private let graph: GraphPlan
    private let tables: RelationshipTables

    init(_ graph: GraphPlan) {
        self.graph = graph
        tables = RelationshipTables(graph)
    }

    private var layout: ModelLayout { graph.layout }

    /// The first that needs it, in words; nil where nothing does.
    var what: String? {
        do throws(Found) {
            for entity in layout.entities.indices { try check(entity) }
            for relationship in layout.relationships.indices { try check(relationship: relationship) }
            return nil
        } catch {
            return error.what
        }
    }

    /// - Throws: `ImportError` where a server can have no index on an identifier.
    static func checkIdentifiers(_ graph: GraphPlan, label: String) throws {
        for (plan, entity) in zip(graph.plans, graph.layout.entities)
        where plan.identifier.contains(where: { plan.attributes[$0].type == .json }) {
            throw ImportError(
                .optionsConflict,
                at: label,
                "the identifier of \(entity.name) is json, which a server cannot index",
                advice: "Give the attribute another type, or import into a SQLite store."
            )
        }
    }

    private func check(_ index: Int) throws(Found) {
        let entity = layout.entities[index]
        let identifier = layout.hierarchy.identifier(of: index)
        if graph.onConflict == .replace, sharesObjects(index) {
            throw found("objects that are replaced beside \(entity.name), which shares its table and identifier")
        }
        if layout.isShared(index), identifier.contains(EntityDescription.parentIdentifier),
            layout.parentRelationship(of: index) != layout.parentRelationship(of: layout.home(of: index))
        {
            throw found("\(entity.name), which is identified within other objects than what it inherits from")
        }
        if identifier.contains(EntityDescription.parentIdentifier),
            let parent = layout.parentRelationship(of: index), isKeyless(layout.target(of: parent))
        {
            throw found("\(entity.name), which is identified within objects without identifier")
        }
    }

    /// True if what an object is depends on the records before it.
    private func sharesObjects(_ entity: Int) -> Bool { layout.isShared(entity) && !isKeyless(entity) }

    private func isKeyless(_ entity: Int) -> Bool { layout.hierarchy.identifier(of: entity).isEmpty }

    private func check(relationship index: Int) throws(Found) {
        let placement = layout.relationships[index]
        let description = placement.description
        let name = layout.name(of: index)
        if description.owner == .local { throw found("\(name) with \"owner\": \"local\"") }
        if tables.names.contains(where: { $0.relationship == index }) { try checkNames(index) }
        if description.onConflict == .replace, sharesObjects(placement.destination) {
            throw found("\(name) with \"onConflict\": \"replace\"")
        }
        if description.onConflict == .ignore,
            let union = layout.relationships.firstIndex(where: { $0.description.list == .union })
        {
            throw found("\(name) with \"onConflict\": \"ignore\" beside \(layout.name(of: union))")
        }
        if description.list == .union { try checkUnion(index) }
        if description.identity == .position, !isKeyless(placement.destination) {
            throw found("\(name) with \"identity\": \"position\"")
        }
        if placement.shape == .join, ends(of: placement).contains(where: isKeyless) {
            throw found("\(name), links of objects without identifier in a table of their own")
        }
        if placement.shape == .oneToOne, placement.inverse == index {
            throw found("\(name), a one-to-one that is its own inverse")
        }
        for reference in tables.references(index) { try check(reference) }
    }

    /// Objects without identifier: statements settle those that are in lists, whole, of objects that cannot be nested in them.
    private func check(_ reference: RelationshipTables.Reference) throws(Found) {
        let name = layout.name(of: reference.owner)
        if isKeyless(reference.target), !isKeyless(reference.holder) || reference.isOneToOne {
            throw found("\(name), which leads to objects without identifier")
        }
        guard isKeyless(reference.holder) else { return }
        if reference.list != nil || reference.isOneToOne,
            layout.relationships[reference.owner].shape != .ownedDestination,
            !layout.relationships[reference.owner].description.from.isEmpty
        {
            throw found("\(name), which objects without identifier say of themselves")
        }
        if tables.isInCircle(reference.holder) {
            throw found("\(name), of objects without identifier that are nested in their own kind")
        }
        guard let list = reference.list, isKeyless(reference.target) else { return }
        if layout.relationships[list].deleteRule != .cascade {
            throw found("\(layout.name(of: list)) with \"deleteRule\", from and to objects without identifier")
        }
    }

    /// Objects that are named by other attributes than the identifier: what waits for one is kept by the identifiers of both.
    private func checkNames(_ index: Int) throws(Found) {
        let (placement, name) = (layout.relationships[index], layout.name(of: index))
        let description = placement.description
        if layout.hierarchy.isOwned(placement.destination) {
            throw found("\(name) with \"by\", which leads to objects without identifier, or identified within others")
        }
        if isKeyless(placement.entity) { throw found("\(name) with \"by\", of objects without identifier") }
        if description.list == .union { throw found("\(name) with \"by\" and \"list\": \"union\"") }
        if description.unresolved == .reject { throw found("\(name) with \"by\" and \"unresolved\": \"reject\"") }
        // What is left out of a record names nothing, and has no values by which it is named.
        let policies = layout.relationships.map(\.description.onConflict).filter { [.ignore, .error].contains($0) }
        if let policy = policies.first?.rawValue {
            throw found("\(name) with \"by\" beside \"onConflict\": \"\(policy)\"")
        }
    }

    /// Lists that only add: statements find places in a join table that one side alone has lists of.
    private func checkUnion(_ index: Int) throws(Found) {
        let placement = layout.relationships[index]
        let union = "\(layout.name(of: index)) with \"list\": \"union\""
        guard placement.shape == .join else {
            let isPlaced = tables.reference(placement.owner)?.position != nil
            if isPlaced || ends(of: placement).contains(where: isKeyless) {
                throw found("\(union), whose elements have places in columns")
            }
            return
        }
        let join = tables.join(placement.owner)
        let position = placement.owner == index ? join.position : join.inversePosition
        let isStated = placement.inverse.map { !layout.relationships[$0].description.from.isEmpty } ?? false
        if position != nil, isStated || join.isSymmetric { throw found("\(union), which its objects state, too") }
    }

    private func ends(of placement: RelationshipStorage) -> [Int] { [placement.entity, placement.destination] }

    private func found(_ what: String) -> Found { Found(what: what) }
}
