import Glibc

/// Whether a disk has room for chunks.
extension ChunkDirectory {
    /// How many bytes its disk has room for, as far as this user may use it (`fstatvfs(3)`).
    func freeBytes() throws -> Int64 {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else {
            throw ImportError.system(errno, "look at the disk of", path)
        }
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return overflow ? Int64.max : Int64(clamping: bytes)
    }

    /// Makes sure that there is room for another chunk, and for the store to note where the import is.
    ///
    /// - Parameter size: the last chunk's, in bytes.
    /// - Throws: `ImportError` with `.io` if there is not.
    package func checkRoom(forChunkOf size: Int64) throws {
        let free = try freeBytes()
        guard free < size + Self.reserve else { return }
        throw ImportError(
            .diskFull,
            "cannot write another chunk to \(path): its disk has only \(free >> 10) KiB left",
            advice:
                "All chunks are kept until the model is inferred from all records. Free some space on that disk, or give "
                + "a directory on another one with \(anyOf: .chunkDirectory), and \(.sameAgain): it resumes. Or "
                + "restart with \(.restart) and \(anyOf: .model) (\(call: .inferring()) prints one): then a few chunks wait at a time."
        ).about(path)
    }

    /// What a store needs to note where an import is, and some more, in bytes.
    private static let reserve: Int64 = 512 << 10
}
