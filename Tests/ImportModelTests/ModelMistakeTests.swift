import Testing

@testable import ImportModel

/// Mistakes of attributes, each named with its path.
struct ModelMistakeTests {
    private func mistakes(_ attributes: String, _ rest: String = "") -> [String] {
        let text = #"{"entities": {"E": {"attributes": {\#(attributes)}\#(rest)}}}"#
        do throws(ModelError) {
            _ = try ModelDescription(parsing: Array(text.utf8))
            return []
        } catch {
            let prefix = "$.entities.E.attributes."
            return error.mistakes.map { $0.path.hasPrefix(prefix) ? String($0.path.dropFirst(prefix.count)) : $0.path }
        }
    }

    @Test(
        arguments: [
            (#"{"type": "string", "bits": {"a": 0}}"#, ["a.bits"]),
            (
                #"{"type": "string", "min": 1, "format": "base64", "storage": "unix"}"#,
                ["a.min", "a.format", "a.storage"]
            ),
            (#"{"type": "integer16", "minLength": 1, "pattern": "x"}"#, ["a.minLength", "a.pattern"]),
            (#"{"type": "json", "transform": "trim", "enum": [1]}"#, ["a.transform", "a.enum"]),
            (#"{"type": "bitfield"}"#, ["a"]), (#"{"type": "bitfield", "bits": {}}"#, ["a.bits"]),
            (
                #"{"type": "bitfield", "bits": {"x": 1, "y": 1, "z": 64, "w": -1}}"#,
                ["a.bits.y", "a.bits.z", "a.bits.w"]
            ),
            (
                #"{"type": "bitfield", "bits": {"x": 1, "y": 1, "z": 64, "x.y": 2}}"#,
                ["a.bits.x", "a.bits.y", "a.bits.z"]
            ),
            (#"{"type": "bitfield", "bits": {"x": "1"}}"#, ["a.bits.x"]),
            (#"{"type": "bitfield", "bits": [0]}"#, ["a.bits"]),
            (#"{"type": "binary", "format": "base32"}"#, ["a.format"]),
            (#"{"type": "binary", "format": ["base64", "hex"]}"#, ["a.format[1]"]),
            (#"{"type": "binary", "format": ["uuid", "base64"]}"#, ["a.format[1]"]),
            (#"{"type": "integer16", "min": 5, "max": 4}"#, ["a.max"]),
            (#"{"type": "integer16", "min": 40000, "max": "x"}"#, ["a.min", "a.max"]),
            (#"{"type": "date", "min": "yesterday"}"#, ["a.min"]),
            (#"{"type": "date", "min": "2015-01-01", "max": "2014-01-01"}"#, ["a.max"]),
            (#"{"type": "integer16", "optional": true, "min": null}"#, ["a.min"]),
            (#"{"type": "string", "minLength": -1, "maxLength": 1.5}"#, ["a.minLength", "a.maxLength"]),
            (#"{"type": "string", "minLength": 3, "maxLength": 2}"#, ["a.maxLength"]),
            (#"{"type": "string", "pattern": "["}"#, ["a.pattern"]),
            (#"{"type": "string", "enum": "a"}"#, ["a.enum"]), (#"{"type": "string", "enum": []}"#, ["a.enum"]),
            (#"{"type": "integer16", "enum": [1, "x", 1.0, 70000]}"#, ["a.enum[1]", "a.enum[2]", "a.enum[3]"]),
            (#"{"type": "string", "minLength": 3, "default": "ab"}"#, ["a.default"]),
            (#"{"type": "string", "enum": ["a"], "default": "b"}"#, ["a.default"]),
            (#"{"type": "date", "format": ["unix", "qq"], "timeZone": "Mars/Base"}"#, ["a.format[1]", "a.timeZone"]),
            (#"{"type": "date", "format": "dd/MM/yyyy", "default": "2014-10-17"}"#, ["a.default"]),
            (#"{"type": "date", "format": "unix", "min": "2014-10-17"}"#, ["a.min"]),
            (#"{"type": "string", "transform": "trim "}"#, ["a.transform"]),
            (#"{"type": "string", "transform": ["trim", "rot13"]}"#, ["a.transform[1]"]),
            (#"{"type": "date", "storage": "ticks"}"#, ["a.storage"]),
            (#"{"type": "date", "storage": "blob"}"#, ["a.storage"]),
            (#"{"type": "uuid", "storage": "sqlite"}"#, ["a.storage"]),
            (#"{"type": "decimal", "storage": "unix"}"#, ["a.storage"]),
            (#"{"type": "date", "fraction": 4}"#, ["a.fraction"]),
            (#"{"type": "date", "fraction": "6"}"#, ["a.fraction"]),
            (#"{"type": "string", "fraction": 6}"#, ["a.fraction"]), (#"{"type": "date", "fraction": 9}"#, []),
            (#"{"type": "date", "fraction": 6, "storage": "unix"}"#, ["a.fraction"]),
            (#"{"type": "date", "fraction": 6, "storage": "yyyy-MM-dd HH:mm:ss"}"#, ["a.fraction"]),
            (#"{"type": "date", "fraction": 6, "storage": "sqlite", "min": "2024-01-01T00:00:00.000001Z"}"#, []),
            (#"{"type": "decimal", "storage": "text"}"#, []), (#"{"type": "uuid", "storage": "blob"}"#, []),
            (#"{"type": "string", "generated": true}"#, ["a.generated"]),
            (#"{"type": "bitfield", "bits": {"x": 0}, "default": {"y": true}}"#, ["a.default.y"]),
        ])
    func namesWhatDoesNotGoTogether(attribute: String, paths: [String]) {
        #expect(mistakes("\"a\": \(attribute)") == paths)
    }

    @Test(
        arguments: [
            (#"["b", "$", "c"]"#, ["a.from[2]"]), (#"["b", "c.d", "b"]"#, ["a.from[2]"]),
            (#"["b", "['b']"]"#, ["a.from[1]"]), (#"["b", "$key[1]"]"#, ["a.from[1]"]), (#""$key[1]""#, ["a.from"]),
            // The path of the source, where the records have no key.
            (#""$key""#, []),
            (#"["$"]"#, []), (#"["b.c", "b"]"#, []),
        ])
    func namesPathsThatNeverMatch(from: String, paths: [String]) {
        #expect(mistakes(#""a": {"type": "json", "from": \#(from)}"#, #", "records": "$.x[*]""#) == paths)
    }

    @Test func knowsThatKeyedRecordsHaveTheirKeyAlways() {
        let attribute = #""a": {"type": "json", "from": ["$key", "b"]}"#
        #expect(mistakes(attribute, #", "records": "$.x.*""#) == ["a.from[1]"])
        // Where records are is not known yet.
        #expect(mistakes(attribute) == [])
    }

    /// Each may be the records of another file, distinguished by `--entity`.
    @Test func letsTwoEntitiesHaveTheSameRecordPath() throws {
        let entity = #"{"records": "$[*]", "attributes": {"a": {"type": "uri"}}}"#
        let text = #"{"entities": {"A": \#(entity), "B": \#(entity)}}"#
        #expect(try ModelDescription(parsing: Array(text.utf8)).entities.count == 2)
    }

    @Test func letsEditorsFindTheSchema() throws {
        let text = #"{"$schema": "./model.schema.json", "entities": {"E": {"attributes": {"a": {"type": "uri"}}}}}"#
        #expect(try ModelDescription(parsing: Array(text.utf8)).entities.count == 1)
    }
}
