import ImportModel

/// What the entities of kinds of records are called.
package struct KindNames {
    /// Keys that say nothing of what is under them, in lower case.
    private static let generalWords: Set = [
        "data", "items", "results", "result", "records", "rows", "values", "value", "list", "entries", "entry",
        "hits", "response", "objects", "elements", "content", "docs", "documents", "payload",
    ]

    /// By kind; nil for the records of a stream, which has no name.
    package private(set) var names: [String?] = []
    /// The kinds that have another name than what it would be, as another kind has that: both names.
    package private(set) var renamed: [(name: String, other: String)] = []

    /// - Parameters:
    ///   - kinds: those of all sources.
    ///   - sources: all sources.
    ///   - other: the entity of records of a kind that other sources have; nil for none.
    ///   - isKnown: whether the store has such an entity with records of a kind.
    package init(
        of kinds: SourceKinds,
        _ sources: [SourceDescription],
        other: (SourceKinds.Kind) -> String? = { _ in nil },
        isKnown: (String, SourceKinds.Kind) -> Bool = { _, _ in false }
    ) {
        var taken: Set<String> = []
        for kind in kinds.kinds {
            if kind.table == nil, let name = other(kind) {
                names.append(name)
                taken.insert(name.asciiLowercased)
                continue
            }
            let isOneOfSeveral = kind.sources.contains { kinds.kindsOfSources[$0].count > 1 }
            guard let wanted = Self.name(of: kind, kind.sources.map { sources[$0] }, isOneOfSeveral, isKnown) else {
                names.append(nil)
                continue
            }
            var (name, number) = (wanted, 2)
            while !taken.insert(name.asciiLowercased).inserted {
                name = "\(wanted)_\(number)"
                number += 1
            }
            if number > 2 { renamed.append((name, wanted)) }
            names.append(name)
        }
    }

    private static func name(
        of kind: SourceKinds.Kind,
        _ sources: [SourceDescription],
        _ isOneOfSeveral: Bool,
        _ isKnown: (String, SourceKinds.Kind) -> Bool
    ) -> String? {
        if let table = kind.table { return table }
        let key = SourceNames.lastKey(of: kind.path).flatMap { $0.isEmpty ? nil : $0 }
        let areLists = sources.allSatisfy { $0.form?.makesLists == true }
        let names = sources.compactMap { source in source.namingPath.map(SourceNames.name) }
        if isOneOfSeveral || areLists, let key {
            // What had nothing beside it was called as its source.
            return sources.count == 1 && names.count == 1 && !isKnown(key, kind) && isKnown(names[0], kind)
                ? names[0] : key
        }
        guard names.count == sources.count else { return nil }
        if names.count == 1 {
            // What had other collections beside it was called by its key.
            return key.flatMap { !isKnown(names[0], kind) && isKnown($0, kind) ? $0 : nil } ?? names[0]
        }
        return SourceNames.commonBeginning(of: names)
            ?? key.flatMap { generalWords.contains($0.lowercased()) ? nil : $0 }
            ?? container(of: sources) ?? names[0]
    }

    /// The name of the archive or the folder that has all of some files.
    private static func container(of sources: [SourceDescription]) -> String? {
        let archives = Set(sources.map { $0.member == nil ? nil : $0.path })
        if archives.count == 1, let archive = archives.first ?? nil { return SourceNames.name(of: archive) }
        return folder(
            of: sources.map { source in
                source.member.map { String(source.name.dropLast($0.count + 1)) } ?? source.name
            }
        ) ?? folder(of: sources.compactMap(\.path))
    }

    /// The name of the innermost folder that has all files; nil where that is not known.
    private static func folder(of paths: [String]) -> String? {
        var common = paths.first.map { $0.split(separator: "/").dropLast()[...] } ?? []
        for path in paths.dropFirst() {
            common = zip(common, path.split(separator: "/").dropLast()).prefix { $0 == $1 }.map(\.0)[...]
        }
        // Folders called NAME=VALUE have values of the records.
        let name = common.last { !$0.dropFirst().contains("=") }
        return name.flatMap { [".", ".."].contains($0) ? nil : String($0) }
    }
}
