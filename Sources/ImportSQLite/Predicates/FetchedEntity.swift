import ImportModel

/// An entity whose records are fetched, with what its relationships lead to.
package struct FetchedEntity: Sendable {
    package let stored: StoredGraph.Entity
    private let graph: StoredGraph

    package init(_ stored: StoredGraph.Entity, in graph: StoredGraph) {
        self.stored = stored
        self.graph = graph
    }

    /// An entity of which nothing is known but its attributes.
    package init(_ description: EntityDescription) {
        self.init(StoredGraph.Entity(description), in: StoredGraph())
    }

    package var description: EntityDescription { stored.description }

    /// What holds for the rows that are its own; nil where all of its table are.
    package var condition: SQLFragment? {
        guard let subentities = stored.subentities else { return nil }
        let marks = subentities.names.map { _ in "?" }.joined(separator: ", ")
        return SQLFragment(
            "\(subentities.column.quotedIdentifier) IN (\(marks))",
            subentities.names.map { .text(Array($0.utf8)) }
        )
    }

    /// True if other entities have rows in its table.
    package var sharesTable: Bool {
        guard let index = stored.index, let layout = graph.layout else { return false }
        return layout.isShared(index)
    }

    // MARK: Relationships

    /// Its relationships that the store has, inherited ones first.
    package var links: [RelationshipJoin] { ownLinks.map(\.link) }

    /// The same, each with whether it is declared by this entity, and not inherited.
    package var ownLinks: [(link: RelationshipJoin, isOwn: Bool)] {
        guard let index = stored.index, let layout = graph.layout else { return [] }
        return layout.relationships(of: index).compactMap { place in
            RelationshipJoin(place, of: stored, in: graph).map { ($0, layout.relationships[place].entity == index) }
        }
    }

    /// What a relationship leads to.
    package func destination(of link: RelationshipJoin) -> FetchedEntity { FetchedEntity(link.destination, in: graph) }

    /// The relationship that a key path begins with, and what follows its dot; nil for the rest where nothing does.
    package func link(leading path: String) -> (link: RelationshipJoin, rest: String?)? {
        // The longest, as names may have dots in them.
        let bytes = Array(path.utf8)
        let fitting = links.filter { link in
            let name = Array(link.name.utf8)
            return bytes.starts(with: name)
                && (bytes.count == name.count || bytes[name.count] == UInt8(ascii: "."))
        }
        guard let link = fitting.max(by: { $0.name.utf8.count < $1.name.utf8.count }) else { return nil }
        let length = link.name.utf8.count
        guard bytes.count > length else { return (link, nil) }
        return (link, String(decoding: bytes[(length + 1)...], as: UTF8.self))
    }
}
