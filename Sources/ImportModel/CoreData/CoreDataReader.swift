/// Turns the elements of a model of Core Data into the entities of a model file.
///
/// Each entity is read by itself first; what they say of one another is looked at when all are there.
struct CoreDataReader {
    let keyStyle: CoreDataModel.KeyStyle
    var findings = CoreDataDiagnostics()
    var entities: [CoreDataEntity] = []
    var composites: [String: XMLElement] = [:]
    /// True if a property has a key of Groot's: those without one are not in the JSON.
    var hasGrootKeys = false

    /// How many entities are read at most, how many properties they have together, and how many inherit from each other.
    static let mostEntities = 1_000
    static let mostProperties = 20_000
    static let mostAncestors = 64

    init(keyStyle: CoreDataModel.KeyStyle) {
        self.keyStyle = keyStyle
    }

    mutating func model(_ root: XMLElement) throws(ModelError) -> ModelDescription {
        for composite in root.all("composite") {
            if let name = composite["name"], composites[name] == nil { composites[name] = composite }
        }
        noteUnknown(in: root, "", known: ["entity", "composite", "elements", "configuration", "fetchRequest"])
        let elements = root.all("entity")
        if elements.isEmpty { findings.mistake("", line: root.line, "there is no entity") }
        if elements.count > Self.mostEntities {
            let message = "\(elements.count) entities; at most \(Self.mostEntities) are read"
            findings.mistake("", line: root.line, message)
        }
        if elements.reduce(0, { $0 + $1.elements.count }) > Self.mostProperties {
            findings.mistake("", line: root.line, "more than \(Self.mostProperties) properties")
        }
        try throwMistakes()
        var places: [String: Int] = [:]
        for element in elements {
            guard let name = element["name"], !name.isEmpty else {
                findings.mistake("", line: element.line, "an entity without a name")
                continue
            }
            if let line = places.updateValue(element.line, forKey: name) {
                findings.mistake(
                    name,
                    line: element.line,
                    "is there twice: line \(line) has an entity of this name too"
                )
                continue
            }
            entities.append(entity(element, name: name))
        }
        try throwMistakes()
        checkParents()
        try throwMistakes()
        linkRelationships()
        try throwMistakes()
        removeEmptyEntities()
        try throwMistakes()
        setKeys()
        setIdentifiers()
        setRelatedBy()
        setIndexes()
        keepUserInfo()
        checkAttributes()
        var model = ModelDescription(entities: entities.map(\.description))
        CoreDataNames.distinguish(&model)
        try check(model)
        return model
    }

    func throwMistakes() throws(ModelError) {
        if !findings.mistakes.isEmpty { throw ModelError(mistakes: findings.mistakes) }
    }

    /// Names elements that nothing is known of, each name once for its place.
    mutating func noteUnknown(in element: XMLElement, _ name: String, known: [String]) {
        var seen: Set<String> = []
        for child in element.elements where !known.contains(child.name) && seen.insert(child.name).inserted {
            findings.notice(name, line: child.line, "<\(child.name)> is left out, as it is not known")
        }
    }

    // MARK: Entities

    private mutating func entity(_ element: XMLElement, name: String) -> CoreDataEntity {
        var entity = CoreDataEntity(element, name: name)
        if element.elements.count > ModelReader.mostAttributes + 100 {
            let message = "has \(element.elements.count) properties; a table has at most \(ModelReader.mostAttributes)"
            findings.mistake(name, line: element.line, message)
            return entity
        }
        noteUnknown(
            in: element,
            name,
            known: [
                "attribute", "relationship", "fetchedProperty", "userInfo", "uniquenessConstraints", "compoundIndexes",
                "fetchIndex",
            ]
        )
        noteRenaming(element, name)
        for property in element.elements where ["attribute", "relationship", "fetchedProperty"].contains(property.name)
        {
            guard let own = property["name"], !own.isEmpty else {
                findings.mistake(name, line: property.line, "<\(property.name)> without a name")
                continue
            }
            let path = "\(name).\(own)"
            if let line = entity.lines.updateValue(property.line, forKey: own) {
                findings.mistake(
                    path,
                    line: property.line,
                    "is there twice: line \(line) has a property of this name too"
                )
                continue
            }
            noteUnknown(in: property, path, known: ["userInfo", "fetchRequest"])
            noteRenaming(property, path)
            switch property.name {
            case "attribute": readAttribute(property, own, &entity)
            case "relationship": readRelationship(property, own, &entity)
            default:
                entity.leftOut.insert(own)
                findings.notice(path, line: property.line, "a fetched property is left out: fetch its objects instead")
            }
        }
        readIndexes(element, &entity)
        return entity
    }

    private mutating func noteRenaming(_ element: XMLElement, _ name: String) {
        guard element["renamingIdentifier"] != nil else { return }
        findings.notice(
            name,
            line: element.line,
            "renamingIdentifier is left out, as Xcode ignores it here; the name before is elementID"
        )
    }

