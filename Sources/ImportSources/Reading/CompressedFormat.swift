/// The kinds of compressed files and archives that can be read, known by their first bytes and never by name.
enum CompressedFormat: String {
    case gzip
    case zstd
    case xz
    case bzip2
    case zip
    case tar

    /// How many bytes it takes to tell: tar's mark is at 257.
    static let headLength = 512
    /// How many bytes it takes to tell what is no archive.
    static let markLength = 6

    /// Looks for the mark of each format; nil for anything else, so for plain JSON.
    ///
    /// - Parameter head: the source's first bytes, `headLength` of them or all of a shorter source.
    init?(head: some Collection<UInt8>) {
        let bytes = Array(head.prefix(Self.headLength))
        if bytes.starts(with: [0x1F, 0x8B]) {
            self = .gzip
        } else if bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) || Self.beginsWithSkippableFrame(bytes) {
            self = .zstd
        } else if bytes.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]) {
            self = .xz
        } else if bytes.count >= 4, bytes.starts(with: "BZh".utf8), (0x31...0x39).contains(bytes[3]) {
            self = .bzip2
        } else if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) || bytes.starts(with: [0x50, 0x4B, 0x05, 0x06]) {
            self = .zip
        } else if bytes.count >= 262, bytes[257..<262].elementsEqual("ustar".utf8) || Self.hasTarSum(bytes) {
            self = .tar
        } else {
            return nil
        }
    }

    /// zstd's other kind of frame (RFC 8878 §3.1.2), with which parallel compressors begin.
    private static func beginsWithSkippableFrame(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 4 && bytes[0] & 0xF0 == 0x50 && bytes[1..<4].elementsEqual([0x2A, 0x4D, 0x18])
    }

    /// True if it has the sum of a tar header's bytes, those of the sum as blanks: the oldest tar has no other mark.
    private static func hasTarSum(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == headLength else { return false }
        let digits = bytes[148..<156].drop { $0 == 0x20 }.prefix { $0 & 0xF8 == 0x30 }
        let sum = bytes.reduce(8 * 0x20) { $0 + Int($1) } - bytes[148..<156].reduce(0) { $0 + Int($1) }
        return sum == digits.reduce(0) { $0 * 8 + Int($1 & 7) }
    }

    /// What is said of a source that is compressed in a way that is not read; nil for any other.
    ///
    /// - Parameter head: the source's first bytes, at least `markLength` of them or all of a shorter source.
    static func refusal(of head: some Collection<UInt8>) -> (reason: MessageText, advice: MessageText)? {
        let found = foreign.first { head.starts(with: $0.mark) }
        guard let found else { return nil }
        return (
            "is \(found.name), which is not read; gzip, zstd, xz, bzip2, zip and tar are",
            "Decompress it first (\(found.tool)), and import what that gives."
        )
    }

    /// No JSON begins like these.
    private static let foreign: [(mark: [UInt8], name: String, tool: String)] = [
        ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7z archive", "7z x"),
        ([0x52, 0x61, 0x72, 0x21, 0x1A, 0x07], "a rar archive", "unrar x"),
        ([0x04, 0x22, 0x4D, 0x18], "compressed with lz4", "lz4 -d"),
        ([0x02, 0x21, 0x4C, 0x18], "compressed with lz4", "lz4 -d"),
        ([0x1F, 0x9D], "compressed with compress (.Z)", "gzip -d"),
        ([0x5D, 0x00, 0x00], "compressed with lzma", "unlzma"),
    ]
}
