import ImportModel
import Importer

/// `/api/entities`: what the store has, as its models describe it.
struct EntitiesRoute: Sendable {
    let routes: Routes

    func answer() async throws -> Answer {
        let summaries = try await routes.summaries()
        var content = JSONMembers()
        content["entities"] = .array(summaries.map(Self.members))
        return Answer(content)
    }

    private static func members(_ summary: EntitySummary) -> JSONValue {
        let entity = summary.entity
        var members = JSONMembers()
        members["name"] = .string(entity.name)
        members["table"] = .string(entity.table)
        members["count"] = .integer(summary.count)
        members["identifier"] = .array(entity.identifier.map { .string($0) })
        members["attributes"] = .array(
            entity.attributes.map { attribute in
                var members = JSONMembers()
                members["name"] = .string(attribute.name)
                members["type"] = .string(attribute.type.rawValue)
                members["optional"] = .boolean(attribute.isOptional)
                members["indexed"] = .boolean(summary.indexed.contains(attribute.name))
                return members.value
            }
        )
        members["relationships"] = .array(
            summary.links.map { link in
                let relationship = link.relationship
                var members = JSONMembers()
                members["name"] = .string(relationship.name)
                members["entity"] = .string(relationship.destination)
                members["to_many"] = .boolean(relationship.isToMany)
                members["ordered"] = .boolean(link.isOrdered)
                members["owned"] = .boolean(link.isOwned)
                members.set("inverse", relationship.inverse.map { .string($0) })
                members["delete_rule"] = .string(link.deleteRule.rawValue)
                members.set("links", link.count.map { .integer($0) })
                members["unresolved"] = .integer(link.unresolved)
                return members.value
            }
        )
        members.set("parent", entity.parent.map { .string($0) })
        return members.value
    }
}
