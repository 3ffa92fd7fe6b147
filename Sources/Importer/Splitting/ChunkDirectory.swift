import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A directory of chunk files and their manifest, reached through one descriptor so that nobody can swap it for another.
///
/// Nothing in it is opened through a symbolic link. Any thread may use it; two threads never write the same file.
final class ChunkDirectory: Sendable {
    /// As given, for messages.
    let path: String
    private let descriptor: Int32
    /// Files of chunks that are done with, by the names that they have now; nil when no more are kept.
    private let spares = Mutex<[String]?>([])

    /// Opens the directory.
    ///
    /// - Parameters:
    ///   - path: its path; what stands above it may be a symbolic link.
    ///   - creates: whether to make it, with mode 0700, if it is not there.
    /// - Throws: `ImportError` with `.cannotCreate` when it cannot be made, is a symbolic link or is no directory.
    init(path: String, creates: Bool) throws {
        var name = path
        // A slash at the end would let the system follow a symbolic link.
        while name.count > 1, name.hasSuffix("/") { name.removeLast() }
        self.path = name
        if creates, mkdir(name, 0o700) != 0, errno != EEXIST {
            throw ImportError.system(errno, "make the chunk directory", name)
        }
        descriptor = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            // With O_DIRECTORY, a symbolic link is answered with ENOTDIR.
            var status = stat()
            let isLink = lstat(name, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
            throw ImportError.system(isLink ? ELOOP : errno, "use the chunk directory", name)
        }
    }

    deinit {
        close(descriptor)
    }

    /// The name of the chunk file with this number, from 1.
    static func fileName(_ number: Int) -> String {
        let digits = String(number)
        return "chunk-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".ndjson"
    }

    /// The name under which what is to become the file `name` is written.
    private static func temporaryName(_ name: String) -> String { name + ".partial" }

    /// Writes a whole file under a temporary name and renames it, so that a file with this name is whole.
    ///
    /// - Parameters:
    ///   - bytes: all of the file.
    ///   - name: its name in this directory.
    ///   - synced: whether file and name must be on the disk when this returns.
    /// - Throws: `ImportError` when it cannot be written; nothing with this name is changed then.
    func write(_ bytes: UnsafeRawBufferPointer, to name: String, synced: Bool) throws {
        let temporary = Self.temporaryName(name)
        unlinkat(descriptor, temporary, 0)
        let isSpare = takeSpare(as: temporary)
        let file = try openFile(temporary, O_WRONLY | (isSpare ? 0 : O_CREAT | O_EXCL), "create")
        do {
            try file.write(bytes)
            if isSpare { try file.truncate(to: Int64(bytes.count)) }
            if synced { try file.sync() }
        } catch {
            unlinkat(descriptor, temporary, 0)
            throw error
        }
        guard renameat(descriptor, temporary, descriptor, name) == 0 else {
            throw ImportError.system(errno, "rename", "\(path)/\(temporary)")
        }
        if synced { try sync() }
    }

    /// Reads a whole chunk file.
    ///
    /// - Returns: whether it is there with the size of its entry; its checksum is not looked at.
    func read(_ entry: ChunkEntry, into bytes: inout [UInt8]) throws -> Bool {
        guard let file = try openIfThere(Self.fileName(entry.number)), try file.size() == entry.bytes else {
            return entry.records == 0
        }
        let size = Int(entry.bytes)
        if bytes.capacity < size {
            // What was read before must not be there beside it; chunks differ by about a record.
            bytes = []
            bytes.reserveCapacity(size + size / 64)
        }
        // Resized in place: a new array would be filled with zeros and paged in for every chunk.
        if bytes.count > size { bytes.removeLast(bytes.count - size) }
        if bytes.count < size { bytes.append(contentsOf: repeatElement(0, count: size - bytes.count)) }
        return try bytes.withUnsafeMutableBytes { try file.read(into: $0) } == size
    }

    /// Whether the chunk file of `entry` is there with its size and checksum.
    ///
    /// A chunk without records needs no file.
    func isIntact(_ entry: ChunkEntry) throws -> Bool {
        if entry.records == 0 { return true }
        guard let file = try openIfThere(Self.fileName(entry.number)), try file.size() == entry.bytes else {
            return false
        }
        let hasher = XXH3Hasher()
        var block = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = try block.withUnsafeMutableBytes { try file.read(into: $0) }
            if count == 0 { break }
            block.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        return hasher.digest == entry.checksum
    }

    /// Removes a chunk file; it is no error if it is not there.
    ///
    /// A few of them stay, under names that are no chunk's, for the next chunks to be written over them: what they take
    /// of the page cache and the disk is there already, and to get it anew costs more than to write it (0.17 to 0.28 s
    /// for 475 MB in chunks of 8 MB, against 0.08 s over files that are there).
    func remove(chunk number: Int) throws {
        let name = Self.fileName(number)
        if try !makeSpare(name) { try remove(name) }
    }

