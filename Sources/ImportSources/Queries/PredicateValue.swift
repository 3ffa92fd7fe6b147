import ImportModel

/// The values that a predicate compares attributes with.
enum PredicateValue {
    /// Why a value cannot be compared with an attribute.
    struct Misfit: Error {
        let message: String
        let advice: String
    }

    /// The value in the form in which the attribute's values are stored.
    ///
    /// A date is read by the attribute's formats and zone, and by ISO 8601. What integers are compared with is told by
    /// `integerPlace` first.
    static func stored(_ value: JSONValue, for attribute: AttributeDescription) throws(Misfit) -> Record.Value {
        if attribute.isUntyped, let value = untyped(value) { return value }
        switch (attribute.type, value) {
        case (.string, .string(let text)), (.uri, .string(let text)):
            return .text(text)
        case (.float, .number), (.double, .number), (.decimal, .number), (.decimal, .string), (.boolean, .boolean),
            (.boolean, .number), (.uuid, .string), (.binary, .string):
            return try coerced(value, for: bare(attribute))
        case (.date, .string), (.date, .number):
            return try date(value, for: attribute)
        default:
            throw Misfit(
                message: "\(attribute.name) is \(attribute.type.phrase), and this is \(value.phrase)",
                advice: advice(value, for: attribute)
            )
        }
    }

    /// A value that SQLite compares with those of a column without a type.
    private static func untyped(_ value: JSONValue) -> Record.Value? {
        switch value {
        case .string(let text): return .text(text)
        case .boolean(let isTrue): return .integer(isTrue ? 1 : 0)
        case .number(let digits): return Int64(digits).map { .integer($0) } ?? Double(digits).map { .real($0) }
        case .null, .array, .object: return nil
        }
    }

    /// The first instants of a day and of the next one, where the value is a day alone; nil elsewhere.
    static func day(
        _ value: JSONValue,
        for attribute: AttributeDescription
    ) throws(Misfit) -> (first: Record.Value, next: Record.Value)? {
        guard attribute.type == .date, case .string(let text) = value, let next = CalendarDay.day(after: text) else {
            return nil
        }
        return (try stored(value, for: attribute), try stored(.string(next), for: attribute))
    }

    /// Where a number is among the integers that an attribute holds; nil for other attributes and values.
    ///
    /// Exactly, whatever digits it has: no double is made of it.
    static func integerPlace(_ value: JSONValue, for attribute: AttributeDescription) -> JSONNumber.Int64Position? {
        guard [.integer16, .integer32, .integer64, .bitfield].contains(attribute.type), case .number(var digits) = value
        else { return nil }
        return digits.withUTF8 { JSONNumber(ByteView($0))?.integerPlace }
    }

    /// A date that is stored in whole seconds is compared with the fraction too.
    private static func date(_ value: JSONValue, for attribute: AttributeDescription) throws(Misfit) -> Record.Value {
        var reading = bare(attribute)
        if !attribute.formats.isEmpty, !attribute.formats.contains("iso8601") { reading.formats.append("iso8601") }
        if attribute.storage == .unix { reading.storage = .unixMilliseconds }
        if case .number = value, !attribute.formats.contains(where: { $0.hasPrefix("unix") }) {
            guard let storage = attribute.storage, storage == .unix || storage == .unixMilliseconds else {
                throw Misfit(message: "\(attribute.name) is a date, and this is a number", advice: dateAdvice)
            }
            reading.formats = [storage.rawValue]
        }
        let stored = try coerced(value, for: reading)
        guard attribute.storage == .unix, case .integer(let milliseconds) = stored else { return stored }
        return milliseconds.isMultiple(of: 1_000)
            ? .integer(milliseconds / 1_000)
            : .real(Double(milliseconds) / 1_000)
    }

    private static func coerced(
        _ value: JSONValue,
        for attribute: AttributeDescription
    ) throws(Misfit) -> Record.Value {
        let stored: Record.Value
        do throws(CoercionError) {
            stored = try attribute.coerce(value).value
        } catch {
            let what = error.code == .outOfRange ? "is out of the range of" : "cannot be read as"
            throw Misfit(message: "this \(what) \(attribute.type.phrase)", advice: advice(value, for: attribute))
        }
        guard !stored.isNull else { throw Misfit(message: "this date is read as null", advice: "Write is null.") }
        return stored
    }

    /// The attribute with nothing but its type: what may be compared need not be allowed as a value.
    private static func bare(_ attribute: AttributeDescription) -> AttributeDescription {
        var bare = attribute
        bare.isOptional = true
        bare.transformers = []
        bare.validation = AttributeDescription.Validation()
        return bare
    }

    private static let dateAdvice = "Dates are texts: '2024-02-29', '2024-02-29T12:30:00Z'."

    private static func advice(_ value: JSONValue, for attribute: AttributeDescription) -> String {
        switch (attribute.type, value) {
        case (.date, _):
            let formats = attribute.formats.filter { $0 != "iso8601" }
            return dateAdvice + (formats.isEmpty ? "" : " Also read: \(formats.joined(separator: ", ")).")
        case (.string, .number(let text)), (.uri, .number(let text)):
            return "Write it as a text: '\(text)'."
        case (.boolean, _): return "Write true or false."
        case (.uuid, _),
            (.binary, _) where attribute.formats == ["uuid"]:
            return "UUIDs are texts: '6ba7b810-9dad-11d1-80b4-00c04fd430c8'."
        case (.binary, _) where attribute.formats != ["text"]: return "Bytes are texts in base64: 'aGVsbG8='."
        case (_, .string(let text)) where DecimalText.isNumber(text): return "Write it without quotes: \(text)"
        case (.string, _), (.uri, _), (.binary, _): return "Write a text in single quotes."
        case (.json, _): return "Use contains or like on its text, or is null."
        default: return "Write a number, as 12 or 0.5."
        }
    }
}

extension AttributeType {
    /// The type with its article.
    package var phrase: String {
        switch self {
        case .integer16, .integer32, .integer64, .uri: self == .uri ? "a URI" : "an \(rawValue)"
        case .uuid: "a UUID"
        case .json: "JSON"
        default: "a \(rawValue)"
        }
    }

    /// What attributes that can be compared with each other have in common.
    package enum Family { case number, decimal, boolean, text, date, binary, json }

    package var family: Family {
        switch self {
        case .integer16, .integer32, .integer64, .float, .double, .bitfield: .number
        case .decimal: .decimal
        case .boolean: .boolean
        case .string, .uri, .uuid: .text
        case .date: .date
        case .binary: .binary
        case .json: .json
        }
    }
}

extension AttributeDescription {
    /// What it is, with the form in which it is stored.
    package var phrase: String {
        let form = type == .date ? ownForm ?? .iso8601 : ownForm
        return type.phrase + (form.map { " as \($0.rawValue)" } ?? "")
    }
}

extension JSONValue {
    /// What it is, with its article.
    package var phrase: String {
        switch kind {
        case .null: "null"
        case .object, .array: "an \(kind.name)"
        case .string: "a text"
        default: "a \(kind.name)"
        }
    }
}
