/// A pattern for paths, as shells have them: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}`, `**` for any folders, and `\` before what means itself.
package struct GlobPattern: Sendable, Hashable {
    /// What a step of a path matches.
    package enum Step: Sendable, Hashable {
        /// Any number of folders, none included.
        case anyFolders
        case name(String)
        case glob(NameGlob)

        /// True if it matches a name; names that begin with a dot only if the step does.
        package func matches(_ name: String) -> Bool {
            switch self {
            case .anyFolders: !name.hasPrefix(".")
            case .name(let own): own.hasSameBytes(as: name)
            case .glob(let glob): (!name.hasPrefix(".") || glob.beginsWithDot) && glob.matches(name)
            }
        }
    }

    /// The pattern without braces, as the steps of each choice.
    package let choices: [[Step]]
    /// True if it is for paths and not only for names.
    package let isPath: Bool

    package init(_ text: String) {
        isPath = text.contains("/")
        choices = Self.withoutBraces(Array(text.unicodeScalars)).map { choice in
            choice.split(separator: "/", omittingEmptySubsequences: true).map { step in
                if step.elementsEqual("**".unicodeScalars) { return .anyFolders }
                let glob = NameGlob(step)
                return glob.literal.map(Step.name) ?? .glob(glob)
            }
        }
    }

    /// True if a text has something that means more than itself in a pattern.
    package static func isPattern(_ text: String) -> Bool {
        text.contains { "*?[".contains($0) } || withoutBraces(Array(text.unicodeScalars)).count > 1
    }

    /// True if it matches a file's name, or, where it has a `/`, the path below the folder.
    package func matches(path: String) -> Bool {
        let names = path.split(separator: "/").map(String.init)
        let judged = isPath ? names[...] : names.suffix(1)
        return choices.contains { Self.matches($0[...], judged) }
    }

    private static func matches(_ steps: ArraySlice<Step>, _ names: ArraySlice<String>) -> Bool {
        guard let step = steps.first else { return names.isEmpty }
        if step == .anyFolders {
            return matches(steps.dropFirst(), names)
                || names.first.map(step.matches) == true && matches(steps, names.dropFirst())
        }
        return names.first.map(step.matches) == true && matches(steps.dropFirst(), names.dropFirst())
    }

    /// More choices than these are not made of braces.
    private static let mostChoices = 1_000

    /// A text for each choice that its braces with commas leave, or the text itself where these are too many.
    private static func withoutBraces(_ text: [Unicode.Scalar]) -> [[Unicode.Scalar]] {
        var (open, done) = ([text], [[Unicode.Scalar]]())
        while let next = open.popLast() {
            guard let choices = choices(in: next) else {
                done.append(next)
                continue
            }
            open += choices.reversed()
            if open.count + done.count > mostChoices { return [text] }
        }
        return done
    }

    /// A text for each choice that its first braces leave; nil where it has no braces with a comma.
    private static func choices(in text: [Unicode.Scalar]) -> [[Unicode.Scalar]]? {
        var (depth, start, cuts) = (0, 0, [Int]())
        var index = 0
        while index < text.count {
            switch text[index] {
            case "\\": index += 1
            case "{":
                if depth == 0 { (start, cuts) = (index, [index]) }
                depth += 1
            case "," where depth == 1: cuts.append(index)
            case "}" where depth == 1 && cuts.count > 1:
                cuts.append(index)
                return zip(cuts, cuts.dropFirst()).map {
                    Array(text[..<start]) + text[($0 + 1)..<$1] + text[(index + 1)...]
                }
            case "}" where depth > 0: depth -= 1
            default: break
            }
            index += 1
        }
        return nil
    }
}

/// A pattern for one name.
package struct NameGlob: Sendable, Hashable {
    private enum Part: Sendable, Hashable {
        case scalar(Unicode.Scalar)
        case any
        case anyText
        case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)

        func matches(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .scalar(let own): own == scalar
            case .any, .anyText: true
            case .set(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
            }
        }
    }

    private let parts: [Part]

    init(_ text: some Collection<Unicode.Scalar>) {
        let text = Array(text)
        var parts: [Part] = []
        var index = 0
        while index < text.count {
            switch text[index] {
            case "*": if parts.last != .anyText { parts.append(.anyText) }
            case "?": parts.append(.any)
            case "[":
                if let (set, end) = Self.set(in: text, from: index) {
                    parts.append(set)
                    index = end
                } else {
                    parts.append(.scalar("["))
                }
            case "\\" where index + 1 < text.count:
                index += 1
                parts.append(.scalar(text[index]))
            default: parts.append(.scalar(text[index]))
            }
            index += 1
        }
        self.parts = parts
    }

    /// The set that begins at `start`, and where its bracket closes; nil where none does.
    private static func set(in text: [Unicode.Scalar], from start: Int) -> (Part, end: Int)? {
        var index = start + 1
        let isNegated = index < text.count && (text[index] == "!" || text[index] == "^")
        if isNegated { index += 1 }
        let first = index
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while index < text.count, text[index] != "]" || index == first {
            if text[index] == "\\", index + 1 < text.count { index += 1 }
            let low = text[index]
            if index + 2 < text.count, text[index + 1] == "-", text[index + 2] != "]" {
                index += 2
                if low <= text[index] { ranges.append(low...text[index]) }
            } else {
                ranges.append(low...low)
            }
            index += 1
        }
        return index < text.count ? (.set(ranges, isNegated: isNegated), index) : nil
    }

    /// The only name that it matches; nil where there may be several.
    var literal: String? {
        var text = String.UnicodeScalarView()
        for part in parts {
            guard case .scalar(let scalar) = part else { return nil }
            text.append(scalar)
        }
        return String(text)
    }

    var beginsWithDot: Bool { parts.first == .scalar(".") }

    /// True if it matches all of a name.
    func matches(_ name: String) -> Bool {
        let scalars = Array(name.unicodeScalars)
        var (part, place) = (0, 0)
        // Where the last `*` is, and how far it reaches so far.
        var last: (part: Int, place: Int)?
        while place < scalars.count {
            if part < parts.count, parts[part] == .anyText {
                last = (part, place)
                part += 1
            } else if part < parts.count, parts[part].matches(scalars[place]) {
                part += 1
                place += 1
            } else if let star = last {
                last = (star.part, star.place + 1)
                (part, place) = (star.part + 1, star.place + 1)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .anyText }
    }
}
