import Glibc

/// The device and inode of a file (`stat(2)`), to notice that a path leads to another one than before.
package struct DeviceAndInode: Hashable, Sendable {
    package let device: dev_t
    package let inode: ino_t

    package init(device: dev_t, inode: ino_t) {
        self.device = device
        self.inode = inode
    }

    /// Nil where the path leads nowhere.
    package init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// That of the path itself, also where it is a symbolic link (`lstat(2)`).
    package init?(link path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// That of an open file, as `fstat(2)` told it.
    package init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }
}
