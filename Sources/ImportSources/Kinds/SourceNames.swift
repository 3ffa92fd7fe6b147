import ImportModel

/// What the names of sources and record paths say of their records.
package enum SourceNames {
    /// True if a file's name says that each line of it is a record.
    package static func isOfLines(_ path: String) -> Bool {
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

    /// What files are called behind their own name.
    private static let extensions: Set = [
        "gz", "zst", "xz", "bz2", "zip", "tar", "tgz", "tbz2", "txz", "json", "ndjson", "jsonl", "jsons", "json-seq",
        "ldjson", "geojson", "geojsonl", "geojsons", "topojson", "har", "jsonc", "js", "bom", "min", "log", "txt",
    ]

    /// A file's name without its folders and without the extensions of JSON and of compression.
    package static func name(of path: String) -> String {
        var name = path.split(separator: "/").last.map(String.init) ?? path
        while let dot = name.lastIndex(of: "."), dot > name.startIndex,
            extensions.contains(name[name.index(after: dot)...].lowercased())
        {
            name = String(name[..<dot])
        }
        return name.replacing("\0", with: "_")
    }

    /// What several names begin with, less the digits, dates and separators at its end; nil where fewer than three letters are left.
    package static func commonBeginning(of names: [String]) -> String? {
        guard var common = names.first.map({ Array($0.unicodeScalars) }) else { return nil }
        for name in names.dropFirst() {
            common = zip(common, name.unicodeScalars).prefix { $0 == $1 }.map(\.0)
        }
        while let last = common.last {
            if "0123456789-_. ".unicodeScalars.contains(last) {
                common.removeLast()
            } else if last == "T" || last == "t", isDate(common.dropLast()) {
                common.removeLast()
            } else {
                break
            }
        }
        let letters = common.count(where: \.properties.isAlphabetic)
        return letters < 3 ? nil : String(String.UnicodeScalarView(common))
    }

    /// True if a text ends with an ISO date.
    private static func isDate(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        let digits = text.reversed().prefix { ("0"..."9").contains($0) || $0 == "-" }.filter { $0 != "-" }
        return digits.count >= 8
    }
}

extension SourceDescription {
    /// True if its name says that each line of it is a record.
    package var isOfLines: Bool {
        [member, member == nil || isOnlyMember == true ? path ?? name : nil].contains {
            $0.map(SourceNames.isOfLines) ?? false
        }
    }
}
