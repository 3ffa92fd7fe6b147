/// Takes a model file's JSON apart, and notes everything that is wrong with it.
struct ModelReader {
    /// Those that the model may name; nil where it is only read, and not checked.
    let transformers: TransformerRegistry?
    private var found: [(location: ModelFileLocation, message: String)] = []
    /// Where something else is than is asked for: more about it could only call it wrong once more.
    private var misread: Set<String> = []

    /// The names of entities to which relationships lead or from which others inherit.
    private var referred: Set<[UInt8]> = []

    /// - Parameter transformers: those that the model may name; nil to note only what cannot be understood.
    init(checkingWith transformers: TransformerRegistry?) {
        self.transformers = transformers
    }

    /// All that is wrong, in the order of the file.
    var mistakes: [ModelError.Mistake] {
        found.enumerated()
            .sorted { one, other in
                let (location, next) = (one.element.location, other.element.location)
                return location.order == next.order ? one.offset < other.offset : location.isBefore(next)
            }
            .map { ModelError.Mistake(path: $0.element.location.text, message: $0.element.message) }
    }

    /// As many columns as a table of SQLite may have (`SQLITE_MAX_COLUMN`).
    static let mostAttributes = 2_000

    /// What a model file may have; `$schema` is for editors and not looked at.
    static let modelKeys = ["$schema", "entities"]

    /// What an entity's object may have.
    static let entityKeys = [
        "records", "table", "identifier", "attributes", "relationships", "parent", "abstract", "indexes",
        "together", "subentity", "renamingIdentifier", "userInfo",
    ]

    /// Notes that something else is there than is asked for.
    mutating func mistake(_ location: ModelFileLocation, _ message: String) {
        misread.insert(location.text)
        found.append((location, message))
    }

    /// Notes a key that there is not; what is under it may still be right.
    mutating func unknownKey(_ location: ModelFileLocation, _ message: String) { found.append((location, message)) }

    /// Notes what is understood, but cannot work, or not as it is meant; nothing where the model is not checked.
    mutating func objection(_ location: ModelFileLocation, _ message: String) {
        if transformers != nil { found.append((location, message)) }
    }

    /// True if what is there is not what is asked for.
    func isMisread(_ location: ModelFileLocation?) -> Bool { location.map { misread.contains($0.text) } ?? false }

    // MARK: The model

    mutating func model(_ value: JSONValue) -> ModelDescription {
        let root = Member(key: "", value: value, location: ModelFileLocation(text: "$", order: []))
        let members = knownMembers(of: root, Self.modelKeys, what: "a model")
        guard let list = members["entities"] else {
            if case .object = value { mistake(root.location, "the entities are missing") }
            return ModelDescription(entities: [])
        }
        var tables = NamesInUse()
        let entityMembers = distinctMembers(of: list)
        referred = Set(entityMembers.flatMap { Self.references(in: $0.value) }.map { Array($0.utf8) })
        let model = ModelDescription(entities: entityMembers.map { entity($0, &tables) })
        if model.entities.isEmpty, case .object = list.value { objection(list.location, "there is no entity") }
        guard transformers != nil else { return model }
        // What entities say of one another is looked at when each says what it should by itself.
        if misread.isEmpty {
            let places = EntityLocations(entityMembers)
            for mistake in ModelValidator(model).mistakes { objection(places.location(of: mistake), mistake.message) }
        }
        return model
    }

    // MARK: Entities

    private mutating func entity(_ member: Member, _ tables: inout NamesInUse) -> EntityDescription {
        let members = knownMembers(of: member, Self.entityKeys, what: "an entity")
        var entity = EntityDescription(name: member.key, attributes: [], userInfo: members["userInfo"]?.value)
        if let records = members["records"] { entity.records = recordPath(records) }
        let table = members["table"]
        if let table { entity.table = string(table) ?? member.key }
        checkNames(member, stored: table)
        let tablePlace = table?.location ?? member.location
        if entity.table.hasASCIIPrefix("sqlite_") || entity.table.hasASCIIPrefix("_import_") {
            objection(tablePlace, "tables whose names begin with sqlite_ or _import_ are not for users")
        }
        if !isMisread(table?.location), let other = tables.insert(entity.table, of: member.key) {
            objection(tablePlace, "the table of \(other) has this name already; SQLite ignores case")
        }
        if let parent = members["parent"] { entity.parent = string(parent) }
        if let abstract = members["abstract"] { entity.isAbstract = boolean(abstract) }
        if let indexes = members["indexes"] {
            entity.indexes = lists(indexes, of: "properties", like: "[\"name\", \"age\"]", atLeast: 1)
        }
        if let groups = members["together"] {
            entity.together = lists(groups, of: "attributes", like: "[\"value\", \"unit\"]", atLeast: 2)
        }
        if let subentity = members["subentity"] { entity.subentity = self.subentity(subentity) }
        if let renaming = members["renamingIdentifier"] { entity.renamingIdentifier = string(renaming) }
        if let relationships = members["relationships"] { entity.relationships = self.relationships(relationships) }
        // One that inherits, relates or is something to others may do without.
        let mayLackAttributes =
            entity.parent != nil || members["relationships"] != nil || entity.isAbstract
            || referred.contains(Array(member.key.utf8))
        if let attributes = members["attributes"] {
            entity.attributes = self.attributes(attributes, of: entity, mayBeEmpty: mayLackAttributes)
        } else if case .object = member.value, !mayLackAttributes {
            mistake(member.location, "the attributes are missing")
        }
        if let identifier = members["identifier"] {
            entity.identifier = identifierNames(identifier, of: entity)
        }
        return entity
    }

