/// Attributes, and what goes together in them.
extension ModelReader {
    mutating func attribute(
        _ member: Member,
        records: RecordPath?,
        _ columns: inout NamesInUse
    ) -> AttributeDescription {
        let known = AttributeKey.allCases.map(\.rawValue)
        var members = AttributeMembers(values: knownMembers(of: member, known, what: "an attribute"))
        var attribute = AttributeDescription(name: member.key, type: .json)
        let type = members[.type].flatMap { attributeType($0) }
        if let type { attribute.type = type }
        if members[.type] == nil, case .object = member.value { mistake(member.location, "the type is missing") }
        if let optional = members[.optional] { attribute.isOptional = boolean(optional) }
        if let from = members[.from] { attribute.from = attributePaths(from, records: records) }
        if let column = members[.column] { attribute.column = string(column) ?? member.key }
        checkColumn(attribute, member, members[.column], &columns)
        if let type, transformers != nil {
            for key in AttributeKey.allCases where !key.types.contains(type) {
                guard let member = members[key] else { continue }
                objection(member.location, "only for \(key.types.map(\.rawValue).joined(separator: ", "))")
                members.values[key.rawValue] = nil
            }
        }
        if let generated = members[.generated] { attribute.isGenerated = boolean(generated) }
        if let owner = members[.owner] { attribute.owner = choice(owner) ?? .source }
        if let renaming = members[.renamingIdentifier] { attribute.renamingIdentifier = string(renaming) }
        attribute.userInfo = members[.userInfo]?.value
        readOptions(&attribute, members)
        attribute.validation = validation(members)
        attribute.defaultValue = members[.default]?.value
        if case .object = member.value { check(attribute, hasType: type != nil, at: member.location, members) }
        return attribute
    }

    /// What an attribute's object has, each at its place.
    private struct AttributeMembers {
        var values: [String: Member]

        subscript(key: AttributeKey) -> Member? { values[key.rawValue] }
    }

    private mutating func checkColumn(
        _ attribute: AttributeDescription,
        _ member: Member,
        _ column: Member?,
        _ columns: inout NamesInUse
    ) {
        checkNames(member, stored: column)
        let location = column?.location ?? member.location
        if isMisread(column?.location) { return }
        if ["rowid", "oid", "_rowid_"].contains(where: attribute.column.equalsFoldingASCII) {
            objection(location, "a column of this name hides SQLite's row id; give it another with \"column\"")
        }
        if let other = columns.insert(attribute.column, of: attribute.name) {
            objection(location, "the column of \(other) has this name already; SQLite ignores case")
        }
    }

    private mutating func readOptions(_ attribute: inout AttributeDescription, _ members: AttributeMembers) {
        if let format = members[.format] {
            attribute.formats = strings(format)
            // What goes without saying.
            if attribute.type == .date, attribute.formats == ["iso8601"] { attribute.formats = [] }
        }
        if let zone = members[.timeZone] { attribute.timeZone = string(zone) ?? "" }
        if let wallClock = members[.wallClock] { attribute.isWallClock = boolean(wallClock) }
        if let fraction = members[.fraction] { attribute.fraction = integer(fraction) ?? 3 }
        if let storage = members[.storage] {
            let forms = members[.type] == nil ? StorageForm.allCases : attribute.type.storageForms
            attribute.storage = choice(storage, among: forms)
        }
        if let transform = members[.transform] { attribute.transformers = strings(transform) }
        if let bits = members[.bits] {
            attribute.bits = self.members(of: bits).map { member in
                AttributeDescription.Bit(name: member.key, position: bit(member))
            }
        }
    }

    private mutating func validation(_ members: AttributeMembers) -> AttributeDescription.Validation {
        var validation = AttributeDescription.Validation(
            minimum: members[.min].flatMap { bound($0) },
            maximum: members[.max].flatMap { bound($0) }
        )
        if let length = members[.minLength] { validation.minimumLength = integer(length) }
        if let length = members[.maxLength] { validation.maximumLength = integer(length) }
        if let pattern = members[.pattern] { validation.pattern = string(pattern) }
        if let allowed = members[.enum] {
            if case .array(let values) = allowed.value {
                validation.allowedValues = values
            } else {
                mistake(allowed.location, "must be a list of values")
            }
        }
        return validation
    }