    private mutating func checkParents() {
        let hierarchy = EntityHierarchy(entities.map(\.description))
        for (index, entity) in entities.enumerated() {
            guard let parent = entity.description.parent else { continue }
            let chain = hierarchy.chain(of: index)
            let count = chain.count
            if hierarchy.index(of: parent) == nil {
                let suggestion = NameSuggestion.nearest(to: parent, among: entities.map(\.name))
                let hint = suggestion.map { "; perhaps \($0) is meant" } ?? ""
                findings.mistake(entity.name, line: entity.line, "its parent \(parent) is not in the model" + hint)
            } else if count == 1 {
                findings.mistake(entity.name, line: entity.line, "inherits from itself, by way of \(parent)")
            } else if count > Self.mostAncestors {
                let message = "has more than \(Self.mostAncestors) ancestors"
                findings.mistake(entity.name, line: entity.line, message)
            } else if chain.reduce(0, { $0 + entities[$1].lines.count }) > ModelReader.mostAttributes {
                let message = "has more than \(ModelReader.mostAttributes) properties with those that it inherits"
                findings.mistake(entity.name, line: entity.line, message)
            }
        }
    }

    /// Leaves out entities that have and mean nothing: no store has anything to keep of them.
    private mutating func removeEmptyEntities() {
        var referred = Set(entities.compactMap(\.description.parent))
        for entity in entities { referred.formUnion(entity.description.relationships.map(\.destination)) }
        let kept = entities.filter { entity in
            let description = entity.description
            return !description.attributes.isEmpty || !description.relationships.isEmpty || description.parent != nil
                || referred.contains(entity.name)
        }
        if kept.isEmpty, let first = entities.first {
            return findings.mistake(
                first.name,
                line: first.line,
                "has no properties that a store keeps, nor has another entity"
            )
        }
        for entity in entities where !kept.contains(where: { $0.name == entity.name }) {
            findings.notice(entity.name, line: entity.line, "is left out, as it has no properties")
        }
        entities = kept
    }

    private mutating func keepUserInfo() {
        for index in entities.indices { entities[index].description.userInfo = entities[index].userInfo.json }
    }

    // MARK: What it comes to

    /// Leaves out what a model file could not say of an attribute: a default that is not of its type, for example.
    private mutating func checkAttributes() {
        for index in entities.indices {
            for place in entities[index].description.attributes.indices {
                let path = "\(entities[index].name).\(entities[index].description.attributes[place].name)"
                let line = self.line(of: entities[index].description.attributes[place].name, in: index)
                for _ in AttributeKey.allCases {
                    let attribute = entities[index].description.attributes[place]
                    let check = AttributeValidator(attribute, type: attribute.type, transformers: .standard)
                    let known = check.mistakes.filter { entities[index].description.attributes[place].remove($0.key) }
                    for mistake in known {
                        findings.notice(path, line: line, "its \(mistake.key.words) is left out: \(mistake.message)")
                    }
                    if known.isEmpty { break }
                }
            }
        }
    }

    /// The line of a property, or of the element of a composite; that of the entity where there is none.
    func line(of property: String, in entity: Int) -> Int {
        let composite = property.split(separator: ".").first.map(String.init) ?? property
        return entities[entity].lines[property] ?? entities[entity].lines[composite] ?? entities[entity].line
    }

    /// - Throws: `ModelError` with what a model file could not be, at the entities and properties that say it.
    private mutating func check(_ model: ModelDescription) throws(ModelError) {
        let check = ModelValidator(model)
        for mistake in check.mistakes {
            let property = mistake.keys.count > 1 ? mistake.keys[1] : nil
            let entity = entities[mistake.entity]
            let path = property.map { "\(entity.name).\($0)" } ?? entity.name
            let line = property.map { self.line(of: $0, in: mistake.entity) } ?? entity.line
            findings.mistake(path, line: line, mistake.message)
        }
        try throwMistakes()
        do throws(ModelError) {
            try model.check()
        } catch {
            for mistake in error.mistakes {
                func isAbout(_ entity: CoreDataEntity) -> Bool {
                    mistake.path.hasPrefix(RecordPath(steps: [.key("entities"), .key(entity.name)]).description)
                }
                let entity = entities.filter(isAbout).max { $0.name.utf8.count < $1.name.utf8.count }
                findings.mistake(entity?.name ?? "", line: entity?.line ?? 1, mistake.message)
            }
            try throwMistakes()
        }
    }
}

extension AttributeDescription {
    /// Removes what a key says, where that can be left out.
    ///
    /// - Returns: whether there was anything.
    fileprivate mutating func remove(_ key: AttributeKey) -> Bool {
        let before = self
        switch key {
        case .default: defaultValue = nil
        case .min: validation.minimum = nil
        case .max: validation.maximum = nil
        case .minLength: validation.minimumLength = nil
        case .maxLength: validation.maximumLength = nil
        case .pattern: validation.pattern = nil
        case .format: formats = []
        default: break
        }
        return self != before
    }
}

extension AttributeKey {
    /// As Xcode calls it.
    fileprivate var words: String {
        switch self {
        case .min: "minimum"
        case .max: "maximum"
        case .minLength: "minimum length"
        case .maxLength: "maximum length"
        case .pattern: "regular expression"
        case .format: "date format"
        default: rawValue
        }
    }
}
