import ImportModel
import ImportSources

/// Says which tables an import fills where nobody has named them, and how to choose others.
package struct TableMessage {
    /// More names than these are only counted.
    private static let mostNames = 6

    let sources: [StoredJob.Source]
    /// True if the store has a table of this name.
    let isThere: (String) throws -> Bool

    package init(sources: [StoredJob.Source], isThere: @escaping (String) throws -> Bool = { _ in false }) {
        self.sources = sources
        self.isThere = isThere
    }

    /// The entities whose records are in several sources at one record path, with that and how many sources, in their order.
    private var kinds: [(name: String, path: String, count: Int)] {
        var kinds: [(name: String, path: String, count: Int)] = []
        for (name, path) in sources.filter({ $0.shape.isEmpty != true }).flatMap({ zip($0.entities, $0.shape.paths) }) {
            if let index = kinds.firstIndex(where: { $0.name == name && $0.path == path }) {
                kinds[index].count += 1
            } else {
                kinds.append((name, path, 1))
            }
        }
        return kinds.filter { $0.count > 1 }
    }

    /// A line for each kind of records that several sources have.
    package func kindLines() throws -> [MessageText] {
        try kinds.map { kind in
            let existing = try isThere(kind.name) ? ", which exists" : ""
            return "\(kind.count.grouped) sources: one kind, at \(kind.path): into the table \(kind.name)\(existing)"
        }
    }

    /// Lines for people: those, and one for all other records.
    func lines() throws -> [MessageText] {
        try kindLines() + [line(besides: kinds.map(\.name))].compactMap(\.self)
    }

    private func line(besides kinds: [String]) throws -> MessageText? {
        let sources = sources.filter { !$0.entities.allSatisfy(kinds.contains) }
        var names: [String] = []
        for name in sources.flatMap(\.entities) where !names.contains(name) && !kinds.contains(name) {
            names.append(name)
        }
        guard let first = names.first else { return nil }
        let there = try names.filter(isThere)
        let paths = sources.map(\.shape.paths.count).max() ?? 1
        let source = sources.count == 1 ? sources[0].description.displayName : "\(sources.count.grouped) sources"
        guard names.count > 1 else {
            let existing = there.isEmpty ? "" : ", which exists"
            return "\(source): into the table \(first)\(existing) (\(anyOf: .entity) for another)"
        }
        let existing = there.count == names.count ? "all exist" : "existing: \(Self.list(there))"
        let known = there.isEmpty ? "" : " (\(existing))"
        let choice: MessageText = paths > 1 ? "a model file names others" : "\(anyOf: .entity) for one table"
        return "\(source): into \(names.count.grouped) tables: \(Self.list(names))\(known) (\(choice))"
    }

    private static func list(_ names: [String]) -> String {
        let list = names.prefix(mostNames).joined(separator: ", ")
        return names.count > mostNames ? list + " and \((names.count - mostNames).grouped) more" : list
    }
}
