import Glibc

/// An open file of a chunk directory, closed when it is dropped.
///
/// Made, used and dropped by one thread.
package final class ChunkFile {
    private let descriptor: Int32
    private let path: String

    package init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit {
        close(descriptor)
    }

    /// What the system notes of it.
    package func status() throws -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw ImportError.system(errno, "look at", path) }
        return status
    }

    /// Its size in bytes.
    package func size() throws -> Int64 {
        Int64(try status().st_size)
    }

    /// Lets the next read begin at `offset`.
    func seek(to offset: Int64) throws {
        guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else { throw ImportError.system(errno, "read", path) }
    }

    /// Fills `buffer` from where the last read stopped: fewer bytes only at the file's end.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var filled = 0
        while filled < buffer.count, let base = buffer.baseAddress {
            let count = Glibc.read(descriptor, base + filled, buffer.count - filled)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ImportError.system(errno, "read", path) }
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Writes all of `bytes`.
    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        var written = 0
        while written < bytes.count, let base = bytes.baseAddress {
            let count = Glibc.write(descriptor, base + written, bytes.count - written)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw ImportError.system(errno, "write", path) }
            written += count
        }
    }

    /// Cuts the file off after `size` bytes.
    func truncate(to size: Int64) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw ImportError.system(errno, "cut", path) }
    }

    /// Waits until the file is on the disk.
    package func sync() throws {
        guard fsync(descriptor) == 0 else { throw ImportError.system(errno, "sync", path) }
    }
}
