import Synchronization

extension ModelDescription {
    /// Reads a model file.
    ///
    /// - Parameters:
    ///   - bytes: the file, JSON in UTF-8.
    ///   - transformers: the transformers that the model may name.
    /// - Throws: `ModelError` with all of the file's mistakes at once.
    public init(
        parsing bytes: [UInt8],
        transformers: TransformerRegistry = .standard
    ) throws(ModelError) {
        self = try Self.read(bytes, checkingWith: transformers)
        if transformers.isStandard { Self.lastChecked.withLock { [self] last in last = self } }
    }

    /// Checks a model that was created in a program by the rules for model files.
    ///
    /// - Parameter transformers: the transformers that the model may name.
    /// - Throws: `ModelError` with all of its mistakes at once, at their paths in a file.
    public func check(transformers: TransformerRegistry = .standard) throws(ModelError) {
        if transformers.isStandard, Self.lastChecked.withLock({ $0 == self }) { return }
        _ = try ModelDescription(parsing: Array(encoded().utf8), transformers: transformers)
    }

    /// The model that was checked last, with the built-in transformers.
    private static let lastChecked = Mutex<ModelDescription?>(nil)

    /// Rules of a valid model that a store does not enforce by itself: delete rules on the side that has the column, and rules that a
    /// mandatory relationship contradicts.
    ///
    /// - Returns: a warning for each, at its path in a model file; none of them prevents an import.
    public func warnings() -> [ModelError.Mistake] {
        ModelValidator(self).warnings.map { warning in
            let keys = ["entities", entities[warning.entity].name] + warning.keys
            let path = RecordPath(steps: keys.map { .key($0) }).description
            return ModelError.Mistake(path: path, message: warning.message)
        }
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

    /// Reads a model that a store has, as above; a text that was read lately is not read again.
    package init(stored text: String) throws(ModelError) {
        if let known = Self.recentlyRead.withLock({ $0[text] }) {
            self = known
            return
        }
        self = try Self(stored: Array(text.utf8))
        Self.recentlyRead.withLock { [self] known in
            if known.count >= 64 { known.removeAll() }
            known[text] = self
        }
    }

    /// The models that were read lately, by their texts.
    private static let recentlyRead = Mutex<[String: ModelDescription]>([:])

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

    /// The model as a file: indented JSON that ends with a line feed, without default values.
    ///
    /// Reading the file gives the same model, if a file can have it.
    public func encoded() -> String {
        let file: JSONValue = ["entities": JSONValue(entities.map { ($0.name, $0.json) })]
        return file.serialized(.indented) + "\n"
    }
}

extension EntityDescription {
    /// The entity's object in a model file.
    fileprivate var json: JSONValue {
        var members: JSONValue = [:]
        members["records"] = records.map { .string($0.description) }
        members["table"] = table.hasSameBytes(as: name) ? nil : .string(table)
        members["identifier"] = identifier.isEmpty ? nil : .strings(identifier)
        members["parent"] = parent.map { .string($0) }
        members["abstract"] = isAbstract ? true : nil
        members["attributes"] = JSONValue(attributes.map { ($0.name, $0.json) })
        members["relationships"] = relationships.isEmpty ? nil : JSONValue(relationships.map { ($0.name, $0.json) })
        members["indexes"] = indexes.isEmpty ? nil : .array(indexes.map(JSONValue.strings))
        members["together"] = together.isEmpty ? nil : .array(together.map(JSONValue.strings))
        members["subentity"] = subentity?.json
        members["renamingIdentifier"] = renamingIdentifier.map { .string($0) }
        members["userInfo"] = userInfo
        return members
    }
}

extension AttributeDescription {
    /// The attribute's object in a model file.
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ key: AttributeKey, _ value: JSONValue?) {
            if let value { members.append(JSONValue.Member(key: key.rawValue, value: value)) }
        }
        add(.type, .string(type.rawValue))
        add(.optional, isOptional ? .boolean(true) : nil)
        add(.default, defaultValue)
        add(.from, standsUnderItsName ? nil : JSONValue.oneOrMore(from.map { .string($0.description) }))
        add(.column, column.hasSameBytes(as: name) ? nil : .string(column))
        add(.format, formats.isEmpty ? nil : JSONValue.oneOrMore(formats.map { .string($0) }))
        add(.timeZone, timeZone.map { .string($0) })
        add(.wallClock, isWallClock ? .boolean(true) : nil)
        add(.fraction, fraction == 3 ? nil : .number("\(fraction)"))
        add(.storage, storage.map { .string($0.rawValue) })
        add(.bits, bits.isEmpty ? nil : JSONValue(bits.map { ($0.name, .number("\($0.position)")) }))
        add(.transform, transformers.isEmpty ? nil : .strings(transformers))
        add(.min, validation.minimum)
        add(.max, validation.maximum)
        add(.minLength, validation.minimumLength.map { .number("\($0)") })
        add(.maxLength, validation.maximumLength.map { .number("\($0)") })
        add(.pattern, validation.pattern.map { .string($0) })
        add(.enum, validation.allowedValues.map { .array($0) })
        add(.generated, isGenerated ? .boolean(true) : nil)
        add(.owner, owner == .source ? nil : .string(owner.rawValue))
        add(.renamingIdentifier, renamingIdentifier.map { .string($0) })
        add(.userInfo, userInfo)
        return .object(members)
    }

    private var standsUnderItsName: Bool { from.count == 1 && from[0].isJust(name) }
}

