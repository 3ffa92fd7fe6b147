/// A parameter of a statement.
enum PGValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case double(Double)
    case boolean(Bool)
    /// Without U+0000, which a server's text cannot have.
    case text(String)
    /// A `bytea`.
    case bytes([UInt8])

    /// As PostgreSQL reads it; nil for NULL, and for bytes, which are sent as they are.
    var text: String? {
        switch self {
        case .null, .bytes: nil
        case .integer(let number): String(number)
        // The shortest text that reads as the same number; `inf`, `-inf` and `nan` are read, too.
        case .double(let number): "\(number)"
        case .boolean(let flag): flag ? "t" : "f"
        case .text(let text): text
        }
    }

    /// Adds it as a field of COPY's text format, with backslash sequences (<https://www.postgresql.org/docs/current/sql-copy.html>).
    func appendCopyText(to line: inout [UInt8]) {
        if case .bytes(let bytes) = self {
            line += Array(#"\\x"#.utf8)
            for byte in bytes {
                line.append(Self.digits[Int(byte >> 4)])
                line.append(Self.digits[Int(byte & 15)])
            }
            return
        }
        guard let text else {
            line += Array(#"\N"#.utf8)
            return
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): line += Array(#"\\"#.utf8)
            case UInt8(ascii: "\n"): line += Array(#"\n"#.utf8)
            case UInt8(ascii: "\r"): line += Array(#"\r"#.utf8)
            case UInt8(ascii: "\t"): line += Array(#"\t"#.utf8)
            default: line.append(byte)
            }
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)
}
