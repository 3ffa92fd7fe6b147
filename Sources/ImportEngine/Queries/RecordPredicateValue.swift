import Foundation
import ImportModel
import ImportSources

/// What a predicate compares attributes with: numbers, texts, booleans, dates, decimals, UUIDs, binaries, URLs, any JSON, and
/// arrays and optionals of these.
///
/// A value is never a part of the predicate's text, whatever it holds. It is compared in the form in which its attribute is
/// stored (<doc:Fetching>); one that does not fit its attribute is an error when the predicate is used.
public protocol RecordPredicateValue {
    /// The value as JSON: dates as texts in ISO 8601, binaries in base64, null for nil.
    var predicateValue: JSONValue { get }
}

extension RecordPredicateValue where Self: FixedWidthInteger {
    /// The digits.
    public var predicateValue: JSONValue { .number(String(self)) }
}

extension RecordPredicateValue where Self: BinaryFloatingPoint & CustomStringConvertible {
    /// The digits; a text, which fits no number, where it is not finite.
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
    /// All digits; a text, which fits no number, where it is not finite.
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
    /// The instant in ISO 8601; stored dates are compared to the millisecond.
    public var predicateValue: JSONValue { .string(DateText.text(of: self) ?? "\(timeIntervalSinceReferenceDate)") }
}

extension UUID: RecordPredicateValue {
    /// In lower case.
    public var predicateValue: JSONValue { .string(uuidString.lowercased()) }
}

extension Data: RecordPredicateValue {
    /// In base64.
    public var predicateValue: JSONValue { .string(base64EncodedString()) }
}

extension URL: RecordPredicateValue {
    /// The whole URL.
    public var predicateValue: JSONValue { .string(absoluteString) }
}

extension JSONValue: RecordPredicateValue {
    /// Itself.
    public var predicateValue: JSONValue { self }
}

extension Optional: RecordPredicateValue where Wrapped: RecordPredicateValue {
    /// Null for nil: only `=` and `<>` are for it.
    public var predicateValue: JSONValue { self?.predicateValue ?? .null }
}

extension Array: RecordPredicateValue where Element: RecordPredicateValue {
    /// The values, for `in`.
    public var predicateValue: JSONValue { .array(map(\.predicateValue)) }
}
