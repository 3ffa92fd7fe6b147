/// Writes chunk files and their lines of the manifest, for all sources of a job.
///
/// Made, used and dropped by one thread.
package final class ChunkWriter {
    /// How many bytes of a chunk are gathered before they are written: few enough to be in the processor's cache still.
    static let defaultPortion = 512 << 10

    package let directory: ChunkDirectory
    /// The size in bytes at which a chunk is closed, from 1.
    package let chunkSize: Int
    /// How many bytes of a chunk are gathered before they are written, from 1.
    let portion: Int
    /// The number that the next chunk gets, from 1.
    var nextNumber: Int { manifest?.nextNumber ?? number }

    /// nil where one chunk is written that has its line already.
    private let manifest: ChunkManifest?
    private let number: Int
    private let synced: Bool
    /// How many chunks share a file at most: few enough for workers to have something to do soon.
    private static let mostShared = 1_000
    private let isShared: Bool
    /// How many chunks the file has.
    private var chunks = 0
    private let onFileEnd: ([ChunkEntry]) throws -> Void
    /// The file of the chunk that is being filled; nil where it has no bytes yet.
    private var draft: TemporaryChunkFile?

    /// - Parameters:
    ///   - directory: where the chunks are.
    ///   - manifest: where each chunk gets its line.
    ///   - chunkSize: the size in bytes at which a chunk is closed, from 1.
    ///   - synced: whether chunk and line must be on the disk before anybody hears of the chunk, as the source cannot
    ///     be read again.
    ///   - isShared: whether whole sources share a file, as long as they have less than `portion` and together no more than
    ///     `chunkSize`, until `endFile` is called; otherwise each chunk has a file of its own.
    ///   - portion: how many bytes of a chunk are gathered before they are written.
    ///   - onFileEnd: called with the chunks of each file when they are safe; it may wait, and it may throw.
    package init(
        directory: ChunkDirectory,
        manifest: ChunkManifest,
        chunkSize: Int,
        synced: Bool,
        isShared: Bool = false,
        portion: Int = ChunkWriter.defaultPortion,
        onFileEnd: @escaping ([ChunkEntry]) throws -> Void = { _ in }
    ) {
        self.directory = directory
        self.manifest = manifest
        number = manifest.nextNumber
        self.chunkSize = max(1, chunkSize)
        self.portion = max(1, portion)
        self.synced = synced
        self.isShared = isShared
        self.onFileEnd = onFileEnd
    }

    /// Writes one chunk again, which is closed as soon as it may be; it is on the disk when anybody hears of it.
    ///
    /// - Parameters:
    ///   - number: the chunk's.
    ///   - directory: where it was.
    package init(again number: Int, in directory: ChunkDirectory) {
        self.directory = directory
        self.number = number
        manifest = nil
        chunkSize = 1
        portion = Self.defaultPortion
        synced = true
        isShared = false
        onFileEnd = { _ in }
    }

    /// How many bytes are written of the chunk that is being filled.
    package var count: Int64 { draft?.count ?? 0 }

    /// XXH3-64 of the bytes of the chunk that is being filled.
    package var checksum: String {
        draft?.checksum ?? XXH3Hasher.digest(of: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    /// Writes lines of the chunk that is being filled, which is to have `nextNumber`.
    package func append(_ lines: UnsafeRawBufferPointer) throws {
        guard !lines.isEmpty else { return }
        if let draft, draft.count == 0, draft.earlierCount > 0,
            lines.count >= portion || Int(draft.earlierCount) + lines.count > chunkSize
        {
            try endFile()
        }
        let name = ChunkDirectory.fileName(manifest?.fileNumber ?? number)
        let draft = try draft ?? TemporaryChunkFile(of: name, in: directory)
        self.draft = draft
        try draft.append(lines)
    }

    /// Ends the chunk that is being filled, and its file, unless others are to share it.
    ///
    /// - Parameter entry: the chunk's, with `nextNumber`, `count` and `checksum`.
    func seal(_ entry: ChunkEntry) throws {
        manifest?.add(entry)
        draft?.endChunk()
        chunks += 1
        let hasRoom = chunks < Self.mostShared && (draft?.earlierCount ?? 0) < chunkSize
        if !isShared || !entry.isLast || !hasRoom { try endFile() }
    }

    /// Ends the file: it gets its name, then its chunks their lines of the manifest.
    ///
    /// Chunks without records need no file.
    package func endFile() throws {
        try draft?.finish(synced: synced)
        draft = nil
        chunks = 0
        guard let entries = try manifest?.endFile(), !entries.isEmpty else { return }
        try onFileEnd(entries)
    }
}
