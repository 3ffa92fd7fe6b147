extension ModelDescription {
    /// Reads a model file (DESIGN §7).
    ///
    /// - Parameter bytes: the file, JSON in UTF-8.
    /// - Throws: `ModelError` with all of the file's mistakes at once.
    public init(parsing bytes: [UInt8]) throws(ModelError) {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw ModelError(mistakes: [ModelError.Mistake(path: "$", message: "not JSON: \(error)")])
        }
        var reader = ModelReader()
        let model = reader.model(value)
        guard reader.mistakes.isEmpty else { throw ModelError(mistakes: reader.mistakes) }
        self = model
    }

    /// The model as a file: indented JSON that ends with a line feed, without what goes without saying.
    ///
    /// Reading it gives the same model, if the model is one that a file can hold.
    public func encoded() -> String {
        let entities = entities.map { JSONValue.Member(key: $0.name, value: $0.json) }
        let file = JSONValue.object([JSONValue.Member(key: "entities", value: .object(entities))])
        return file.serialized(.indented) + "\n"
    }
}

extension EntityDescription {
    /// The entity's object in a model file.
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = []
        if let records { members.append(JSONValue.Member(key: "records", value: .string(records.description))) }
        if !table.hasSameBytes(as: name) { members.append(JSONValue.Member(key: "table", value: .string(table))) }
        if !identifier.isEmpty {
            members.append(JSONValue.Member(key: "identifier", value: .array(identifier.map { .string($0) })))
        }
        let attributes = attributes.map { JSONValue.Member(key: $0.name, value: $0.json) }
        members.append(JSONValue.Member(key: "attributes", value: .object(attributes)))
        if let userInfo { members.append(JSONValue.Member(key: "userInfo", value: userInfo)) }
        return .object(members)
    }
}

extension AttributeDescription {
    /// The attribute's object in a model file.
    fileprivate var json: JSONValue {
        var members = [JSONValue.Member(key: "type", value: .string(type.rawValue))]
        if isOptional { members.append(JSONValue.Member(key: "optional", value: .boolean(true))) }
        if let defaultValue { members.append(JSONValue.Member(key: "default", value: defaultValue)) }
        if !standsUnderItsName {
            let paths = from.map { JSONValue.string($0.description) }
            members.append(JSONValue.Member(key: "from", value: paths.count == 1 ? paths[0] : .array(paths)))
        }
        if !column.hasSameBytes(as: name) { members.append(JSONValue.Member(key: "column", value: .string(column))) }
        if isGenerated { members.append(JSONValue.Member(key: "generated", value: .boolean(true))) }
        if owner != .source { members.append(JSONValue.Member(key: "owner", value: .string(owner.rawValue))) }
        return .object(members)
    }

    private var standsUnderItsName: Bool {
        guard from.count == 1, !from[0].isRecordKey, from[0].keys.count == 1 else { return false }
        return from[0].keys[0].hasSameBytes(as: name)
    }
}

extension String {
    /// Whether both are the same bytes in UTF-8.
    ///
    /// Strings are equal already when they look the same (`é` composed and not); JSON keys and SQLite's names are not.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
