/// The kinds of JSON values that the parts of a model file are made of.
extension ModelReader {
    /// A member of an object, or an element of a list, with its place.
    struct Member {
        let key: String
        let value: JSONValue
        let location: ModelFileLocation
    }

    mutating func string(_ member: Member) -> String? {
        if case .string(let text) = member.value { return text }
        mistake(member.location, "must be a string")
        return nil
    }

    mutating func boolean(_ member: Member) -> Bool {
        if case .boolean(let isTrue) = member.value { return isTrue }
        mistake(member.location, "must be true or false")
        return false
    }

    mutating func integer(_ member: Member) -> Int? {
        if case .number(let digits) = member.value, let value = Int(digits), value >= 0 { return value }
        mistake(member.location, "must be an integer, 0 or more")
        return nil
    }

    mutating func choice<Choice: RawRepresentable<String> & CaseIterable & Equatable>(
        _ member: Member,
        among choices: [Choice] = Array(Choice.allCases)
    ) -> Choice? {
        if case .string(let name) = member.value, let choice = Choice(rawValue: name), choices.contains(choice) {
            return choice
        }
        // Of the patterns of dates, one says enough.
        let names = choices.map(\.rawValue).filter { !$0.contains(" ") && !$0.contains("'") }
        let more = names.count < choices.count ? " or a pattern such as yyyy-MM-dd HH:mm:ss" : ""
        mistake(member.location, "must be one of \(names.joined(separator: ", "))\(more)")
        return nil
    }

    /// A string, or a list of strings; what is none is the empty string, so that places in the list stay right.
    mutating func strings(_ member: Member) -> [String] { list(member).map { string($0) ?? "" } }

    /// A list's elements, or what replaces a list of one.
    mutating func list(_ member: Member) -> [Member] {
        guard case .array(let elements) = member.value else { return [member] }
        if elements.isEmpty { objection(member.location, "must not be empty") }
        return elements.enumerated().map {
            Member(key: "", value: $0.element, location: member.location.index($0.offset))
        }
    }

    /// An object's members by key; notes keys that are not among `known`.
    ///
    /// What is under a key that is nearly a known one is taken for that one's: it is checked too, and not missed.
    mutating func knownMembers(of object: Member, _ known: [String], what: String) -> [String: Member] {
        var members: [String: Member] = [:]
        var unknown: [Member] = []
        for member in distinctMembers(of: object) {
            if known.contains(where: member.key.hasSameBytes) {
                members[member.key] = member
            } else {
                unknown.append(member)
            }
        }
        for member in unknown {
            let suggestion = NameSuggestion.nearest(to: member.key, among: known)
            let hint =
                suggestion.map { "perhaps \"\($0)\" is meant" } ?? "\(what) may have \(known.joined(separator: ", "))"
            unknownKey(member.location, "there is no such key; \(hint)")
            if let suggestion, members[suggestion] == nil { members[suggestion] = member }
        }
        return members
    }

    /// An object's members; notes keys that are repeated, and values that are no objects.
    mutating func distinctMembers(of object: Member) -> [Member] {
        let members = self.members(of: object)
        var seen: Set<[UInt8]> = []
        for member in members where !seen.insert(Array(member.key.utf8)).inserted {
            objection(member.location, "is repeated")
        }
        return members
    }

    /// An object's members; notes values that are no objects.
    mutating func members(of object: Member) -> [Member] {
        guard case .object(let members) = object.value else {
            mistake(object.location, "must be an object")
            return []
        }
        return members.enumerated().map { index, member in
            Member(key: member.key, value: member.value, location: object.location.key(member.key, at: index))
        }
    }
}
