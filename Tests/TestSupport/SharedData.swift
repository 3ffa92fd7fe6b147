import Foundation

/// The real-world files that the tests read where they are there, and skip where they are not.
package enum SharedData {
    /// `IMPORTER_SHARED_DATA`, or `shared/data` beside the package.
    package static let directory: URL = {
        if let path = ProcessInfo.processInfo.environment["IMPORTER_SHARED_DATA"] { return URL(filePath: path) }
        return Project.root.deletingLastPathComponent().appending(path: "shared/data")
    }()

    /// Whether the folder is there, for `.enabled(if:)`.
    package static var isPresent: Bool { FileManager.default.fileExists(atPath: directory.path) }

    /// The path of one of its files.
    package static func path(_ name: String) -> String { directory.appending(path: name).path }

    /// The names of the files in one of its folders, sorted.
    package static func names(in folder: String) -> [String] {
        let url = directory.appending(path: folder)
        return ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
    }
}
