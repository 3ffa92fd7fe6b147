/// Attributes of Core Data.
extension CoreDataReader {
    mutating func readAttribute(_ element: XMLElement, _ name: String, _ entity: inout CoreDataEntity) {
        let draft = AttributeDraft(name: name, isOptional: element.isYes("optional"), entity: entity.name)
        readAttribute(element, draft, &entity)
        if element.isYes("indexed"), !entity.leftOut.contains(name) {
            entity.indexes.append(CoreDataEntity.Names(names: [name], line: element.line))
        }
    }

    /// An attribute, or the element of a composite, by what is known of it from around it.
    private struct AttributeDraft {
        var name: String
        var isOptional: Bool
        let entity: String
        var steps: [CoreDataEntity.Keys.Step] = []
        /// The composites that it is in, outwards to inwards.
        var composites: [String] = []

        var path: String { "\(entity).\(name)" }
    }

    private mutating func readAttribute(_ element: XMLElement, _ draft: AttributeDraft, _ entity: inout CoreDataEntity)
    {
        var draft = draft
        var userInfo = CoreDataUserInfo(of: element)
        draft.steps.append(step(element["name"] ?? "", &userInfo, draft.path, element.line))
        let typeName = element["attributeType"] ?? ""
        if typeName == "Composite" { return readComposite(element, draft, &entity) }
        if leavesOut(element, draft, userInfo, isTransient: element.isYes("transient"), typeName: typeName) {
            entity.leftOut.insert(draft.name)
            return
        }
        guard let type = Self.types[typeName] else {
            findings.notice(draft.path, line: element.line, "is left out: \(typeName) is not a known type")
            entity.leftOut.insert(draft.name)
            return
        }
        var attribute = AttributeDescription(name: draft.name, type: type, isOptional: draft.isOptional)
        if draft.steps.count > 1 { attribute.column = draft.steps.map(\.name).joined(separator: "_") }
        attribute.renamingIdentifier = element["elementID"].flatMap { $0.isEmpty ? nil : $0 }
        if typeName == "Transformable" {
            let transformer = element["valueTransformerName"].map { " with \($0)" } ?? ""
            let message = "is kept as JSON: transforming it\(transformer) is up to the program"
            findings.notice(draft.path, line: element.line, message)
        }
        readDefault(of: &attribute, element, draft.path)
        readRules(of: &attribute, element, draft.path)
        if type == .date, let format = userInfo["dateFormat"] {
            userInfo.remove("dateFormat")
            attribute.formats = [format == "UnixTime" ? "unix" : format]
            // The model's own dates are not written so.
            let rules = attribute.validation
            if attribute.defaultValue != nil || rules.minimum != nil || rules.maximum != nil {
                attribute.formats.append("iso8601")
            }
        }
        for key in CoreDataUserInfo.markKeys where userInfo[key] != nil {
            if CoreDataUserInfo.isYes(userInfo[key]), !entity.marked.contains(draft.name) {
                entity.marked.append(draft.name)
            }
            userInfo.remove(key)
        }
        if let transformer = userInfo["JSONTransformerName"] {
            let message = "its values are read as they are: transforming them with \(transformer) is up to the program"
            findings.notice(draft.path, line: element.line, message)
        }
        attribute.userInfo = userInfo.json
        entity.keys[draft.name] = CoreDataEntity.Keys(steps: draft.steps)
        entity.description.attributes.append(attribute)
    }

    private static let types: [String: AttributeType] = [
        "Integer 16": .integer16, "Integer 32": .integer32, "Integer 64": .integer64, "Float": .float,
        "Double": .double, "Decimal": .decimal, "Boolean": .boolean, "String": .string, "Date": .date,
        "Binary": .binary, "UUID": .uuid, "URI": .uri, "Transformable": .json,
    ]

    /// True if a store has no column for an attribute; says so where that loses something.
    private mutating func leavesOut(
        _ element: XMLElement,
        _ draft: AttributeDraft,
        _ userInfo: CoreDataUserInfo,
        isTransient: Bool,
        typeName: String
    ) -> Bool {
        let isDerived = element.isYes("derived") || element["derivationExpression"] != nil
        let hasNoType = ["", "Undefined", "ObjectID", "Object ID"].contains(typeName)
        guard isDerived || isTransient || hasNoType else { return false }
        let says =
            element["defaultValueString"] != nil || element["defaultDateTimeInterval"] != nil || !userInfo.isEmpty
        if isDerived {
            let expression = element["derivationExpression"].map { " from \($0)" } ?? ""
            findings.notice(draft.path, line: element.line, "is left out, as it is derived\(expression)")
        } else if says {
            let reason =
                isTransient ? "it is transient" : typeName.isEmpty ? "it has no type" : "its type is \(typeName)"
            let message = "is left out, as \(reason); it has a default or userInfo"
            findings.notice(draft.path, line: element.line, message)
        }
        return true
    }

    // MARK: Composites

