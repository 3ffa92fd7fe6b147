import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The SQL functions by which values become others.
enum MigrationFunctions {
    /// The name of the function that makes a UUID for a row that is there, of the values of the row's identifier.
    ///
    /// - Parameter entity: its name, of which the UUID is made, too.
    static func generated(_ attribute: AttributeDescription, of entity: String) -> String {
        function("_import_generated", "\(entity.utf8.count) \(entity) \(attribute.name)")
    }

    /// The name of the function that makes a value of one attribute one of another; what does not survive that ends the
    /// statement.
    static func conversion(_ before: AttributeDescription, _ after: AttributeDescription) -> String {
        function("_import_converted", "\(before)\u{0}\(after)")
    }

    /// The name of the function that says whether a value survives that.
    static func survival(_ before: AttributeDescription, _ after: AttributeDescription) -> String {
        function("_import_survives", "\(before)\u{0}\(after)")
    }

    /// The condition that a value of one attribute, which an expression has, cannot be one of another.
    static func isLost(_ value: String, _ before: AttributeDescription, _ after: AttributeDescription) -> String {
        let conversion = ValueConversion(old: before, new: after)
        var conditions: [String] = []
        if conversion.way.isCast { conditions.append("NOT (\(canBeCast(value, conversion.way)))") }
        if !conversion.way.isCast || conversion.hasOtherRules {
            conditions.append("NOT \(survival(before, after))(\(value))")
        }
        return "\(value) IS NOT NULL AND (\(conditions.joined(separator: " OR ")))"
    }

    /// The condition that a value can be cast: another program may have put anything into a column.
    static func canBeCast(_ value: String, _ way: ValueConversion.Way) -> String {
        let isExact = " AND \(value) BETWEEN -9007199254740992 AND 9007199254740992"
        return "typeof(\(value)) = 'integer'" + (way == .castOfExact ? isExact : "")
    }

    private static func function(_ name: String, _ subject: String) -> String {
        var hash = SHA256()
        var text = Array(subject.utf8)
        text.withUnsafeMutableBytes { hash.update(UnsafeRawBufferPointer($0)) }
        let digest = hash.finish()
        return name + (0..<8).map { "_" + String(digest[$0], radix: 36) }.joined()
    }

    /// Gives a connection the functions that a map's expressions use.
    static func add(_ map: MigrationMapping, to database: Database) throws {
        for (before, after) in conversions(map) {
            let conversion = ValueConversion(old: before, new: after)
            let (convert, survive) = (conversion.converter(cutting: true), conversion.converter())
            try MigrationFunction.add(Self.conversion(before, after), argumentCount: 1, to: database) { values in
                guard let value = convert(values[0]) else {
                    throw ModelMigration.refusal("a value of \(before.name) cannot be converted to the new type")
                }
                return value
            }
            try MigrationFunction.add(survival(before, after), argumentCount: 1, to: database) { values in
                (survive(values[0]) != nil).databaseValue
            }
        }
        for target in map.targets {
            for pair in target.sources.flatMap(\.pairs) {
                for attribute in map.new.hierarchy.attributes(of: pair.new) where attribute.isGenerated {
                    let entity = map.new.entities[map.new.home(of: pair.new)].name
                    let make = uuids(attribute, of: entity)
                    let name = generated(attribute, of: entity)
                    try MigrationFunction.add(name, argumentCount: -1, to: database) { make($0) }
                }
            }
        }
    }

    private static func conversions(_ map: MigrationMapping) -> [(AttributeDescription, AttributeDescription)] {
        var all: [(AttributeDescription, AttributeDescription)] = []
        for target in map.targets {
            for pair in target.sources.flatMap(\.pairs) {
                for attribute in map.new.hierarchy.attributes(of: pair.new) {
                    guard let before = map.match.attribute(attribute.name, of: pair.new, in: pair.old),
                        ValueConversion(old: before, new: attribute).needsCheck
                    else { continue }
                    all.append((before, attribute))
                }
            }
        }
        return all
    }

    /// What `IdentifierGenerator` makes of the identifier as a JSON array, as if that were the record.
    private static func uuids(_ attribute: AttributeDescription, of entity: String) -> ([DatabaseValue]) ->
        DatabaseValue
    {
        let generator = IdentifierGenerator(
            entity: EntityDescription(
                name: entity,
                attributes: [AttributeDescription(name: attribute.name, type: .uuid, storage: attribute.storage)]
            )
        )
        return { values in
            var record: [UInt8] = []
            for value in values {
                record.append(record.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
                record += json(value)
            }
            record.append(UInt8(ascii: "]"))
            var text: [UInt8] = []
            record.withUnsafeBufferPointer {
                generator.append(0, source: 0, byteOffset: 0, record: ByteView($0), to: &text)
            }
            return attribute.storage == .blob
                ? Data(text).databaseValue : String(decoding: text, as: UTF8.self).databaseValue
        }
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
