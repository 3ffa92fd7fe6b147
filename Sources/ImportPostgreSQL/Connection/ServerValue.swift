/// A parameter of a statement.
enum ServerValue: Sendable, Hashable {
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
}
