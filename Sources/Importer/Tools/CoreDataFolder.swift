import Foundation
import ImportModel
import ImportSources

/// The folders in which Xcode keeps models: an `.xcdatamodeld` with an `.xcdatamodel` for each version, and in that `contents`.
enum CoreDataFolder {
    /// The file `contents` that a path means.
    ///
    /// - Returns: nil where the path is none of such a folder, and so a file.
    /// - Throws: `ImportError` where the folder has no such version or leaves open which one is meant, or has no XML.
    static func contents(of path: String) throws -> String? {
        var (folder, version) = (path, String?.none)
        if !FileManager.default.fileExists(atPath: path), let name = versionName(in: path) {
            (folder, version) = name
        }
        while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
        guard isDirectory(folder) else {
            // A version of a folder that is not there.
            guard version != nil, !FileManager.default.fileExists(atPath: folder) else { return nil }
            throw ImportError(.fileNotFound, at: folder, "the model file does not exist")
        }
        switch (folder as NSString).pathExtension.lowercased() {
        case "xcdatamodeld":
            return try xml(in: "\(folder)/\(chosen(version, in: folder))")
        case "xcdatamodel":
            return try xml(in: folder)
        case "momd":
            throw ImportError(
                .modelInvalid,
                at: path,
                "is a compiled model, which cannot be read",
                advice: "Give the .xcdatamodeld that it was compiled from."
            )
        default:
            throw ImportError(
                .modelInvalid,
                at: path,
                "is a folder, but not a Core Data model",
                advice: "Give a file, an .xcdatamodeld or an .xcdatamodel."
            )
        }
    }

    /// An error for a compiled model; nil where the bytes are not one.
    static func binary(_ bytes: [UInt8], at path: String) -> ImportError? {
        guard bytes.starts(with: Array("bplist".utf8)) else { return nil }
        return ImportError(
            .modelInvalid,
            at: path,
            "is a binary model, which cannot be read",
            advice: "Give the .xcdatamodeld that it was compiled from; Xcode 4 and later save it as XML."
        )
    }

    /// The folder and the version in `X.xcdatamodeld:NAME`.
    private static func versionName(in path: String) -> (String, String?)? {
        for ending in [".xcdatamodeld:", ".xcdatamodeld/:"] {
            guard let range = path.range(of: ending, options: [.caseInsensitive, .backwards]) else { continue }
            var name = String(path[range.upperBound...])
            if name.count > 1, name.hasPrefix("'"), name.hasSuffix("'") { name = String(name.dropFirst().dropLast()) }
            return (String(path[..<range.upperBound].dropLast()), name)
        }
        return nil
    }

    private static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    /// What the names of versions end with.
    private static let ending = ".xcdatamodel"

    /// The name of the version of an `.xcdatamodeld` that is meant.
    private static func chosen(_ version: String?, in folder: String) throws -> String {
        let versions: [String]
        do {
            versions = try FileManager.default.contentsOfDirectory(atPath: folder)
                .filter { $0.hasSuffix(ending) }
                .map { String($0.dropLast(ending.count)) }
                .sorted { $0.compare($1, options: [.numeric, .caseInsensitive]) == .orderedAscending }
        } catch {
            throw ImportError(.fileUnreadable, at: folder, "the folder cannot be read")
        }
        let shown = versions.joined(separator: ", ")
        let names = versions.map { $0 + ending }
        if let version {
            if let name = names.first(where: { $0 == version || $0 == version + ending }) { return name }
            throw ImportError(
                .fileNotFound,
                at: folder,
                "has no version \(version)",
                advice: "\(names.isEmpty ? "It has no version at all." : "It has: \(shown).")"
            )
        }
        let marker = "\(folder)/.xccurrentversion"
        var current: String?
        if FileManager.default.fileExists(atPath: marker) {
            let bytes = try? FileHandle(forReadingFrom: URL(fileURLWithPath: marker)).read(upToCount: 1 << 20)
            current = CoreDataModel.currentVersion(in: [UInt8](bytes ?? Data()))
        }
        if let current, let name = names.first(where: { $0 == current }) { return name }
        if current == nil, names.count == 1 { return names[0] }
        let reason = current.map { "its .xccurrentversion names \($0), which does not exist" }
        throw ImportError(
            names.isEmpty ? .fileNotFound : .modelInvalid,
            at: folder,
            names.isEmpty
                ? "has no version (.xcdatamodel)" : "\(reason ?? "does not say which version is the current one")",
            advice: names.isEmpty ? nil : "It has: \(shown). Name one: \(folder.shellQuoted):NAME"
        )
    }

    /// The XML of an `.xcdatamodel`.
    private static func xml(in folder: String) throws -> String {
        let file = "\(folder)/contents"
        if FileManager.default.fileExists(atPath: file) { return file }
        guard FileManager.default.fileExists(atPath: "\(folder)/elements") else {
            throw ImportError(.fileNotFound, at: folder, "has no file `contents`")
        }
        throw ImportError(
            .modelInvalid,
            at: folder,
            "is a binary model (elements), which cannot be read",
            advice: "Open it in Xcode 4 or later, which saves it as XML (contents)."
        )
    }
}
