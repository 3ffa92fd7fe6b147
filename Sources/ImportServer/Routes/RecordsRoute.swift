import ImportModel
import Importer

/// `/api/records/ENTITY`: pages of an entity's records.
struct RecordsRoute: Sendable {
    static let defaultLimit = 50
    static let mostLimit = 500
    static let mostSections = 500
    /// A predicate's records are counted where that takes no longer.
    private static let countingTime = Duration.milliseconds(50)

    /// More names to sort by than these are refused.
    private static let mostSorts = 32

    let routes: Routes

    private static func sorts(_ text: String) throws -> [RecordSort] {
        let sorts = try RecordSort.list(text)
        guard sorts.count <= mostSorts else {
            throw ResponseError(.badRequest, "sort has more than \(mostSorts) names", advice: "Sort by fewer.")
        }
        return sorts
    }

    func answer(_ request: Request, entity: String) async throws -> Response {
        let page = RecordPage.Request(
            entity: entity,
            predicate: try request.parameter("where").map { try RecordPredicate(parsing: $0) },
            sort: try request.parameter("sort").map(Self.sorts) ?? [],
            section: request.parameter("section"),
            after: request.parameter("after"),
            limit: try request.count("limit", default: Self.defaultLimit, most: Self.mostLimit),
            hidesValues: routes.options.hidesValues
        )
        if page.hidesValues, page.predicate != nil {
            throw ResponseError(
                .forbidden,
                code: "hidden",
                "values are hidden, and a predicate would reveal them",
                advice: "Serve the store without hiding values."
            )
        }
        let result = try await routes.pool.read { reader, interruption in try reader.page(page, interruption) }
        var content = content(result, section: page.section)
        // The first page alone says what is the same for all.
        if page.after == nil {
            content["count"] = try await count(page).map { .integer($0) }
            if page.section != nil { try await addSections(of: page, result.entity, to: &content) }
        }
        return Response(content)
    }

    /// How many records there are; nil where counting them takes too long.
    private func count(_ page: RecordPage.Request) async throws -> Int64? {
        // A page does not wait for the counts of all entities.
        if page.predicate == nil, let known = await routes.entities.known(of: routes.observer.last.generation) {
            return known.first { $0.isCalled(page.entity) }?.count
        }
        do {
            return try await routes.pool.read(within: Self.countingTime) { reader, interruption in
                try reader.count(of: page, interruption)
            }
        } catch let error as ResponseError where error.status == .unavailable {
            return nil
        }
    }

    private func addSections(
        of page: RecordPage.Request,
        _ entity: EntityDescription,
        to content: inout JSONValue
    ) async throws {
        let found = try await routes.pool.read { reader, interruption in
            try reader.sections(page, most: Self.mostSections, interruption)
        }
        let values = ValueJSON(hidesValues: routes.options.hidesValues)
        guard let name = page.section, let attribute = entity.attribute(named: name) else { return }
        content["sections"] = .array(
            found.sections.enumerated().map { place, section in
                var members: JSONValue = [
                    "value": values.value(section.value, of: attribute), "count": .integer(section.count),
                ]
                if place == 0 {
                    members["after"] = .null
                } else if !page.hidesValues {
                    members["after"] = section.start.map { .string($0) }
                }
                return members
            }
        )
        if found.hasMore { content["more_sections"] = .boolean(true) }
    }

    private func content(_ page: RecordPage, section: String?) -> JSONValue {
        let attributes = page.entity.attributes
        let values = ValueJSON(hidesValues: routes.options.hidesValues)
        let sectionIndex = section.flatMap { name in attributes.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }
        var content: JSONValue = [:]
        content["records"] = .array(
            page.rows.map { row -> JSONValue in
                var members: JSONValue = ["key": .string(String(row.record.rowID))]
                if let sectionIndex {
                    members["section"] = values.value(
                        row.record.values[sectionIndex],
                        of: attributes[sectionIndex],
                        isCut: row.cut.contains(sectionIndex)
                    )
                }
                members["values"] = values.values(of: row, attributes)
                if !row.cut.isEmpty { members["cut"] = .strings(row.cut.sorted().map { attributes[$0].name }) }
                return members
            }
        )
        content["next"] = page.next.map { .string($0) } ?? .null
        return content
    }
}
