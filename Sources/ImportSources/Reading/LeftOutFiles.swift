import ImportModel

/// The files of folders and archives that are no sources.
package struct LeftOutFiles: Sendable, Hashable {
    /// How many names are said.
    private static let mostNames = 2

    private(set) var count = 0
    private var names: [String] = []

    package init() {}

    package var isEmpty: Bool { count == 0 }

    mutating func add(_ name: String) {
        count += 1
        if names.count < 5 { names.append(name) }
    }

    /// What they are, as `4 files left out: notes.txt, README.md and 2 more`.
    package var words: String {
        let all = count <= Self.mostNames + 1 ? names[...] : names.prefix(Self.mostNames)
        let more = count > all.count ? " and \((count - all.count).grouped) more" : ""
        return
            "\(count.grouped) file\(count == 1 ? "" : "s") left out: \(all.map(\.printable).joined(separator: ", "))\(more)"
    }

    /// The error for a folder or an archive in which nothing else is.
    func nothing(in path: String) -> ImportError {
        ImportError(
            .fileNotFound,
            at: path,
            isEmpty ? "nothing is in it" : "nothing in it is a source: \(words)",
            advice: "Sources are called .json, .ndjson, .jsonl and the like; \(anyOf: .include) chooses others."
        )
    }
}
