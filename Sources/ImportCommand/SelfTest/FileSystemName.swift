import Foundation

/// The file system that a folder is on.
struct FileSystemName {
    let type: String
    let device: String

    /// - Returns: nil if the system does not say (`proc(5)`, `/proc/self/mounts`).
    init?(of folder: String) {
        guard let resolved = realpath(folder, nil) else { return nil }
        defer { free(resolved) }
        let folder = String(cString: resolved)
        guard let mounts = try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8) else { return nil }
        var found: (length: Int, device: Substring, type: Substring)?
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let point = fields[1].replacing("\\040", with: " ")
            guard point == "/" || folder == point || folder.hasPrefix(point + "/"),
                point.utf8.count >= found?.length ?? 0
            else { continue }
            found = (point.utf8.count, fields[0], fields[2])
        }
        guard let found else { return nil }
        (type, device) = (String(found.type), String(found.device))
    }

    /// True if it is kept in memory.
    var isMemory: Bool { ["tmpfs", "ramfs"].contains(type) }

    var text: String { "\(type) on \(device)" }
}