    // MARK: Checking

    /// Notes what does not go together, and values that are none of the attribute's.
    private mutating func check(
        _ attribute: AttributeDescription,
        hasType: Bool,
        at location: ModelFileLocation,
        _ members: AttributeMembers
    ) {
        guard let transformers else { return }
        var attribute = attribute
        // Whatever it was meant to be: it is not the null that is wrong then.
        if isMisread(members[.optional]?.location) { attribute.isOptional = true }
        var type: AttributeType? = attribute.type
        if !hasType { type = onlyType(of: members) }
        let check = AttributeValidator(attribute, type: type, transformers: transformers)
        for mistake in check.mistakes {
            let location = self.location(of: mistake, in: members) ?? location
            if !isMisread(location) || members[mistake.key] == nil { objection(location, mistake.message) }
        }
    }

    /// The one type that may have all of the keys that are there.
    private func onlyType(of members: AttributeMembers) -> AttributeType? {
        var types = Set(AttributeType.allCases)
        for key in AttributeKey.allCases where members[key] != nil { types.formIntersection(key.types) }
        return types.count == 1 ? types.first : nil
    }

    /// Where a mistake of the attribute is in the file; nil for the attribute itself, as its key is not there.
    private func location(of mistake: AttributeMistake, in members: AttributeMembers) -> ModelFileLocation? {
        guard let member = members[mistake.key] else { return nil }
        switch (mistake.inner, member.value) {
        case (.index(let index), .array): return member.location.index(index)
        case (.member(let index), .object(let flags)) where flags.indices.contains(index):
            return member.location.key(flags[index].key, at: index)
        case (.path(let path), _): return member.location.inner(path)
        default: return member.location
        }
    }

    // MARK: Values

    private mutating func attributeType(_ member: Member) -> AttributeType? {
        guard let name = string(member) else { return nil }
        if let type = AttributeType(rawValue: name) { return type }
        let known = AttributeType.allCases.map(\.rawValue)
        let suggestion = NameSuggestion.nearest(to: name, among: known)
        mistake(
            member.location,
            "not a type; "
                + (suggestion.map { "perhaps \"\($0)\" is meant" } ?? "there are \(known.joined(separator: ", "))")
        )
        return suggestion.flatMap { AttributeType(rawValue: $0) }
    }

    /// The position of a flag; -1, which none has, where it is no integer.
    private mutating func bit(_ member: Member) -> Int {
        guard case .number(let digits) = member.value, let position = Int(digits) else {
            mistake(member.location, AttributeMistake.noBit)
            return -1
        }
        return position
    }

    /// A smallest or largest value; nil for what is none of any type.
    private mutating func bound(_ member: Member) -> JSONValue? {
        switch member.value {
        case .number, .string, .object: return member.value
        case .null, .boolean, .array:
            // Not for a model that is only read: what it holds is kept.
            guard transformers != nil else { return member.value }
            objection(member.location, "must be a number or a string")
            return nil
        }
    }

    private mutating func attributePaths(_ member: Member, records: RecordPath?) -> [AttributePath] {
        if case .array(let elements) = member.value, elements.isEmpty { return [] }
        var paths: [AttributePath] = []
        var last: AttributePath?
        let keyCount = records?.keyCount
        for element in list(member) {
            guard let text = string(element) else { continue }
            do throws(PathSyntaxError) {
                let path = try AttributePath(text)
                let level = path.keyLevel ?? -1
                if let last {
                    objection(element.location, "is never read: \(last) precedes it and always exists")
                } else if let keyCount, level > keyCount {
                    // One more may be the path of the source.
                    objection(element.location, "can never match: a record has a key for each .* of its path")
                } else if paths.contains(where: { $0.description.hasSameBytes(as: path.description) }) {
                    objection(element.location, "is repeated")
                }
                let isAlwaysThere = path == .record || level >= 0 && level < keyCount ?? 0
                if isAlwaysThere { last = last ?? path }
                paths.append(path)
            } catch {
                mistake(element.location, "not an attribute path: \(error)")
            }
        }
        return paths
    }
}
