import Testing

@testable import ImportModel

/// Models that a store has are read by what they say, whatever has been forbidden since.
struct StoredModelTests {
    private func entity(_ attributes: String, _ rest: String = "") -> String {
        #"{"entities": {"E": {\#(rest)"attributes": {\#(attributes)}}}}"#
    }

    /// Models that are understood, though a file may not have them.
    private static let forbidden = [
        #""a": {"type": "json", "from": ["$", "b"]}"#, #""a": {"type": "json", "from": ["b", "b"]}"#,
        #""a": {"type": "string", "transform": ["trim", "rot13"]}"#,
        #""a": {"type": "date", "format": ["unix", "qq"], "timeZone": "Mars/Base"}"#,
        #""a": {"type": "string", "pattern": "["}"#, #""a": {"type": "string", "minLength": 3, "maxLength": 2}"#,
        #""a": {"type": "integer16", "default": 40000, "min": "x", "enum": []}"#,
        #""a": {"type": "integer16", "max": 3, "enum": [1, 4, 1]}"#, #""a": {"type": "boolean", "min": 1}"#,
        #""a": {"type": "bitfield"}"#, #""a": {"type": "bitfield", "bits": {"x": 64, "y": 64}}"#,
        #""rowid": {"type": "string"}, "a": {"type": "string", "column": "ROWID"}"#, #""": {"type": "string"}"#,
        "",
    ]

    @Test(arguments: forbidden)
    func areReadWhereTheyAreUnderstood(attributes: String) throws {
        let text = entity(attributes)
        #expect(throws: ModelError.self) { try ModelDescription(parsing: Array(text.utf8)) }
        let model = try ModelDescription(stored: Array(text.utf8))
        // Nothing is left out: it is written as it was.
        #expect(try JSONValue(parsing: Array(model.encoded().utf8)) == JSONValue(parsing: Array(text.utf8)))
    }

    @Test func areReadWithAnyNames() throws {
        let attribute = #""a": {"type": "string", "optional": true}"#
        let rests = [
            #""identifier": ["a", "b"], "#, #""table": "sqlite_x", "#, #""table": "", "#, #""table": "a\u0000", "#,
        ]
        for text in rests.map({ entity(attribute, $0) }) + [#"{"entities": {}}"#] {
            #expect(throws: ModelError.self) { try ModelDescription(parsing: Array(text.utf8)) }
            let model = try ModelDescription(stored: Array(text.utf8))
            #expect(try JSONValue(parsing: Array(model.encoded().utf8)) == JSONValue(parsing: Array(text.utf8)))
        }
    }

    @Test func areTheSameAsTheFileTheyWere() throws {
        let text = entity(
            #""a": {"type": "date", "format": ["iso8601"], "min": "2014-01-01"}"#,
            #""records": "$.x.*", "#
        )
        #expect(try ModelDescription(stored: Array(text.utf8)) == ModelDescription(parsing: Array(text.utf8)))
    }

    @Test(
        arguments: [
            #""a": {"type": "money"}"#, #""a": {"type": "string", "nullable": true}"#, #""a": {}"#, #""a": 1"#,
            #""a": {"type": "string", "optional": 1}"#, #""a": {"type": "string", "from": "a["}"#,
            #""a": {"type": "date", "storage": "ticks"}"#, #""a": {"type": "string", "minLength": "1"}"#,
        ])
    func areRefusedWhereTheyAreNotUnderstood(attributes: String) {
        let text = entity(attributes)
        #expect(throws: ModelError.self) { try ModelDescription(stored: Array(text.utf8)) }
    }

    /// What a file may not have only because it makes no sense keeps nobody from going on with an import.
    @Test(
        arguments: [
            #""type": "integer16", "max": 10, "enum": [1, 50]"#, #""type": "integer16", "min": true, "default": 0"#,
            #""type": "string", "enum": ["a", null], "pattern": "b""#,
            #""type": "string", "minLength": 3, "default": "a""#,
            #""type": "date", "format": ["unix", "unix"]"#, #""type": "uuid", "generated": true, "default": "x""#,
        ])
    func coerceByWhatMakesNoSense(attribute: String) throws {
        let text = entity("\"a\": {\(attribute)}")
        #expect(throws: ModelError.self) { try ModelDescription(parsing: Array(text.utf8)) }
        let attribute = try ModelDescription(stored: Array(text.utf8)).entities[0].attributes[0]
        #expect(throws: Never.self) { try AttributeCoercion(attribute) }
    }

    /// What cannot be done is told before the first value, rather than by an error for each.
    @Test func makeNoCoercionThatCannotWork() throws {
        let text = entity(#""a": {"type": "string", "transform": "rot13"}"#)
        let attribute = try ModelDescription(stored: Array(text.utf8)).entities[0].attributes[0]
        #expect(throws: AttributeMistakes.self) { try AttributeCoercion(attribute) }
        #expect(throws: CoercionError.self) { try attribute.coerce(.string("x")) }
        var registry = TransformerRegistry()
        registry.register("rot13") { String($0.reversed()) }
        #expect(try attribute.coerce(.string("xy"), transformers: registry).value == .text("yx"))
    }
}
