import ImportModel

/// A value outside of the records that is kept with its source.
package struct OutsideValue: Sendable, Hashable, Codable {
    /// How many bytes of paths and values are kept of a source: 1 MiB.
    package static let mostBytes = 1 << 20

    /// Where it is, as `ChunkEntry.outside` has it.
    package let path: String
    /// Its first byte in the source, or its key's.
    package let byteOffset: Int64
    /// The value as JSON, without insignificant white space.
    package let json: String

    package init(path: String, byteOffset: Int64, json: String) {
        self.path = path
        self.byteOffset = byteOffset
        self.json = json
    }

    /// What it counts of `mostBytes`.
    package var bytes: Int { path.utf8.count + json.utf8.count }

    /// The value.
    package var value: JSONValue? { try? JSONValue(parsing: Array(json.utf8)) }

    /// The values of a source as an object: arrays for paths with wildcards, in their order.
    package static func object(_ values: [OutsideValue]) -> JSONValue {
        var order: [String] = []
        var found: [String: [JSONValue]] = [:]
        for outside in values {
            guard let value = outside.value else { continue }
            if found[outside.path] == nil { order.append(outside.path) }
            found[outside.path, default: []].append(value)
        }
        return .object(
            order.map { path in
                let values = found[path] ?? []
                let isList = path.contains("*") || values.count > 1
                return JSONValue.Member(key: name(of: path), value: isList ? .array(values) : values[0])
            }
        )
    }

    /// What values at a path are called: the path without `$.`.
    package static func name(of path: String) -> String {
        path.hasPrefix("$.") ? String(path.dropFirst(2)) : path
    }
}
