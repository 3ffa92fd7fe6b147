import ImportModel
import Importer

/// `/api/record/ENTITY/KEY`: one object in full, with links to those that it is related to.
struct RecordRoute: Sendable {
    /// More characters of a title than these are not shown.
    private static let titleCharacters = 100
    /// A record is looked for in its source, and the lines before it are counted, no longer than this each.
    private static let searchTime = Duration.seconds(3)

    let routes: Routes

    func answer(_ request: Request, entity: String, key: String) async throws -> Response {
        let missing = ResponseError(
            .notFound,
            code: "recordNotFound",
            "\(entity) has no record \(key.prefix(100))",
            advice: "It may have been deleted."
        )
        guard let rowID = Int64(key) else { throw missing }
        let object = try await routes.pool.read { reader, interruption in
            try reader.object(rowID, of: entity, interruption)
        }
        guard let object else { throw missing }
        var content = content(object)
        let table = object.entity.table
        if let origin = try await routes.inspect({ try $0.origin(of: rowID, in: table) }) ?? nil {
            let isAsked = request.parameter("place") != "no"
            content["origin"] = members(origin, isAsked ? await place(of: rowID, in: table) : nil)
        }
        return Response(content)
    }

    /// Where the row's own record is in its source, and its line; nil where that cannot be found out.
    private func place(of rowID: Int64, in table: String) async -> (record: SourceRecordLocation, line: Int64?)? {
        let found = try? await routes.pool.read(within: Self.searchTime) { reader, interruption in
            try reader.inspection(interruption)?.place(of: rowID, in: table, interruption)
        }
        guard let record = found ?? nil else { return nil }
        let line = try? await routes.pool.read(within: Self.searchTime) { try record.line($1) }
        return (record, line)
    }

    private func members(_ origin: RowOrigin, _ place: (record: SourceRecordLocation, line: Int64?)?) -> JSONValue {
        var members: JSONValue = ["job": .integer(origin.job)]
        members["source"] = (place?.record.sourceName ?? origin.source).map { .string($0) }
        guard let bytes = place?.record.bytes ?? origin.bytes else { return members }
        members["range"] = .string(place == nil ? "chunk" : "record")
        members["first_byte"] = .integer(bytes.lowerBound)
        members["end_byte"] = .integer(bytes.upperBound)
        members["line"] = (place?.line).map { .integer($0) }
        return members
    }

    private func content(_ object: ObjectDetail) -> JSONValue {
        let values = ValueJSON(hidesValues: routes.options.hidesValues)
        let (row, attributes) = (object.row, object.entity.attributes)
        var content: JSONValue = ["entity": .string(object.entity.name), "key": .string(String(row.record.rowID))]
        content["values"] = values.values(of: row, attributes)
        if !row.cut.isEmpty { content["cut"] = .strings(row.cut.sorted().map { attributes[$0].name }) }
        var relationships: JSONValue = [:]
        for related in object.related {
            var members: JSONValue = ["entity": .string(related.entity), "to_many": .boolean(related.isToMany)]
            if related.isToMany { members["count"] = .integer(related.count) }
            members["records"] = .array(
                related.links.map { link -> JSONValue in
                    ["key": .string(String(link.rowID)), "title": .string(title(link, related.titleAttribute, values))]
                }
            )
            relationships[related.name] = members
        }
        content["relationships"] = relationships
        return content
    }

    /// What people know an object by; its key where nothing of it may be shown.
    private func title(_ link: ObjectDetail.Link, _ attribute: AttributeDescription?, _ values: ValueJSON) -> String {
        let key = String(link.rowID)
        guard !values.hidesValues, let attribute, let title = link.title else { return key }
        switch values.value(title, of: attribute) {
        case .string(let text): return text.isEmpty ? key : String(text.prefix(Self.titleCharacters))
        case .number(let digits): return digits
        default: return key
        }
    }
}
