import Foundation

/// Reads folders: what is in one, and all files below it.
struct FolderReader {
    /// What a folder has.
    struct Entry {
        let name: String
        let path: String
        /// The path without symbolic links; nil where it leads nowhere.
        let absolutePath: String?
        let isFolder: Bool
        /// True if it is a file, or a link to one.
        let isFile: Bool
        /// True if it is a link.
        let isLink: Bool
        /// True if it is a link that leads nowhere.
        let isBroken: Bool
        /// What the system notes of the file; nil where it leads nowhere.
        let status: stat?

        /// Its number on its disk (`st_ino`); nil where it leads nowhere.
        var inode: UInt64? { status.map { UInt64($0.st_ino) } }
        /// True if it has no byte.
        var isEmpty: Bool { status?.st_size ?? 0 == 0 }
    }

    /// The path of something in a folder.
    static func path(_ folder: String, _ name: String) -> String {
        switch folder {
        case "", ".": name
        case "/": "/" + name
        default: folder + "/" + name
        }
    }

    /// What is in a folder, but `.` and `..`, in no order.
    ///
    /// Links to folders are neither files nor folders: they are not followed. A name that is not UTF-8 cannot be given to
    /// anything, and has no kind either.
    ///
    /// - Throws: `ImportError` with `.noInput` when it may not be read.
    func entries(of folder: String) throws -> [Entry] {
        guard let stream = opendir(folder.isEmpty ? "." : folder) else {
            throw ImportError.cannotOpen(folder, errno: errno)
        }
        defer { closedir(stream) }
        var entries: [Entry] = []
        let absolute = SourceDescription.absolutePath(folder.isEmpty ? "." : folder)
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { entries.append(self.entry(name, Self.path(folder, name), in: absolute)) }
        }
        return entries
    }

    /// What is at a path.
    ///
    /// - Parameter absolute: the folder's path without symbolic links.
    private func entry(_ name: String, _ path: String, in absolute: String) -> Entry {
        var (own, status) = (stat(), stat())
        let isThere = lstat(path, &own) == 0
        let isLink = isThere && own.st_mode & S_IFMT == S_IFLNK
        let leadsSomewhere = isThere && (!isLink || stat(path, &status) == 0)
        if !isLink { status = own }
        let kind = leadsSomewhere ? status.st_mode & S_IFMT : 0
        return Entry(
            name: name,
            path: path,
            absolutePath: !leadsSomewhere
                ? nil : isLink ? SourceDescription.absolutePath(path) : Self.path(absolute, name),
            isFolder: !isLink && kind == S_IFDIR,
            isFile: kind == S_IFREG,
            isLink: isLink,
            isBroken: isLink && !leadsSomewhere,
            status: leadsSomewhere ? status : nil
        )
    }
}
