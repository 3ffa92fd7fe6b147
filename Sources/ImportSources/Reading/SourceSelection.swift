/// Which files of folders, patterns and archives are sources.
package struct SourceSelection: Sendable, Hashable {
    private let included: [GlobPattern]?
    private let excluded: [GlobPattern]
    /// True if files are sources, too, under the names that they get when they are rotated.
    package var takesRotated = false

    /// - Parameters:
    ///   - include: globs of the files that are sources; nil for the names of data files.
    ///   - exclude: globs of those that are none.
    package init(include: [String]? = nil, exclude: [String]? = nil) {
        included = include.map { $0.map { GlobPattern($0) } }
        excluded = (exclude ?? []).map { GlobPattern($0) }
    }

    package init(_ options: JobOptions) { self.init(include: options.include, exclude: options.exclude) }

    /// What data files are called.
    static let dataSuffixes = [
        ".json", ".ndjson", ".jsonl", ".jsons", ".json-seq", ".geojson", ".geojsonl", ".geojsons", ".topojson", ".har",
        ".jsonc", ".ldjson",
    ]
    /// What may follow that.
    static let compressionSuffixes = [".gz", ".zst", ".xz", ".bz2"]

    /// True if a file's name says that it has JSON.
    package static func isDataFile(_ path: String) -> Bool {
        let name = withoutCompression(path.asciiLowercased)
        return dataSuffixes.contains { name.hasSuffix($0) }
    }

    private static func withoutCompression(_ name: String) -> Substring {
        compressionSuffixes.first { name.hasSuffix($0) }.map { name.dropLast($0.count) } ?? name[...]
    }

    /// What a file was called before it was rotated: without the number or the date behind its name, as `app.log.1` and
    /// `app.log-20261129.gz` have.
    private static func unrotated(_ path: String) -> String {
        var name = withoutCompression(path)
        while let last = name.last, last == "-" || last.isASCII && last.isNumber { name.removeLast() }
        if name.hasSuffix(".") { name.removeLast() }
        return String(name)
    }

    /// True if a file at a path below a folder is a source.
    package func takes(file path: String) -> Bool {
        (isMeant(path) || takesRotated && isMeant(Self.unrotated(path))) && allows(path)
    }

    private func isMeant(_ path: String) -> Bool {
        included.map { $0.contains { $0.matches(path: path) } } ?? (Self.isDataFile(path) && !Self.isHidden(path))
    }

    /// True if a file that a pattern matches is a source; what data files are called is no matter then.
    package func takes(matched path: String) -> Bool {
        included?.contains { $0.matches(path: path) } != false && allows(path)
    }

    /// True if a member of an archive is a source.
    ///
    /// - Parameter archive: the archive's path; globs that match it have chosen the archive, not its members.
    package func takes(member path: String, of archive: String) -> Bool {
        let path = path.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        if path.split(separator: "/").dropLast().contains(where: { $0.hasPrefix(".") }) { return false }
        guard included?.contains(where: { $0.matches(path: archive) }) == true else { return takes(file: path) }
        return Self.isDataFile(path) && !Self.isHidden(path) && allows(path)
    }

    /// True if a file's name begins with a dot.
    private static func isHidden(_ path: String) -> Bool { path.split(separator: "/").last?.hasPrefix(".") == true }

    private func allows(_ path: String) -> Bool { !excluded.contains { $0.matches(path: path) } }
}
