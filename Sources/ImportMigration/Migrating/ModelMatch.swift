import ImportModel
import ImportSources

/// Which entity, attribute and relationship of a model is which one of the model before it.
///
/// What has a renaming identifier is what had that name before; all else is matched by name.
struct ModelMatch: Sendable {
    let old: ModelLayout
    let new: ModelLayout
    /// Per entity of the new model the one that it was; nil where it is new.
    let entities: [Int?]
    /// Per relationship of the new model the one that it was; nil where it is new.
    let relationships: [Int?]
    /// Per old entity the one that it has become.
    private let successors: [Int: Int]
    /// Per entity that was there, by their names, what the attributes were that it has or inherits.
    private let attributes: [[BytewiseString: AttributeDescription]]
    /// The same the other way round: the names of the old attributes that it has or inherits.
    private let kept: [Set<BytewiseString>]

    init(_ old: ModelLayout, _ new: ModelLayout) {
        self.old = old
        self.new = new
        let entities = Self.pairs(
            new.entities.map { Named($0.name, $0.renamingIdentifier) },
            old.entities.map { Named($0.name, $0.renamingIdentifier) }
        )
        self.entities = entities
        successors = Dictionary(
            entities.enumerated().compactMap { index, before in before.map { ($0, index) } },
            uniquingKeysWith: { first, _ in first }
        )
        relationships = new.relationships.indices.map { Self.relationship($0, entities, old, new) }
        let attributes = entities.indices.map { entity in
            entities[entity].map { Self.attributes(of: entity, in: $0, old, new) } ?? [:]
        }
        self.attributes = attributes
        kept = attributes.map(Self.names)
    }

    /// A name, and the one before it.
    struct Named: Hashable {
        let name: BytewiseString
        let renamingIdentifier: BytewiseString?

        init(_ name: String, _ renamingIdentifier: String?) {
            self.name = BytewiseString(name)
            self.renamingIdentifier = renamingIdentifier.map { BytewiseString($0) }
        }
    }

    /// For each of some new things the index of the old one that it was.
    static func pairs(_ new: [Named], _ old: [Named]) -> [Int?] {
        var pairs = [Int?](repeating: nil, count: new.count)
        var taken: Set<Int> = []
        /// Matches what has the same of something, the first ones with the first ones.
        func match<Key: Hashable>(_ ofNew: (Named) -> Key?, _ ofOld: (Named) -> Key?) {
            var rest: [Key: ArraySlice<Int>] = [:]
            for index in old.indices where !taken.contains(index) {
                if let key = ofOld(old[index]) { rest[key, default: []].append(index) }
            }
            for index in new.indices where pairs[index] == nil {
                guard let key = ofNew(new[index]), let found = rest[key]?.popFirst() else { continue }
                pairs[index] = found
                taken.insert(found)
            }
        }
        match({ $0 }, { $0 })
        match({ $0.renamingIdentifier }, { $0.name })
        match({ $0.renamingIdentifier }, { $0.renamingIdentifier })
        match({ $0.name }, { $0.name })
        return pairs
    }

    /// The entity of the new model that an old one has become; nil where it is gone.
    func successor(of entity: Int) -> Int? { successors[entity] }

    /// What an attribute that an entity has or inherits was in an old entity; nil where it is new.
    func attribute(_ name: String, of entity: Int, in other: Int) -> AttributeDescription? {
        let known = entities[entity] == other ? attributes[entity] : Self.attributes(of: entity, in: other, old, new)
        return known[BytewiseString(name)]
    }

    /// True if an entity has or inherits what was an attribute of an old entity.
    func hasAttribute(_ name: String, of other: Int, in entity: Int) -> Bool {
        let kept =
            entities[entity] == other ? kept[entity] : Self.names(Self.attributes(of: entity, in: other, old, new))
        return kept.contains(BytewiseString(name))
    }

    private static func names(_ attributes: [BytewiseString: AttributeDescription]) -> Set<BytewiseString> {
        Set(attributes.values.map { BytewiseString($0.name) })
    }

    private static func attributes(
        of entity: Int,
        in other: Int,
        _ old: ModelLayout,
        _ new: ModelLayout
    ) -> [BytewiseString: AttributeDescription] {
        let news = new.hierarchy.attributes(of: entity)
        let olds = old.hierarchy.attributes(of: other)
        let pairs = pairs(
            news.map { Named($0.name, $0.renamingIdentifier) },
            olds.map { Named($0.name, $0.renamingIdentifier) }
        )
        var attributes: [BytewiseString: AttributeDescription] = [:]
        for (attribute, pair) in zip(news, pairs) { attributes[BytewiseString(attribute.name)] = pair.map { olds[$0] } }
        return attributes
    }

    private static func relationship(
        _ relationship: Int,
        _ entities: [Int?],
        _ old: ModelLayout,
        _ new: ModelLayout
    ) -> Int? {
        let declaring = new.relationships[relationship].entity
        // One that several entities had may be that of their parent now.
        for entity in [declaring] + new.hierarchy.subentities(of: declaring).filter({ $0 != declaring }) {
            guard let before = entities[entity] else { continue }
            let news = new.relationships(of: entity)
            let olds = old.relationships(of: before)
            let pairs = pairs(
                news.map { Named(new.relationships[$0].description) },
                olds.map { Named(old.relationships[$0].description) }
            )
            guard let place = news.firstIndex(of: relationship), let found = pairs[place] else { continue }
            return olds[found]
        }
        return nil
    }

    /// The old links that a relationship of the new model has.
    func links(of relationship: Int) -> OldRelationship? {
        let owner = new.relationships[relationship].owner
        let inverse = new.relationships[owner].inverse
        let own = relationships[owner].map { (side: $0, isOwn: true) }
        guard let found = own ?? inverse.flatMap({ relationships[$0] }).map({ (side: $0, isOwn: false) }) else {
            return nil
        }
        let links = old.relationships[found.side].owner
        // A relationship that is its own inverse has no other side.
        let isFirst = links == found.side
        return OldRelationship(owner: links, isReversed: isFirst != found.isOwn)
    }
}

extension ModelMatch.Named {
    fileprivate init(_ relationship: RelationshipDescription) {
        self.init(relationship.name, relationship.renamingIdentifier)
    }
}

/// The links of a relationship of the old model, seen from one of the new model.
struct OldRelationship: Hashable, Sendable {
    /// The old relationship whose names their storage has, by its index.
    let owner: Int
    /// True if the new relationship leads from the old one's destination to its entity.
    let isReversed: Bool
}

/// An end of a relationship.
package enum RelationshipEnd: Sendable {
    case source, destination

    package var other: RelationshipEnd { self == .source ? .destination : .source }
}

extension RelationshipStorage {
    /// The end whose rows have the columns; nil where it is in a join table.
    var holderSide: RelationshipEnd? {
        switch shape {
        case .join: nil
        case .ownedDestination: .destination
        case .source, .oneToMany, .oneToOne: .source
        }
    }

    /// The entity at an end.
    package func entity(at side: RelationshipEnd) -> Int { side == .source ? entity : destination }
}
