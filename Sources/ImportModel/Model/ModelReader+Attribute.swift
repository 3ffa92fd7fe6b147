extension ModelReader {
    mutating func attribute(
        _ value: JSONValue,
        name: String,
        records: RecordPath?,
        at place: Place
    ) -> AttributeDescription {
        let known = AttributeKey.allCases.map(\.rawValue)
        var members = Members(values: members(of: value, at: place, known: known, what: "an attribute"), place: place)
        var attribute = AttributeDescription(name: name, type: .json)
        let type = members[.type].flatMap { attributeType($0) }
        if members[.type] == nil, case .object = value { mistake(place, "the type is missing") }
        if let type { attribute.type = type }
        if let optional = members[.optional] { attribute.isOptional = boolean(optional) }
        if let from = members[.from] { attribute.from = attributePaths(from, records: records) }
        let columnPlace = members[.column]?.place ?? place
        if let column = members[.column] { attribute.column = string(column.value, at: column.place) ?? name }
        checkName(attribute.column, at: columnPlace)
        if ["rowid", "oid", "_rowid_"].contains(where: attribute.column.equalsFoldingASCII) {
            objection(columnPlace, "a column of this name hides SQLite's row id; give it another with \"column\"")
        }
        let before = mistakes.count
        if let type, transformers != nil {
            for key in AttributeKey.allCases {
                guard let member = members[key], !key.types.contains(type) else { continue }
                objection(member.place, "only for \(key.types.map(\.rawValue).joined(separator: ", "))")
                members.values[key.rawValue] = nil
            }
        }
        if let generated = members[.generated] { attribute.isGenerated = boolean(generated) }
        if let owner = members[.owner] { attribute.owner = choice(owner) ?? .source }
        readOptions(&attribute, members)
        attribute.validation = validation(members)
        attribute.defaultValue = members[.default]?.value
        // What is half read could only be called wrong once more.
        if type != nil, mistakes.count == before, let transformers { check(attribute, members, transformers) }
        return attribute
    }

    /// What an attribute's object has.
    private struct Members {
        var values: [String: JSONValue]
        let place: Place

        subscript(key: AttributeKey) -> Member? {
            values[key.rawValue].map { Member(value: $0, place: place.key(key.rawValue)) }
        }
    }

    private struct Member {
        let value: JSONValue
        let place: Place
    }

    private mutating func readOptions(_ attribute: inout AttributeDescription, _ members: Members) {
        if let format = members[.format] {
            attribute.formats = strings(format)
            // What goes without saying.
            if attribute.type == .date, attribute.formats == ["iso8601"] { attribute.formats = [] }
        }
        if let zone = members[.timeZone] { attribute.timeZone = string(zone.value, at: zone.place) }
        if let wallClock = members[.wallClock] { attribute.isWallClock = boolean(wallClock) }
        if let storage = members[.storage] { attribute.storage = choice(storage) ?? .iso8601 }
        if let transform = members[.transform] { attribute.transformers = strings(transform) }
        if let bits = members[.bits] {
            attribute.bits = distinctMembers(of: bits.value, at: bits.place).map { member in
                let position = integer(Member(value: member.value, place: bits.place.key(member.key)))
                return AttributeDescription.Bit(name: member.key, position: position ?? -1)
            }
        }
    }

    private mutating func validation(_ members: Members) -> AttributeDescription.Validation {
        var validation = AttributeDescription.Validation(minimum: members[.min]?.value, maximum: members[.max]?.value)
        if let length = members[.minLength] { validation.minimumLength = integer(length) }
        if let length = members[.maxLength] { validation.maximumLength = integer(length) }
        if let pattern = members[.pattern] { validation.pattern = string(pattern.value, at: pattern.place) }
        if let allowed = members[.enum] {
            if case .array(let values) = allowed.value {
                validation.allowedValues = values
            } else {
                mistake(allowed.place, "must be a list of values")
            }
        }
        return validation
    }

    /// Notes what does not go together, and a default that is no value of the attribute.
    private mutating func check(
        _ attribute: AttributeDescription,
        _ members: Members,
        _ transformers: TransformerRegistry
    ) {
        do throws(AttributeMistakes) {
            _ = try AttributeCoercion(attribute, transformers: transformers)
        } catch {
            for mistake in error.mistakes {
                var place = members.place.key(mistake.key.rawValue)
                switch (mistake.inner, members[mistake.key]?.value) {
                case (.index(let index), .array): place = place.index(index)
                case (.key(let key), .object): place = place.key(key)
                default: break
                }
                self.mistake(members[mistake.key] == nil ? members.place : place, mistake.message)
            }
            return
        }
        guard let value = attribute.defaultValue else { return }
        do throws(CoercionError) {
            _ = try attribute.coerce(value, transformers: transformers)
        } catch {
            let text = "does not fit \(error.expected): \(error.found) (\(error.code.rawValue))"
            mistake(members.place.key(AttributeKey.default.rawValue), text)
        }
    }

    // MARK: Values

    private mutating func attributeType(_ member: Member) -> AttributeType? {
        guard let name = string(member.value, at: member.place) else { return nil }
        if let type = AttributeType(rawValue: name) { return type }
        let known = AttributeType.allCases.map(\.rawValue).joined(separator: ", ")
        mistake(member.place, "not a type; there are \(known)")
        return nil
    }

    private mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ member: Member) -> Choice? {
        if case .string(let name) = member.value, let choice = Choice(rawValue: name) { return choice }
        mistake(member.place, "must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        return nil
    }

    private mutating func boolean(_ member: Member) -> Bool {
        if case .boolean(let isTrue) = member.value { return isTrue }
        mistake(member.place, "must be true or false")
        return false
    }

    private mutating func integer(_ member: Member) -> Int? {
        if case .number(let digits) = member.value, let value = Int(digits), value >= 0 { return value }
        mistake(member.place, "must be an integer, 0 or more")
        return nil
    }

    /// A string, or a list of strings that is not empty.
    private mutating func strings(_ member: Member) -> [String] {
        list(member).compactMap { string($0.value, at: $0.place) }
    }

    /// A list's elements, or what stands in place of a list of one.
    private mutating func list(_ member: Member) -> [Member] {
        guard case .array(let elements) = member.value else { return [member] }
        if elements.isEmpty { objection(member.place, "must not be empty") }
        return elements.enumerated().map { Member(value: $0.element, place: member.place.index($0.offset)) }
    }

    private mutating func attributePaths(_ member: Member, records: RecordPath?) -> [AttributePath] {
        var paths: [AttributePath] = []
        var last: AttributePath?
        for element in list(member) {
            guard let text = string(element.value, at: element.place) else { continue }
            do throws(PathSyntaxError) {
                let path = try AttributePath(text)
                if let last {
                    objection(element.place, "is never looked at: \(last) stands before it and is always there")
                } else if path.isRecordKey, let records, !records.isKeyed {
                    objection(element.place, "can never match: only records whose path ends in .* have a key")
                } else if paths.contains(where: { $0.description.hasSameBytes(as: path.description) }) {
                    objection(element.place, "stands here twice")
                }
                if path == .record || path.isRecordKey && records?.isKeyed == true { last = last ?? path }
                paths.append(path)
            } catch {
                mistake(element.place, "not an attribute path: \(error)")
            }
        }
        return paths
    }
}
