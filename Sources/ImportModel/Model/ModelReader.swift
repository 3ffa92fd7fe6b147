/// Takes a model file's JSON apart, and notes everything that is wrong with it.
struct ModelReader {
    /// Those that the model may name; nil where it is only read, and not checked.
    let transformers: TransformerRegistry?
    private(set) var mistakes: [ModelError.Mistake] = []

    /// - Parameter transformers: those that the model may name; nil to note only what cannot be understood.
    init(checkingWith transformers: TransformerRegistry?) {
        self.transformers = transformers
    }

    /// As many columns as a table of SQLite may have (`SQLITE_MAX_COLUMN`).
    static let mostAttributes = 2_000

    /// What a model file may have; `$schema` is for editors and not looked at.
    static let modelKeys = ["$schema", "entities"]

    /// What an entity's object may have.
    static let entityKeys = ["records", "table", "identifier", "attributes", "userInfo"]

    /// Notes what cannot be understood.
    mutating func mistake(_ place: Place, _ message: String) {
        mistakes.append(ModelError.Mistake(path: place.text, message: message))
    }

    /// Notes what is understood, but cannot work, or not as it is meant.
    mutating func objection(_ place: Place, _ message: String) {
        if transformers != nil { mistake(place, message) }
    }

    mutating func model(_ value: JSONValue) -> ModelDescription {
        let root = Place(text: "$")
        let members = members(of: value, at: root, known: Self.modelKeys, what: "a model")
        let place = root.key("entities")
        guard let list = members["entities"] else {
            if case .object = value { mistake(root, "entities are missing") }
            return ModelDescription(entities: [])
        }
        var tables = NamesInUse()
        let entities = distinctMembers(of: list, at: place).map { member in
            let entity = entity(member.value, name: member.key, at: place.key(member.key))
            if let other = tables.insert(entity.table, of: entity.name) {
                objection(place.key(member.key), "its table has the name that \(other)'s has; SQLite ignores case")
            }
            return entity
        }
        if entities.isEmpty, case .object = list { objection(place, "there is no entity") }
        return ModelDescription(entities: entities)
    }

    private mutating func entity(_ value: JSONValue, name: String, at place: Place) -> EntityDescription {
        let members = members(
            of: value,
            at: place,
            known: Self.entityKeys,
            what: "an entity"
        )
        var entity = EntityDescription(name: name, attributes: [], userInfo: members["userInfo"])
        if let records = members["records"] { entity.records = recordPath(records, at: place.key("records")) }
        let tablePlace = members["table"] == nil ? place : place.key("table")
        if let table = members["table"] { entity.table = string(table, at: tablePlace) ?? name }
        checkName(entity.table, at: tablePlace)
        if entity.table.hasASCIIPrefix("sqlite_") || entity.table.hasASCIIPrefix("_import_") {
            objection(tablePlace, "tables whose names begin with sqlite_ or _import_ are not for users")
        }
        entity.attributes = attributes(members["attributes"], of: value, records: entity.records, at: place)
        if let identifier = members["identifier"] {
            entity.identifier = identifierNames(identifier, of: entity.attributes, at: place.key("identifier"))
        }
        return entity
    }

    private mutating func attributes(
        _ list: JSONValue?,
        of entity: JSONValue,
        records: RecordPath?,
        at place: Place
    ) -> [AttributeDescription] {
        guard let list else {
            if case .object = entity { mistake(place, "attributes are missing") }
            return []
        }
        let place = place.key("attributes")
        let members = distinctMembers(of: list, at: place)
        if members.isEmpty, case .object = list { objection(place, "there is no attribute") }
        if members.count > Self.mostAttributes {
            objection(place, "\(members.count) attributes; a table has at most \(Self.mostAttributes)")
        }
        var columns = NamesInUse()
        return members.map { member in
            let attribute = attribute(member.value, name: member.key, records: records, at: place.key(member.key))
            if let other = columns.insert(attribute.column, of: attribute.name) {
                objection(place.key(member.key), "its column has the name that \(other)'s has; SQLite ignores case")
            }
            return attribute
        }
    }

    private mutating func recordPath(_ value: JSONValue, at place: Place) -> RecordPath? {
        guard let text = string(value, at: place) else { return nil }
        do throws(PathSyntaxError) {
            return try RecordPath(text)
        } catch {
            mistake(place, "not a record path: \(error)")
            return nil
        }
    }

    private mutating func identifierNames(
        _ value: JSONValue,
        of attributes: [AttributeDescription],
        at place: Place
    ) -> [String] {
        guard case .array(let elements) = value, !elements.isEmpty else {
            mistake(place, "must be a list of attributes' names")
            return []
        }
        var names: [String] = []
        for (index, element) in elements.enumerated() {
            let place = place.index(index)
            guard let name = string(element, at: place) else { continue }
            if names.contains(where: name.hasSameBytes) { objection(place, "stands here twice") }
            names.append(name)
            guard let attribute = attributes.first(where: { $0.name.hasSameBytes(as: name) }) else {
                objection(place, "names no attribute")
                continue
            }
            if attribute.isOptional { objection(place, "names an optional attribute") }
        }
        return names
    }

    mutating func checkName(_ name: String, at place: Place) {
        if name.utf8.contains(0) { objection(place, "a name in SQLite cannot hold the character U+0000") }
    }

    mutating func string(_ value: JSONValue, at place: Place) -> String? {
        if case .string(let text) = value { return text }
        mistake(place, "must be a string")
        return nil
    }

    /// An object's members by key; notes keys that are not among `known`.
    mutating func members(
        of value: JSONValue,
        at place: Place,
        known: [String],
        what: String
    ) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        for member in distinctMembers(of: value, at: place) {
            if known.contains(member.key) {
                members[member.key] = member.value
            } else {
                mistake(place.key(member.key), "not supported; \(what) may have \(known.joined(separator: ", "))")
            }
        }
        return members
    }

    /// An object's members; notes keys that stand twice, and values that are no objects.
    ///
    /// Where the model is not checked, keys that stand twice are two members.
    mutating func distinctMembers(of value: JSONValue, at place: Place) -> [JSONValue.Member] {
        guard case .object(let members) = value else {
            mistake(place, "must be an object")
            return []
        }
        guard transformers != nil else { return members }
        var seen: Set<[UInt8]> = []
        return members.filter { member in
            let isNew = seen.insert(Array(member.key.utf8)).inserted
            if !isNew { mistake(place.key(member.key), "stands here twice") }
            return isNew
        }
    }
}

/// A place in a model file.
struct Place {
    let text: String

    /// The member with this key.
    func key(_ key: String) -> Place { Place(text: text + RecordPath(steps: [.key(key)]).description.dropFirst()) }

    /// The element with this number, from 0.
    func index(_ index: Int) -> Place { Place(text: "\(text)[\(index)]") }
}

/// Names of tables or columns as SQLite tells them apart: by their bytes, but for the case of ASCII letters.
private struct NamesInUse {
    private var owners: [[UInt8]: String] = [:]

    /// Takes a name; if it is taken already, says whose it is.
    mutating func insert(_ name: String, of owner: String) -> String? {
        let folded = name.foldedASCII
        if let other = owners[folded] { return other }
        owners[folded] = owner
        return nil
    }
}

extension String {
    /// The bytes with ASCII letters in lower case.
    fileprivate var foldedASCII: [UInt8] {
        utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    }

    func equalsFoldingASCII(_ other: String) -> Bool { foldedASCII == other.foldedASCII }

    fileprivate func hasASCIIPrefix(_ prefix: String) -> Bool { foldedASCII.starts(with: prefix.utf8) }
}
