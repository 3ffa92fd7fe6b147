import Foundation

/// A chunk directory's table of contents, `manifest.ndjson`: a header line, then a line per sealed chunk.
///
/// It only ever grows at its end. Each line carries a checksum of itself. The names of chunk files are reserved in it
/// before the files are made: the header reserves the first ones, and the line of the last chunk of a range the next
/// range. Made, used and dropped by one thread.
package final class ChunkManifest {
    /// Its name in the chunk directory.
    package static let fileName = "manifest.ndjson"
    /// The version of the format.
    static let formatVersion = 2

    /// The first line: what was cut, and how.
    package struct Header: Sendable, Hashable, Codable {
        /// The format's version.
        package var format = ChunkManifest.formatVersion
        /// What `checksum` and `sourceHash` are.
        package var hash = XXH3Hasher.name
        /// In the order in which they are cut.
        package var sources: [SourceDescription]
        /// A shape for each source.
        package var shapes: [SourceShape]
        /// The job options that decide what the chunks hold.
        package var limits: SplitLimits
        /// The entity of the records, where `split` was given one.
        package var entity: String?
        /// The entities of each source, where their records name them.
        package var entities: [[String]]?
        /// The token of the import that the chunks are cut for; nil where `split` cut them for nobody in particular.
        package var job: String?

        package init(
            format: Int = ChunkManifest.formatVersion,
            hash: String = XXH3Hasher.name,
            sources: [SourceDescription],
            shapes: [SourceShape],
            limits: SplitLimits,
            entity: String? = nil,
            entities: [[String]]? = nil,
            job: String? = nil
        ) {
            self.format = format
            self.hash = hash
            self.sources = sources
            self.shapes = shapes
            self.limits = limits
            self.entity = entity
            self.entities = entities
            self.job = job
        }
    }

    /// The number that the next chunk gets, from 1; its name is reserved.
    private(set) var nextNumber: Int
    /// The chunks of the file that is being written, and the names that their lines reserve.
    private var waiting: [(entry: ChunkEntry, reserved: [ClosedRange<Int>])] = []
    private var numbers: ReservedChunkNumbers
    /// Numbers of chunks whose names files of others have.
    private let taken: Set<Int>
    private let file: ChunkFile
    private let synced: Bool
    private let encoder = ChunkManifest.makeEncoder()

    /// Begins a manifest.
    ///
    /// - Parameters:
    ///   - directory: where.
    ///   - header: its first line.
    ///   - entries: chunks that are there already.
    ///   - reserved: the names that are reserved for them.
    ///   - firstNumber: the smallest number that the next chunk may have, from 1.
    ///   - replaces: whether a manifest that is there is this one's own and is written over.
    ///   - synced: whether each line must be on the disk when `append` returns.
    /// - Throws: `ImportError` when it cannot be written; `.cannotCreate` when there is one of others.
    package init(
        creatingIn directory: ChunkDirectory,
        header: Header,
        entries: [ChunkEntry] = [],
        reserved: ReservedChunkNumbers = ReservedChunkNumbers(),
        firstNumber: Int = 1,
        replaces: Bool = false,
        synced: Bool
    ) throws {
        self.synced = synced
        let taken = try directory.chunkNumbers().subtracting(entries.map(\.fileNumber))
        var numbers = reserved
        let first = max(firstNumber, entries.last.map { $0.number + 1 } ?? 1)
        if let next = numbers.next(from: first, besides: taken) {
            nextNumber = next
        } else {
            nextNumber = numbers.reserve(from: first, besides: taken).lowerBound
        }
        self.taken = taken
        self.numbers = numbers
        var bytes = try Self.firstLine(header, reserving: numbers, encoder)
        for entry in entries { bytes += try ManifestLine.bytes(encoder.encode(entry), reserving: []) }
        try bytes.withUnsafeBytes { try directory.writeManifest($0, replaces: replaces) }
        file = try directory.openFile(Self.fileName, O_WRONLY | O_APPEND, "open")
    }

    /// Removes what a killed process has left of a manifest that it was beginning, so that it can be begun again.
    ///
    /// No store knows of a split's directory, so its temporary file is told by what it holds: nothing but what is written
    /// again, which is the beginning of the first line. Any other file stays.
    ///
    /// - Parameters:
    ///   - header: the first line of the manifest that is to be begun.
    ///   - directory: where.
    package static func removeBeginning(of header: Header, in directory: ChunkDirectory) throws {
        let name = ChunkDirectory.temporaryName(fileName)
        guard try directory.chunkNames() == [name] else { return }
        let file: ChunkFile?
        do {
            file = try directory.openIfThere(name)
        } catch let error as ImportError where [.badInput, .cannotCreate].contains(error.code) {
            // No plain file, or one that this user may not read.
            return
        }
        guard let file else { return }
        var numbers = ReservedChunkNumbers()
        _ = numbers.reserve(from: 1, besides: [])
        let line = try firstLine(header, reserving: numbers, makeEncoder())
        var bytes = [UInt8](repeating: 0, count: line.count + 1)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
        if line.starts(with: bytes[..<count]) { try directory.remove(name) }
    }

    private static func firstLine(
        _ header: Header,
        reserving numbers: ReservedChunkNumbers,
        _ encoder: JSONEncoder
    ) throws -> [UInt8] {
        // Its last members are the sources and their shapes, which are many: each is encoded by itself, in little memory.
        let end = Data("\"shapes\":[],\"sources\":[]}".utf8)
        let (shapes, sources) = (header.shapes, header.sources)
        var header = header
        (header.shapes, header.sources) = ([], [])
        var bytes = try encoder.encode(header)
        guard bytes.suffix(end.count) == end else {
            throw ImportError(.fault, "the header of a manifest has other members")
        }
        bytes.removeLast(end.count)
        func append(_ name: String, _ values: [some Encodable]) throws {
            bytes += "\"\(name)\":[".utf8
            for (place, value) in values.enumerated() {
                if place > 0 { bytes += ",".utf8 }
                bytes += try encoder.encode(value)
            }
            bytes += "]".utf8
        }
        try append("shapes", shapes)
        bytes += ",".utf8
        try append("sources", sources)
        bytes += "}".utf8
        return try ManifestLine.bytes(bytes, reserving: numbers.ranges)
    }

    /// Goes on with the manifest that `content` was read from: what follows its last whole line is cut off.
    ///
    /// Files of chunks that were cut off must be gone by then, as their names may not be reserved any more.
    package init(resuming content: Content, in directory: ChunkDirectory, synced: Bool) throws {
        self.synced = synced
        let taken = try directory.chunkNumbers().subtracting(content.entries.map(\.fileNumber))
        let first = content.entries.last.map { $0.number + 1 } ?? 1
        guard let next = content.numbers.next(from: first, besides: taken) else {
            throw Damage(line: content.ends.count, isTorn: false).error(in: "\(directory.path)/\(Self.fileName)")
        }
        self.taken = taken
        numbers = content.numbers
        nextNumber = next
        file = try directory.openFile(Self.fileName, O_WRONLY | O_APPEND, "open")
        try file.truncate(to: content.ends.last?.offset ?? 0)
    }

    /// Takes the next chunk of the file that is being written.
    func add(_ entry: ChunkEntry) {
        var reserved: [ClosedRange<Int>] = []
        if let next = numbers.next(from: entry.number + 1, besides: taken) {
            nextNumber = next
        } else {
            reserved = [numbers.reserve(from: entry.number + 1, besides: taken)]
            nextNumber = reserved[0].lowerBound
        }
        waiting.append((entry, reserved))
    }

    /// The number in the name of the file that is being written.
    var fileNumber: Int { waiting.first?.entry.number ?? nextNumber }

    /// Writes the lines of the chunks of a file, which is whole.
    ///
    /// - Returns: the chunks, with their parts of the file.
    func endFile() throws -> [ChunkEntry] {
        guard !waiting.isEmpty else { return [] }
        defer { waiting.removeAll(keepingCapacity: true) }
        let number = fileNumber
        let size = waiting.reduce(0) { $0 + $1.entry.bytes }
        var offset: Int64 = 0
        if waiting.count > 1 {
            for place in waiting.indices {
                waiting[place].entry.part = ChunkEntry.FilePart(file: number, offset: offset, size: size)
                offset += waiting[place].entry.bytes
            }
        }
        var lines: [UInt8] = []
        for (entry, reserved) in waiting { lines += try ManifestLine.bytes(encoder.encode(entry), reserving: reserved) }
        try lines.withUnsafeBytes { try file.write($0) }
        if synced || waiting.contains(where: { !$0.reserved.isEmpty }) { try file.sync() }
        return waiting.map(\.entry)
    }

    private static func makeEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
