import ImportModel
import ImportSources

/// Says which tables an import fills where nobody has named them, and how to choose others.
struct TableMessage {
    /// More names than these are only counted.
    private static let mostNames = 6

    let sources: [StoredJob.Source]
    /// True if the store has a table of this name.
    let isThere: (String) throws -> Bool

    /// A line for people; nil where there is no record path.
    func line() throws -> MessageText? {
        var names: [String] = []
        for name in sources.flatMap(\.entities) where !names.contains(name) { names.append(name) }
        guard let first = names.first else { return nil }
        let there = try names.filter(isThere)
        let paths = sources.map(\.shape.paths.count).max() ?? 1
        let source = sources.count == 1 ? sources[0].description.displayName : "\(sources.count) sources"
        guard names.count > 1 else {
            let existing = there.isEmpty ? "" : ", which exists"
            return "\(source): into the table \(first)\(existing) (\(anyOf: .entity) for another)"
        }
        let existing = there.count == names.count ? "all exist" : "existing: \(Self.list(there))"
        let known = there.isEmpty ? "" : " (\(existing))"
        let choice: MessageText = paths > 1 ? "a model file names others" : "\(anyOf: .entity) for one table"
        return "\(source): into \(names.count) tables: \(Self.list(names))\(known) (\(choice))"
    }

    private static func list(_ names: [String]) -> String {
        let list = names.prefix(mostNames).joined(separator: ", ")
        return names.count > mostNames ? list + " and \(names.count - mostNames) more" : list
    }
}
