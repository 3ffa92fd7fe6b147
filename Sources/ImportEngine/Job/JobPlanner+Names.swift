import ImportModel
import ImportSources

/// What records are called that nobody has named.
extension JobPlanner {
    /// The last keys of several record paths.
    package static func names(of paths: [String]) throws -> [String] {
        let names = paths.map { lastKey(of: $0) ?? "" }
        guard !names.contains(""), Set(names.map(\.asciiLowercased)).count == names.count else {
            throw ImportError(
                .entityUnnamed,
                "the record paths do not name their entities",
                advice: "Give a model with \(.model)."
            )
        }
        return names
    }

    /// True if a file's name says that each line of it is a record.
    static func isOfLines(_ path: String) -> Bool {
        let compressed = [".gz", ".zst", ".xz", ".bz2", ".zip"]
        let name = path.asciiLowercased
        let plain = compressed.first { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) } ?? name
        return [".ndjson", ".jsonl", ".geojsonl", ".ldjson"].contains { plain.hasSuffix($0) }
    }

    /// The last key of a record path; nil where it has none.
    package static func lastKey(of path: String) -> String? {
        (try? RecordPath(path))?.steps.compactMap { step in
            if case .key(let key) = step { return key }
            return nil
        }.last
    }

    /// A file's name without its folders and without the extensions of JSON and of compression.
    package static func name(of path: String) -> String {
        var name = path.split(separator: "/").last.map(String.init) ?? path
        let extensions = [
            "gz", "zst", "xz", "bz2", "zip", "tar", "tgz", "json", "ndjson", "jsonl", "ldjson", "geojson", "geojsonl",
            "bom", "min",
        ]
        while let dot = name.lastIndex(of: "."), dot > name.startIndex,
            extensions.contains(name[name.index(after: dot)...].lowercased())
        {
            name = String(name[..<dot])
        }
        return name.replacing("\0", with: "_")
    }
}
