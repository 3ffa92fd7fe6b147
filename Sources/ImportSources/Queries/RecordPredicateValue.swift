import Foundation
import ImportModel

/// A value to compare attributes with: numbers, texts, booleans, dates, decimals, UUIDs, binaries, URLs, any JSON, and arrays and
/// optionals of these.
///
/// A value is never part of the predicate's text, whatever it contains. It is compared in the form in which its attribute is stored
/// (<doc:Fetching>); a value that does not fit its attribute is an error when the predicate is used.
public protocol RecordPredicateValue {
    /// The value as JSON: dates as texts in ISO 8601, binaries in base64, null for nil.
    var predicateValue: JSONValue { get }
}

extension RecordPredicateValue where Self: FixedWidthInteger {
    /// The digits.
    public var predicateValue: JSONValue { .number(String(self)) }
}

extension RecordPredicateValue where Self: BinaryFloatingPoint & CustomStringConvertible {
    /// The digits; if the number is not finite, a text, which no numeric attribute accepts.
    public var predicateValue: JSONValue { isFinite ? .number(description) : .string(description) }
}

extension Int: RecordPredicateValue {}
extension Int8: RecordPredicateValue {}
extension Int16: RecordPredicateValue {}
extension Int32: RecordPredicateValue {}
extension Int64: RecordPredicateValue {}
extension UInt: RecordPredicateValue {}
extension UInt8: RecordPredicateValue {}
extension UInt16: RecordPredicateValue {}
extension UInt32: RecordPredicateValue {}
extension UInt64: RecordPredicateValue {}
extension Double: RecordPredicateValue {}
extension Float: RecordPredicateValue {}

extension Decimal: RecordPredicateValue {
    /// All digits; if the number is not finite, a text, which no numeric attribute accepts.
    public var predicateValue: JSONValue { isFinite ? .number(description) : .string(description) }
}

extension Bool: RecordPredicateValue {
    /// `true` or `false`.
    public var predicateValue: JSONValue { .boolean(self) }
}

extension String: RecordPredicateValue {
    /// The text.
    public var predicateValue: JSONValue { .string(self) }
}

extension Substring: RecordPredicateValue {
    /// The text.
    public var predicateValue: JSONValue { .string(String(self)) }
}

extension Date: RecordPredicateValue {
    /// The instant in ISO 8601; what an attribute has no digits of a second for is cut off, as an import does.
    public var predicateValue: JSONValue { .string(DateText.text(of: self) ?? "\(timeIntervalSinceReferenceDate)") }
}

extension UUID: RecordPredicateValue {
    /// The UUID in lower case.
    public var predicateValue: JSONValue { .string(uuidString.lowercased()) }
}

extension Data: RecordPredicateValue {
    /// The bytes in base64.
    public var predicateValue: JSONValue { .string(base64EncodedString()) }
}

extension URL: RecordPredicateValue {
    /// The whole URL.
    public var predicateValue: JSONValue { .string(absoluteString) }
}

extension JSONValue: RecordPredicateValue {
    /// The value itself.
    public var predicateValue: JSONValue { self }
}

extension Optional: RecordPredicateValue where Wrapped: RecordPredicateValue {
    /// The value, or null for nil, which only `=` and `<>` accept.
    public var predicateValue: JSONValue { self?.predicateValue ?? .null }
}

extension Array: RecordPredicateValue where Element: RecordPredicateValue {
    /// The values, for `in`.
    public var predicateValue: JSONValue { .array(map(\.predicateValue)) }
}
