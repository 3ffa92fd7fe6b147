import Foundation
import ImportEngine
import ImportModel

/// Typed values of a record.
extension Record {
    /// The value of an attribute as any type that a `FetchableObject` may have it as: `Date`, `Decimal`, `UUID`, `Data`, `URL`,
    /// numbers, texts, what its JSON holds; an optional where it may be null.
    ///
    /// ```swift
    /// let reader = try StoreReader(store: "people.sqlite")
    /// let entity = try reader.entity(named: "people")
    /// for record in try reader.records(FetchRequest(entity: "people")) {
    ///     print(try record.value("created", as: Date.self, of: entity))
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - attribute: its name.
    ///   - type: what it is to be.
    ///   - entity: the record's, all of whose attributes the record has (`RecordView.entity`, `StoreReader.entity(named:)`).
    /// - Throws: `DecodingError` when there is no such attribute, it is null, or is something else.
    public func value<Value: Decodable>(
        _ attribute: String,
        as type: Value.Type = Value.self,
        of entity: EntityDescription
    ) throws -> Value {
        try decoder(of: entity).decode(type, from: attribute)
    }

    /// The record as an object.
    ///
    /// - Parameters:
    ///   - type: as a `FetchableObject` is decoded.
    ///   - entity: the record's, all of whose attributes the record has.
    /// - Throws: `DecodingError` when the record is no such object.
    public func object<Object: Decodable>(
        as type: Object.Type = Object.self,
        of entity: EntityDescription
    ) throws -> Object {
        try Object(from: decoder(of: entity))
    }

    private func decoder(of entity: EntityDescription) throws -> ObjectDecoder {
        guard values.count == entity.attributes.count else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [],
                    debugDescription: "the record has \(values.count) values, and \(entity.name) "
                        + "\(entity.attributes.count) attributes"
                )
            )
        }
        return ObjectDecoder(self, attributes: entity.attributes)
    }
}

extension Record.Value {
    /// The integer, if it is one; booleans and bitfields are integers.
    public var integerValue: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The number, if it is one; an integer of more than 53 bits is rounded.
    public var doubleValue: Double? {
        switch self {
        case .real(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }

    /// The text, if it is one; decimals and UUIDs, and dates as stored by default, are texts.
    public var textValue: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The bytes, if it is a binary.
    public var dataValue: Data? {
        guard case .blob(let bytes) = self else { return nil }
        return Data(bytes)
    }
}
