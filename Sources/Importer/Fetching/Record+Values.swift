import Foundation
import ImportEngine
import ImportModel

/// Typed values of a record.
extension Record {
    /// The value of an attribute as any type that a `FetchableObject` may have: `Date`, `Decimal`, `UUID`, `Data`, `URL`, numbers,
    /// texts, the type of a JSON value; an optional if it may be null.
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
    ///   - attribute: the attribute's name.
    ///   - type: the type to decode.
    ///   - entity: the record's entity; the record has values for all of its attributes (`RecordView.entity`,
    ///     `StoreReader.entity(named:)`).
    /// - Throws: `DecodingError` when there is no such attribute, or its value is null or of another type.
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
    ///   - type: the type to decode, as a `FetchableObject`.
    ///   - entity: the record's entity; the record has values for all of its attributes.
    /// - Throws: `DecodingError` when the record does not fit the type.
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
    /// The value if it is an integer, as booleans and bitfields are; otherwise nil.
    public var integerValue: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The value if it is a number, otherwise nil; an integer of more than 53 bits is rounded.
    public var doubleValue: Double? {
        switch self {
        case .real(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }

    /// The value if it is a text, as decimals, UUIDs and, by default, dates are; otherwise nil.
    public var textValue: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The value if it is a binary; otherwise nil.
    public var dataValue: Data? {
        guard case .blob(let bytes) = self else { return nil }
        return Data(bytes)
    }
}
