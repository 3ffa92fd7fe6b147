import Foundation
import ImportModel
import Importer
import TestSupport

@testable import ImportEngine

/// Gathers records from their JSON texts, the first of them as record number `first`.
func gather(
    _ records: [String],
    limits: InferenceLimits = InferenceLimits(),
    first: Int64 = 1,
    keys: [String]? = nil
) -> EntityStatistics {
    var statistics = EntityStatistics(limits: limits)
    let reader = RecordReader(maxDepth: 1024)
    for (index, record) in records.enumerated() {
        let key = keys.map { Array($0[index].utf8) }
        add(Array((record + "\n").utf8), to: &statistics, reader, ordinal: first + Int64(index), key: key)
    }
    return statistics
}

/// Gathers records in any order, by several who then merge what they have.
func merged(_ records: [String], limits: InferenceLimits, _ random: inout SeededGenerator) -> EntityStatistics {
    let reader = RecordReader(maxDepth: 1024)
    var parts = (0..<Int.random(in: 1...6, using: &random)).map { _ in EntityStatistics(limits: limits) }
    for index in records.indices.shuffled(using: &random) {
        let part = Int.random(in: 0..<parts.count, using: &random)
        add(Array((records[index] + "\n").utf8), to: &parts[part], reader, ordinal: Int64(index + 1))
    }
    while parts.count > 1 {
        let taken = parts.remove(at: Int.random(in: 0..<parts.count, using: &random))
        parts[Int.random(in: 0..<parts.count, using: &random)].merge(taken)
    }
    return parts[0]
}

/// Adds one line, which must be a record.
func add(
    _ line: [UInt8],
    to statistics: inout EntityStatistics,
    _ reader: RecordReader,
    ordinal: Int64,
    key: [UInt8]? = nil
) {
    let keyed = key.map { Array("{\"".utf8) + $0 + Array("\":".utf8) + line.dropLast() + Array("}\n".utf8) }
    (keyed ?? line).withUnsafeBufferPointer { line in
        let line = ByteView(line)
        let outcome = reader.read(line: line)
        precondition(outcome == .record, "no record: \(String(decoding: line.buffer, as: UTF8.self))")
        let keys = key == nil ? 0 : 1
        statistics.add(reader.tape, record: line, root: 2 * keys, ordinal: ordinal, keys: keys)
    }
}

/// The entity of these records, in short: `name: type` or `name: type?`, with the path where it is not the name.
func infer(_ records: [String], limits: InferenceLimits = InferenceLimits(), keys: [String]? = nil) -> [String] {
    gather(records, limits: limits, keys: keys).entity(named: "e").entity.summary
}

/// What was noticed of these records.
func notices(_ records: [String], keys: [String]? = nil) -> [String] {
    gather(records, keys: keys).entity(named: "e").notices.map(\.description)
}

extension EntityStatistics {
    /// The entity that loses nothing of the records seen, with arrays as JSON, and what was noticed on the way.
    func entity(named name: String) -> (entity: EntityDescription, notices: [InferenceNotice]) {
        var inference = EntityInference(statistics: self, name: name)
        let entity = EntityDescription(name: name, attributes: inference.attributes())
        return (entity, inference.notices)
    }
}

extension EntityDescription {
    /// The attributes in short.
    var summary: [String] {
        attributes.map { attribute in
            let path = attribute.from[0]
            var text = "\(attribute.name): \(attribute.type.rawValue)\(attribute.isOptional ? "?" : "")"
            if path == .recordKey {
                text += " from $key"
            } else if path.keys != [attribute.name] {
                text += " from \(path.keys.joined(separator: "/"))"
            }
            return text
        }
    }

    /// The attribute of this name, in short.
    func attribute(_ name: String) -> String? {
        attributes.first { $0.name == name }.map { "\($0.type.rawValue)\($0.isOptional ? "?" : "")" }
    }
}
