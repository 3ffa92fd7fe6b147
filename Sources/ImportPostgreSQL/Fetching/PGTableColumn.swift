import ImportModel
import Importer

/// A column of a table as it is read.
struct PGTableColumn: Sendable {
    let name: String
    var type: ReadType
    /// True if texts are the same only where their bytes are.
    let isExact: Bool

    var quoted: String { PGNames.quoted(name) }

    /// The columns of a table, in order; none where it is not there.
    ///
    /// - Throws: `PGError`.
    static func all(of table: String, _ connection: PGConnection) throws -> [PGTableColumn] {
        try connection.execute(
            """
            SELECT a.attname, coalesce(b.typname, t.typname), coalesce(l.collisdeterministic, true)
            FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
                JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
                JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
                LEFT JOIN pg_catalog.pg_type AS b ON b.oid = t.typbasetype
                LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
            WHERE n.nspname = current_schema() AND c.relname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0
                AND NOT a.attisdropped
            ORDER BY a.attnum
            """,
            [.text(PGNames.fitting(table))]
        ).map { row in
            PGTableColumn(
                name: try row.text(0),
                type: ReadType(catalogName: try row.text(1)),
                isExact: try row.bool(2)
            )
        }
    }
}

/// How values of a column are read, and compared.
enum ReadType: Sendable, Hashable {
    case text, integer, real, double, numeric, boolean, uuid, bytea, timestamptz, timestamp, json
    /// With six digits of a second.
    case timestamptz6, timestamp6
    /// One that no import makes; its values are read as the server writes them.
    case other

    init(catalogName: String) {
        switch catalogName {
        case "text", "varchar": self = .text
        case "int2", "int4", "int8": self = .integer
        case "float4": self = .real
        case "float8": self = .double
        case "numeric": self = .numeric
        case "bool": self = .boolean
        case "uuid": self = .uuid
        case "bytea": self = .bytea
        case "timestamptz": self = .timestamptz
        case "timestamp": self = .timestamp
        case "json", "jsonb": self = .json
        default: self = .other
        }
    }

    init(_ type: PGType) {
        self =
            switch type {
            case .timestamptz6: .timestamptz6
            case .timestamp6: .timestamp6
            default: ReadType(catalogName: type.catalogName)
            }
    }

    /// The type of an attribute that no model describes.
    var attribute: AttributeType {
        switch self {
        case .text, .other: .string
        case .integer: .integer64
        case .real: .float
        case .double: .double
        case .numeric: .decimal
        case .boolean: .boolean
        case .uuid: .uuid
        case .bytea: .binary
        case .timestamptz, .timestamp, .timestamptz6, .timestamp6: .date
        case .json: .json
        }
    }

    /// True if a column that was made for a type is still read as one of it.
    func holds(_ type: PGType) -> Bool { self == ReadType(catalogName: type.catalogName) }

    /// A value as a SQLite store keeps it.
    ///
    /// - Parameter row: as the server writes it, in the settings of `PGConnectionSetup`.
    /// - Throws: `ImportError` where it is no value of the type.
    func value(_ row: PGRow, _ index: Int) throws -> Record.Value {
        guard let text = try row.optionalText(index) else { return .null }
        switch self {
        case .text, .uuid, .json, .other: return .text(text)
        case .integer: return .integer(try row.integer(index))
        case .boolean: return .integer(try row.bool(index) ? 1 : 0)
        case .bytea: return .blob(try row.bytes(index))
        // As it is kept where a float is: widened.
        case .real: return Float(text).map { $0.isNaN ? .text(text) : .real(Double($0)) } ?? .text(text)
        case .double: return Double(text).map { $0.isNaN ? .text(text) : .real($0) } ?? .text(text)
        case .numeric: return .text(Self.decimal(text))
        case .timestamptz, .timestamp: return .text(Self.instant(text, digits: 3))
        case .timestamptz6, .timestamp6: return .text(Self.instant(text, digits: 6))
        }
    }

    /// A decimal in its canonical form.
    private static func decimal(_ text: String) -> String {
        var text = text
        return text.withUTF8 { buffer in
            let bytes = ByteView(buffer)
            var scratch: [UInt8] = []
            guard let form = JSONNumber(bytes), form.fitsDecimal else { return String(decoding: buffer, as: UTF8.self) }
            switch form.canonicalDecimal(scratch: &scratch) {
            case .verbatim(let bytes): return String(decoding: bytes.buffer, as: UTF8.self)
            case .scratch(let range): return String(decoding: scratch[range], as: UTF8.self)
            case .null, .integer, .real, .blob: return String(decoding: buffer, as: UTF8.self)
            }
        }
    }

    /// `2024-02-29 12:30:00.12+00` as `2024-02-29T12:30:00.120Z`; what has another form, as `infinity` or a year that has not four
    /// digits, stays as it is.
    ///
    /// - Parameter digits: the fewest of a second.
    private static func instant(_ text: String, digits: Int) -> String {
        var bytes = Array(text.utf8)
        if bytes.suffix(3).elementsEqual("+00".utf8) { bytes.removeLast(3) }
        guard bytes.count >= 19, bytes[4] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: " "),
            bytes.count == 19 || bytes[19] == UInt8(ascii: ".")
        else { return text }
        bytes[10] = UInt8(ascii: "T")
        if bytes.count == 19 { bytes.append(UInt8(ascii: ".")) }
        while bytes.count < 20 + digits { bytes.append(UInt8(ascii: "0")) }
        return String(decoding: bytes, as: UTF8.self) + "Z"
    }
}
