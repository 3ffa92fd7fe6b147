import Foundation

/// The project's documents, as the tests read them.
enum Documents {
    static let root =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    /// A Markdown file.
    struct Page {
        /// Its path in the project.
        let path: String
        let text: String

        var isArticle: Bool { path.contains(".docc/") }

        /// The file's name, by which articles link to it.
        var name: String { URL(filePath: path).deletingPathExtension().lastPathComponent }

        /// The text under each heading of the second level.
        var sections: [String: String] {
            let parts = text.components(separatedBy: "\n## ").dropFirst()
            return Dictionary(
                parts.map { part in
                    let title = part.prefix { $0 != "\n" }
                    return (String(title), String(part.dropFirst(title.count)))
                },
                uniquingKeysWith: { $1 }
            )
        }

        /// Targets of links to files of the project, or to headings.
        ///
        /// Pictures of an article are named without folder and ending.
        var links: [String] {
            text.matches(of: /(!\[[^\]]*)?\]\(([^)\s]+)\)/).map { match in
                isArticle && match.output.1 != nil ? "Resources/\(match.output.2).png" : String(match.output.2)
            }.filter { !$0.contains("://") }
        }

        /// What a link to a heading says after its `#`.
        var anchors: Set<String> {
            let headings = text.split(separator: "\n").filter { $0.hasPrefix("#") }
            return Set(
                headings.map { heading in
                    heading.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
                        .filter { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
                }
            )
        }

        /// Model files in blocks of code, indented or fenced.
        var models: [String] {
            let indented = text.matches(of: #/    \{\n      "entities"(?s:.*?)\n    \}\n/#).map { String($0.output) }
            let fenced = text.matches(of: #/```json\n((?s:.*?))```/#).map { String($0.output.1) }
            return indented + fenced.filter { $0.contains("\"entities\"") }
        }
    }

    static func page(_ path: String) throws -> Page {
        Page(path: path, text: try String(contentsOf: root.appending(path: path), encoding: .utf8))
    }

    static func article(_ name: String) throws -> Page {
        try page("Sources/Importer/Importer.docc/\(name).md")
    }

    /// All Markdown files of the project.
    static func all() throws -> [Page] {
        var pages: [Page] = []
        for folder in ["", "Benchmarks", "Sources/Importer/Importer.docc"] {
            for name in try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).sorted()
            where name.hasSuffix(".md") {
                pages.append(try page(folder.isEmpty ? name : "\(folder)/\(name)"))
            }
        }
        return pages
    }

    /// The first lines of all scripts, which have their options.
    static func scripts() throws -> String {
        let folder = root.appending(path: "scripts")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).compactMap { name in
            try? String(contentsOf: folder.appending(path: name), encoding: .utf8)
        }.joined(separator: "\n")
    }

    /// The options in the rows of a table.
    static func options(in section: String) -> [String] {
        section.split(separator: "\n").filter { $0.hasPrefix("| `--") }.flatMap { row in
            row.dropFirst().prefix { $0 != "|" }.matches(of: /--[a-z-]+/).map { String($0.output) }
        }
    }

    /// The path in the project of what a link in the file at `path` leads to.
    static func resolve(_ link: String, from path: String) -> String {
        var parts = path.split(separator: "/").dropLast().map(String.init)
        for part in link.split(separator: "/") {
            if part == ".." { _ = parts.popLast() } else if part != "." { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }
}
