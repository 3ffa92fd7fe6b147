import ImportModel
import Importer

/// `/api/records/ENTITY`: pages of an entity's records.
struct RecordsRoute: Sendable {
    static let defaultLimit = 50
    static let mostLimit = 500

    let routes: Routes

    func answer(_ request: Request, entity: String) async throws -> Answer {
        let page = RecordPage.Request(
            entity: entity,
            predicate: try request.parameter("where").map { try RecordPredicate(parsing: $0) },
            sort: try request.parameter("sort").map(SortParameter.sorts) ?? [],
            section: request.parameter("section"),
            after: request.parameter("after"),
            limit: try request.count("limit", default: Self.defaultLimit, most: Self.mostLimit)
        )
        let result = try await routes.pool.read { reader, interruption in try reader.page(page, interruption) }
        return Answer(content(result, section: page.section))
    }

    private func content(_ page: RecordPage, section: String?) -> JSONMembers {
        let attributes = page.entity.attributes
        let values = ValueJSON(hidesValues: routes.options.hidesValues)
        let sectionIndex = section.flatMap { name in attributes.firstIndex { $0.name == name } }
        var content = JSONMembers()
        content["records"] = .array(
            page.rows.map { row in
                var members = JSONMembers()
                members["key"] = .string(String(row.record.rowID))
                var shown = JSONMembers()
                for (index, attribute) in attributes.enumerated() {
                    let value = row.record.values[index]
                    shown[attribute.name] = values.value(value, of: attribute, isCut: row.cut.contains(index))
                }
                if let sectionIndex {
                    members["section"] = values.value(
                        row.record.values[sectionIndex],
                        of: attributes[sectionIndex],
                        isCut: row.cut.contains(sectionIndex)
                    )
                }
                members["values"] = shown.value
                if !row.cut.isEmpty {
                    members["cut"] = .array(row.cut.sorted().map { .string(attributes[$0].name) })
                }
                return members.value
            }
        )
        content["next"] = page.next.map { .string($0) } ?? .null
        return content
    }
}
