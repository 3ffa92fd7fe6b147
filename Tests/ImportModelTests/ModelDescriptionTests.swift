import TestSupport
import Testing

@testable import ImportModel

struct ModelDescriptionTests {
    private func parse(_ text: String) throws(ModelError) -> ModelDescription {
        try ModelDescription(parsing: Array(text.utf8))
    }

    private func mistakes(_ text: String) -> [ModelError.Mistake] {
        do throws(ModelError) {
            _ = try parse(text)
            return []
        } catch {
            return error.mistakes
        }
    }

    /// A model of one entity `E` with these attributes, and what else it has.
    private func entity(_ attributes: String, _ rest: String = "") -> String {
        #"{"entities": {"E": {"attributes": {\#(attributes)}\#(rest)}}}"#
    }

    @Test func readsAModel() throws {
        let model = try parse(
            """
            { "entities": {
                "Person": {
                  "records": "$.people[*]",
                  "table": "person",
                  "identifier": ["guid"],
                  "attributes": {
                    "guid":    { "type": "uuid" },
                    "name":    { "type": "string", "from": ["fullName", "name.full"] },
                    "age":     { "type": "integer16", "optional": true },
                    "balance": { "type": "decimal", "default": "0" },
                    "created": { "type": "date", "format": ["iso8601"], "column": "created_at", "from": "made" }
                  },
                  "userInfo": { "id": "guid", "n": [1.0] }
                },
                "Order": { "attributes": { "value": { "type": "json", "from": "$" } } }
            } }
            """
        )
        let person = EntityDescription(
            name: "Person",
            table: "person",
            records: RecordPath(steps: [.key("people"), .anyElement]),
            identifier: ["guid"],
            attributes: [
                AttributeDescription(name: "guid", type: .uuid),
                AttributeDescription(
                    name: "name",
                    type: .string,
                    from: [AttributePath(keys: ["fullName"]), AttributePath(keys: ["name", "full"])]
                ),
                AttributeDescription(name: "age", type: .integer16, isOptional: true),
                AttributeDescription(name: "balance", type: .decimal, defaultValue: .string("0")),
                AttributeDescription(
                    name: "created",
                    column: "created_at",
                    type: .date,
                    from: [AttributePath(keys: ["made"])]
                ),
            ],
            userInfo: .object([
                .init(key: "id", value: .string("guid")), .init(key: "n", value: .array([.number("1.0")])),
            ])
        )
        let order = EntityDescription(
            name: "Order",
            attributes: [AttributeDescription(name: "value", type: .json, from: [.record])]
        )
        #expect(model == ModelDescription(entities: [person, order]))
    }

