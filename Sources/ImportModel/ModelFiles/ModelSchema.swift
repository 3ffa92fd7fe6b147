/// The JSON Schema of model files (draft 2020-12), from the tables by which they are read.
public enum ModelSchema {
    /// The schema as indented JSON that ends with a line feed.
    ///
    /// It says what an editor can know: keys, types, which key goes with which type, names of formats and transformers.
    /// Other mistakes (a default that does not fit, a path that cannot match) are found by reading the file.
    public static var text: String { schema.serialized(.indented) + "\n" }

    private static var schema: JSONValue {
        object([
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("Model file of importer")),
            ("description", .string("Entities, their attributes, and where values come from.")),
            ("type", .string("object")),
            ("properties", object(ModelReader.modelKeys.map { ($0, modelProperty($0)) })),
            ("required", .array([.string("entities")])),
            ("additionalProperties", .boolean(false)),
            (
                "$defs",
                object([
                    ("entity", entity), ("attribute", attribute), ("relationship", relationship),
                    ("subentity", subentity), ("recordPath", recordPath), ("from", from),
                ])
            ),
        ])
    }

    private static func modelProperty(_ key: String) -> JSONValue {
        key == "entities"
            ? object([
                ("description", .string("The entities by name.")), ("type", .string("object")),
                ("minProperties", .number("1")), ("propertyNames", name), ("additionalProperties", reference("entity")),
            ])
            : object([("description", .string("Where an editor finds this schema.")), ("type", .string("string"))])
    }

    // MARK: Entities

    private static var entity: JSONValue {
        object([
            ("type", .string("object")),
            ("properties", object(ModelReader.entityKeys.map { ($0, entityProperty($0)) })),
            (
                "anyOf",
                .array([requires("attributes"), requires("parent"), requires("relationships"), requires("abstract")])
            ),
            ("additionalProperties", .boolean(false)),
        ])
    }

    private static func requires(_ key: String) -> JSONValue { object([("required", strings([key]))]) }

    private static func entityProperty(_ key: String) -> JSONValue {
        switch key {
        case "records": reference("recordPath")
        case "table":
            object([
                ("description", .string("The table's name, if it is not the entity's.")), ("type", .string("string")),
                ("minLength", .number("1")),
                ("pattern", .string("^(?!(?:[sS][qQ][lL][iI][tT][eE]_|_[iI][mM][pP][oO][rR][tT]_))")),
            ])
        case "identifier":
            object([
                (
                    "description",
                    .string("The attributes by which two records are the same object; @parent is the object around it.")
                ),
                ("type", .string("array")), ("items", object([("type", .string("string"))])),
                ("minItems", .number("1")), ("uniqueItems", .boolean(true)),
            ])
        case "attributes":
            object([
                ("description", .string("The attributes by name, in the order of the columns.")),
                ("type", .string("object")),
                ("maxProperties", .number("\(ModelReader.mostAttributes)")), ("propertyNames", name),
                ("additionalProperties", reference("attribute")),
            ])
        case "relationships":
            object([
                ("description", .string("The relationships by name, in the order in which their values are read.")),
                ("type", .string("object")), ("propertyNames", name),
                ("additionalProperties", reference("relationship")),
            ])
        case "parent": text("The entity whose attributes, relationships and identifier it inherits.")
        case "abstract":
            object([
                ("description", .string("Whether only its subentities have objects.")), ("type", .string("boolean")),
            ])
        case "indexes":
            lists("Indexes that are built at the end, each of attributes and to-one relationships.", atLeast: 1)
        case "together": lists("Groups of attributes that change together.", atLeast: 2)
        case "subentity": reference("subentity")
        case "renamingIdentifier": text("The name in the model before this one.")
        default: object([("description", .string("Free annotations, kept as they are."))])
        }
    }

    private static var recordPath: JSONValue {
        object([
            ("description", .string("Where the records are: $, $[*], $.items[*], $.users.*, $['a b'][*].")),
            ("type", .string("string")), ("pattern", .string("^\\$")),
        ])
    }

    /// Lists of names.
    private static func lists(_ description: String, atLeast count: Int) -> JSONValue {
        object([
            ("description", .string(description)), ("type", .string("array")), ("uniqueItems", .boolean(true)),
            (
                "items",
                object([
                    ("type", .string("array")), ("items", object([("type", .string("string"))])),
                    ("minItems", .number("\(count)")), ("uniqueItems", .boolean(true)),
                ])
            ),
        ])
    }

    /// What a name must be.
    private static var name: JSONValue { object([("minLength", .number("1"))]) }

    private static var from: JSONValue {
        object([("type", .string("string")), ("minLength", .number("1"))])
    }

    // MARK: Attributes

    private static var attribute: JSONValue {
        let limited = AttributeKey.allCases.filter { $0.types.count < AttributeType.allCases.count }
        let needsBits = object([
            ("if", object([("properties", types([.bitfield]))])),
            ("then", object([("required", .array([.string("bits")]))])),
        ])
        return object([
            ("type", .string("object")),
            ("properties", object(AttributeKey.allCases.map { ($0.rawValue, property($0)) })),
            ("required", .array([.string(AttributeKey.type.rawValue)])),
            ("additionalProperties", .boolean(false)),
            ("dependentSchemas", object(limited.map { ($0.rawValue, object([("properties", types($0.types))])) })),
            ("allOf", .array([needsBits, formats])),
        ])
    }

    /// That the type is one of these.
    private static func types(_ types: [AttributeType]) -> JSONValue {
        object([(AttributeKey.type.rawValue, object([("enum", strings(types.map(\.rawValue)))]))])
    }

    private static func property(_ key: AttributeKey) -> JSONValue {
        object([("description", .string(key.summary))] + rules(key))
    }

    private static func rules(_ key: AttributeKey) -> [(String, JSONValue)] {
        let string = object([("type", .string("string"))])
        let bound: [(String, JSONValue)] = [("type", strings(["number", "string", "object"]))]
        switch key {
        case .type: return [("enum", strings(AttributeType.allCases.map(\.rawValue)))]
        case .optional, .wallClock, .generated: return [("type", .string("boolean"))]
        case .default, .userInfo: return []
        case .from: return pathsOrNone(reference("from"))
        case .format: return oneOrMore(string)
        case .column: return [("type", .string("string")), ("minLength", .number("1"))]
        case .timeZone, .pattern, .renamingIdentifier: return [("type", .string("string"))]
        case .storage: return [("enum", strings(DateStorage.allCases.map(\.rawValue)))]
        case .bits:
            let bit = object([
                ("type", .string("integer")), ("minimum", .number("0")), ("maximum", .number("63")),
            ])
            return [("type", .string("object")), ("minProperties", .number("1")), ("additionalProperties", bit)]
        case .transform:
            // Names that a library's user has registered are no mistake.
            let known = object([("enum", strings(TransformerRegistry.standard.names))])
            return oneOrMore(object([("anyOf", .array([known, string]))]))
        case .min, .max: return bound
        case .minLength, .maxLength: return [("type", .string("integer")), ("minimum", .number("0"))]
        case .enum: return [("type", .string("array")), ("minItems", .number("1"))]
        case .owner: return [("enum", strings(AttributeDescription.Owner.allCases.map(\.rawValue)))]
        }
    }

    // MARK: Relationships

    private static var relationship: JSONValue {
        let limited = RelationshipKey.allCases.filter(\.isForToMany)
        let toMany = object([
            ("properties", object([("toMany", object([("const", .boolean(true))]))])),
            ("required", strings(["toMany"])),
        ])
        return object([
            ("type", .string("object")),
            (
                "properties",
                object(
                    RelationshipKey.allCases.map {
                        ($0.rawValue, object([("description", .string($0.summary))] + rules($0)))
                    }
                )
            ),
            ("required", strings([RelationshipKey.entity.rawValue])),
            ("additionalProperties", .boolean(false)),
            ("dependentSchemas", object(limited.map { ($0.rawValue, toMany) })),
        ])
    }

    private static func rules(_ key: RelationshipKey) -> [(String, JSONValue)] {
        let text: [(String, JSONValue)] = [("type", .string("string")), ("minLength", .number("1"))]
        switch key {
        case .userInfo: return []
        case .toMany, .optional, .ordered: return [("type", .string("boolean"))]
        case .from:
            let parts = object([("type", .string("array")), ("items", reference("from")), ("minItems", .number("1"))])
            return pathsOrNone(object([("anyOf", .array([reference("from"), parts]))]))
        case .by: return oneOrMore(object(text))
        case .minCount, .maxCount: return [("type", .string("integer")), ("minimum", .number("0"))]
        case .deleteRule: return choices(RelationshipDescription.DeleteRule.self)
        case .list: return choices(RelationshipDescription.ListPolicy.self)
        case .orphans: return choices(RelationshipDescription.OrphanPolicy.self)
        case .unresolved: return choices(RelationshipDescription.UnresolvedPolicy.self)
        case .identity: return choices(RelationshipDescription.Identity.self)
        case .onConflict: return choices(ConflictPolicy.self)
        case .owner: return choices(AttributeDescription.Owner.self)
        case .columns: return [("type", .string("array")), ("items", object(text)), ("minItems", .number("1"))]
        case .entity, .inverse, .column, .table, .renamingIdentifier: return text
        }
    }

    private static func choices<Choice: RawRepresentable<String> & CaseIterable>(
        _ type: Choice.Type
    ) -> [(String, JSONValue)] {
        [("enum", strings(type.allCases.map(\.rawValue)))]
    }

    private static var subentity: JSONValue {
        object([
            ("description", .string("How an object says which subentity it is.")), ("type", .string("object")),
            (
                "properties",
                object([
                    ("from", object(oneOrMore(reference("from")))),
                    (
                        "values",
                        object([
                            ("description", .string("The entities by value.")), ("type", .string("object")),
                            ("additionalProperties", object([("type", .string("string"))])),
                        ])
                    ),
                ])
            ),
            ("required", strings(["from", "values"])), ("additionalProperties", .boolean(false)),
        ])
    }

    /// The names of formats: those of a binary only, those of a date or a pattern.
    private static var formats: JSONValue {
        let binary = object([("enum", strings(BinaryFormat.names))])
        let dates = object([
            (
                "anyOf",
                .array([object([("enum", strings(DateFormat.keywords))]), object([("type", .string("string"))])])
            )
        ])
        func format(_ element: JSONValue) -> JSONValue {
            object([("properties", object([(AttributeKey.format.rawValue, object(oneOrMore(element)))]))])
        }
        return object([
            ("if", object([("properties", types([.binary]))])), ("then", format(binary)), ("else", format(dates)),
        ])
    }

    // MARK: Parts

    private static func text(_ description: String) -> JSONValue {
        object([("description", .string(description)), ("type", .string("string")), ("minLength", .number("1"))])
    }

    /// A key path, or a list of them, which is empty where nothing in the JSON states the value.
    private static func pathsOrNone(_ element: JSONValue) -> [(String, JSONValue)] {
        [("anyOf", .array([element, object([("type", .string("array")), ("items", element)])]))]
    }

    private static func oneOrMore(_ element: JSONValue) -> [(String, JSONValue)] {
        let list = object([("type", .string("array")), ("items", element), ("minItems", .number("1"))])
        return [("anyOf", .array([element, list]))]
    }

    private static func reference(_ name: String) -> JSONValue {
        object([("$ref", .string("#/$defs/\(name)"))])
    }

    private static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    private static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { JSONValue.Member(key: $0.0, value: $0.1) })
    }
}
