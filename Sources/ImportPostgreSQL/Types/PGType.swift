import ImportModel

/// The type of a column on a server (<https://www.postgresql.org/docs/current/datatype.html>).
enum PGType: UInt8, Sendable, CaseIterable {
    case text
    case smallint
    case integer
    case bigint
    case real
    case double
    case numeric
    case boolean
    case uuid
    case bytea
    case timestamptz
    case timestamp
    /// With six digits of a second, as the next.
    case timestamptz6
    case timestamp6
    case json

    /// The type of an attribute's column: it keeps every value that the attribute may have, but U+0000 in text.
    init(_ attribute: AttributeDescription) {
        switch attribute.type {
        case .string, .uri: self = .text
        case .integer16: self = .smallint
        case .integer32: self = .integer
        case .integer64, .bitfield: self = .bigint
        case .float: self = .real
        case .double: self = .double
        case .decimal: self = attribute.storage == .real ? .double : .numeric
        case .boolean: self = .boolean
        case .uuid: self = .uuid
        case .binary: self = .bytea
        case .date where [.unix, .unixMilliseconds].contains(attribute.storage): self = .bigint
        case .date where [.referenceDate, .unixReal, .julianDay].contains(attribute.storage): self = .double
        // No type has nanoseconds: their texts sort.
        case .date where attribute.fraction > 6: self = .text
        case .date where attribute.fraction > 3: self = attribute.isWallClock ? .timestamp6 : .timestamptz6
        case .date: self = attribute.isWallClock ? .timestamp : .timestamptz
        // Keeps the text as it is, which jsonb does not.
        case .json: self = .json
        }
    }

    /// As `CREATE TABLE` has it.
    var declaration: String {
        switch self {
        case .text: "text"
        case .smallint: "smallint"
        case .integer: "integer"
        case .bigint: "bigint"
        case .real: "real"
        case .double: "double precision"
        case .numeric: "numeric"
        case .boolean: "boolean"
        case .uuid: "uuid"
        case .bytea: "bytea"
        case .timestamptz: "timestamptz(3)"
        case .timestamp: "timestamp(3)"
        case .timestamptz6: "timestamptz(6)"
        case .timestamp6: "timestamp(6)"
        case .json: "json"
        }
    }

    /// Its name in `pg_type`.
    var catalogName: String {
        switch self {
        case .text: "text"
        case .smallint: "int2"
        case .integer: "int4"
        case .bigint: "int8"
        case .real: "float4"
        case .double: "float8"
        case .numeric: "numeric"
        case .boolean: "bool"
        case .uuid: "uuid"
        case .bytea: "bytea"
        case .timestamptz, .timestamptz6: "timestamptz"
        case .timestamp, .timestamp6: "timestamp"
        case .json: "json"
        }
    }
}

extension ModelDescription {
    /// The model without the forms that are SQLite's: a server has types of its own for what they stand for.
    var storedOnServer: ModelDescription {
        var model = self
        for entity in model.entities.indices {
            for (index, attribute) in model.entities[entity].attributes.enumerated()
            where attribute.storage.map(Self.isOfSQLite) == true {
                model.entities[entity].attributes[index].storage = nil
            }
        }
        return model
    }

    private static func isOfSQLite(_ form: StorageForm) -> Bool {
        form.isPattern || [.blob, .sqlite, .uppercase, .braces, .uppercaseBraces].contains(form)
    }
}

/// A column of an entity's table on a server.
struct PGColumn: Sendable {
    /// As the server has it.
    let name: String
    let type: PGType
    /// The attribute whose values it has.
    let attribute: AttributeDescription

    /// The name in double quotes.
    var quoted: String { PGNames.quoted(name) }
    /// Name and type, as `CREATE TABLE` has them.
    var definition: String { "\(quoted) \(type.declaration)" }

    /// The columns of an entity, in the order of its attributes.
    static func all(of entity: EntityDescription) -> [PGColumn] {
        zip(PGNames.columns(entity.attributes.map(\.column)), entity.attributes).map {
            PGColumn(name: $0, type: PGType($1), attribute: $1)
        }
    }
}
