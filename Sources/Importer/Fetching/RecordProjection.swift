import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// What is read of each record: its attributes' values, and the objects that its relationships lead to.
struct RecordProjection: Sendable {
    let entity: FetchedEntity
    let attributes: [AttributeDescription]
    /// What a query reads of the table for them, in their order.
    let columns: [String]
    let related: [RelatedObjects]
    /// The tables beside the entity's that related objects depend on, in lower case.
    let reached: Set<BytewiseString>

    /// - Parameters:
    ///   - names: the attributes to read, in order, and values of the source (`@source.generated`); nil for all attributes, or for
    ///     the record's own where related objects are read too.
    ///   - includes: key paths of the relationships to follow.
    /// - Throws: `ImportError` with `.usage` when there is no such attribute or relationship.
    init(
        of entity: FetchedEntity,
        attributes names: [String]? = nil,
        including includes: [String] = [],
        dates: DateStyle = .iso8601
    ) throws {
        self.entity = entity
        let description = entity.description
        attributes =
            try names.map { try description.fetched($0) }
            ?? (includes.isEmpty ? description.attributes : entity.stored.ownAttributes)
        columns = attributes.map { attribute in
            guard description.attribute(named: attribute.name) == nil, let column = SourceColumn(attribute.name) else {
                return attribute.column.quotedIdentifier
            }
            return column.expression(in: description.table)
        }
        var root = RelationshipInclusion()
        for path in includes { try root.add(path, of: entity) }
        var number = 0
        related = root.objects(of: entity, dates: dates, &number)
        reached = root.tables
    }

    /// The columns by which the related objects of a record are found, after those of its attributes.
    var sources: [String] { related.flatMap(\.sources) }

    /// The entity with an attribute for each value of a record; related objects are values of JSON.
    var description: EntityDescription {
        var entity = entity.description
        entity.attributes =
            attributes + related.map { AttributeDescription(name: $0.name, type: .json, isOptional: true) }
        return entity
    }
}

/// The relationships to follow from an entity, and from where they lead.
private struct RelationshipInclusion {
    /// In the order in which they were asked for.
    private var links: [(link: RelationshipJoin, next: RelationshipInclusion)] = []

    /// The reader calls itself for each level.
    private static let mostLevels = 60

    /// The tables that are read, in lower case.
    var tables: Set<BytewiseString> { links.reduce(into: []) { $0.formUnion($1.link.tables.union($1.next.tables)) } }

    mutating func add(_ path: String, of entity: FetchedEntity, level: Int = 1, whole: String? = nil) throws {
        let whole = whole ?? path
        guard let (link, rest) = entity.link(leading: path), rest != "" else {
            throw ImportError(noRelationship: path, of: whole, in: entity)
        }
        guard level <= Self.mostLevels else {
            throw ImportError(
                .unknownRelationship,
                "a key path of more than \(Self.mostLevels) relationships cannot be included",
                advice: "Include fewer levels."
            )
        }
        var place = links.firstIndex { BytewiseString($0.link.name) == BytewiseString(link.name) }
        if place == nil {
            place = links.count
            links.append((link, RelationshipInclusion()))
        }
        guard let place, let rest else { return }
        try links[place].next.add(rest, of: entity.destination(of: link), level: level + 1, whole: whole)
    }

    func objects(of entity: FetchedEntity, dates: DateStyle, _ number: inout Int) -> [RelatedObjects] {
        links.map { link, next in
            number += 1
            let own = number
            let destination = entity.destination(of: link)
            return RelatedObjects(
                link,
                destination.stored.ownAttributes,
                next.objects(of: destination, dates: dates, &number),
                number: own,
                dates: dates
            )
        }
    }
}

extension EntityDescription {
    /// The attributes that are fetched under these names.
    ///
    /// - Throws: `ImportError` with `.usage` when there is no such attribute.
    func fetched(_ names: [String]) throws -> [AttributeDescription] {
        try names.map { name in
            guard let attribute = attribute(named: name) ?? SourceColumn(name)?.attribute else {
                throw ImportError(noAttribute: name, in: self)
            }
            return attribute
        }
    }
}

extension ImportError {
    /// A relationship that an entity does not have.
    ///
    /// - Parameter path: the whole key path that names it.
    init(noRelationship name: String, of path: String, in entity: FetchedEntity) {
        let names = entity.links.map(\.name)
        let head = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).first.map(String.init)
        let wanted = head ?? name
        let known = String(decoding: path.utf8.dropLast(name.utf8.count), as: UTF8.self)
        let near = NameSuggestion.nearest(to: wanted, among: names)
        self.init(
            .unknownRelationship,
            "\(entity.description.name) has no relationship \(wanted)\(near.map { "; did you mean \(known)\($0)?" } ?? "")",
            advice: names.isEmpty
                ? "No relationship leads from it."
                : "It has: \(names.joined(separator: ", ").printable)."
        )
    }
}
