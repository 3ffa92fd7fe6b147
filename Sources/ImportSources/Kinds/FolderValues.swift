import Foundation
import ImportModel

/// The values that folders called `NAME=VALUE` give the records below them, as Spark, DuckDB and Athena write them.
package enum FolderValues {
    /// Gives the records of sources the values of their folders, where all of a kind have the same names, and no record has them.
    ///
    /// - Parameter kinds: the indexes of the sources of each kind.
    package static func add(to looks: inout [SourceLook], of kinds: [[Int]], _ options: JobOptions) {
        guard options.reading == .found else { return }
        var done: Set<Int> = []
        for sources in kinds {
            let values = sources.map { members(of: looks[$0].description) }
            guard let names = values.first?.map(\.name), !names.isEmpty, values.allSatisfy({ $0.map(\.name) == names }),
                options.model.map({ reads(names, $0) }) ?? true,
                sources.allSatisfy({ source in names.allSatisfy { !looks[source].keys.contains(BytewiseString($0)) } })
            else { continue }
            for (source, values) in zip(sources, values) where looks[source].fault == nil {
                // All records of a source of several kinds have them.
                guard done.insert(source).inserted else { continue }
                guard case .found(let layout, let paths, _) = looks[source].detection else { continue }
                let asked = options.records.isEmpty ? paths : options.records
                looks[source].description.form = asked.reduce(looks[source].description.form) { form, path in
                    let members = values.flatMap { [$0.name, $0.json] }
                    var own = SourceForm(.folders, path: path, names: members, maxBytes: options.maxRecordBytes)
                    own.isOfLines = layout == .lines
                    return form?.then(own) ?? own
                }
            }
        }
    }

    private static func reads(_ names: [String], _ model: ModelDescription) -> Bool {
        let read = Set(model.entities.flatMap(\.attributes).flatMap(\.from).compactMap(\.keys.first))
        return names.contains { read.contains($0) }
    }

    /// The names and values, as JSON, of the folders that a source is in.
    static func members(of source: SourceDescription) -> [(name: String, json: String)] {
        guard source.isRepeatable else { return [] }
        return source.name.split(separator: "/").dropLast().compactMap { folder in
            // An archive's name ends before its member's.
            guard let mark = folder.firstIndex(of: "="), mark > folder.startIndex else { return nil }
            let start = folder[..<mark].lastIndex(of: ":").map { folder.index(after: $0) } ?? folder.startIndex
            let name = String(folder[start..<mark])
            let text = String(folder[folder.index(after: mark)...])
            guard let first = name.unicodeScalars.first, first.properties.isAlphabetic || first == "_" else {
                return nil
            }
            return (name, json(of: text.removingPercentEncoding ?? text))
        }
    }

    private static func json(of text: String) -> String {
        if text == "__HIVE_DEFAULT_PARTITION__" { return "null" }
        if let number = Int64(text), String(number) == text { return text }
        return JSONValue.string(text).serialized()
    }
}
