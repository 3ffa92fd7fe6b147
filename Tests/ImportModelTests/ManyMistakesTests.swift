import Testing

@testable import ImportModel

/// All mistakes of a model file are named in one run, each once, and none that only follows from another.
struct ManyMistakesTests {
    static func mistakes(_ text: String) -> [String] {
        do throws(ModelError) {
            _ = try ModelDescription(parsing: Array(text.utf8))
            return []
        } catch {
            return error.mistakes.map(\.description)
        }
    }

    /// Mistakes of one attribute, none of which may hide another, or be told where it only follows from another.
    @Test(
        arguments: [
            (#""type": "date", "storage": "x", "timeZone": "Mars""#, ["storage", "timeZone"]),
            (#""type": "date", "wallClock": 1, "format": "qq""#, ["wallClock", "format"]),
            (
                #""type": "date", "timeZone": 1, "min": "x", "max": "2014-01-01", "default": "2015-01-01""#,
                ["timeZone", "min", "default"]
            ),
            (#""type": "date", "timeZone": "Mars", "default": "x""#, ["timeZone", "default"]),
            (#""type": "date", "format": "qq", "default": "x", "min": "y""#, ["format"]),
            (#""type": "date", "format": ["unix", "qq"], "min": 2, "max": 1, "default": 0"#, ["format[1]", "max"]),
            (
                #""type": "date", "format": ["unix", "qq"], "min": 2, "max": "x", "default": 0"#,
                ["format[1]", "default"]
            ),
            (#""type": "date", "format": ["qq", "unix"], "min": 2, "max": 1, "default": 0"#, ["format[0]"]),
            (#""type": "date", "format": ["unix", "dotnet", "unix", 1]"#, ["format[2]", "format[3]"]),
            (#""type": "date", "format": ["MM/dd/yyyy", 1, "qq"]"#, ["format[1]", "format[2]"]),
            (#""type": "integer16", "min": "x", "default": "y""#, ["min", "default"]),
            (#""type": "integer16", "min": true, "max": 5, "default": 6"#, ["min", "default"]),
            (#""type": "integer16", "min": 5, "max": 4, "default": 9, "enum": [1, 2]"#, ["max", "default"]),
            (#""type": "integer16", "optional": 1, "default": null, "max": "x""#, ["optional", "max"]),
            (#""type": "integer16", "enum": [1, "x"], "default": 5, "max": 4"#, ["enum[1]", "default"]),
            (#""type": "integer16", "enum": [1, "x"], "default": 3"#, ["enum[1]"]),
            (#""type": "integer16", "enum": [1, 1], "default": 3"#, ["enum[1]", "default"]),
            (#""type": "integer16", "enum": [1, 7], "max": 4, "default": 1"#, ["enum[1]"]),
            (#""type": "string", "enum": ["ab", "abcd", "é"], "minLength": 2, "pattern": "b""#, ["enum[2]"]),
            (#""type": "string", "enum": ["ab", null]"#, ["enum[1]"]),
            (#""type": "string", "optional": true, "enum": ["ab", null]"#, []),
            (#""type": "string", "transform": "uppercase", "enum": ["AB"], "default": "ab""#, []),
            (#""type": "string", "transform": "uppercase", "enum": ["ab"], "default": "ab""#, ["default"]),
            (
                #""type": "string", "pattern": "[", "minLength": 3, "maxLength": 2, "default": "a""#,
                ["pattern", "maxLength"]
            ),
            (#""type": "string", "pattern": 1, "maxLength": 2, "default": "abc""#, ["pattern", "default"]),
            (#""type": "string", "minLength": "1", "maxLength": 2, "default": "abc""#, ["minLength", "default"]),
            (
                #""type": "string", "transform": ["x", "trim", 1, "y"], "default": 1, "maxLength": 0"#,
                ["transform[0]", "transform[2]", "transform[3]", "default"]
            ),
            (
                #""type": "string", "transform": "x", "default": "a", "maxLength": 0, "enum": ["b"]"#,
                ["transform", "enum[0]"]
            ),
            (
                #""type": "string", "owner": 1, "generated": true, "from": "", "column": """#,
                ["owner", "generated", "from", "column"]
            ),
            (
                #""type": "bitfield", "bits": {"x": 64, "y": "1", "z": -1, "w": 1.5}"#,
                ["bits.x", "bits.y", "bits.z", "bits.w"]
            ),
            (
                #""type": "bitfield", "bits": {"x": 64, "y": 1}, "default": {"x": true, "z": 1, "y": "a"}"#,
                ["bits.x", "default.z", "default.y"]
            ),
            (#""type": "bitfield", "bits": {"x": 64, "y": 1}, "default": 8"#, ["bits.x"]),
            (#""type": "bitfield", "bits": {"x": 0, "x.y": 1}, "default": {"x": {"y": true}}"#, ["bits.x"]),
            (#""type": "bitfield", "bits": {"x": 0, "x": 0, "y": 0}"#, ["bits.x", "bits.y"]),
            (#""type": "bitfield", "bits": [], "default": true"#, ["bits", "default"]),
            (#""type": "binary", "format": "hex", "maxLength": 1, "default": "Zm9v""#, ["format", "default"]),
            (
                #""type": "binary", "format": "hex", "default": "?", "minLength": -1"#,
                ["format", "default", "minLength"]
            ),
            (
                #""type": "nothing", "transform": "x", "pattern": "[", "minLength": 2, "maxLength": 1"#,
                ["type", "transform", "pattern", "maxLength"]
            ),
            (#""type": 1, "bits": {"x": 64}, "default": {"y": true}"#, ["type", "bits.x", "default.y"]),
            (#""timeZone": "Mars", "format": "qq", "min": 1"#, ["", "timeZone", "format"]),
            (#""type": "nothing", "min": 2, "max": 1, "default": [], "enum": [1, 1]"#, ["type"]),
            (#""type": "uuid", "generated": 1, "default": "x""#, ["generated", "default"]),
            (
                #""tpye": "integer16", "defualt": "x", "Time_Zone": "Mars""#,
                ["tpye", "defualt", "defualt", "Time_Zone", "Time_Zone"]
            ),
        ])
    func hidesNoMistakeBehindAnother(attribute: String, places: [String]) {
        let found = Self.mistakes(#"{"entities": {"E": {"attributes": {"a": {\#(attribute)}}}}}"#)
        let expected = places.map { "$.entities.E.attributes.a" + ($0.isEmpty ? "" : ".\($0)") }
        #expect(found.map { String($0.prefix { $0 != ":" }) } == expected, "\(found.joined(separator: "\n"))")
    }

    @Test func checksModelsThatWereNotRead() throws {
        let sound = AttributeDescription(name: "a", type: .string, transformers: ["reverse"])
        let wrong = AttributeDescription(name: "", type: .date, defaultValue: .string("x"), timeZone: "Mars")
        let model = ModelDescription(entities: [
            EntityDescription(name: "E", table: "sqlite_e", identifier: ["b"], attributes: [sound, wrong])
        ])
        var registry = TransformerRegistry()
        registry.register("reverse") { String($0.reversed()) }
        let error = #expect(throws: ModelError.self) { try model.check(transformers: registry) }
        #expect(
            error?.mistakes.map(\.path) == [
                "$.entities.E.table", "$.entities.E.identifier[0]", "$.entities.E.attributes['']",
                "$.entities.E.attributes[''].default", "$.entities.E.attributes[''].timeZone",
            ]
        )
        #expect(throws: Never.self) {
            try ModelDescription(entities: [EntityDescription(name: "E", attributes: [sound])])
                .check(transformers: registry)
        }
    }

    @Test(
        arguments: [
            ("Type", "type"), ("tpye", "type"), ("time_zone", "timeZone"), ("max-length", "maxLength"),
            ("minLenght", "minLength"), ("bit", "bits"), ("wallclock", "wallClock"),
        ])
    func saysWhichKeyIsMeant(slip: String, key: String) {
        #expect(NameSuggestion.nearest(to: slip, among: AttributeKey.allCases.map(\.rawValue)) == key)
    }

    @Test(arguments: ["", "x", "mix", "nullable", "comment", "description", "relationships", "min max"])
    func saysNothingWhereNoKeyIsNear(name: String) {
        #expect(NameSuggestion.nearest(to: name, among: AttributeKey.allCases.map(\.rawValue)) == nil)
    }

    @Test func namesEveryMistakeOfAFileOnce() {
        let found = Self.mistakes(Self.file)
        #expect(found == Self.expected, "\(found.joined(separator: "\n"))")
    }

    private static let file = #"""
        {
          "$schema": "x", "entitys": {
            "": { "tabel": "sqlite_a", "attributes": { "a": { "type": "string" } } },
            "Person": {
              "records": "$.people[*]", "table": "", "identifier": ["guid", "gudi", "note", "guid"],
              "attributes": {
                "guid": { "type": "uuid", "generated": true, "default": "x" },
                "": { "type": "string", "column": "c" },
                "note": { "type": "string", "optional": true, "minLength": 3, "maxLength": 2, "pattern": "[",
                          "transform": ["trim", "rot13"], "default": "a", "enum": ["b", 1, "b", [], {}] },
                "when": { "type": "date", "format": ["iso8601", "qq", 5, "yyyy-mm-dd"], "timeZone": "Mars/Base",
                          "storage": "ticks", "wallClock": 1, "min": "2015-01-01", "max": "2014-01-01",
                          "enum": [true, "nobody knows"], "default": [] },
                "age": { "type": "integer16", "min": 40000, "max": "x", "enum": [1, 99999], "default": 1.5 },
                "size": { "type": "integer32", "min": 1, "max": 10, "enum": [0, 5, 11, null, 5.0], "default": 20 },
                "rights": { "type": "bitfield", "bits": { "a": 0, "b": 64, "c": "1", "d": 0, "e.f": 3, "e": 4 },
                            "default": { "b": true, "nobody": true, "x": { "y": 1 } } },
                "flags": { "type": "bitfield" },
                "data": { "type": "binary", "format": ["hex", "base64"], "maxLength": 2, "default": "Zm9vYmFy" },
                "made": { "typ": "date", "fromat": "dd/MM/yyyy", "optionl": true, "default": null, "nothing": 1 },
                "what": { "type": "strng", "minLength": "1", "maxLength": -1, "default": {}, "from": ["", "b", "b"] },
                "who": { "patern": "(", "transform": "Trim", "from": [1] },
                "B\u0000": { "type": "json", "column": "ROWID" },
                "b": { "type": "double", "column": "GUID", "optional": "no", "default": null }
              }
            },
            "Other": { "records": "$.people[*]", "table": "_IMPORT_x", "identifier": [], "attributes": {} },
            "Third": { "table": "person\u0000", "identifier": "id", "attributes": { "id": { "type": "uri", "min": 1 } } },
            "Third": { "table": 1, "records": "people", "attributes": [], "identifier": ["a"] },
            "third": { "attributes": { "id": 1 } },
            "Fourth": { "table": "OTHER", "userinfo": 1, "attributes": { "id": { "type": "json", "from": "$key[1]" } },
                        "records": "$[*]" },
            "Other2": { "table": "other", "links": {}, "attributes": { "id": { "type": null } } }
          }
        }
        """#

    private static let transformers =
        "collapseWhitespace, emptyToNull, htmlEscape, htmlUnescape, lowercase, "
        + "normalizeNFC, trim, uppercase"
    private static let keys =
        "type, optional, default, from, column, format, timeZone, wallClock, fraction, storage, bits, transform, min, max, "
        + "minLength, maxLength, pattern, enum, generated, owner, renamingIdentifier, userInfo"

    // In the order of the file.
    // swift-format-ignore
    private static let expected: [String] = [
        #"$.entitys: there is no such key; perhaps "entities" is meant"#,
        "$.entitys['']: a name must not be empty",
        #"$.entitys[''].tabel: there is no such key; perhaps "table" is meant"#,
        "$.entitys[''].tabel: tables whose names begin with sqlite_ or _import_ are not for users",
        "$.entitys.Person.table: a name must not be empty",
        #"$.entitys.Person.identifier[1]: names no attribute; perhaps "guid" is meant"#,
        "$.entitys.Person.identifier[2]: names an optional attribute",
        "$.entitys.Person.identifier[3]: is repeated",
        "$.entitys.Person.attributes.guid.default: is never used, as the value is generated",
        "$.entitys.Person.attributes['']: a name must not be empty",
        "$.entitys.Person.attributes.note.maxLength: is less than minLength",
        "$.entitys.Person.attributes.note.pattern: not a regular expression",
        "$.entitys.Person.attributes.note.transform[1]: no transformer is called 'rot13'; there are \(transformers)",
        "$.entitys.Person.attributes.note.enum[2]: is repeated",
        "$.entitys.Person.attributes.note.enum[3]: must be a string, not an array",
        "$.entitys.Person.attributes.note.enum[4]: must be a string, not an object",
        #"$.entitys.Person.attributes.when.format[1]: "qq", character 1: qq is not a supported part of a date; literal letters are written in quotes"#,
        "$.entitys.Person.attributes.when.format[2]: must be a string",
        #"$.entitys.Person.attributes.when.format[3]: "yyyy-mm-dd", character 6: a minute needs an hour (H; the month is M)"#,
        #"$.entitys.Person.attributes.when.timeZone: "Mars/Base": no time zone of this name; give one like Europe/Oslo, or an offset like +02:00"#,
        "$.entitys.Person.attributes.when.storage: must be one of iso8601, sqlite, unix, unixMilliseconds, unixReal, referenceDate, julianDay, "
            + "yyyy-MM-dd or a pattern such as yyyy-MM-dd HH:mm:ss",
        "$.entitys.Person.attributes.when.wallClock: must be true or false",
        "$.entitys.Person.attributes.when.max: is less than min",
        "$.entitys.Person.attributes.when.enum[0]: must be a date, not a boolean",
        "$.entitys.Person.attributes.when.default: must be a date, not an array",
        "$.entitys.Person.attributes.age.min: out of the range of integer16",
        "$.entitys.Person.attributes.age.max: this string is no integer16",
        "$.entitys.Person.attributes.age.enum[1]: out of the range of integer16",
        "$.entitys.Person.attributes.age.default: must be an integer16, not a number with a fraction",
        "$.entitys.Person.attributes.size.enum[0]: must be at least 1",
        "$.entitys.Person.attributes.size.enum[2]: must be at most 10",
        "$.entitys.Person.attributes.size.enum[3]: must not be null, but the attribute is not optional",
        "$.entitys.Person.attributes.size.enum[4]: is repeated",
        "$.entitys.Person.attributes.size.default: must be at most 10; must be one of 0, 5, 11, null",
        "$.entitys.Person.attributes.rights.bits.b: must be an integer from 0 to 63",
        "$.entitys.Person.attributes.rights.bits.c: must be an integer from 0 to 63",
        "$.entitys.Person.attributes.rights.bits.d: bit 0 is a already",
        "$.entitys.Person.attributes.rights.bits.e: is a flag, and the beginning of other flags' names",
        "$.entitys.Person.attributes.rights.default.nobody: there is no such flag",
        "$.entitys.Person.attributes.rights.default.x: there is no such flag",
        "$.entitys.Person.attributes.flags: a bitfield needs the names of its bits",
        "$.entitys.Person.attributes.data.format[0]: not a format of binary; there are base64, base64url, uuid, text, "
            + "any, decimal, numeric",
        "$.entitys.Person.attributes.data.default: must have at most 2 bytes",
        #"$.entitys.Person.attributes.made.typ: there is no such key; perhaps "type" is meant"#,
        #"$.entitys.Person.attributes.made.fromat: there is no such key; perhaps "format" is meant"#,
        #"$.entitys.Person.attributes.made.optionl: there is no such key; perhaps "optional" is meant"#,
        "$.entitys.Person.attributes.made.nothing: there is no such key; an attribute may have \(keys)",
        #"$.entitys.Person.attributes.what.type: not a type; perhaps "string" is meant"#,
        "$.entitys.Person.attributes.what.minLength: must be an integer, 0 or more",
        "$.entitys.Person.attributes.what.maxLength: must be an integer, 0 or more",
        "$.entitys.Person.attributes.what.default: must be a string, not an object",
        "$.entitys.Person.attributes.what.from[0]: not an attribute path: at character 1: a key is missing",
        "$.entitys.Person.attributes.what.from[2]: is repeated",
        "$.entitys.Person.attributes.who: the type is missing",
        #"$.entitys.Person.attributes.who.patern: there is no such key; perhaps "pattern" is meant"#,
        "$.entitys.Person.attributes.who.patern: not a regular expression",
        "$.entitys.Person.attributes.who.transform: no transformer is called 'Trim'; there are \(transformers)",
        "$.entitys.Person.attributes.who.from[0]: must be a string",
        #"$.entitys.Person.attributes['B\u0000']: a name cannot hold the character U+0000"#,
        #"$.entitys.Person.attributes['B\u0000'].column: a column of this name hides SQLite's row id; give it another with "column""#,
        "$.entitys.Person.attributes.b.column: the column of guid has this name already; SQLite ignores case",
        "$.entitys.Person.attributes.b.optional: must be true or false",
        "$.entitys.Other.table: tables whose names begin with sqlite_ or _import_ are not for users",
        "$.entitys.Other.identifier: names no attribute; leave it out where no two records are the same object",
        "$.entitys.Other.attributes: there is no attribute",
        "$.entitys.Third.table: a name cannot hold the character U+0000",
        #"$.entitys.Third.identifier: must be a list of attributes' names, like ["id"]"#,
        "$.entitys.Third.attributes.id.min: only for integer16, integer32, integer64, float, double, decimal, date",
        "$.entitys.Third: is repeated",
        "$.entitys.Third.table: must be a string",
        "$.entitys.Third.records: not a record path: at character 1: a record path begins with $",
        "$.entitys.Third.attributes: must be an object",
        "$.entitys.third.attributes.id: must be an object",
        #"$.entitys.Fourth.userinfo: there is no such key; perhaps "userInfo" is meant"#,
        "$.entitys.Fourth.attributes.id.from: can never match: a record has a key for each .* of its path",
        "$.entitys.Other2.table: the table of Fourth has this name already; SQLite ignores case",
        "$.entitys.Other2.links: there is no such key; an entity may have records, table, identifier, attributes, "
            + "relationships, parent, abstract, indexes, together, subentity, renamingIdentifier, userInfo",
        "$.entitys.Other2.attributes.id.type: must be a string",
    ]
}
