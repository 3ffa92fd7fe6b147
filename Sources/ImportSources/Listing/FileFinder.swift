import Foundation

/// Finds the files of a folder or a pattern, in the order of the bytes of their paths.
struct FileFinder {
    let selection: SourceSelection
    let interruption: Interruption
    /// What folders have that is no source.
    private(set) var leftOut = LeftOutFiles()
    /// The folders that were looked into.
    private(set) var folders: [String] = []
    /// The errors of links that lead nowhere.
    private(set) var brokenLinks: [ImportError] = []
    private let reader = FolderReader()
    private var found: [FolderReader.Entry] = []

    init(selection: SourceSelection, interruption: Interruption) {
        self.selection = selection
        self.interruption = interruption
    }

    /// The data files below a folder, not yet looked into; links to files are followed, those to folders are not.
    ///
    /// - Throws: `ImportError` with `.noInput` when a folder may not be read.
    mutating func files(below folder: String) throws -> [SourceDescription] {
        found = []
        try walk(folder, below: "")
        return files()
    }

    private mutating func walk(_ folder: String, below path: String) throws {
        try interruption.check()
        folders.append(folder)
        for entry in try reader.entries(of: folder).sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
        {
            let name = path.isEmpty ? entry.name : "\(path)/\(entry.name)"
            if entry.isFolder {
                if entry.name.hasPrefix(".") || entry.name == "__MACOSX" || Self.isOfChunks(entry.path) {
                    leftOut.add(name + "/")
                } else {
                    try walk(entry.path, below: name)
                }
            } else if selection.takes(file: name), entry.isBroken || entry.isFile {
                found.append(entry)
                // It has no record, but may have some another night.
                if entry.isFile, entry.isEmpty { leftOut.add(name) }
            } else {
                leftOut.add(name)
            }
        }
    }

    /// True if a folder has the chunks of an import.
    static func isOfChunks(_ folder: String) -> Bool {
        guard FileManager.default.fileExists(atPath: "\(folder)/\(ChunkManifest.fileName)"),
            let directory = try? ChunkDirectory(path: folder, creates: false)
        else { return false }
        return (try? ChunkManifest.readWhatIsSound(in: directory)) != nil
    }

    /// The files that a pattern matches, whatever they are called, not yet looked into.
    ///
    /// - Throws: `ImportError` with `.noInput` when a folder may not be read.
    mutating func files(matching pattern: String) throws -> [SourceDescription] {
        found = []
        for choice in GlobPattern(pattern).choices {
            try match(choice[...], in: pattern.hasPrefix("/") ? "/" : "", below: "")
        }
        return files()
    }

    /// The error for a pattern that no file matches.
    static func nothing(matching pattern: String) -> ImportError {
        ImportError(
            .fileNotFound,
            at: pattern,
            "no file matches this pattern",
            advice: "`*` and `?` are for names, `**` for folders; in quotes, the shell leaves a pattern as it is."
        )
    }

    private mutating func match(_ steps: ArraySlice<GlobPattern.Step>, in folder: String, below path: String) throws {
        guard let step = steps.first else { return }
        let rest = steps.dropFirst()
        if case .name(let name) = step, !rest.isEmpty {
            var status = stat()
            let next = FolderReader.path(folder, name)
            guard stat(next, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
            return try match(rest, in: next, below: "")
        }
        try interruption.check()
        folders.append(folder.isEmpty ? "." : folder)
        if step == .anyFolders, !rest.isEmpty { try match(rest, in: folder, below: path) }
        for entry in try reader.entries(of: folder) where step.matches(entry.name) {
            let name = path.isEmpty ? entry.name : "\(path)/\(entry.name)"
            if entry.isFolder, !Self.isOfChunks(entry.path) {
                try match(step == .anyFolders ? steps : rest, in: entry.path, below: name)
            } else if rest.isEmpty, entry.isFile || entry.isBroken, selection.takes(matched: name) {
                found.append(entry)
            }
        }
    }

    /// What was found, each file once: of a link beside its file, the file.
    private mutating func files() -> [SourceDescription] {
        brokenLinks = found.filter(\.isBroken).map { link in
            ImportError(
                .fileNotFound,
                at: link.path,
                "is a link that leads nowhere",
                advice: "Remove it, or leave it out with \(.exclude, link.name)."
            )
        }
        found.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        var seen: Set<BytewiseString> = []
        if found.contains(where: \.isLink) {
            for entry in found where !entry.isLink { seen.insert(BytewiseString(entry.absolutePath ?? entry.path)) }
        }
        var files: [SourceDescription] = []
        var last: BytewiseString?
        for entry in found {
            // Choices of a pattern may match the same.
            guard let path = entry.absolutePath, let status = entry.status, last != BytewiseString(entry.path) else {
                continue
            }
            last = BytewiseString(entry.path)
            if entry.isLink, !seen.insert(BytewiseString(path)).inserted {
                leftOut.add(entry.name)
            } else {
                files.append(SourceDescription(entry.path, at: path, status))
            }
        }
        return files
    }
}
