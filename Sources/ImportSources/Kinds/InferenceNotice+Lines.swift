import ImportModel

extension InferenceNotice {
    /// The key of MongoDB's identifiers, which is named first.
    package static let mongoIdentifier = "_id"

    /// More names than these are only counted in a line.
    private static let mostNames = 8

    /// The notices for people, a line each; those of an entity that are alike in one line, where the first is.
    ///
    /// - Parameter children: the names of the entities of arrays, whose identifiers only a model file can say.
    package static func lines(_ notices: [InferenceNotice], children: Set<String> = []) -> [MessageText] {
        var lines: [MessageText] = []
        var told: Set<InferenceNotice> = []
        for notice in notices {
            switch notice.finding {
            case .leftOut: lines.append("\(notice.description) (\(.altersTables) adds columns)")
            case .objectTexts:
                lines.append("\(notice.description) (\(.parse, notice.path.description) takes them apart)")
            case .merged: lines.append("\(notice.description) (\(.onConflict))")
            case _ where !notice.isTogether: lines.append("\(notice.description)")
            default: break
            }
            guard notice.isTogether else { continue }
            guard told.insert(notice.common).inserted else { continue }
            var alike = notices.filter { $0.common == notice.common }
            if let first = alike.firstIndex(where: { $0.path.keys == [mongoIdentifier] }) {
                alike.insert(alike.remove(at: first), at: 0)
            }
            lines.append(notice.line(alike, isChild: children.contains(notice.entity)))
        }
        return lines
    }

    /// True if all of an entity are said in one line.
    private var isTogether: Bool {
        switch finding {
        case .identifierCandidate, .arraysOfObjects, .arraysTooDeep, .decimals: true
        default: false
        }
    }

    /// What it has in common with those that are in one line with it.
    private var common: InferenceNotice {
        var common = finding
        if case .decimals = finding { common = .decimals(0, of: 0) }
        return InferenceNotice(entity: entity, path: .record, finding: common)
    }

    /// The line of several that are alike.
    private func line(_ alike: [InferenceNotice], isChild: Bool) -> MessageText {
        var names = alike.prefix(Self.mostNames).map(\.path.description).joined(separator: ", ")
        if alike.count > Self.mostNames { names += " and \(alike.count - Self.mostNames) more" }
        switch finding {
        case .arraysOfObjects:
            return
                "\(entity): \(names): arrays of objects kept as JSON (\(.nested, NestedPolicy.tables.rawValue) makes child "
                + "tables of them)"
        case .arraysTooDeep:
            return "\(entity): \(names): arrays of objects kept as JSON: there would be more levels of child tables "
                + "(\(anyOf: .nestedDepth))"
        case .decimals:
            let all = alike.reduce(into: (beyond: Int64(0), values: Int64(0))) { all, notice in
                guard case .decimals(let beyond, let values) = notice.finding else { return }
                all = (all.beyond + beyond, all.values + values)
            }
            let sum = InferenceNotice(entity: entity, path: path, finding: .decimals(all.beyond, of: all.values))
            return "\(entity): \(names): \(sum.text) (\(anyOf: .types) for a double)"
        default: break
        }
        let isOne = alike.count == 1
        let look = isOne ? "looks like an identifier" : "look like identifiers"
        let isCertain = finding == .identifierCandidate(isCertain: true)
        let values = isCertain ? (isOne ? "never repeats" : "never repeat") : "no repeats in a sample of the values"
        guard !isChild else {
            return "\(entity): \(names) \(look): in every object, \(values) (\"identifier\" in a model file)"
        }
        return "\(entity): \(names) \(look): in every record, \(values) (\(anyOf: .identifier))"
    }

    /// The first of the lines where there are many, and how to see the others.
    ///
    /// - Parameter sources: the paths of the import's sources, `-` for standard input.
    package static func shortened(_ lines: [MessageText], to most: Int = 10, sources: [String]) -> [MessageText] {
        guard lines.count > most else { return lines }
        return lines.prefix(most - 1) + ["… and \(lines.count - most + 1) more: \(call: .inferring(from: sources))"]
    }
}
