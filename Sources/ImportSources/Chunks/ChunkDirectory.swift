import Glibc
import Synchronization

/// A directory of chunk files and their manifest, reached through one descriptor so that nobody can swap it for another.
///
/// Nothing in it is opened through a symbolic link. Any thread may use it; two threads never write the same file.
package final class ChunkDirectory: Sendable {
    /// As given, for messages.
    package let path: String
    /// True if this object has made the directory.
    package let isMade: Bool
    /// Its device and inode.
    package let number: DeviceAndInode
    package let descriptor: Int32
    /// Files of chunks that are done with; nil when no more are kept.
    private let spares = Mutex<[Spare]?>([])

    /// A file to be written over.
    private struct Spare {
        /// The name that it has now.
        let name: String
        let number: DeviceAndInode
    }

    /// Opens the directory.
    ///
    /// - Parameters:
    ///   - path: its path; what is above it may be a symbolic link.
    ///   - creates: whether to make it, with mode 0700, if it is not there.
    /// - Throws: `ImportError` with `.cannotCreate` when it cannot be made, is a symbolic link or is no directory.
    package init(path: String, creates: Bool) throws {
        var name = path
        // A slash at the end would let the system follow a symbolic link.
        while name.count > 1, name.hasSuffix("/") { name.removeLast() }
        self.path = name
        isMade = creates && mkdir(name, 0o700) == 0
        if creates, !isMade, errno != EEXIST { throw ImportError.system(errno, "make the chunk directory", name) }
        descriptor = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            // With O_DIRECTORY, a symbolic link is answered with ENOTDIR.
            let failure = errno
            var status = stat()
            let isLink = lstat(name, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
            throw ImportError.system(isLink ? ELOOP : failure, "use the chunk directory", name)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let failure = errno
            close(descriptor)
            throw ImportError.system(failure, "use the chunk directory", name)
        }
        number = DeviceAndInode(status)
    }

    deinit {
        close(descriptor)
    }

    /// The name of the chunk file with this number, from 1.
    package static func fileName(_ number: Int) -> String {
        let digits = String(number)
        return "chunk-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".ndjson"
    }

    /// The name under which what is to become the file `name` is written.
    package static func temporaryName(_ name: String) -> String { name + ".partial" }

    /// Writes a whole file under a temporary name and renames it, so that a file with this name is whole.
    ///
    /// - Parameters:
    ///   - bytes: all of the file.
    ///   - name: its name in this directory.
    ///   - synced: whether file and name must be on the disk when this returns.
    /// - Throws: `ImportError` when it cannot be written, `.cannotCreate` when another file has the name or the temporary
    ///   one; nothing with these names is changed then.
    package func write(_ bytes: UnsafeRawBufferPointer, to name: String, synced: Bool) throws {
        let draft = try TemporaryChunkFile(of: name, in: self)
        try draft.append(bytes)
        try draft.finish(synced: synced)
    }

    /// Writes the manifest; file and name are on the disk when this returns.
    ///
    /// - Parameters:
    ///   - bytes: all of it.
    ///   - replaces: whether a manifest that is there is written over; it is not otherwise.
    package func writeManifest(_ bytes: UnsafeRawBufferPointer, replaces: Bool) throws {
        let name = ChunkManifest.fileName
        guard replaces else { return try write(bytes, to: name, synced: true) }
        let temporary = Self.temporaryName(name)
        let file = try openFile(temporary, O_WRONLY | O_CREAT | O_EXCL, "create")
        do {
            try file.write(bytes)
            try file.sync()
            guard renameat(descriptor, temporary, descriptor, name) == 0 else {
                throw ImportError.system(errno, "rename", "\(path)/\(temporary)")
            }
        } catch {
            unlinkat(descriptor, temporary, 0)
            throw error
        }
        try sync()
    }

    /// Gives a file another name, unless a file has it already.
    package func rename(_ name: String, to new: String) throws {
        if linkat(descriptor, name, descriptor, new, 0) == 0 {
            guard unlinkat(descriptor, name, 0) == 0 else {
                throw ImportError.system(errno, "remove", "\(path)/\(name)")
            }
            return
        }
        guard [EPERM, EOPNOTSUPP, ENOTSUP, ENOSYS].contains(errno) else {
            throw ImportError.system(errno, "create", "\(path)/\(new)")
        }
        // A disk without hard links.
        var status = stat()
        guard fstatat(descriptor, new, &status, AT_SYMLINK_NOFOLLOW) != 0 else {
            throw ImportError.system(EEXIST, "create", "\(path)/\(new)")
        }
        guard errno == ENOENT, renameat(descriptor, name, descriptor, new) == 0 else {
            throw ImportError.system(errno, "create", "\(path)/\(new)")
        }
    }

    /// Reads the lines of chunks that follow one another in a file.
    ///
    /// - Returns: whether they are there, in a file of the size that it is to have; their checksums are not looked at.
    package func read(_ chunks: [ChunkEntry], into bytes: inout [UInt8]) throws -> Bool {
        guard let first = chunks.first, let last = chunks.last, last.offset + last.bytes > first.offset else {
            bytes = []
            return true
        }
        guard first.fileSize <= ChunkEntry.mostFileBytes,
            let file = try openIfThere(Self.fileName(first.fileNumber)), try file.size() == first.fileSize
        else { return false }
        let size = Int(last.offset + last.bytes - first.offset)
        if bytes.capacity < size {
            // What was read before must not be there beside it; chunks differ by about a record.
            bytes = []
            bytes.reserveCapacity(size + size / 64)
        }
        // Resized in place: a new array would be filled with zeros and paged in for every chunk.
        if bytes.count > size { bytes.removeLast(bytes.count - size) }
        if bytes.count < size { bytes.append(contentsOf: repeatElement(0, count: size - bytes.count)) }
        try file.seek(to: first.offset)
        return try bytes.withUnsafeMutableBytes { try file.read(into: $0) } == size
    }

    /// True if the lines of `entry` are in its file, which has its size, as they were written.
    ///
    /// A chunk without records needs no file.
    package func isIntact(_ entry: ChunkEntry) throws -> Bool {
        if entry.records == 0 { return true }
        guard let file = try openIfThere(Self.fileName(entry.fileNumber)), try file.size() == entry.fileSize else {
            return false
        }
        let hasher = XXH3Hasher()
        var block = [UInt8](repeating: 0, count: Int(min(entry.bytes, 256 << 10)))
        var left = Int(entry.bytes)
        try file.seek(to: entry.offset)
        while left > 0 {
            let count = try block.withUnsafeMutableBytes {
                try file.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<min(left, $0.count)]))
            }
            if count == 0 { break }
            block.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            left -= count
        }
        return hasher.digest == entry.checksum
    }

    /// Removes a chunk file; it is no error if it is not there.
    ///
    /// A few of them stay, under names that are no chunk's, for the next chunks to be written over them: what they take
    /// of the page cache and the disk is there already, and to get it again costs more than to write it (0.17 to 0.28 s
    /// for 475 MB in chunks of 8 MB, against 0.08 s over files that are there).
    package func remove(chunk number: Int) throws {
        let name = Self.fileName(number)
        if try !makeSpare(name) { try remove(name) }
    }

    /// How many files are kept to be written over: about as many as chunks are on their way at once.
    private static let mostSpares = 4

    /// - Returns: whether the file is kept to be written over, or is not there.
    private func makeSpare(_ name: String) throws -> Bool {
        let temporary = Self.temporaryName(name)
        return try spares.withLock { spares in
            guard let count = spares?.count, count < Self.mostSpares else { return false }
            var status = stat()
            guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                if errno == ENOENT { return true }
                throw ImportError.system(errno, "look at", "\(path)/\(name)")
            }
            var other = stat()
            // A kill may have left both names.
            guard fstatat(descriptor, temporary, &other, AT_SYMLINK_NOFOLLOW) != 0 else { return false }
            try rename(name, to: temporary)
            spares?.append(Spare(name: temporary, number: DeviceAndInode(status)))
            return true
        }
    }

    /// - Returns: a file to be written over, and its name; nil if there is none, or if its name is another file's by now.
    func takeSpare() -> (name: String, file: ChunkFile)? {
        guard let spare = spares.withLock({ $0?.popLast() }),
            let file = try? openFile(spare.name, O_WRONLY, "open"), let status = try? file.status(),
            // What somebody has kept under another name is not written over.
            DeviceAndInode(status) == spare.number, status.st_nlink == 1
        else { return nil }
        return (spare.name, file)
    }

    /// Says that no more chunks are written: the files that were kept for them go, and no more are kept.
    ///
    /// One that cannot be removed goes with the directory.
    package func endWriting() {
        let names = spares.withLock { spares in
            defer { spares = nil }
            return spares ?? []
        }
        for spare in names { unlinkat(descriptor, spare.name, 0) }
    }

    /// Removes a file; it is no error if it is not there.
    package func remove(_ name: String) throws {
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            let code = errno
            guard code == EISDIR else { throw ImportError.system(code, "remove", "\(path)/\(name)") }
            throw ImportError(
                .chunkDirectoryTaken,
                at: "\(path)/\(name)",
                "is a directory, which this import has not made",
                advice: "Move it elsewhere, or give another directory with \(.chunkDirectory)."
            )
        }
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
        // A pipe or a device would let it wait for ever.
        let file = openat(descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode_t(0o600))
        guard file >= 0 else { throw ImportError.system(errno, action, "\(path)/\(name)") }
        return try regular(file, name)
    }

    /// Opens a file to read it; nil if there is none with this name.
    package func openIfThere(_ name: String) throws -> ChunkFile? {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if file < 0, errno == ENOENT { return nil }
        guard file >= 0 else { throw ImportError.system(errno, "open", "\(path)/\(name)") }
        return try regular(file, name)
    }

    private func regular(_ descriptor: Int32, _ name: String) throws -> ChunkFile {
        let file = ChunkFile(descriptor: descriptor, path: "\(path)/\(name)")
        guard try file.status().st_mode & S_IFMT == S_IFREG else {
            throw ImportError(
                .manifestDamaged,
                at: "\(path)/\(name)",
                "is not a regular file",
                advice: "Chunks and manifests are plain files. Restore it, or give another directory."
            )
        }
        return file
    }

    /// Waits until a chunk, and its name, are on the disk.
    package func sync(chunk number: Int) throws {
        try openFile(Self.fileName(number), O_RDONLY, "open").sync()
        try sync()
    }

    /// Waits until the names in this directory are on the disk.
    package func sync() throws {
        guard fsync(descriptor) == 0 else { throw ImportError.system(errno, "sync the chunk directory", path) }
    }
}