    /// How many files are kept to be written over: about as many as chunks are on their way at once.
    private static let mostSpares = 4

    /// - Returns: whether the file is kept to be written over, or is not there.
    private func makeSpare(_ name: String) throws -> Bool {
        let spare = Self.temporaryName(name)
        return try spares.withLock { spares in
            guard let count = spares?.count, count < Self.mostSpares else { return false }
            if renameat(descriptor, name, descriptor, spare) == 0 {
                spares?.append(spare)
            } else if errno != ENOENT {
                throw ImportError.system(errno, "rename", "\(path)/\(name)")
            }
            return true
        }
    }

    /// - Returns: whether there was a file to be written over, which has this name now.
    private func takeSpare(as name: String) -> Bool {
        guard let spare = spares.withLock({ $0?.popLast() }) else { return false }
        return renameat(descriptor, spare, descriptor, name) == 0
    }

    /// Says that no more chunks are written: the files that were kept for them go, and no more are kept.
    ///
    /// One that cannot be removed goes with the directory.
    func endWriting() {
        let names = spares.withLock { spares in
            defer { spares = nil }
            return spares ?? []
        }
        for name in names { unlinkat(descriptor, name, 0) }
    }

    /// Removes what an import that was killed has left half written, or to be written over.
    func removePartialChunks() throws {
        for name in try names() where Self.isChunk(name) && name.hasSuffix(Self.temporaryName("")) { try remove(name) }
    }

    /// Removes a file; it is no error if it is not there.
    func remove(_ name: String) throws {
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw ImportError.system(errno, "remove", "\(path)/\(name)")
        }
    }

    /// Removes the chunks and the manifest, and the directory if nothing else is in it.
    func removeAll() throws {
        try removeFiles()
        rmdir(path)
    }

    /// Removes the chunks and the manifest; other files stay.
    func removeFiles() throws {
        let manifest = ChunkManifest.fileName
        for name in try names() where Self.isChunk(name) || name == manifest || name == Self.temporaryName(manifest) {
            try remove(name)
        }
    }

    /// Whether a chunk has this name, or what is to become one.
    private static func isChunk(_ name: String) -> Bool {
        name.hasPrefix("chunk-") && (name.hasSuffix(".ndjson") || name.hasSuffix(temporaryName(".ndjson")))
    }

    /// The names of all files.
    private func names() throws -> [String] {
        let copy = dup(descriptor)
        guard copy >= 0, let stream = fdopendir(copy) else {
            throw ImportError.system(errno, "list the chunk directory", path)
        }
        defer { closedir(stream) }
        rewinddir(stream)
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
            )
        }
        return names
    }

    /// Opens a file of this directory, with mode 0600 if it is made.
    ///
    /// - Parameters:
    ///   - name: its name in this directory.
    ///   - flags: those of `open(2)`.
    ///   - action: what for, in words.
    /// - Returns: the file.
    /// - Throws: `ImportError` when it cannot be opened.
    func openFile(_ name: String, _ flags: Int32, _ action: String) throws -> ChunkFile {
        let file = openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        guard file >= 0 else { throw ImportError.system(errno, action, "\(path)/\(name)") }
        return ChunkFile(descriptor: file, path: "\(path)/\(name)")
    }

    /// Opens a file to read it; nil if there is none with this name.
    func openIfThere(_ name: String) throws -> ChunkFile? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        if file < 0, errno == ENOENT { return nil }
        guard file >= 0 else { throw ImportError.system(errno, "open", "\(path)/\(name)") }
        return ChunkFile(descriptor: file, path: "\(path)/\(name)")
    }

    /// How many bytes its disk has room for, as far as this user may use it (`fstatvfs(3)`).
    func freeBytes() throws -> Int64 {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else {
            throw ImportError.system(errno, "look at the disk of", path)
        }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? Int64.max : Int64(clamping: bytes)
    }

    /// Makes sure that there is room for another chunk, and for the store to note where the import stands.
    ///
    /// - Parameter size: the last chunk's, in bytes.
    /// - Throws: `ImportError` with `.io` if there is not.
    func checkRoom(forChunkOf size: Int64) throws {
        let free = try freeBytes()
        guard free < size + Self.reserve else { return }
        throw ImportError(
            .io,
            "cannot write another chunk to \(path): its disk has only \(free >> 10) KiB left",
            advice:
                "All chunks are kept until the model is inferred from all records. Free some space on that disk, or give "
                + "a directory on another one with --chunks DIR, and run the same command again: it resumes."
        )
    }

    /// What a store needs to note where an import stands, and some more, in bytes.
    private static let reserve: Int64 = 512 << 10

    /// Waits until the names in this directory are on the disk.
    func sync() throws {
        guard fsync(descriptor) == 0 else { throw ImportError.system(errno, "sync the chunk directory", path) }
    }
}
