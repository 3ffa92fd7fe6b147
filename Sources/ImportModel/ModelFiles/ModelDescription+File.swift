extension ModelDescription {
    /// Reads a model file.
    ///
    /// - Parameters:
    ///   - bytes: the file, JSON in UTF-8.
    ///   - transformers: those that the model may name.
    /// - Throws: `ModelError` with all of the file's mistakes at once.
    public init(
        parsing bytes: [UInt8],
        transformers: TransformerRegistry = .standard
    ) throws(ModelError) {
        self = try Self.read(bytes, checkingWith: transformers)
    }

    /// Checks a model that was made rather than read, by the rules for files.
    ///
    /// - Parameter transformers: those that the model may name.
    /// - Throws: `ModelError` with all of its mistakes at once, at the paths that they would have in a file.
    public func check(transformers: TransformerRegistry = .standard) throws(ModelError) {
        _ = try ModelDescription(parsing: Array(encoded().utf8), transformers: transformers)
    }

    /// Reads a model that a store has, without checking it.
    ///
    /// It was sound when it was stored, by the rules of that time: what has been forbidden since passes, and so does what
    /// another machine may lack (a transformer, a time zone). An attribute whose values cannot be coerced for that is
    /// an error where it is used: `AttributeCoercion` cannot be made of it, so an import with it begins with an error,
    /// while everything that only reads continues.
    ///
    /// - Parameter bytes: what `encoded()` gave.
    /// - Throws: `ModelError` where the model cannot be understood: bytes that are not JSON, unknown keys and types,
    ///   values of another kind than their key asks for.
    package init(stored bytes: [UInt8]) throws(ModelError) {
        self = try Self.read(bytes, checkingWith: nil)
    }

    private static func read(
        _ bytes: [UInt8],
        checkingWith transformers: TransformerRegistry?
    ) throws(ModelError) -> ModelDescription {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw ModelError(mistakes: [ModelError.Mistake(path: "$", message: "not JSON: \(error)")])
        }
        var reader = ModelReader(checkingWith: transformers)
        let model = reader.model(value)
        guard reader.mistakes.isEmpty else { throw ModelError(mistakes: reader.mistakes) }
        return model
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
        var members: [JSONValue.Member] = []
        func add(_ key: AttributeKey, _ value: JSONValue?) {
            if let value { members.append(JSONValue.Member(key: key.rawValue, value: value)) }
        }
        func one(of list: [JSONValue]) -> JSONValue { list.count == 1 ? list[0] : .array(list) }
        add(.type, .string(type.rawValue))
        add(.optional, isOptional ? .boolean(true) : nil)
        add(.default, defaultValue)
        add(.from, standsUnderItsName ? nil : one(of: from.map { .string($0.description) }))
        add(.column, column.hasSameBytes(as: name) ? nil : .string(column))
        add(.format, formats.isEmpty ? nil : one(of: formats.map { .string($0) }))
        add(.timeZone, timeZone.map { .string($0) })
        add(.wallClock, isWallClock ? .boolean(true) : nil)
        add(.storage, storage == .iso8601 ? nil : .string(storage.rawValue))
        let flags = bits.map { JSONValue.Member(key: $0.name, value: .number("\($0.position)")) }
        add(.bits, flags.isEmpty ? nil : .object(flags))
        add(.transform, transformers.isEmpty ? nil : .array(transformers.map { .string($0) }))
        add(.min, validation.minimum)
        add(.max, validation.maximum)
        add(.minLength, validation.minimumLength.map { .number("\($0)") })
        add(.maxLength, validation.maximumLength.map { .number("\($0)") })
        add(.pattern, validation.pattern.map { .string($0) })
        add(.enum, validation.allowedValues.map { .array($0) })
        add(.generated, isGenerated ? .boolean(true) : nil)
        add(.owner, owner == .source ? nil : .string(owner.rawValue))
        return .object(members)
    }

    private var standsUnderItsName: Bool {
        guard from.count == 1, !from[0].isRecordKey, from[0].keys.count == 1 else { return false }
        return from[0].keys[0].hasSameBytes(as: name)
    }
}
