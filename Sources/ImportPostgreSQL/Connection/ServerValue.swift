import Importer

/// A parameter of a statement, sent as text.
enum ServerValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case double(Double)
    case boolean(Bool)
    /// Without U+0000, which a server's text cannot have.
    case text(String)
    case bytes([UInt8])

    /// As PostgreSQL reads it; nil for NULL.
    var text: String? {
        switch self {
        case .null: return nil
        case .integer(let number): return String(number)
        case .double(let number): return "\(number)"
        case .boolean(let flag): return flag ? "t" : "f"
        case .text(let text): return text
        case .bytes(let bytes):
            // The hex format of bytea (https://www.postgresql.org/docs/current/datatype-binary.html).
            var text: [UInt8] = Array("\\x".utf8)
            text.reserveCapacity(2 + bytes.count * 2)
            let digits = Array("0123456789abcdef".utf8)
            for byte in bytes {
                text.append(digits[Int(byte >> 4)])
                text.append(digits[Int(byte & 15)])
            }
            return String(decoding: text, as: UTF8.self)
        }
    }
}

/// A row of a result, in text.
struct ServerRow: Sendable {
    /// nil for NULL.
    let values: [String?]

    /// What a statement of ours never gives, but a damaged schema may.
    private func unusable(_ index: Int) -> ImportError {
        ImportError(
            .storeDamaged,
            "the server has sent a value of another kind than was asked for (column \(index + 1))"
        )
    }

    func optionalText(_ index: Int) throws -> String? {
        guard values.indices.contains(index) else { throw unusable(index) }
        return values[index]
    }

    func text(_ index: Int) throws -> String {
        guard let text = try optionalText(index) else { throw unusable(index) }
        return text
    }

    func optionalInteger(_ index: Int) throws -> Int64? {
        guard let text = try optionalText(index) else { return nil }
        guard let number = Int64(text) else { throw unusable(index) }
        return number
    }

    func integer(_ index: Int) throws -> Int64 {
        guard let number = try optionalInteger(index) else { throw unusable(index) }
        return number
    }

    func double(_ index: Int) throws -> Double {
        guard let number = Double(try text(index)) else { throw unusable(index) }
        return number
    }

    func bool(_ index: Int) throws -> Bool {
        switch try text(index) {
        case "t": true
        case "f": false
        default: throw unusable(index)
        }
    }

    /// A bytea in its hex format.
    func bytes(_ index: Int) throws -> [UInt8] {
        let text = Array(try text(index).utf8)
        guard text.starts(with: Array("\\x".utf8)), text.count % 2 == 0 else { throw unusable(index) }
        func digit(_ byte: UInt8) throws -> UInt8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
            default: throw unusable(index)
            }
        }
        return try stride(from: 2, to: text.count, by: 2).map { try digit(text[$0]) << 4 | digit(text[$0 + 1]) }
    }
}

/// A statement's rows, and how many rows it has written.
struct ServerRows: RandomAccessCollection, Sendable {
    fileprivate(set) var rows: [ServerRow] = []
    /// Rows that an INSERT, UPDATE, DELETE or COPY has written.
    fileprivate(set) var affected: Int64 = 0

    init(rows: [ServerRow] = [], affected: Int64 = 0) {
        self.rows = rows
        self.affected = affected
    }

    var startIndex: Int { 0 }
    var endIndex: Int { rows.count }
    subscript(position: Int) -> ServerRow { rows[position] }
}
