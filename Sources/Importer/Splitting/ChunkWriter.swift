/// Writes chunk files and their lines of the manifest, for all sources of a job.
///
/// Made, used and dropped by one thread.
final class ChunkWriter {
    let directory: ChunkDirectory
    /// The size in bytes at which a chunk is closed, from 1.
    let chunkSize: Int
    /// The number that the next chunk gets, from 1.
    var nextNumber: Int { manifest.nextNumber }

    private let manifest: ChunkManifest
    private let synced: Bool

    /// - Parameters:
    ///   - directory: where the chunks are.
    ///   - manifest: where each chunk gets its line.
    ///   - chunkSize: the size in bytes at which a chunk is closed, from 1.
    ///   - synced: whether chunk and line must be on the disk before anybody hears of the chunk, as the source cannot
    ///     be read again.
    init(directory: ChunkDirectory, manifest: ChunkManifest, chunkSize: Int, synced: Bool) {
        self.directory = directory
        self.manifest = manifest
        self.chunkSize = max(1, chunkSize)
        self.synced = synced
    }

    /// Writes the file of a chunk that has `nextNumber`, then its line.
    ///
    /// A chunk without records gets no file.
    func write(_ entry: ChunkEntry, _ bytes: UnsafeRawBufferPointer) throws {
        if entry.records > 0 {
            try directory.write(bytes, to: ChunkDirectory.fileName(entry.number), synced: synced)
        }
        try manifest.append(entry)
    }
}