extension RelationshipDescription {
    /// The relationship's object in a model file.
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ key: RelationshipKey, _ value: JSONValue?) {
            if let value { members.append(JSONValue.Member(key: key.rawValue, value: value)) }
        }
        func add(_ key: RelationshipKey, _ choice: String, unless standard: String) {
            if choice != standard { add(key, .string(choice)) }
        }
        add(.entity, .string(destination))
        add(.toMany, isToMany ? .boolean(true) : nil)
        add(.from, isUnderItsName ? nil : .oneOrMore(from.map(\.json)))
        add(.by, by.isEmpty ? nil : .oneOrMore(by.map { .string($0) }))
        add(.inverse, inverse.map { .string($0) })
        add(.optional, isOptional ? nil : .boolean(false))
        add(.ordered, isOrdered.map { .boolean($0) })
        add(.minCount, minimumCount.map { .number("\($0)") })
        add(.maxCount, maximumCount.map { .number("\($0)") })
        add(.deleteRule, deleteRule.map { .string($0.rawValue) })
        add(.list, list.rawValue, unless: ListPolicy.replace.rawValue)
        add(.orphans, orphans.map { .string($0.rawValue) })
        add(.unresolved, unresolved.rawValue, unless: UnresolvedPolicy.keep.rawValue)
        add(.identity, identity.rawValue, unless: Identity.identifier.rawValue)
        add(.onConflict, onConflict.rawValue, unless: ConflictPolicy.merge.rawValue)
        add(.owner, owner.rawValue, unless: AttributeDescription.Owner.source.rawValue)
        let columns = columns.map { JSONValue.string($0) }
        add(.column, columns.count == 1 ? columns[0] : nil)
        add(.columns, columns.count > 1 ? .array(columns) : nil)
        add(.table, table.map { .string($0) })
        add(.renamingIdentifier, renamingIdentifier.map { .string($0) })
        add(.userInfo, userInfo)
        return .object(members)
    }

    private var isUnderItsName: Bool {
        guard from.count == 1, case .value(let path) = from[0] else { return false }
        return path.isJust(name)
    }
}

extension RelationshipDescription.Source {
    fileprivate var json: JSONValue {
        switch self {
        case .value(let path): .string(path.description)
        case .members(let path): .string("\(path).*")
        case .identifier(let paths): .array(paths.map { .string($0.description) })
        }
    }
}

extension SubentityDescription {
    fileprivate var json: JSONValue {
        [
            "from": isByKey ? .string(ModelReader.anyKey) : .oneOrMore(from.map { .string($0.description) }),
            "values": JSONValue(values.map { ($0.value, $0.entity.map { .string($0) } ?? .null) }),
        ]
    }
}

extension AttributePath {
    /// True if it is this one key.
    fileprivate func isJust(_ key: String) -> Bool {
        isWithinRecord && keys.count == 1 && keys[0].hasSameBytes(as: key)
    }
}

extension JSONValue {
    /// A list, or its element where it has just one that is no list itself.
    fileprivate static func oneOrMore(_ list: [JSONValue]) -> JSONValue {
        if list.count == 1, list[0].kind != .array { return list[0] }
        return .array(list)
    }
}
