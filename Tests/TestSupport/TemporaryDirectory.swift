import Foundation

/// A directory of its own for one test, removed with everything in it when the last reference goes.
package final class TemporaryDirectory: Sendable {
    package let path: String

    /// Makes the directory, readable by its owner only.
    ///
    /// - Parameter parent: where [the system's folder for temporary files].
    package init(in parent: URL? = nil) throws {
        let parent = parent ?? FileManager.default.temporaryDirectory
        let url = parent.appending(path: "importer-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of something in it, which need not exist.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file and gives back its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try write(Data(text.utf8), to: name)
    }

    /// Writes a file and gives back its path.
    @discardableResult
    package func write(_ bytes: Data, to name: String) throws -> String {
        try bytes.write(to: URL(filePath: path(name)))
        return path(name)
    }

    /// The names of what a directory in it holds, sorted; empty if it is not there.
    package func names(in name: String = "") -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path(name))) ?? []).sorted()
    }

    /// The bytes of each file that a directory in it holds, by name.
    package func contents(of name: String) throws -> [String: Data] {
        let files = try names(in: name).map { ($0, try Data(contentsOf: URL(filePath: path("\(name)/\($0)")))) }
        return Dictionary(uniqueKeysWithValues: files)
    }
}
