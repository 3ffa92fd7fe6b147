import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A chunk directory's table of contents, `manifest.ndjson`: a header line, then a line per sealed chunk (DESIGN §6).
///
/// It only ever grows at its end. Each line carries a checksum of itself. The names of chunk files are reserved in it
/// before the files are made: the header reserves the first ones, and the line of the last chunk of a range the next
/// range. Made, used and dropped by one thread.
final class ChunkManifest {
    /// Its name in the chunk directory.
    static let fileName = "manifest.ndjson"
    /// The version of the format that this program writes.
    ///
    /// It also reads the format 1, which has no checksums and reserves no names.
    static let formatVersion = 2
    /// The largest manifest that is read, in bytes: that of some millions of chunks.
    private static let mostBytes: Int64 = 4 << 30

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
        /// The names that are reserved for its chunks.
        let numbers: ChunkNumbers
        /// What follows the entries and is not as it was written; nil where nothing is.
        let damage: Damage?
        /// Where the header's line and each entry's line end in the file, and the names that are reserved up to there.
        fileprivate let ends: [(offset: Int64, numbers: ChunkNumbers)]

        /// The beginning of it, with `count` entries.
        func prefix(_ count: Int) -> Content {
            let ends = Array(ends.prefix(count + 1))
            return Content(
                header: header,
                entries: Array(entries.prefix(count)),
                numbers: ends.last?.numbers ?? ChunkNumbers(),
                damage: nil,
                ends: ends
            )
        }
    }

    /// A line that is not as it was written.
    struct Damage: Sendable, Hashable {
        /// Counts from 1.
        let line: Int
        /// Whether it breaks off at the end of the file, as when a process is killed while it writes.
        let isTorn: Bool

        /// What it means for those who need all of the manifest at `path`.
        func error(in path: String) -> ImportError {
            ImportError(
                .badInput,
                "\(path): line \(line) \(isTorn ? "breaks off" : "is not as it was written")",
                advice: "Restore the file, or remove the directory and cut the source again."
            )
        }
    }

    /// The number that the next chunk gets, from 1; its name is reserved.
    private(set) var nextNumber: Int
    private var numbers: ChunkNumbers
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
    init(
        creatingIn directory: ChunkDirectory,
        header: Header,
        entries: [ChunkEntry] = [],
        reserved: ChunkNumbers = ChunkNumbers(),
        firstNumber: Int = 1,
        replaces: Bool = false,
        synced: Bool
    ) throws {
        self.synced = synced
        let taken = try directory.chunkNumbers().subtracting(entries.map(\.number))
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
    static func removeBeginning(of header: Header, in directory: ChunkDirectory) throws {
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
        var numbers = ChunkNumbers()
        _ = numbers.reserve(from: 1, besides: [])
        let line = try firstLine(header, reserving: numbers, makeEncoder())
        var bytes = [UInt8](repeating: 0, count: line.count + 1)
        let count = try bytes.withUnsafeMutableBytes { try file.read(into: $0) }
        if line.starts(with: bytes[..<count]) { try directory.remove(name) }
    }

    private static func firstLine(
        _ header: Header,
        reserving numbers: ChunkNumbers,
        _ encoder: JSONEncoder
    ) throws -> [UInt8] {
        var header = header
        header.format = formatVersion
        return try ManifestLine.bytes(encoder.encode(header), reserving: numbers.ranges)
    }

    /// Goes on with the manifest that `content` was read from: what follows its last whole line is cut off.
    ///
    /// Files of chunks that were cut off must be gone by then, as their names may not be reserved any more.
    init(resuming content: Content, in directory: ChunkDirectory, synced: Bool) throws {
        self.synced = synced
        let taken = try directory.chunkNumbers().subtracting(content.entries.map(\.number))
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

    /// Writes a sealed chunk's line.
    func append(_ entry: ChunkEntry) throws {
        var reserved: [ClosedRange<Int>] = []
        if let next = numbers.next(from: entry.number + 1, besides: taken) {
            nextNumber = next
        } else {
            reserved = [numbers.reserve(from: entry.number + 1, besides: taken)]
            nextNumber = reserved[0].lowerBound
        }
        let line = try ManifestLine.bytes(encoder.encode(entry), reserving: reserved)
        try line.withUnsafeBytes { try file.write($0) }
        if synced || !reserved.isEmpty { try file.sync() }
    }

    /// Reads a directory's manifest.
    ///
    /// - Returns: nil if there is none.
    /// - Throws: `ImportError` with `.badInput` if a newer version of this program wrote it, or if a line is not as it was
    ///   written.
    static func read(in directory: ChunkDirectory) throws -> Content? {
        guard let content = try readBeginning(in: directory) else { return nil }
        let path = "\(directory.path)/\(fileName)"
        if let damage = content.damage { throw damage.error(in: path) }
        return content.header.map { Content(header: $0, content) }
    }

    /// Reads the manifest of a job that can cut its chunks again, up to the first line that is not as it was written.
    ///
    /// - Returns: nil if there is none, or its header is not as it was written.
    /// - Throws: `ImportError` with `.cannotCreate` if it is no plain file, too large, or of a newer version of this program:
    ///   then nothing is written beside it.
    static func readWhatIsSound(in directory: ChunkDirectory) throws -> Content? {
        do {
            guard let content = try readBeginning(in: directory) else { return nil }
            return content.header.map { Content(header: $0, content) }
        } catch let error as ImportError where error.code == .badInput {
            throw ImportError(.cannotCreate, error.message, advice: error.advice)
        }
    }

    private static func makeEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    // MARK: Reading

    private struct Version: Codable {
        let format: Int
    }

    /// What is read line by line.
    fileprivate struct Beginning {
        var header: Header?
        var entries: [ChunkEntry] = []
        var numbers = ChunkNumbers()
        var damage: Damage?
        var ends: [(offset: Int64, numbers: ChunkNumbers)] = []
        private let decoder = JSONDecoder()
        private var total: Int64 = 0

        /// Takes the next line in; false if it is not sound.
        mutating func take(_ line: ArraySlice<UInt8>, _ path: String) throws -> Bool {
            let check = ManifestLine.check(line)
            guard check != .wrong else { return false }
            let data = Data(line)
            guard let header else { return try takeHeader(data, check, path) }
            guard header.format == 1 || check == .sound,
                let record = try? decoder.decode(ManifestRecord<ChunkEntry>.self, from: data),
                record.value.isSound(after: entries.last, in: header),
                header.format == 1 || numbers.contains(record.value.number)
            else { return false }
            let entry = record.value
            let (sum, isTooLarge) = total.addingReportingOverflow(entry.endByte - entry.firstByte)
            guard !isTooLarge else { return false }
            total = sum
            entries.append(entry)
            return reserve(record.reserved)
        }

        private mutating func takeHeader(_ line: Data, _ check: ManifestLine.Check, _ path: String) throws -> Bool {
            if let version = try? decoder.decode(Version.self, from: line),
                !(1...ChunkManifest.formatVersion ~= version.format)
            {
                throw ImportError(
                    .badInput,
                    "\(path) has the format \(version.format)",
                    advice: "Use the version of importer that wrote it, or another directory with --chunks."
                )
            }
            guard let record = try? decoder.decode(ManifestRecord<Header>.self, from: line),
                record.value.hash == XXH3Hasher.name, record.value.format == 1 || check == .sound
            else { return false }
            header = record.value
            return reserve(record.reserved)
        }

        /// Takes in what a line reserves.
        private mutating func reserve(_ ranges: [ClosedRange<Int>]) -> Bool {
            guard header?.format == 1 else { return ranges.allSatisfy { numbers.append($0) } }
            // Programs that wrote this format used the name after the last before the chunk had its line.
            let last = numbers.ranges.last?.upperBound ?? 0
            let next = (entries.last?.number ?? 0) + 1
            return numbers.append(last + 1...max(last + 1, next))
        }
    }

    /// Reads up to the first line that is not sound; nil if there is no manifest.
    private static func readBeginning(in directory: ChunkDirectory) throws -> Beginning? {
        guard let file = try directory.openIfThere(fileName) else { return nil }
        let path = "\(directory.path)/\(fileName)"
        let size = try file.size()
        guard size <= mostBytes else {
            throw ImportError(
                .badInput,
                "\(path): has \(size) bytes, and a manifest has at most \(mostBytes)",
                advice: "Restore the file, or remove the directory and cut the source again."
            )
        }
        var beginning = Beginning()
        var lines = ManifestLines(file)
        while let line = try lines.next() {
            let number = beginning.ends.count + 1
            guard case .whole(let bytes) = line, try beginning.take(bytes, path) else {
                if case .torn = line {
                    beginning.damage = Damage(line: number, isTorn: true)
                } else {
                    beginning.damage = Damage(line: number, isTorn: false)
                }
                break
            }
            beginning.ends.append((lines.offset, beginning.numbers))
        }
        if beginning.header == nil, beginning.damage == nil { beginning.damage = Damage(line: 1, isTorn: true) }
        return beginning
    }
}

extension ChunkManifest.Content {
    fileprivate init(header: ChunkManifest.Header, _ beginning: ChunkManifest.Beginning) {
        self.init(
            header: header,
            entries: beginning.entries,
            numbers: beginning.numbers,
            damage: beginning.damage,
            ends: beginning.ends
        )
    }
}
