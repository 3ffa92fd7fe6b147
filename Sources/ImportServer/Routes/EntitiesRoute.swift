import ImportModel
import Importer

/// `/api/entities`: what the store has, as its models describe it.
struct EntitiesRoute: Sendable {
    let routes: Routes

    func answer() async throws -> Response {
        let summaries = try await routes.summaries()
        return Response(["entities": .array(summaries.map(Self.members))])
    }

    private static func members(_ summary: EntitySummary) -> JSONValue {
        let entity = summary.entity
        var members: JSONValue = [
            "name": .string(entity.name), "table": .string(entity.table), "count": .integer(summary.count),
            "identifier": .strings(entity.identifier),
        ]
        members["attributes"] = .array(
            entity.attributes.map { attribute in
                [
                    "name": .string(attribute.name), "type": .string(attribute.type.rawValue),
                    "optional": .boolean(attribute.isOptional),
                    "indexed": .boolean(summary.indexed.contains(attribute.name)),
                ]
            }
        )
        members["relationships"] = .array(
            summary.links.map { link in
                let relationship = link.relationship
                var members: JSONValue = [
                    "name": .string(relationship.name), "entity": .string(relationship.destination),
                    "to_many": .boolean(relationship.isToMany), "ordered": .boolean(link.isOrdered),
                    "owned": .boolean(link.isOwned),
                ]
                members["inverse"] = relationship.inverse.map { .string($0) }
                members["delete_rule"] = .string(link.deleteRule.rawValue)
                members["links"] = link.count.map { .integer($0) }
                members["unresolved"] = .integer(link.unresolved)
                return members
            }
        )
        members["imported"] = summary.imported.map { ["job": .integer($0.job), "count": .integer($0.count)] }
        members["parent"] = entity.parent.map { .string($0) }
        return members
    }
}
