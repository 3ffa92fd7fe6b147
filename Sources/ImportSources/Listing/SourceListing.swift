import Foundation

/// The sources of arguments, as they are at the beginning of an import.
package struct SourceListing: Sendable {
    package private(set) var sources: [SourceDescription] = []
    /// The arguments with absolute paths, where folders or patterns are among them; else nil.
    package private(set) var given: [String]?
    /// The folders that were looked into.
    package private(set) var folders: [String] = []
    /// True if links were passed over as they lead nowhere.
    package private(set) var hasBrokenLinks = false

    /// Lists the sources of arguments.
    ///
    /// - Parameters:
    ///   - arguments: paths, patterns, or `-`.
    ///   - selection: which files of folders, patterns and archives are sources.
    ///   - known: gives sources of files that need not be looked into, as what is known of them still holds; nil for all others.
    ///   - passOver: told why a file cannot be read, or a folder has none, where the others are listed nevertheless; nil where that
    ///     is an error.
    ///   - announce: told what is left out, in words.
    /// - Throws: `ImportError` with `.noInput` when something is not there or may not be read, or nothing is a source.
    package init(
        _ arguments: [String],
        _ selection: SourceSelection,
        _ opener: SourceOpener,
        _ interruption: Interruption,
        known: ([SourceDescription]) throws -> [SourceDescription?]? = { _ in nil },
        passOver: ((ImportError) -> Void)? = nil,
        _ announce: (MessageText) -> Void
    ) throws {
        var hasMany = false
        var files: [SourceDescription] = []
        for argument in arguments {
            let source = ImportSource(argument)
            var finder = FileFinder(selection: selection, interruption: interruption)
            var errors: [ImportError] = []
            let found: [SourceDescription]
            switch source {
            case .stream(let path), .file(let path): found = [try opener.find(path)]
            case .folder(let path):
                guard !FileFinder.isOfChunks(path) else {
                    throw ImportError(
                        .isDirectory,
                        at: path,
                        "is a chunk directory, which is imported alone",
                        advice: "Give it without other sources."
                    )
                }
                found = try finder.files(below: Self.plain(path))
                if found.isEmpty, finder.brokenLinks.isEmpty { errors = [finder.leftOut.nothing(in: path)] }
            case .pattern(let pattern):
                found = try finder.files(matching: pattern)
                if found.isEmpty, finder.brokenLinks.isEmpty { errors = [FileFinder.nothing(matching: pattern)] }
            }
            for error in errors + finder.brokenLinks {
                guard let passOver else { throw error }
                passOver(error)
            }
            if !finder.brokenLinks.isEmpty { hasBrokenLinks = true }
            if !finder.leftOut.isEmpty { announce("\(argument.shownPath): \(finder.leftOut.words)") }
            folders += finder.folders
            files += found
            switch source {
            case .folder, .pattern: hasMany = true
            case .stream, .file: break
            }
        }
        let known = try known(files)
        sources.reserveCapacity(files.count)
        for (index, file) in files.enumerated() {
            try interruption.check()
            if let source = known?[index] {
                sources.append(source)
                continue
            }
            do {
                sources += try opener.describe(file, selection, interruption: interruption, announce: announce)
            } catch let error as ImportError where [.noInput, .badInput].contains(error.code) {
                guard let passOver else { throw error }
                passOver(error)
            }
        }
        guard hasMany else { return }
        given = Self.absolute(arguments)
        // What a folder has and what is given by itself is one source.
        var seen: Set<BytewiseString> = []
        sources = sources.filter { $0.key.map { seen.insert($0).inserted } ?? true }
    }

    /// The sources that were found before, by arguments of which one is a folder or a pattern.
    package init(_ sources: [SourceDescription], given: [String]?) { (self.sources, self.given) = (sources, given) }

    /// Arguments with absolute paths.
    package static func absolute(_ arguments: [String]) -> [String] {
        arguments.map { argument in
            if case .stream = ImportSource(argument) { return argument }
            let path = plain(argument)
            return path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        }
    }

    /// Says how the texts of all sources are encoded; nil to judge each by its first bytes.
    package mutating func decode(from encoding: String?) {
        for index in sources.indices { sources[index].encoding = encoding }
    }

    /// A folder's path without what may follow or precede it.
    private static func plain(_ path: String) -> String {
        var path = path[...]
        while path.count > 1, path.hasSuffix("/") { path = path.dropLast() }
        return String(path)
    }
}
