/// Relationships, and how an object says which subentity it is.
extension ModelReader {
    mutating func relationships(_ list: Member) -> [RelationshipDescription] {
        distinctMembers(of: list).map { relationship($0) }
    }

    private mutating func relationship(_ member: Member) -> RelationshipDescription {
        let known = RelationshipKey.allCases.map(\.rawValue)
        let values = knownMembers(of: member, known, what: "a relationship")
        func get(_ key: RelationshipKey) -> Member? { values[key.rawValue] }
        var relationship = RelationshipDescription(name: member.key, destination: "")
        checkNames(member, stored: nil)
        if let entity = get(.entity) {
            relationship.destination = string(entity) ?? ""
        } else if case .object = member.value {
            mistake(member.location, "the entity that it leads to is missing (\"entity\")")
        }
        if let toMany = get(.toMany) { relationship.isToMany = boolean(toMany) }
        if let from = get(.from) { relationship.from = sources(from) }
        if let by = get(.by) { relationship.by = strings(by) }
        if let inverse = get(.inverse) { relationship.inverse = string(inverse) }
        if let optional = get(.optional) { relationship.isOptional = boolean(optional) }
        if let ordered = get(.ordered) { relationship.isOrdered = boolean(ordered) }
        if let count = get(.minCount) { relationship.minimumCount = integer(count) }
        if let count = get(.maxCount) { relationship.maximumCount = integer(count) }
        if let rule = get(.deleteRule) { relationship.deleteRule = choice(rule) }
        if let list = get(.list) { relationship.list = choice(list) ?? .replace }
        if let orphans = get(.orphans) { relationship.orphans = choice(orphans) }
        if let unresolved = get(.unresolved) { relationship.unresolved = choice(unresolved) ?? .keep }
        if let identity = get(.identity) { relationship.identity = choice(identity) ?? .identifier }
        if let onConflict = get(.onConflict) { relationship.onConflict = choice(onConflict) ?? .merge }
        if let owner = get(.owner) { relationship.owner = choice(owner) ?? .source }
        readNames(&relationship, column: get(.column), columns: get(.columns), table: get(.table))
        if let renaming = get(.renamingIdentifier) { relationship.renamingIdentifier = string(renaming) }
        relationship.userInfo = get(.userInfo)?.value
        checkCounts(relationship, minimum: get(.minCount), maximum: get(.maxCount))
        if !relationship.isToMany, !isMisread(get(.toMany)?.location) {
            for key in RelationshipKey.allCases where key.isForToMany {
                if let member = get(key) { objection(member.location, "only for a to-many (\"toMany\": true)") }
            }
        }
        return relationship
    }

    private mutating func readNames(
        _ relationship: inout RelationshipDescription,
        column: Member?,
        columns: Member?,
        table: Member?
    ) {
        if let column { relationship.columns = string(column).map { [$0] } ?? [] }
        if let columns {
            if column != nil { objection(columns.location, "is given beside \"column\"; give one of them") }
            relationship.columns = strings(columns)
        }
        if let table { relationship.table = string(table) }
        for member in [column, columns, table].compactMap({ $0 }) {
            for element in members(ofOneOrMore: member) { checkNames(element, stored: element) }
        }
    }

    /// A list's elements, or what replaces a list of one; nothing is noted.
    private func members(ofOneOrMore member: Member) -> [Member] {
        guard case .array(let elements) = member.value else {
            return [Member(key: "-", value: member.value, location: member.location)]
        }
        return elements.enumerated().map {
            Member(key: "-", value: $0.element, location: member.location.index($0.offset))
        }
    }

    private mutating func checkCounts(_ relationship: RelationshipDescription, minimum: Member?, maximum: Member?) {
        guard let minimum, let maximum, let least = relationship.minimumCount, let most = relationship.maximumCount
        else { return }
        if least > most { objection(maximum.location, "is less than minCount, \(minimum.value.serialized())") }
    }

    // MARK: Key paths

    private mutating func sources(_ member: Member) -> [RelationshipDescription.Source] {
        if case .array(let elements) = member.value, elements.isEmpty { return [] }
        var sources: [RelationshipDescription.Source] = []
        for element in list(member) {
            guard let source = source(element) else { continue }
            if sources.contains(source) { objection(element.location, "is repeated") }
            sources.append(source)
        }
        return sources
    }

    private mutating func source(_ member: Member) -> RelationshipDescription.Source? {
        if case .array = member.value {
            let paths = list(member).compactMap { element in string(element).flatMap { path($0, at: element.location) }
            }
            return .identifier(paths)
        }
        guard let text = string(member) else { return nil }
        if text.hasSuffix(".*") {
            return path(String(text.dropLast(2)), at: member.location).map { .members(of: $0) }
        }
        return path(text, at: member.location).map { .value($0) }
    }

    /// A key path within an object.
    mutating func path(_ text: String, at location: ModelFileLocation) -> AttributePath? {
        do throws(PathSyntaxError) {
            let path = try AttributePath(text)
            if !path.isWithinRecord { objection(location, "a relationship is read from a key path") }
            return path
        } catch {
            mistake(location, "not a key path: \(error)")
            return nil
        }
    }

    // MARK: Subentities

    /// What a subentity is told by that is told by the one key of an object.
    static let anyKey = "*"

    mutating func subentity(_ member: Member) -> SubentityDescription {
        let members = knownMembers(of: member, ["from", "values"], what: "a subentity")
        var subentity = SubentityDescription(from: [], values: [])
        if case .string(Self.anyKey) = members["from"]?.value {
            subentity.isByKey = true
        } else if let from = members["from"] {
            subentity.from = list(from).compactMap { element in
                string(element).flatMap { path($0, at: element.location) }
            }
        } else if case .object = member.value {
            mistake(member.location, "the key path of the value is missing (\"from\")")
        }
        if let values = members["values"] {
            subentity.values = distinctMembers(of: values).map { value in
                SubentityDescription.Value(value.key, entity: value.value == .null ? nil : string(value) ?? "")
            }
        } else if case .object = member.value {
            mistake(member.location, "the entities by value are missing (\"values\")")
        }
        return subentity
    }
}
