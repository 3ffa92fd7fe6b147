/// The JSON Schema of model files (draft 2020-12), made from the tables that the reader uses.
public enum ModelSchema {
    /// The schema as indented JSON that ends with a line feed.
    ///
    /// It has what an editor can check: keys, types, the keys of each type, names of formats and transformers. Other mistakes (a default
    /// that does not fit, a path that cannot match) are found by reading the file.
    public static var text: String { schema.serialized(.indented) + "\n" }

    private static var schema: JSONValue {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Model file of importer",
            "description": "Entities, their attributes, and where values come from.",
            "type": "object",
            "properties": JSONValue(ModelReader.modelKeys.map { ($0, modelProperty($0)) }),
            "required": ["entities"],
            "additionalProperties": false,
            "$defs": [
                "entity": entity, "attribute": attribute, "relationship": relationship, "subentity": subentity,
                "recordPath": recordPath, "from": from,
            ],
        ]
    }

    private static func modelProperty(_ key: String) -> JSONValue {
        key == "entities"
            ? [
                "description": "The entities by name.", "type": "object", "minProperties": 1, "propertyNames": name,
                "additionalProperties": reference("entity"),
            ]
            : ["description": "Where an editor finds this schema.", "type": "string"]
    }

    // MARK: Entities

    private static var entity: JSONValue {
        [
            "type": "object",
            "properties": JSONValue(ModelReader.entityKeys.map { ($0, entityProperty($0)) }),
            "anyOf": .array(["attributes", "parent", "relationships", "abstract"].map { ["required": [.string($0)]] }),
            "additionalProperties": false,
        ]
    }

    private static func entityProperty(_ key: String) -> JSONValue {
        switch key {
        case "records": reference("recordPath")
        case "table":
            [
                "description": "The table's name, if it is not the entity's.", "type": "string", "minLength": 1,
                "pattern": "^(?!(?:[sS][qQ][lL][iI][tT][eE]_|_[iI][mM][pP][oO][rR][tT]_))",
            ]
        case "identifier":
            [
                "description":
                    "The attributes by which two records are the same object; @parent is the object around it.",
                "type": "array", "items": ["type": "string"], "minItems": 1, "uniqueItems": true,
            ]
        case "attributes":
            [
                "description": "The attributes by name, in the order of the columns.", "type": "object",
                "maxProperties": .number("\(ModelReader.mostAttributes)"), "propertyNames": name,
                "additionalProperties": reference("attribute"),
            ]
        case "relationships":
            [
                "description": "The relationships by name, in the order in which their values are read.",
                "type": "object", "propertyNames": name, "additionalProperties": reference("relationship"),
            ]
        case "parent": text("The entity whose attributes, relationships and identifier it inherits.")
        case "abstract": ["description": "Whether only its subentities have objects.", "type": "boolean"]
        case "indexes":
            lists("Indexes that are built at the end, each of attributes and to-one relationships.", atLeast: 1)
        case "together": lists("Groups of attributes that change together.", atLeast: 2)
        case "subentity": reference("subentity")
        case "renamingIdentifier": text("The name in the model before this one.")
        default: ["description": "Free annotations, kept as they are."]
        }
    }

    private static let recordPath: JSONValue = [
        "description": "Where the records are: $, $[*], $.items[*], $.users.*, $['a b'][*].", "type": "string",
        "pattern": "^\\$",
    ]

    /// Lists of names.
    private static func lists(_ description: String, atLeast count: Int) -> JSONValue {
        [
            "description": .string(description), "type": "array", "uniqueItems": true,
            "items": [
                "type": "array", "items": ["type": "string"], "minItems": .number("\(count)"), "uniqueItems": true,
            ],
        ]
    }

    /// What a name must be.
    private static let name: JSONValue = ["minLength": 1]

    private static let from: JSONValue = ["type": "string", "minLength": 1]

    // MARK: Attributes

    private static var attribute: JSONValue {
        let limited = AttributeKey.allCases.filter { $0.types.count < AttributeType.allCases.count }
        return [
            "type": "object",
            "properties": JSONValue(AttributeKey.allCases.map { ($0.rawValue, described($0.summary, rules($0))) }),
            "required": [.string(AttributeKey.type.rawValue)],
            "additionalProperties": false,
            "dependentSchemas": JSONValue(limited.map { ($0.rawValue, ["properties": types($0.types)]) }),
            "allOf": .array(
                [["if": ["properties": types([.bitfield])], "then": ["required": ["bits"]]], formats]
                    + AttributeKey.storage.types.map(storage)
            ),
        ]
    }

    /// That the type is one of these.
    private static func types(_ types: [AttributeType]) -> JSONValue {
        JSONValue([(AttributeKey.type.rawValue, choice(of: types.map(\.rawValue)))])
    }

    private static func described(_ summary: String, _ rules: JSONValue) -> JSONValue {
        guard case .object(let members) = rules else { return rules }
        return .object([JSONValue.Member(key: "description", value: .string(summary))] + members)
    }

    private static func rules(_ key: AttributeKey) -> JSONValue {
        switch key {
        case .type: choices(AttributeType.self)
        case .optional, .wallClock, .generated: ["type": "boolean"]
        case .default, .userInfo: [:]
        case .from: pathsOrNone(reference("from"))
        case .format: oneOrMore(["type": "string"])
        case .column: ["type": "string", "minLength": 1]
        case .timeZone, .pattern, .renamingIdentifier: ["type": "string"]
        case .fraction: ["enum": [3, 6, 9]]
        case .storage: choices(StorageForm.self)
        case .bits:
            [
                "type": "object", "minProperties": 1,
                "additionalProperties": ["type": "integer", "minimum": 0, "maximum": 63],
            ]
        // Names that a library's user has registered are no mistake.
        case .transform:
            oneOrMore(["anyOf": [choice(of: TransformerRegistry.standard.names), ["type": "string"]]])
        case .min, .max: ["type": ["number", "string", "object"]]
        case .minLength, .maxLength: ["type": "integer", "minimum": 0]
        case .enum: ["type": "array", "minItems": 1]
        case .owner: choices(AttributeDescription.Owner.self)
        }
    }

    // MARK: Relationships

    private static var relationship: JSONValue {
        let limited = RelationshipKey.allCases.filter(\.isForToMany)
        let toMany: JSONValue = ["properties": ["toMany": ["const": true]], "required": ["toMany"]]
        return [
            "type": "object",
            "properties": JSONValue(RelationshipKey.allCases.map { ($0.rawValue, described($0.summary, rules($0))) }),
            "required": [.string(RelationshipKey.entity.rawValue)],
            "additionalProperties": false,
            "dependentSchemas": JSONValue(limited.map { ($0.rawValue, toMany) }),
        ]
    }

    private static func rules(_ key: RelationshipKey) -> JSONValue {
        let text: JSONValue = ["type": "string", "minLength": 1]
        return switch key {
        case .userInfo: [:]
        case .toMany, .optional, .ordered: ["type": "boolean"]
        case .from:
            pathsOrNone(["anyOf": [reference("from"), ["type": "array", "items": reference("from"), "minItems": 1]]])
        case .by: oneOrMore(text)
        case .minCount, .maxCount: ["type": "integer", "minimum": 0]
        case .deleteRule: choices(RelationshipDescription.DeleteRule.self)
        case .list: choices(RelationshipDescription.ListPolicy.self)
        case .orphans: choices(RelationshipDescription.OrphanPolicy.self)
        case .unresolved: choices(RelationshipDescription.UnresolvedPolicy.self)
        case .identity: choices(RelationshipDescription.Identity.self)
        case .onConflict: choices(ConflictPolicy.self)
        case .owner: choices(AttributeDescription.Owner.self)
        case .columns: ["type": "array", "items": text, "minItems": 1]
        case .entity, .inverse, .column, .table, .renamingIdentifier: text
        }
    }

    private static func choices<Choice: RawRepresentable<String> & CaseIterable>(_ type: Choice.Type) -> JSONValue {
        choice(of: type.allCases.map(\.rawValue))
    }

    private static func choice(of names: [String]) -> JSONValue { ["enum": .strings(names)] }

    private static var subentity: JSONValue {
        [
            "description": "How an object says which subentity it is.", "type": "object",
            "properties": [
                "from": ["anyOf": [["const": .string(ModelReader.anyKey)], oneOrMore(reference("from"))]],
                "values": [
                    "description": "The entities by value; null leaves records out.", "type": "object",
                    "additionalProperties": ["type": ["string", "null"]],
                ],
            ],
            "required": ["from", "values"], "additionalProperties": false,
        ]
    }

    /// The names of formats: those of a binary only, that of a string, those of a date or a pattern.
    private static var formats: JSONValue {
        let dates: JSONValue = ["anyOf": [choice(of: DateFormat.keywords), ["type": "string"]]]
        func format(_ element: JSONValue) -> JSONValue {
            ["properties": JSONValue([(AttributeKey.format.rawValue, oneOrMore(element))])]
        }
        return [
            "if": ["properties": types([.binary])], "then": format(choice(of: BinaryFormat.names)),
            "else": [
                "if": ["properties": types([.string])], "then": format(choice(of: [AttributeType.json.rawValue])),
                "else": format(dates),
            ],
        ]
    }

    /// The forms in which a type is stored.
    private static func storage(_ type: AttributeType) -> JSONValue {
        let forms = choice(of: type.storageForms.map(\.rawValue))
        return [
            "if": ["properties": types([type])],
            "then": ["properties": JSONValue([(AttributeKey.storage.rawValue, forms)])],
        ]
    }

    // MARK: Parts

    private static func text(_ description: String) -> JSONValue {
        ["description": .string(description), "type": "string", "minLength": 1]
    }

    /// A key path, or a list of them, which is empty where nothing in the JSON states the value.
    private static func pathsOrNone(_ element: JSONValue) -> JSONValue {
        ["anyOf": [element, ["type": "array", "items": element]]]
    }

    private static func oneOrMore(_ element: JSONValue) -> JSONValue {
        ["anyOf": [element, ["type": "array", "items": element, "minItems": 1]]]
    }

    private static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/$defs/\(name)")] }
}
