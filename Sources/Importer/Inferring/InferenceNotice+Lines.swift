import ImportModel

extension InferenceNotice {
    /// More names than these are only counted in a line.
    private static let mostNames = 8

    /// The notices for people, a line each; those of an entity's identifier candidates in one line, where the first is.
    static func lines(_ notices: [InferenceNotice]) -> [ImportText] {
        var lines: [ImportText] = []
        var told: Set<String> = []
        for notice in notices {
            guard case .identifierCandidate(let isCertain) = notice.finding else {
                lines.append("\(notice.description)")
                continue
            }
            guard told.insert("\(isCertain) \(notice.entity)").inserted else { continue }
            let alike = notices.filter { $0.entity == notice.entity && $0.finding == notice.finding }
            lines.append(candidates(alike.map(\.path), of: notice.entity, isCertain: isCertain))
        }
        return lines
    }

    private static func candidates(_ paths: [AttributePath], of entity: String, isCertain: Bool) -> ImportText {
        let isOne = paths.count == 1
        var names = paths.prefix(mostNames).map(\.description).joined(separator: ", ")
        if paths.count > mostNames { names += " and \(paths.count - mostNames) more" }
        let look = isOne ? "looks like an identifier" : "look like identifiers"
        let values = isCertain ? (isOne ? "never repeats" : "never repeat") : "no repeats in a sample of the values"
        return "\(entity): \(names) \(look): in every record, \(values) (\(anyOf: .identifier))"
    }

    /// The first of the lines where there are many, and how to see the others.
    ///
    /// - Parameter sources: the paths of the import's sources, `-` for standard input.
    static func shortened(_ lines: [ImportText], to most: Int = 10, sources: [String]) -> [ImportText] {
        guard lines.count > most else { return lines }
        return lines.prefix(most - 1) + ["… and \(lines.count - most + 1) more: \(call: .inferring(from: sources))"]
    }
}