    /// An attribute for each element of a composite: `location.latitude`.
    private mutating func readComposite(_ element: XMLElement, _ draft: AttributeDraft, _ entity: inout CoreDataEntity)
    {
        guard let name = element["composite"], let composite = composites[name] else {
            let message = "its composite \(element["composite"] ?? "") is not in the model"
            return findings.mistake(draft.path, line: element.line, message)
        }
        if draft.composites.contains(name) {
            return findings.mistake(draft.path, line: element.line, "the composite \(name) is within itself")
        }
        // Composites in composites grow by powers.
        entity.leftOut.insert(draft.name)
        let count = entity.description.attributes.count + entity.leftOut.count
        if draft.composites.count >= 8 || count > ModelReader.mostAttributes {
            let message =
                "its composites have too many attributes: at most \(ModelReader.mostAttributes), 8 within each other"
            if findings.mistakes.isEmpty { findings.mistake(draft.path, line: element.line, message) }
            return
        }
        var names: Set<String> = []
        for part in composite.all("attribute") {
            guard let own = part["name"], !own.isEmpty else {
                findings.mistake("composite \(name)", line: part.line, "an attribute without a name")
                continue
            }
            guard names.insert(own).inserted else {
                findings.mistake("composite \(name)", line: part.line, "the attribute \(own) is there twice")
                continue
            }
            var inner = draft
            inner.name = "\(draft.name).\(own)"
            inner.isOptional = draft.isOptional || part.isYes("optional")
            inner.composites.append(name)
            readAttribute(part, inner, &entity)
        }
    }

    // MARK: Values

    private mutating func readDefault(of attribute: inout AttributeDescription, _ element: XMLElement, _ path: String) {
        let text = element["defaultValueString"]
        let value: JSONValue?
        switch attribute.type {
        case .date:
            guard let interval = element["defaultDateTimeInterval"] else {
                if text != nil {
                    findings.notice(path, line: element.line, "its default is left out: it is not a date")
                }
                return
            }
            value = Self.date(interval)
        case .json, .bitfield:
            if text != nil { findings.notice(path, line: element.line, "its default is left out: it is not JSON") }
            return
        case .boolean:
            value = text.flatMap { Self.booleans[$0.lowercased()] }.map { .boolean($0) }
        case .integer16, .integer32, .integer64: value = text.flatMap { XMLElement.digits($0, isInteger: true) }
        case .float, .double, .decimal: value = text.flatMap { XMLElement.digits($0, isInteger: false) }
        case .string, .uuid, .uri, .binary: value = text.map { .string($0) }
        }
        attribute.defaultValue = value
        let isThere = text != nil || element["defaultDateTimeInterval"] != nil
        if isThere, value == nil {
            findings.notice(path, line: element.line, "its default is left out: it is not \(attribute.type.rawValue)")
        }
    }

    private static let booleans = [
        "yes": true, "true": true, "1": true, "1.0": true, "no": false, "false": false, "0": false, "0.0": false,
    ]

    private mutating func readRules(of attribute: inout AttributeDescription, _ element: XMLElement, _ path: String) {
        let isText = [.string, .uri].contains(attribute.type)
        let isDate = attribute.type == .date
        for isMinimum in [true, false] {
            let key = (isMinimum ? "min" : "max") + (isDate ? "DateTimeInterval" : "ValueString")
            guard let text = element[key] else { continue }
            if isText {
                if let length = Int(text), length >= 0 {
                    if isMinimum { attribute.validation.minimumLength = length }
                    if !isMinimum { attribute.validation.maximumLength = length }
                    continue
                }
            } else if let value = isDate ? Self.date(text) : Self.number(text, attribute.type) {
                if isMinimum { attribute.validation.minimum = value } else { attribute.validation.maximum = value }
                continue
            }
            findings.notice(path, line: element.line, "its \(isMinimum ? "minimum" : "maximum") is left out: \(text)")
        }
        guard let pattern = element["regularExpressionString"] else { return }
        guard isText, TextPattern(pattern) != nil else {
            findings.notice(path, line: element.line, "its regular expression is left out, as it is not supported")
            return
        }
        // Core Data compares the whole text.
        attribute.validation.pattern = "\\A(?:\(pattern))\\z"
    }

    private static func number(_ text: String, _ type: AttributeType) -> JSONValue? {
        switch type {
        case .integer16, .integer32, .integer64: XMLElement.digits(text, isInteger: true)
        case .float, .double, .decimal: XMLElement.digits(text, isInteger: false)
        default: nil
        }
    }

    /// A date of Core Data, in seconds since 2001-01-01T00:00:00Z (`Date.timeIntervalSinceReferenceDate`).
    private static func date(_ text: String) -> JSONValue? {
        guard let seconds = Double(text), abs(seconds) < 1e12 else { return nil }
        let milliseconds = ((seconds + 978_307_200) * 1_000).rounded()
        guard let instant = Instant(unixMilliseconds: Int64(milliseconds)) else { return nil }
        var bytes: [UInt8] = []
        instant.append(to: &bytes)
        return .string(String(decoding: bytes, as: UTF8.self))
    }
}
