import Foundation
import ImportEngine
import ImportModel
import ImportSources

/// Decodes a record: a keyed container with a value for each attribute, under its name.
struct ObjectDecoder: Decoder {
    /// An attribute's value.
    struct Field {
        let attribute: AttributeDescription
        let value: Record.Value
    }

    let fields: [BytewiseString: Field]
    var codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ record: Record, attributes: [AttributeDescription]) {
        fields = Dictionary(
            zip(attributes, record.values).map { (BytewiseString($0.name), Field(attribute: $0, value: $1)) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// - Parameter path: where the object is.
    fileprivate init(_ fields: [BytewiseString: Field], at path: [any CodingKey]) {
        (self.fields, codingPath) = (fields, path)
    }

    /// Decodes the value of one attribute.
    func decode<Value: Decodable>(_ type: Value.Type, from name: String) throws -> Value {
        guard let field = fields[BytewiseString(name)] else {
            throw DecodingError.valueNotFound(
                type,
                DecodingError.Context(codingPath: codingPath, debugDescription: "there is no attribute \(name)")
            )
        }
        return try FieldDecoder(field: field, codingPath: codingPath).decode(type)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(FieldContainer<Key>(fields: fields, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw notKeyed }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw notKeyed }

    private var notKeyed: DecodingError {
        .typeMismatch([String: Any].self, .init(codingPath: codingPath, debugDescription: "a record has named values"))
    }
}

/// A record's values by the names of the attributes.
private struct FieldContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let fields: [BytewiseString: ObjectDecoder.Field]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { fields.keys.compactMap { Key(stringValue: $0.text) } }

    func contains(_ key: Key) -> Bool { fields[BytewiseString(key.stringValue)] != nil || !members(key).isEmpty }

    func decodeNil(forKey key: Key) throws -> Bool {
        let members = members(key)
        return try members.isEmpty ? decoder(key).field.value.isNull : members.values.allSatisfy(\.value.isNull)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let members = members(key)
        return try members.isEmpty
            ? decoder(key).decode(type) : Value(from: ObjectDecoder(members, at: codingPath + [key]))
    }

    /// The columns of an object that has none of its own: `address_city` and its like, by `city`.
    private func members(_ key: Key) -> [BytewiseString: ObjectDecoder.Field] {
        guard fields[BytewiseString(key.stringValue)] == nil else { return [:] }
        let prefix = key.stringValue + "_"
        return fields.reduce(into: [:]) { members, field in
            guard field.key.text.hasPrefix(prefix) else { return }
            members[BytewiseString(String(field.key.text.dropFirst(prefix.count)))] = field.value
        }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let members = members(key)
        return try members.isEmpty
            ? decoder(key).container(keyedBy: type)
            : ObjectDecoder(members, at: codingPath + [key]).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: "a record has no parent"))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: Key) throws -> FieldDecoder {
        guard let field = fields[BytewiseString(key.stringValue)] else {
            throw DecodingError.keyNotFound(
                key,
                .init(codingPath: codingPath, debugDescription: "there is no attribute \(key.stringValue)")
            )
        }
        return FieldDecoder(field: field, codingPath: codingPath + [key])
    }
}

/// Decodes one attribute's value.
private struct FieldDecoder: Decoder, SingleValueDecodingContainer {
    let field: ObjectDecoder.Field
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw mismatch(type)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw mismatch([Any].self) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { field.value.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // An optional decodes its own nil.
        if type is any ExpressibleByNilLiteral.Type { return try Value(from: self) }
        let special: Any? =
            switch type {
            case is Date.Type: date
            case is Data.Type: data
            case is Decimal.Type: decimal
            case is URL.Type: text.flatMap { URL(string: $0) }
            default: nil
            }
        if let value = special as? Value { return value }
        if type is Date.Type || type is Data.Type || type is Decimal.Type || type is URL.Type { throw mismatch(type) }
        switch (field.attribute.type, field.value) {
        case (.json, .text(let text)):
            return try JSONDecoder.ofRecords.decode(type, from: Data(text.utf8))
        case (.bitfield, .integer(let number)):
            if let value = try? Value(from: self) { return value }
            return try JSONDecoder().decode(type, from: Data(field.attribute.flags(of: number).serialized().utf8))
        default:
            return try Value(from: self)
        }
    }

