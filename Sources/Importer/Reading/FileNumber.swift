#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The device and inode of a file (`stat(2)`), to notice that a path leads to another one than before.
struct FileNumber: Hashable {
    private let device: dev_t
    private let inode: ino_t

    /// Nil where the path leads nowhere.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// That of an open file, as `fstat(2)` told it.
    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }
}
