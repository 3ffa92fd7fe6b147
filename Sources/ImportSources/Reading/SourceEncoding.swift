/// How a source's text is encoded, judged by its first bytes.
enum SourceEncoding: String {
    case utf8 = "UTF-8"
    case utf16LittleEndian = "UTF-16LE"
    case utf16BigEndian = "UTF-16BE"
    case utf32LittleEndian = "UTF-32LE"
    case utf32BigEndian = "UTF-32BE"

    /// The length of UTF-8's byte order mark.
    static let markLength = 3

    /// Judges by the byte order mark, or else by the NUL bytes of ASCII in wider encodings (RFC 4627 §3).
    ///
    /// No JSON text in UTF-8 holds a NUL.
    ///
    /// - Parameter head: the first four bytes, or all of a shorter source.
    init(head: some Collection<UInt8>) {
        let bytes = Array(head.prefix(4))
        if bytes.starts(with: [0xFF, 0xFE, 0, 0]) {
            self = .utf32LittleEndian
        } else if bytes == [0, 0, 0xFE, 0xFF] {
            self = .utf32BigEndian
        } else if bytes.starts(with: [0xFF, 0xFE]) {
            self = .utf16LittleEndian
        } else if bytes.starts(with: [0xFE, 0xFF]) {
            self = .utf16BigEndian
        } else {
            // BSON begins with its length, which is seldom the code of a visible character.
            let isText = bytes.first.map { $0 == 0 || $0 >= 0x20 || 0x09...0x0D ~= $0 } ?? false
            switch isText ? bytes.map({ $0 == 0 }) : [] {
            case [true, true, true, false]: self = .utf32BigEndian
            case [true, false, true, false]: self = .utf16BigEndian
            case [false, true, true, true]: self = .utf32LittleEndian
            case [false, true, false, true]: self = .utf16LittleEndian
            default: self = .utf8
            }
        }
    }

    /// True if the bytes begin with UTF-8's byte order mark.
    static func hasMark(_ head: some Collection<UInt8>) -> Bool {
        head.starts(with: [0xEF, 0xBB, 0xBF])
    }
}