    private mutating func attributes(
        _ list: Member,
        of entity: EntityDescription,
        mayBeEmpty: Bool
    ) -> [AttributeDescription] {
        let members = distinctMembers(of: list)
        if members.isEmpty, !mayBeEmpty, case .object = list.value { objection(list.location, "there is no attribute") }
        if members.count > Self.mostAttributes {
            objection(list.location, "\(members.count) attributes; a table has at most \(Self.mostAttributes)")
        }
        var columns = NamesInUse()
        return members.map { attribute($0, records: entity.records, &columns) }
    }

    private mutating func recordPath(_ member: Member) -> RecordPath? {
        guard let text = string(member) else { return nil }
        do throws(PathSyntaxError) {
            return try RecordPath(text)
        } catch {
            mistake(member.location, "not a record path: \(error)")
            return nil
        }
    }

    /// The names of the entities that an entity names as its parent and as destinations.
    private static func references(in entity: JSONValue) -> [String] {
        var values = [entity["parent"]]
        if case .object(let relationships) = entity["relationships"] {
            values += relationships.map { $0.value["entity"] }
        }
        return values.compactMap { if case .string(let name) = $0 { name } else { nil } }
    }

    /// Lists of names; whether the entity has what they name is looked at later.
    private mutating func lists(_ member: Member, of what: String, like sample: String, atLeast count: Int)
        -> [[String]]
    {
        guard case .array(let elements) = member.value else {
            mistake(member.location, "must be a list of lists of \(what)' names, like [\(sample)]")
            return []
        }
        var lists: [[String]] = []
        for (index, element) in elements.enumerated() {
            let location = member.location.index(index)
            guard case .array(let names) = element else {
                mistake(location, "must be a list of \(what)' names, like \(count > 1 ? sample : "[\"name\"]")")
                continue
            }
            if names.isEmpty {
                objection(location, "must not be empty")
            } else if names.count < count {
                objection(location, "must name at least \(count)")
            }
            let own = names.enumerated().map { number, name in
                string(Member(key: "", value: name, location: location.index(number))) ?? ""
            }
            for (number, name) in own.enumerated() where own[..<number].contains(where: name.hasSameBytes) {
                objection(location.index(number), "is repeated")
            }
            if lists.contains(where: { $0.elementsEqual(own) { $0.hasSameBytes(as: $1) } }) {
                objection(location, "is repeated")
            }
            lists.append(own)
        }
        return lists
    }

    private mutating func identifierNames(_ member: Member, of entity: EntityDescription) -> [String] {
        guard case .array(let elements) = member.value else {
            mistake(member.location, "must be a list of attributes' names, like [\"id\"]")
            return []
        }
        if elements.isEmpty {
            objection(member.location, "names no attribute; leave it out where no two records are the same object")
        }
        var names: [String] = []
        for (index, element) in elements.enumerated() {
            let location = member.location.index(index)
            guard let name = string(Member(key: "", value: element, location: location)) else { continue }
            let isRepeated = names.contains(where: name.hasSameBytes)
            names.append(name)
            let attributes = entity.attributes
            if isRepeated {
                objection(location, "is repeated")
                continue
            }
            // Where there are no attributes at all, that is what is wrong; what may be inherited is looked for later.
            if name.hasSameBytes(as: EntityDescription.parentIdentifier) || entity.parent != nil { continue }
            if attributes.isEmpty {
                if !entity.relationships.isEmpty { objection(location, "names no attribute") }
            } else if let attribute = attributes.first(where: { $0.name.hasSameBytes(as: name) }) {
                if attribute.isOptional { objection(location, "names an optional attribute") }
            } else {
                let suggestion = NameSuggestion.nearest(to: name, among: attributes.map(\.name))
                objection(location, "names no attribute" + (suggestion.map { "; perhaps \"\($0)\" is meant" } ?? ""))
            }
        }
        return names
    }

    // MARK: Names

    /// Objects to names that nothing can have: the one that is a key, and that of its table or column.
    mutating func checkNames(_ member: Member, stored: Member?) {
        checkName(member.key, at: member.location)
        if let stored, case .string(let name) = stored.value { checkName(name, at: stored.location) }
    }

    private mutating func checkName(_ name: String, at location: ModelFileLocation) {
        if name.isEmpty { objection(location, "a name must not be empty") }
        if name.utf8.contains(0) { objection(location, "a name cannot hold the character U+0000") }
    }
}
