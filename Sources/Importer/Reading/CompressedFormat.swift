/// The kinds of compressed files and archives that can be read, known by their first bytes and never by name.
enum CompressedFormat: String {
    case gzip
    case zstd
    case xz
    case bzip2
    case zip
    case tar

    /// Whether it is made of members; the other kinds hold one file, or an archive in their turn.
    var isArchive: Bool { self == .zip || self == .tar }

    /// How many bytes it takes to tell: tar's mark is at 257.
    static let headLength = 512

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
        } else if bytes.count >= 262, bytes[257..<262].elementsEqual("ustar".utf8) {
            self = .tar
        } else {
            return nil
        }
    }

    /// zstd's other kind of frame (RFC 8878 §3.1.2), with which parallel compressors begin.
    private static func beginsWithSkippableFrame(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 4 && bytes[0] & 0xF0 == 0x50 && bytes[1..<4].elementsEqual([0x2A, 0x4D, 0x18])
    }
}
