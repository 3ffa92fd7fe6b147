import Foundation
import ImportModel
import ImportSources

/// Decides whether a job may keep its chunks in a directory.
///
/// It may in one that is new or empty, has none of the names of chunks, or has the manifest of that job. Nothing is
/// changed by looking.
package struct ChunkDirectoryCheck {
    /// The directory's absolute path.
    package let path: String
    /// The job's sources, which must not be in it.
    package let sources: [SourceDescription]
    /// The setting that names another one.
    package var setting = MessageText.Setting.chunkDirectory

    package init(
        path: String,
        sources: [SourceDescription],
        setting: MessageText.Setting = MessageText.Setting.chunkDirectory
    ) {
        self.path = path
        self.sources = sources
        self.setting = setting
    }

    /// True if the directory is not there yet.
    package var isNew: Bool { DeviceAndInode(link: path) == nil }

    /// Makes sure that a new job may use the directory.
    ///
    /// - Parameter left: what is removed before the job uses it.
    /// - Throws: `ImportError` with `.cannotCreate`.
    package func check(besides left: [RecordedFile]) throws {
        if isNew { return try checkFolder() }
        let directory = try ChunkDirectory(path: path, creates: false)
        try checkSources(directory)
        let names = try directory.chunkNames()
        guard !names.isEmpty else { return }
        let content = try ChunkManifest.readWhatIsSound(in: directory)
        guard let content,
            left.contains(where: { $0.token == content.header.job && $0.isSame(as: directory.number, isKnown: true) }),
            try directory.chunkNames(besides: content).isEmpty
        else { throw refusal(names, content) }
    }

    /// Removes the chunks of an import that the store does not know, where all files prove to be chunks of its manifest, and all that
    /// they were cut from can be read again.
    ///
    /// - Parameter isKnown: whether the store has the job with a token, so that its chunks were kept.
    /// - Returns: whether they were removed.
    package func removeLeft(unless isKnown: (String) throws -> Bool) throws -> Bool {
        guard !isNew, let directory = try? ChunkDirectory(path: path, creates: false),
            let content = try ChunkManifest.readWhatIsSound(in: directory), let token = content.header.job,
            try !isKnown(token),
            content.header.sources.allSatisfy({ source in source.path.map { access($0, R_OK) == 0 } ?? false }),
            try directory.chunkNames(besides: content).isEmpty
        else { return false }
        let whole = try directory.chunkNumbers().filter {
            try directory.openIfThere(ChunkDirectory.fileName($0)) != nil
        }
        guard whole.isSubset(of: content.entries.map(\.fileNumber)),
            try content.entries.allSatisfy({ try !whole.contains($0.fileNumber) || directory.isIntact($0) })
        else { return false }
        try directory.removeFiles(content.numbers)
        directory.removeIfEmpty()
        return true
    }

    /// Makes sure that the directory, as it is open, has nothing but what the job has put into it, or none of our names.
    ///
    /// - Parameters:
    ///   - token: the job's; nil for a split.
    ///   - isOwn: whether the directory is known to be the job's, whose manifest may be damaged or gone.
    /// - Returns: whether there is nothing of the job's in it.
    @discardableResult
    package func check(_ directory: ChunkDirectory, token: String?, isOwn: Bool) throws -> Bool {
        try checkSources(directory)
        let names = try directory.chunkNames()
        guard !names.isEmpty else { return true }
        let content = try ChunkManifest.readWhatIsSound(in: directory)
        if let content, content.header.job == token { return false }
        guard isOwn, content == nil else { throw refusal(names, content) }
        return false
    }

    private func checkSources(_ directory: ChunkDirectory) throws {
        for source in sources {
            guard let file = source.path, directory.holds(fileAt: file) else { continue }
            throw ImportError(
                .chunkDirectoryTaken,
                at: path,
                "holds the source \(source.name), so no chunks are written to it",
                advice: "Give a directory of its own with \(setting)."
            )
        }
    }

    /// A directory that cannot be made is refused before the store is changed.
    private func checkFolder() throws {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard access(folder, W_OK | X_OK) == 0 else {
            throw ImportError.system(errno, "make the chunk directory", path)
        }
    }

    private func refusal(_ names: [String], _ content: ChunkManifest.Content?) -> ImportError {
        let what = content.map {
            $0.header.job == nil ? "the chunks of a split" : "the chunks of another import"
        }
        let isImport = content?.header.job != nil
        let isOnlyCopy = isImport && content?.header.sources.allSatisfy(\.isRepeatable) == false
        let others: MessageText =
            if content != nil, !isImport {
                "or import a split's chunks themselves."
            } else if isImport {
                "or remove them where nobody needs them: rm -r \(path.shellQuoted)"
            } else {
                "or move what is in this one elsewhere."
            }
        return ImportError(
            .chunkDirectoryTaken,
            at: path,
            "holds \(what ?? names[0]), which this import has not made; nothing in it was changed"
                + (isOnlyCopy ? " (they may be the only copy of what was piped in)" : ""),
            advice: "Give another directory with \(setting), \(others)"
        )
    }
}

extension ChunkDirectory {
    /// The names of chunks and manifests in it that are not those of a manifest's chunks, or its own.
    func chunkNames(besides content: ChunkManifest.Content) throws -> [String] {
        let manifest = ChunkManifest.fileName
        return try chunkNames().filter {
            $0 != manifest && $0 != Self.temporaryName(manifest) && !isReserved($0, by: content.numbers)
        }
    }
}
