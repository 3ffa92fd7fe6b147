import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A chunk directory's table of contents, `manifest.ndjson`: a header line, then a line per sealed chunk (DESIGN §6).
///
/// It only ever grows at its end. A last line that breaks off, because the process was killed while it wrote, is as good
/// as not there. Made, used and dropped by one thread.
final class ChunkManifest {
    /// Its name in the chunk directory.
    static let fileName = "manifest.ndjson"
    /// The version of the format that this program writes and reads.
    static let formatVersion = 1

    /// The first line: what was cut, and how.
    struct Header: Sendable, Hashable, Codable {
        /// The format's version.
        var format = ChunkManifest.formatVersion
        /// What `checksum` and `sourceHash` are.
        var hash = XXH3Hasher.name
        /// In the order in which they are cut.
        var sources: [SourceDescription]
        /// A shape for each source.
        var shapes: [SourceShape]
        /// The job options that decide what the chunks hold.
        var limits: SplitLimits
        /// The token of the import that the chunks are cut for; nil where `split` cut them for nobody in particular.
        var job: String?

        init(sources: [SourceDescription], shapes: [SourceShape], limits: SplitLimits, job: String? = nil) {
            self.job = job
            self.sources = sources
            self.shapes = shapes
            self.limits = limits
        }
    }

    /// What a manifest says, and where its last whole line ends.
    struct Content: Sendable {
        let header: Header
        /// In the order of their numbers.
        let entries: [ChunkEntry]
        /// Where the header's line and each entry's line end in the file.
        fileprivate let ends: [Int64]

        /// The beginning of it, with `count` entries.
        func prefix(_ count: Int) -> Content {
            Content(header: header, entries: Array(entries.prefix(count)), ends: Array(ends.prefix(count + 1)))
        }
    }

    private let file: ChunkFile
    private let synced: Bool
    private let encoder = ChunkManifest.makeEncoder()

    /// Begins a manifest, in place of one that may be there.
    ///
    /// - Parameters:
    ///   - directory: where.
    ///   - header: its first line.
    ///   - synced: whether each line must be on the disk when `append` returns.
    /// - Throws: `ImportError` when it cannot be written.
    init(creatingIn directory: ChunkDirectory, header: Header, synced: Bool) throws {
        self.synced = synced
        let line = try ChunkManifest.line(header, encoder)
        try line.withUnsafeBytes { try directory.write($0, to: Self.fileName, synced: synced) }
        file = try directory.openFile(Self.fileName, O_WRONLY | O_APPEND, "open")
    }

    /// Goes on with the manifest that `content` was read from: what stands behind its last whole line is cut off.
    init(resuming content: Content, in directory: ChunkDirectory, synced: Bool) throws {
        self.synced = synced
        file = try directory.openFile(Self.fileName, O_WRONLY | O_APPEND, "open")
        try file.truncate(to: content.ends.last ?? 0)
    }

    /// Writes a sealed chunk's line.
    func append(_ entry: ChunkEntry) throws {
        let line = try ChunkManifest.line(entry, encoder)
        try line.withUnsafeBytes { try file.write($0) }
        if synced { try file.sync() }
    }

    /// Reads a directory's manifest up to the first line that is not whole.
    ///
    /// - Returns: nil if there is none, or not even its header is whole.
    /// - Throws: `ImportError` with `.badInput` if a newer version of this program wrote it.
    static func read(in directory: ChunkDirectory) throws -> Content? {
        guard let file = try directory.openIfThere(fileName) else { return nil }
        var bytes = Data(count: Int(try file.size()))
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
        let decoder = JSONDecoder()
        var header: Header?
        var entries: [ChunkEntry] = []
        var ends: [Int64] = []
        var start = 0
        var total: Int64 = 0
        while start < count, let end = bytes[start..<count].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[start..<end]
            if header == nil {
                if let version = try? decoder.decode(Version.self, from: line), version.format != formatVersion {
                    throw ImportError(
                        .badInput,
                        "\(directory.path)/\(fileName) has the format \(version.format)",
                        advice: "Use the version of importer that wrote it, or another directory with --chunks."
                    )
                }
                guard let decoded = try? decoder.decode(Header.self, from: line), decoded.hash == XXH3Hasher.name
                else { return nil }
                header = decoded
            } else {
                guard let entry = try? decoder.decode(ChunkEntry.self, from: line),
                    let header, entry.isSound(after: entries.last, in: header)
                else { break }
                let (sum, isTooLarge) = total.addingReportingOverflow(entry.endByte - entry.firstByte)
                guard !isTooLarge else { break }
                total = sum
                entries.append(entry)
            }
            start = end + 1
            ends.append(Int64(start))
        }
        guard let header else { return nil }
        return Content(header: header, entries: entries, ends: ends)
    }

    private struct Version: Codable {
        let format: Int
    }

    private static func makeEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    private static func line(_ value: some Encodable, _ encoder: JSONEncoder) throws -> Data {
        var line = try encoder.encode(value)
        line.append(UInt8(ascii: "\n"))
        return line
    }
}
