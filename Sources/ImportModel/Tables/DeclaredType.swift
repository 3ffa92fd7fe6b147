/// What a column's declared type says of its values, in a SQLite table that no model describes.
///
/// The name decides, without regard to case and without its arguments: `VARCHAR(20)` is `varchar`.
package enum DeclaredType: Sendable {
    case integer
    case boolean
    case double
    case decimal
    case string
    case json
    case uuid
    case day
    case date
    case binary
    /// Values of all kinds, stored as they are.
    case any
    /// Any other name, whose affinity is NUMERIC (<https://www.sqlite.org/datatype3.html#determination_of_column_affinity>).
    case other

    /// - Parameter isStrict: whether the table is `STRICT`, where `ANY` has no affinity.
    package init(_ declaration: String, isStrict: Bool) {
        let name = declaration.prefix { $0 != "(" }.uppercased().split(separator: " ").joined(separator: " ")
        func has(_ parts: String...) -> Bool { parts.contains { name.contains($0) } }
        func begins(_ parts: String...) -> Bool { parts.contains { name.hasPrefix($0) } }
        self =
            switch name {
            case "": .any
            case "ANY" where isStrict: .any
            case "JSON", "JSONB": .json
            case "UUID", "GUID", "UNIQUEIDENTIFIER": .uuid
            case "DATE": .day
            case _ where begins("DATETIME", "TIMESTAMP", "SMALLDATETIME"): .date
            case _ where begins("BOOL"): .boolean
            case _ where has("POINT", "INTERVAL"): .other
            case _ where has("INT"): .integer
            case _ where has("CHAR", "CLOB", "TEXT"): .string
            case _ where has("BLOB"): .binary
            case _ where has("REAL", "FLOA", "DOUB"): .double
            case _ where begins("DEC", "NUM") || has("MONEY"): .decimal
            default: .other
            }
    }

    /// An attribute for a column.
    ///
    /// - Parameter rows: what is there; nil where nobody has looked, and texts of dates and UUIDs are texts.
    package func attribute(_ name: String, _ rows: ColumnSample?) -> AttributeDescription {
        var attribute = AttributeDescription(name: name, type: .string, isOptional: true)
        switch self {
        case .integer: attribute.type = .integer64
        case .boolean: attribute.type = .boolean
        case .double: attribute.type = .double
        case .binary: attribute.type = .binary
        case .json: attribute.type = .json
        case .string: attribute.formats = [AttributeType.json.rawValue]
        case .any: return .untyped(name)
        case .decimal: return .untyped(name, .decimal)
        case .other: return .untyped(name, .numeric)
        case .uuid:
            guard let rows else { break }
            guard let form = rows.formOfUUIDs(else: .text) else { return .untyped(name, .numeric) }
            attribute.type = .uuid
            attribute.storage = form == .text ? nil : form
        case .day, .date:
            guard let rows else { break }
            guard let form = rows.formOfDates(else: self == .day ? .day : .sqlite) else {
                return .untyped(name, .numeric)
            }
            attribute.type = .date
            attribute.storage = form == .iso8601 ? nil : form
            // The day as it is written, without its zone.
            attribute.isWallClock = form == .day || self == .day && rows.areMidnights
            attribute.formats = DateFormat.written.map(\.name)
            switch form {
            case .unix, .unixReal: attribute.formats.append(DateFormat.unix.name)
            case .unixMilliseconds: attribute.formats.append(DateFormat.unixMilliseconds.name)
            default: break
            }
        }
        return attribute
    }
}
