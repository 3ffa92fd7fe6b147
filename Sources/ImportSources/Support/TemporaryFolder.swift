import Foundation

/// A folder for what nobody keeps.
package enum TemporaryFolder {
    /// Calls `body` with a new folder in the temporary directory, which is removed afterwards with all that is in it.
    ///
    /// - Throws: `ImportError` when it cannot be made; what `body` throws.
    package static func with<Result>(_ body: (String) throws -> Result) throws -> Result {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("importer-\(UUID().uuidString)").path
        guard mkdir(path, 0o700) == 0 else { throw ImportError.system(errno, "make the folder", path) }
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try body(path)
    }
}
