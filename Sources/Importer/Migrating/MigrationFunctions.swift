import Foundation
import GRDB
import ImportModel
import Synchronization

/// The SQL functions by which values become others.
enum MigrationFunctions {
    /// A UUID for a row that is there: entity, attribute, and the values of the row's identifier.
    static let generated = "_import_generated"

    /// The name of the function that makes a value of one attribute one of another.
    static func conversion(_ before: AttributeDescription, _ after: AttributeDescription) -> String {
        function("_import_converted", before, after)
    }

    /// The name of the function that says whether a value survives that.
    static func survival(_ before: AttributeDescription, _ after: AttributeDescription) -> String {
        function("_import_survives", before, after)
    }

    /// The condition that a value of one attribute, which an expression has, cannot be one of another.
    static func isLost(_ value: String, _ before: AttributeDescription, _ after: AttributeDescription) -> String {
        let conversion = ValueConversion(old: before, new: after)
        // GRDB's functions get a text up to its first NUL, and so cannot make one of it.
        let isCut = "typeof(\(value)) = 'text' AND \(value.hasNUL)"
        let function = survival(before, after)
        let survives = "CASE WHEN \(isCut) THEN \(function)(CAST(\(value) AS BLOB), 1) ELSE \(function)(\(value)) END"
        var conditions: [String] = []
        if conversion.way == .castOfExact {
            conditions.append("\(value) NOT BETWEEN -9007199254740992 AND 9007199254740992")
        }
        if conversion.way == .each { conditions.append(isCut) }
        // Another program may have put anything into a column.
        if conversion.way.isCast { conditions.append("typeof(\(value)) <> 'integer'") }
        if !conversion.way.isCast || conversion.hasOtherRules { conditions.append("NOT \(survives)") }
        return "\(value) IS NOT NULL AND (\(conditions.joined(separator: " OR ")))"
    }

    private static func function(_ name: String, _ before: AttributeDescription, _ after: AttributeDescription)
        -> String
    {
        var hash = SHA256()
        var text = Array("\(before)\u{0}\(after)".utf8)
        text.withUnsafeMutableBytes { hash.update(UnsafeRawBufferPointer($0)) }
        let digest = hash.finish()
        return name + (0..<8).map { "_" + String(digest[$0], radix: 36) }.joined()
    }

    /// Gives a connection the functions that a map's expressions use.
    static func add(_ map: MigrationMap, to database: Database) {
        for (before, after) in conversions(map) {
            let conversion = ValueConversion(old: before, new: after)
            database.add(
                function: DatabaseFunction(Self.conversion(before, after), argumentCount: 1, pure: true) { values in
                    conversion.convert(values[0])
                }
            )
            database.add(
                function: DatabaseFunction(survival(before, after), pure: true) { values in
                    // A second argument says that the bytes are a text's.
                    let text = values.count > 1 ? Data.fromDatabaseValue(values[0]) : nil
                    let value = text.map { String(decoding: $0, as: UTF8.self).databaseValue } ?? values[0]
                    return conversion.convert(value) != nil
                }
            )
        }
        let generators = Mutex<[String: IdentifierGenerator]>([:])
        database.add(
            function: DatabaseFunction(generated, pure: true) { values in
                generators.withLock { uuid(values, &$0) }
            }
        )
    }

    private static func conversions(_ map: MigrationMap) -> [(AttributeDescription, AttributeDescription)] {
        var all: [(AttributeDescription, AttributeDescription)] = []
        for target in map.targets {
            for kind in target.sources.flatMap(\.kinds) {
                for attribute in map.new.hierarchy.attributes(of: kind.new) {
                    guard let before = map.match.attribute(attribute.name, of: kind.new, in: kind.old),
                        ValueConversion(old: before, new: attribute).needsCheck
                    else { continue }
                    all.append((before, attribute))
                }
            }
        }
        return all
    }

    /// What `IdentifierGenerator` makes of the identifier as a JSON array, as if that were the record.
    private static func uuid(_ values: [DatabaseValue], _ generators: inout [String: IdentifierGenerator]) -> String? {
        guard values.count > 2, let entity = String.fromDatabaseValue(values[0]),
            let attribute = String.fromDatabaseValue(values[1])
        else { return nil }
        let name = "\(entity.utf8.count) \(entity) \(attribute)"
        let generator =
            generators[name]
            ?? IdentifierGenerator(
                entity: EntityDescription(
                    name: entity,
                    attributes: [AttributeDescription(name: attribute, type: .uuid)]
                )
            )
        generators[name] = generator
        var record: [UInt8] = []
        for value in values[2...] {
            record.append(record.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            record += json(value)
        }
        record.append(UInt8(ascii: "]"))
        var text: [UInt8] = []
        record.withUnsafeBufferPointer {
            generator.append(0, source: 0, byteOffset: 0, record: ByteView($0), to: &text)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func json(_ value: DatabaseValue) -> [UInt8] {
        switch value.storage {
        case .null: Array("null".utf8)
        case .int64(let number): Array("\(number)".utf8)
        case .double(let number): Array("\(number)".utf8)
        case .string(let text): Array(JSONValue.string(text).serialized(.compact).utf8)
        case .blob(let data): Array(JSONValue.string(data.base64EncodedString()).serialized(.compact).utf8)
        }
    }
}