    @Test func writesWithoutWhatGoesWithoutSaying() {
        let model = ModelDescription(entities: [
            EntityDescription(
                name: "Person",
                table: "person",
                records: RecordPath(steps: [.anyElement]),
                identifier: ["id"],
                attributes: [
                    AttributeDescription(name: "id", type: .integer64),
                    AttributeDescription(
                        name: "full name",
                        column: "name",
                        type: .string,
                        isOptional: true,
                        defaultValue: .null,
                        from: [AttributePath(keys: ["name", "full"]), AttributePath(keys: ["full name"])]
                    ),
                    AttributeDescription(name: "key", type: .string, from: [.recordKey]),
                ],
                userInfo: .object([.init(key: "a", value: .boolean(true))])
            )
        ])
        #expect(
            model.encoded() == """
                {
                  "entities": {
                    "Person": {
                      "records": "$[*]",
                      "table": "person",
                      "identifier": ["id"],
                      "attributes": {
                        "id": { "type": "integer64" },
                        "full name": {
                          "type": "string",
                          "optional": true,
                          "default": null,
                          "from": ["name.full", "['full name']"],
                          "column": "name"
                        },
                        "key": { "type": "string", "from": "$key" }
                      },
                      "userInfo": { "a": true }
                    }
                  }
                }

                """
        )
    }

    @Test func comesBackWithAnyNames() throws {
        let names = PathTests.anyKeys.filter { !$0.isEmpty && !$0.utf8.contains(0) }
        for name in names + ["select", "a\"b", "a; drop table x", "e\u{301}"] {
            let model = ModelDescription(entities: [
                EntityDescription(
                    name: name,
                    attributes: [AttributeDescription(name: name, type: .string)],
                    userInfo: .string(name)
                ),
                EntityDescription(
                    name: name + "2",
                    table: "t" + name,
                    records: RecordPath(steps: [.key(name), .anyMember]),
                    identifier: [name],
                    attributes: [
                        AttributeDescription(name: name, column: name + "x", type: .json, defaultValue: .string(name)),
                        AttributeDescription(
                            name: "x" + name,
                            column: "é",
                            type: .string,
                            from: [AttributePath(keys: [name, name]), .recordKey]
                        ),
                        AttributeDescription(
                            name: "e\u{301}",
                            column: "e\u{301}",
                            type: .date,
                            isOptional: true,
                            from: [.record]
                        ),
                    ].filter { $0.name != name || $0.column == name + "x" }
                ),
            ])
            let text = model.encoded()
            let back = try parse(text)
            #expect(back == model)
            // Strings that look the same are equal: compare bytes too.
            #expect(back.encoded().utf8.elementsEqual(text.utf8))
            for (one, other) in zip(back.entities, model.entities) {
                #expect(one.name.hasSameBytes(as: other.name) && one.table.hasSameBytes(as: other.table))
                for (one, other) in zip(one.attributes, other.attributes) {
                    #expect(one.name.hasSameBytes(as: other.name) && one.column.hasSameBytes(as: other.column))
                }
            }
        }
    }

    @Test func comesBackWithRandomContents() throws {
        var generator = SeededGenerator(seed: 8)
        let types = AttributeType.allCases
        for _ in 0..<200 {
            let attributes = (0..<Int.random(in: 1...30, using: &generator)).map { index in
                var attribute = AttributeDescription(
                    name: "a\(index)",
                    type: types.randomElement(using: &generator) ?? .json,
                    isOptional: Bool.random(using: &generator)
                )
                if Bool.random(using: &generator) { attribute.column = "c\(index)" }
                if attribute.type == .bitfield || Bool.random(using: &generator) {
                    attribute.addOptions(using: &generator)
                }
                if attribute.isOptional, !attribute.isGenerated, Bool.random(using: &generator) {
                    attribute.defaultValue = .null
                }
                if attribute.type == .integer16, attribute.validation.isEmpty, Bool.random(using: &generator) {
                    attribute.defaultValue = .number("3.0")
                }
                if Bool.random(using: &generator) {
                    attribute.from = [AttributePath(keys: ["x", "y z"]), .recordKey].shuffled(using: &generator)
                    attribute.from += [.record]
                }
                return attribute
            }
            let required = attributes.filter { !$0.isOptional }.map(\.name)
            let model = ModelDescription(entities: [
                EntityDescription(name: "E", identifier: Array(required.prefix(2)), attributes: attributes)
            ])
            #expect(try parse(model.encoded()) == model)
        }
    }

    @Test func tellsAllMistakesAtOnceEachWithItsPlace() {
        let text = """
            { "version": 1, "entities": {
                "A": {
                  "records": "people", "table": 1, "identifier": ["x", "nobody", "maybe", "x", 3],
                  "attributes": {
                    "x": { "type": "int" },
                    "maybe": { "type": "string", "optional": true, "generated": true },
                    "X": { "type": "integer16", "default": 40000 },
                    "x": { "type": "string" },
                    "no type": { "from": ["ok", "a[0]", 1], "optional": "yes" },
                    "when": { "type": "date", "format": ["iso8601", 1], "default": null },
                    "size": { "type": "integer32", "format": "iso8601", "from": {} },
                    "rowid": { "type": "string", "column": "OID" },
                    "scalar": 5
                  },
                  "relations": {}
                },
                "B": { "attributes": {} }, "C": { }, "D": [], "b": { "attributes": { "v": { "type": "json" } } },
                "E": { "table": "SQLITE_x", "attributes": { "v": { "type": "real" } } }
            } }
            """
        let paths = mistakes(text).map(\.path)
        let a = "$.entities.A"
        let expected = [
            "$.version", "\(a).records", "\(a).table", "\(a).identifier[1]", "\(a).identifier[2]", "\(a).identifier[3]",
            "\(a).identifier[4]", "\(a).attributes.x.type", "\(a).attributes.maybe.generated", "\(a).attributes.X",
            "\(a).attributes.X.default", "\(a).attributes.x", "\(a).attributes['no type']",
            "\(a).attributes['no type'].from[1]", "\(a).attributes['no type'].from[2]",
            "\(a).attributes['no type'].optional", "\(a).attributes.when.format[1]", "\(a).attributes.when.default",
            "\(a).attributes.size.format", "\(a).attributes.size.from", "\(a).attributes.rowid.column",
            "\(a).attributes.scalar", "\(a).relations", "$.entities.B.attributes", "$.entities.C", "$.entities.D",
            "$.entities.b", "$.entities.E.table", "$.entities.E.attributes.v.type",
        ]
        #expect(paths == expected)
        #expect(mistakes(text).allSatisfy { !$0.message.isEmpty })
    }

    @Test func saysWhereTheFileIsNoJSON() {
        let found = mistakes("{\n  \"entities\": {,}\n}")
        #expect(
            found == [ModelError.Mistake(path: "$", message: "not JSON: line 2, column 16: a key in quotes is missing")]
        )
        #expect(mistakes("").count == 1)
        #expect(mistakes("[]").map(\.path) == ["$"])
        #expect(mistakes("{}").map(\.path) == ["$"])
        #expect(mistakes(#"{"entities": {}}"#).map(\.path) == ["$.entities"])
        #expect(mistakes(#"{"entities": 1}"#).map(\.path) == ["$.entities"])
    }

    @Test func refusesNamesThatSQLiteTakesForTheSame() {
        let type = #"{"type": "string"}"#
        #expect(mistakes(entity(#""Key": \#(type), "key": \#(type)"#)).map(\.path) == ["$.entities.E.attributes.key"])
        #expect(
            mistakes(entity(#""a": \#(type), "b": {"type": "string", "column": "A"}"#)).map(\.path)
                == ["$.entities.E.attributes.b.column"]
        )
        // SQLite folds ASCII only, and compares bytes.
        #expect(mistakes(entity(#""É": \#(type), "é": \#(type), "e\u0301": \#(type)"#)).isEmpty)
        #expect(mistakes(entity(#""a\u0000": \#(type)"#)).count == 1)
        #expect(mistakes(entity(#""oid": {"type": "string", "column": "oid_1"}"#)).isEmpty)
    }

    @Test func limitsTheNumberOfAttributes() {
        func model(_ count: Int) -> String {
            entity((0..<count).map { #""a\#($0)": {"type": "json"}"# }.joined(separator: ","))
        }
        #expect(mistakes(model(2_000)).isEmpty)
        #expect(mistakes(model(2_001)).map(\.path) == ["$.entities.E.attributes"])
    }

    @Test func takesDefaultsThatFitOnly() {
        let rows: [(String, String, Bool)] = [
            ("integer16", "32767", true), ("integer16", "32768", false), ("integer16", #""12""#, true),
            ("integer16", "1.5", false), ("string", "1", true), ("string", "[]", false), ("json", "[]", true),
            ("boolean", #""yes""#, true), ("boolean", #""maybe""#, false), ("date", #""2014-02-30""#, false),
            ("date", #""2014-02-28""#, true), ("decimal", #""0""#, true), ("double", "1e999", false),
            ("uuid", #""x""#, false),
            ("string", "null", false), ("json", "null", false),
        ]
        for (type, value, fits) in rows {
            let found = mistakes(entity(#""a": {"type": "\#(type)", "default": \#(value)}"#))
            #expect(found.map(\.path) == (fits ? [] : ["$.entities.E.attributes.a.default"]), "\(type) \(value)")
        }
        #expect(mistakes(entity(#""a": {"type": "string", "optional": true, "default": null}"#)).isEmpty)
    }

    @Test func coercesValuesAsAnImportDoes() throws {
        let age = AttributeDescription(name: "age", type: .integer16)
        #expect(
            try age.coerce(.string(" 12")) == CoercionResult(value: .integer(12), ledger: [.kindChanged, .trimmed])
        )
        #expect(throws: CoercionError(code: .unexpectedNull, expected: "integer16", found: "null")) {
            try age.coerce(.null)
        }
        #expect(throws: CoercionError(code: .malformed, expected: "integer16", found: "number")) {
            try age.coerce(.number("1\u{0}"))
        }
        let note = AttributeDescription(name: "note", type: .string, isOptional: true)
        #expect(try note.coerce(.null).value == .null)
        #expect(try note.coerce(.string("a\"\n\0é")).value == .text("a\"\n\0é"))
        let any = AttributeDescription(name: "any", type: .json)
        #expect(try any.coerce(.string("a\"b")).value == .text(#""a\"b""#))
        #expect(try any.coerce(.array([.number("1.0"), .object([])])).value == .text("[1.0,{}]"))
        #expect(try AttributeDescription(name: "x", type: .double).coerce(.number("0.5")).value == .real(0.5))
        #expect(
            try AttributeDescription(name: "x", type: .date).coerce(.string("2014-10-17")).value
                == .text("2014-10-17T00:00:00.000Z")
        )
    }
}
