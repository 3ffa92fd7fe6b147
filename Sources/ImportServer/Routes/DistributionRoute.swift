import ImportModel
import Importer

/// `/api/distribution/ENTITY/ATTRIBUTE`: which values there are, and how often.
struct DistributionRoute: Sendable {
    let routes: Routes

    func answer(entity: String, attribute: String) async throws -> Response {
        let distribution = try await routes.pool.read { reader, interruption in
            try reader.distribution(of: attribute, in: entity, interruption)
        }
        var count = distribution.rows
        if distribution.isSampled {
            let summaries = try await routes.summaries()
            count = summaries.first { $0.isCalled(entity) }?.count ?? count
        }
        var content: JSONValue = [
            "entity": .string(entity), "attribute": .string(attribute),
            "type": .string(distribution.attribute.type.rawValue), "count": .integer(count),
            "nulls": .integer(distribution.nulls),
            "distinct": ["value": .integer(distribution.distinct), "at_least": .boolean(distribution.isSampled)],
        ]
        let values = ValueJSON(hidesValues: routes.options.hidesValues)
        content["top"] = .array(
            distribution.top.map { value, count -> JSONValue in
                ["value": values.value(value, of: distribution.attribute), "count": .integer(count)]
            }
        )
        // The ends of ranges are values.
        let bins = values.hidesValues ? [] : distribution.histogram
        content["histogram"] = .array(
            bins.map { bin -> JSONValue in
                [
                    "from": end(bin.from, distribution.attribute), "to": end(bin.to, distribution.attribute),
                    "count": .integer(bin.count),
                ]
            }
        )
        if distribution.isSampled {
            content["sampled"] = .boolean(true)
            content["sample"] = .integer(distribution.rows)
        }
        return Response(content)
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
