import ImportModel
import ImportSources

/// What is noticed of a path on the way.
extension EntityInference {
    package mutating func notice(_ path: Int, named name: String, type: AttributeType, from: AttributePath) {
        let seen = statistics.paths[path]
        let isMongo = root == EntityStatistics.record && from.keys == [InferenceNotice.mongoIdentifier]
        if let summary = identifierSummary(path, type: type, fewest: isMongo ? 1 : Self.fewestObjects),
            summary.isUnique, type == .uuid || IdentifierName.isLikely(name, of: self.name)
        {
            add(.identifierCandidate(isCertain: summary.isComplete), AttributePath(keys: [name]))
        }
        let counts: [(JSONKind, Int64)] = [
            (.boolean, seen.booleans), (.number, seen.numbers), (.string, type.isNumber ? 0 : seen.strings),
            (.object, seen.objects),
            (.array, seen.arrays),
        ]
        let kinds = counts.filter { $0.1 > 0 }.map { InferenceNotice.KindCount(kind: $0.0, count: $0.1) }
        if kinds.count > 1 { add(.kinds(kinds), from) }
        if type == .decimal { add(.decimals(seen.numbersBeyondDigits, of: seen.numbers), from) }
        if type == .string, seen.strings > 0, seen.numbers == 0,
            let form = [StringFormats.day, .dayAndTime, .dotnet, .mail, .slashed, .weekday].first(
                where: seen.forms.contains
            ),
            let label = form.label
        {
            add(.dates(label), from)
        }
        if type == .string, seen.strings > 0, seen.forms.contains(.object) { add(.objectTexts, from) }
        if rules.policy != .json, let reason = objectReason(path) { add(.objectsKeptAsJSON(reason), from) }
        if path != root { noticeArrays(at: Column(path: path, keys: from.keys), from: from) }
        guard seen.objects + seen.arrays + seen.booleans == 0 else { return }
        if seen.marks.contains(.illFormedString) {
            add(.illFormedText, from)
        } else if type == .json, !isText(path) {
            add(.textWithNUL, from)
        }
    }

    /// Says that arrays with objects in them stay JSON, and why.
    private mutating func noticeArrays(at column: Column, from: AttributePath) {
        if rules.policy == .flatten, statistics.paths[column.path].isArrayOfObjects { add(.arraysOfObjects, from) }
        note(decision(onArrayAt: column), from)
    }

    /// Notes what becomes of an array that stays JSON.
    package mutating func note(_ decision: ArrayDecision, _ from: AttributePath) {
        switch decision {
        case .kept(let reason): add(.arraysKeptAsJSON(reason), from)
        case .tooDeep: add(.arraysTooDeep, from)
        case .unnamed: break
        case .value, .table: return
        }
        decisions.append((prefix + from.keys, decision))
    }

    /// Of fewer objects, any value may differ from all others.
    private static let fewestObjects: Int64 = 100

    /// What is known of a path's values, if they could be identifiers at all.
    private func identifierSummary(_ path: Int, type: AttributeType, fewest: Int64) -> ValueSample.Summary? {
        let seen = statistics.paths[path]
        guard seen.sample >= 0, objectCount >= fewest, seen.values == objectCount, type != .date else {
            return nil
        }
        // Not of records that are no objects, nor of numbers and strings that the store would mix.
        guard seen.integers == seen.values || seen.strings == seen.values, type != .json else { return nil }
        return statistics.samples[Int(seen.sample)].summary()
    }
}