    // MARK: Plain values

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .integer(let number) = field.value, number == 0 || number == 1 else { throw mismatch(type) }
        return number == 1
    }

    func decode(_ type: String.Type) throws -> String {
        if case .json = field.attribute.type, case .text(let text) = field.value {
            return try JSONDecoder.ofRecords.decode(type, from: Data(text.utf8))
        }
        guard let text else { throw mismatch(type) }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        switch field.value {
        case .real(let number): return number
        case .integer(let number): return Double(number)
        case .text(let text) where field.attribute.type == .decimal:
            guard let number = Double(text) else { throw mismatch(type) }
            return number
        default: throw mismatch(type)
        }
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 {
        // All bits of a bitfield may be set.
        if field.attribute.type == .bitfield, case .integer(let number) = field.value {
            return UInt64(bitPattern: number)
        }
        return try integer()
    }

    private func integer<Number: FixedWidthInteger>() throws -> Number {
        let number: Number? =
            switch field.value {
            case .integer(let stored): Number(exactly: stored)
            // One of more than 63 bits.
            case .text(let text) where field.attribute.type == .decimal: Number(text)
            default: nil
            }
        guard let number else { throw mismatch(Number.self) }
        return number
    }

    private var text: String? {
        switch field.value {
        case .text(let text): text
        case .blob(let bytes) where field.attribute.type == .uuid: field.attribute.text(ofBinary: bytes)
        default: nil
        }
    }

    private var date: Date? {
        // Dates with more digits than nanoseconds have are inferred as texts.
        if field.attribute.type == .string { return text.flatMap(DateText.date) }
        guard field.attribute.type == .date else { return nil }
        let form = field.attribute.ownForm
        if form?.fraction ?? 3 > 3 { return StoredDate.iso8601(field.value, storage: form).flatMap(DateText.date) }
        return StoredDate.milliseconds(of: field.value, storage: form).map { DateText.date(milliseconds: $0) }
    }

    private var data: Data? {
        switch field.value {
        case .blob(let bytes): Data(bytes)
        // Base64 is inferred as text.
        case .text(let text) where field.attribute.type == .string: Data(base64Encoded: text)
        default: nil
        }
    }

    private var decimal: Decimal? {
        switch field.value {
        case .text(let text) where DecimalText.isNumber(text): Decimal(string: text)
        case .integer(let number): Decimal(number)
        case .real(let number): Decimal(string: "\(number)")
        default: nil
        }
    }

    private func mismatch(_ type: Any.Type) -> DecodingError {
        let name = field.attribute.name
        guard !field.value.isNull else {
            return .valueNotFound(type, .init(codingPath: codingPath, debugDescription: "\(name) is null"))
        }
        return .typeMismatch(
            type,
            .init(codingPath: codingPath, debugDescription: "\(name) is \(field.attribute.type.phrase), not a \(type)")
        )
    }
}

extension JSONDecoder {
    /// Decodes what is in a record as JSON, related objects among it: dates and binaries as records have them as text.
    fileprivate static var ofRecords: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let value = try decoder.singleValueContainer()
            if let seconds = try? value.decode(Double.self) { return Date(timeIntervalSinceReferenceDate: seconds) }
            let text = try value.decode(String.self)
            guard let date = DateText.date(of: text) else {
                throw DecodingError.dataCorruptedError(in: value, debugDescription: "the text is no date")
            }
            return date
        }
        decoder.dataDecodingStrategy = .custom { decoder in
            let value = try decoder.singleValueContainer()
            let text = String(try value.decode(String.self).map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
            guard let data = Data(base64Encoded: text) else {
                throw DecodingError.dataCorruptedError(in: value, debugDescription: "the text is not base64")
            }
            return data
        }
        return decoder
    }
}
