import Foundation

/// Which file a path stands for, so that two paths of the same file are found to be equal.
enum FileIdentity: Hashable {
    /// A file that is there, whatever links lead to it.
    case file(device: UInt64, inode: UInt64)
    /// One that is not there yet: the path under which it would be made.
    case path(String)

    /// Links that are followed before it is a loop.
    private static let mostLinks = 40

    /// What `path` stands for; nil for a device or a pipe, which keep nothing.
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) != 0 else {
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFREG || kind == S_IFDIR else { return nil }
            self = .file(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
            return
        }
        var url = URL(fileURLWithPath: path)
        for _ in 0..<Self.mostLinks {
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) else { break }
            url = URL(fileURLWithPath: target, relativeTo: url.deletingLastPathComponent()).absoluteURL
        }
        let folder = url.deletingLastPathComponent().path
        guard let resolved = realpath(folder, nil) else {
            self = .path(url.standardizedFileURL.path)
            return
        }
        defer { free(resolved) }
        self = .path(String(cString: resolved) + "/" + url.lastPathComponent)
    }
}
