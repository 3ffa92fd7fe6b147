import Foundation
import ImportModel

/// Encodes a program's values as JSON that loses nothing and is the same each time.
///
/// Members are in the order in which they are encoded, which is that of a type's declaration; those of dictionaries, and the
/// elements of sets, are sorted. Decimals and floating point numbers have all their digits, dates are texts in ISO 8601 with
/// as many digits as it takes (`DateText`), binaries are in base64, UUIDs in lower case.
package struct RecordEncoder: Encoder {
    package let codingPath: [any CodingKey]
    package let userInfo: [CodingUserInfoKey: Any] = [:]
    fileprivate let value: EncodedValue

    fileprivate init(_ value: EncodedValue, at codingPath: [any CodingKey]) {
        self.value = value
        self.codingPath = codingPath
    }

    /// Appends a value as a line of JSON.
    ///
    /// - Throws: `EncodingError` for numbers that are not finite and dates outside of the years 1 to 9999; what the value's
    ///   own encoding throws. Nothing is appended then.
    package static func append(_ record: some Encodable, to output: inout [UInt8]) throws {
        let value = EncodedValue()
        try RecordEncoder(value, at: []).encode(record)
        value.write(to: &output)
        output.append(UInt8(ascii: "\n"))
    }

    package func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        value.becomeObject()
        return KeyedEncodingContainer(KeyedValues<Key>(encoder: self))
    }

    package func unkeyedContainer() -> any UnkeyedEncodingContainer {
        value.becomeArray()
        return ValueList(encoder: self)
    }

    package func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// The encoder of a value inside of this one.
    fileprivate func inner(_ value: EncodedValue, _ key: any CodingKey) -> RecordEncoder {
        RecordEncoder(value, at: codingPath + [key])
    }

    fileprivate func invalid(_ value: Any, _ what: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: codingPath, debugDescription: what))
    }

    fileprivate func literal(_ number: some BinaryFloatingPoint & CustomStringConvertible) throws {
        guard number.isFinite else { throw invalid(number, "JSON has no number \(number)") }
        value.content = .literal(number.description)
    }
}

/// What iterates in another order each time.
private protocol Unordered {
    func sort(_ value: EncodedValue)
}

extension Dictionary: Unordered {
    fileprivate func sort(_ value: EncodedValue) { value.sortDictionary() }
}

extension Set: Unordered {
    fileprivate func sort(_ value: EncodedValue) { value.sortSet() }
}

extension RecordEncoder: SingleValueEncodingContainer {
    package func encodeNil() { value.content = .literal("null") }
    package func encode(_ bool: Bool) { value.content = .literal(bool ? "true" : "false") }
    package func encode(_ string: String) { value.content = .literal(EncodedValue.quoted(string)) }
    package func encode(_ number: Double) throws { try literal(number) }
    package func encode(_ number: Float) throws { try literal(number) }

    package func encode(_ record: some Encodable) throws {
        switch record {
        case let number as any FixedWidthInteger: value.content = .literal(String(describing: number))
        case let date as Date:
            guard let text = DateText.text(of: date) else {
                throw invalid(date, "it is outside of the years 1 to 9999")
            }
            encode(text)
        case let data as Data: encode(data.base64EncodedString())
        case let decimal as Decimal:
            guard decimal.isFinite else { throw invalid(decimal, "JSON has no number \(decimal)") }
            let text = decimal.description
            // A number with a fraction may be inferred as a double, which has fewer digits; a text keeps them.
            let isExact = !text.contains(".") || Double(text).flatMap { Decimal(string: "\($0)") } == decimal
            value.content = .literal(isExact ? text : EncodedValue.quoted(text))
        case let uuid as UUID: encode(uuid.uuidString.lowercased())
        case let url as URL: encode(url.absoluteString)
        default:
            try record.encode(to: self)
            (record as? any Unordered)?.sort(value)
        }
    }
}

/// The members of an object.
private struct KeyedValues<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: RecordEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func inner(_ key: any CodingKey) -> RecordEncoder {
        let value = EncodedValue()
        encoder.value.append(value, under: key.stringValue)
        return encoder.inner(value, key)
    }

    func encodeNil(forKey key: Key) { inner(key).encodeNil() }
    func encode(_ value: Bool, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: String, forKey key: Key) { inner(key).encode(value) }
    func encode(_ value: Double, forKey key: Key) throws { try inner(key).encode(value) }
    func encode(_ value: Float, forKey key: Key) throws { try inner(key).encode(value) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try inner(key).encode(value) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        inner(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { inner(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { inner(NamedKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { inner(key) }
}

/// The elements of an array.
private struct ValueList: UnkeyedEncodingContainer {
    let encoder: RecordEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.value.count }

    private func inner() -> RecordEncoder {
        let value = EncodedValue()
        let key = NamedKey(intValue: count)
        encoder.value.append(value)
        return encoder.inner(value, key)
    }

    func encodeNil() { inner().encodeNil() }
    func encode(_ value: Bool) { inner().encode(value) }
    func encode(_ value: String) { inner().encode(value) }
    func encode(_ value: Double) throws { try inner().encode(value) }
    func encode(_ value: Float) throws { try inner().encode(value) }
    func encode(_ value: some Encodable) throws { try inner().encode(value) }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        inner().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { inner().unkeyedContainer() }
    func superEncoder() -> any Encoder { inner() }
}

/// A key that no type declares: an element's index, or `super`.
private struct NamedKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
