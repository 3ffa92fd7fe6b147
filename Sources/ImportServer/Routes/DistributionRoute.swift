import ImportModel
import Importer

/// `/api/distribution/ENTITY/ATTRIBUTE`: which values there are, and how often.
struct DistributionRoute: Sendable {
    let routes: Routes

    func answer(entity: String, attribute: String) async throws -> Answer {
        let distribution = try await routes.pool.read { reader, interruption in
            try reader.distribution(of: attribute, in: entity, interruption)
        }
        var count = distribution.rows
        if distribution.isSampled {
            let summaries = try await routes.summaries()
            count = summaries.first { $0.isCalled(entity) }?.count ?? count
        }
        var content = JSONMembers()
        content["entity"] = .string(entity)
        content["attribute"] = .string(attribute)
        content["type"] = .string(distribution.attribute.type.rawValue)
        content["count"] = .integer(count)
        content["nulls"] = .integer(distribution.nulls)
        var distinct = JSONMembers()
        distinct["value"] = .integer(distribution.distinct)
        distinct["at_least"] = .boolean(distribution.isSampled)
        content["distinct"] = distinct.value
        let values = ValueJSON(hidesValues: routes.options.hidesValues)
        content["top"] = .array(
            distribution.top.map { value, count in
                var members = JSONMembers()
                members["value"] = values.value(value, of: distribution.attribute)
                members["count"] = .integer(count)
                return members.value
            }
        )
        // The ends of ranges are values.
        let bins = values.hidesValues ? [] : distribution.histogram
        content["histogram"] = .array(
            bins.map { bin in
                var members = JSONMembers()
                members["from"] = end(bin.from, distribution.attribute)
                members["to"] = end(bin.to, distribution.attribute)
                members["count"] = .integer(bin.count)
                return members.value
            }
        )
        if distribution.isSampled {
            content["sampled"] = .boolean(true)
            content["sample"] = .integer(distribution.rows)
        }
        return Answer(content)
    }

    private func end(_ value: Record.Value, _ attribute: AttributeDescription) -> JSONValue {
        guard case .real(let number) = value else { return ValueJSON(hidesValues: false).value(value, of: attribute) }
        guard attribute.type == .date, let milliseconds = Int64(exactly: number.rounded()) else {
            return .double(number)
        }
        var bytes: [UInt8] = []
        guard StoredDate.appendISO8601(milliseconds, to: &bytes) else { return .double(number) }
        return .string(String(decoding: bytes, as: UTF8.self))
    }
}
