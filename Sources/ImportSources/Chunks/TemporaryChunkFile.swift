import Glibc

/// A file of a chunk directory that is being written: it has a temporary name until all of it is there, so that a file with the
/// name that it gets then is whole.
///
/// Made, used and dropped by one thread. One that is dropped before it is finished is removed.
final class TemporaryChunkFile {
    private let directory: ChunkDirectory
    private let name: String
    private let temporary: String
    private let file: ChunkFile
    /// True if it is written over a file that is done with, which may be longer.
    private let isReused: Bool
    private var isOpen = true
    private var hasher = XXH3Hasher()
    /// How many bytes it has so far of the chunk that is being filled, and of those before it.
    private(set) var count: Int64 = 0
    private(set) var earlierCount: Int64 = 0

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - name: its name in the directory, when it is whole.
    ///   - directory: where it is.
    /// - Throws: `ImportError` with `.cannotCreate` when another file has the temporary name; that file stays.
    init(of name: String, in directory: ChunkDirectory) throws {
        self.directory = directory
        self.name = name
        if let spare = directory.takeSpare() {
            (temporary, file) = spare
            isReused = true
        } else {
            temporary = ChunkDirectory.temporaryName(name)
            file = try directory.openFile(temporary, O_WRONLY | O_CREAT | O_EXCL, "create")
            isReused = false
        }
    }

    deinit {
        discard()
    }

    /// XXH3-64 of the bytes so far of the chunk that is being filled.
    var checksum: String { hasher.digest }

    /// Writes the bytes that come next.
    ///
    /// - Throws: `ImportError` when they cannot be written; the file is removed then.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        hasher.update(bytes)
        count += Int64(bytes.count)
        do {
            try file.write(bytes)
        } catch {
            discard()
            throw error
        }
    }

    /// Ends a chunk, after which others come.
    func endChunk() {
        earlierCount += count
        count = 0
        hasher = XXH3Hasher()
    }

    /// Gives it its name.
    ///
    /// - Parameter synced: whether file and name must be on the disk when this returns.
    /// - Throws: `ImportError` when it cannot be written, `.cannotCreate` when another file has the name; it is removed then.
    func finish(synced: Bool) throws {
        do {
            if isReused { try file.truncate(to: earlierCount + count) }
            if synced { try file.sync() }
            try directory.rename(temporary, to: name)
            isOpen = false
        } catch {
            discard()
            throw error
        }
        if synced { try directory.sync() }
    }

    private func discard() {
        guard isOpen else { return }
        isOpen = false
        unlinkat(directory.descriptor, temporary, 0)
    }
}
