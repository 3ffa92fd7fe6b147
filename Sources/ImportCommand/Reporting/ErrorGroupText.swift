import ImportModel
import Importer

/// Groups of errors for people, a line each: how many of what, why they did not fit, and where the first one is.
enum ErrorGroupText {
    /// More groups than these are only counted.
    private static let shown = 10

    /// A line for each of the first groups, and one for the rest.
    ///
    /// - Parameter namesEntity: whether the entity is not clear.
    static func lines(_ groups: [ErrorGroup], namesEntity: Bool) -> [String] {
        var lines = groups.prefix(shown).map { line($0, namesEntity: namesEntity) }
        if groups.count > shown {
            lines.append("… and \(NumberText.grouped(Int64(groups.count - shown))) more (--json has all)")
        }
        return lines
    }

    static func line(_ group: ErrorGroup, namesEntity: Bool) -> String {
        let place = "first at byte \(NumberText.grouped(group.first.byteOffset)) of \(source(group.first.source))"
        if group.keyPath == ErrorGroup.others, group.code.isEmpty {
            return TerminalText.escaped("\(NumberText.counted(group.count, "error")) of other kinds, \(place)")
        }
        var path = group.keyPath.isEmpty ? "$" : group.keyPath
        if namesEntity { path = group.keyPath.isEmpty ? group.entity : group.entity + "." + path }
        return TerminalText.escaped("`\(path)`: \(what(group)), \(place)")
    }

    private static func source(_ name: String) -> String { name == "-" ? "standard input" : name }

    /// How many of what, and why not.
    private static func what(_ group: ErrorGroup) -> String {
        let found = NumberText.counted(group.count, group.found, plural(group.found))
        func records(_ fault: String) -> String {
            NumberText.counted(group.count, "record that is \(fault)", "records that are \(fault)")
        }
        switch CoercionError.Code(rawValue: group.code) {
        case .missingValue: return "missing in \(NumberText.counted(group.count, "record"))"
        case .duplicateIdentifier:
            return NumberText.counted(group.count, "record") + " whose identifier exists already"
        case .constraintViolation
        where group.found.contains(RecordError.constraintFailed) || group.expected == RecordError.acceptedRow:
            return NumberText.counted(group.count, "record") + ", " + group.found
        case .constraintViolation:
            return NumberText.counted(group.count, "record") + " that the table refuses (expected \(group.expected))"
        case .nulCharacter: return "\(found), which cannot be stored"
        case .rowTooLarge: return records("too large for a row") + " (\(group.expected))"
        case .identifierTooLong: return "\(found) too long for an index (\(group.expected))"
        case .malformed where group.keyPath.isEmpty: return records("not JSON")
        case .invalidUTF8 where group.keyPath.isEmpty: return records("not UTF-8")
        case .recordTooLarge: return records("too large") + " (\(group.expected) are allowed)"
        case .recordTooDeep: return records("nested too deeply") + " (\(group.expected) are allowed)"
        case .wrongColumnCount:
            return NumberText.counted(group.count, "row") + " with \(group.found) columns (expected \(group.expected))"
        case .outOfRange: return "\(found) out of the range of \(group.expected)"
        case .lossy: return "\(found), which would be lost"
        default: return "\(found) \(instead(of: group.expected))"
        }
    }

    /// `where an integer16 was expected`; texts of several words are by themselves.
    private static func instead(of expected: String) -> String {
        if expected.hasPrefix("a ") || expected.hasPrefix("an ") { return "where \(expected) was expected" }
        guard !expected.contains(" ") else { return "(expected \(expected))" }
        if ["json", "binary"].contains(expected) { return "where \(expected) was expected" }
        // `u` as in `uuid` and `uri`.
        let article = expected.first.map { "aeio".contains($0) } == true ? "an" : "a"
        return "where \(article) \(expected) was expected"
    }

    /// `numbers with a fraction`: the noun is first.
    private static func plural(_ found: String) -> String {
        let words = found.split(separator: " ", maxSplits: 1)
        guard let noun = words.first else { return "values" }
        let plural = noun.hasSuffix("s") ? String(noun) : noun + "s"
        return words.count > 1 ? "\(plural) \(words[1])" : plural
    }
}
