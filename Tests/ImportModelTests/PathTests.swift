import Foundation
import Testing

@testable import ImportModel

struct PathTests {
    static let anyKeys = [
        "", "a", "name", "a.b", "639-3", "a b", "'", "\"", "\\", "]", "['x']", "$", "$key", "*", "\0", "\n\t\u{1b}[31m",
        "é",
        "e\u{301}", "\u{301}", "漢字", "😀", "\u{FEFF}ISO", "\u{202E}x", "\u{2028}", "👨‍👩‍👧", "\u{10FFFF}", "_", "-", "0",
        "\u{7f}",
        "\u{9b}", "a\u{a0}b", "\\u0041", String(repeating: "k", count: 10_000),
    ]

    @Test func readsRecordPaths() throws {
        let rows: [(String, [RecordPath.Step])] = [
            ("$", []), ("$[*]", [.anyElement]), ("$.*", [.anyMember]), ("$.items[*]", [.key("items"), .anyElement]),
            ("$.users.*", [.key("users"), .anyMember]), ("$['639-3'][*]", [.key("639-3"), .anyElement]),
            ("$[\"a'b\"]", [.key("a'b")]), (#"$['a\'b\\\u0041\ud83d\ude00\n']"#, [.key("a'b\\A😀\n")]),
            ("$.639-3[*][*].*", [.key("639-3"), .anyElement, .anyElement, .anyMember]), ("$['']", [.key("")]),
            ("$.große_名前", [.key("große_名前")]),
        ]
        for (text, steps) in rows {
            #expect(try RecordPath(text).steps == steps, "\(text)")
        }
        #expect(try RecordPath("$.a.*").isKeyed)
    }

    @Test func countsAndNamesTheKeysOnTheWay() throws {
        let path = try RecordPath("$.*.files[*].*.functions.*.*[*]")
        #expect(path.keyCount == 4 && !path.isKeyed)
        #expect((0..<5).map { path.name(ofKey: $0) } == [nil, "functions", "files", nil, nil])
        for text in ["$key", "$key[1]", "$key[12]"] { #expect(try AttributePath(text).description == text) }
        #expect(try AttributePath("$key[3]").keyLevel == 3)
        #expect(try AttributePath("key").keyLevel == nil)
        for text in ["$key[0]", "$key[01]", "$key[-1]", "$key[]", "$key[1", "$key[1]x", "$key[99999999]", "$key1"] {
            #expect(throws: PathSyntaxError.self, "\(text)") { try AttributePath(text) }
        }
    }

    @Test func writesPathsInTheirCanonicalForm() {
        #expect(RecordPath(steps: []).description == "$")
        #expect(RecordPath(steps: [.key("items"), .anyElement]).description == "$.items[*]")
        #expect(RecordPath(steps: [.key("639-3"), .anyElement]).description == "$['639-3'][*]")
        #expect(RecordPath(steps: [.key("it's"), .anyMember]).description == #"$['it\'s'].*"#)
        #expect(AttributePath(keys: ["name", "full"]).description == "name.full")
        #expect(AttributePath(keys: ["a.b", "c"]).description == "['a.b'].c")
        #expect(AttributePath(keys: ["a", "b c", "d"]).description == "a['b c'].d")
        #expect(AttributePath.recordKey.description == "$key")
        #expect(AttributePath.record.description == "$")
        #expect(AttributePath(keys: ["$key"]).description == "['$key']")
        #expect(AttributePath(keys: ["\u{FEFF}ISO\u{1b}"]).description == #"['\ufeffISO\u001b']"#)
    }

    @Test func roundTripsAnyKey() throws {
        for key in Self.anyKeys {
            for other in Self.anyKeys.prefix(key.utf8.count < 1_000 ? 12 : 1) {
                let record = RecordPath(steps: [.key(key), .anyElement, .key(other), .anyMember, .key(key)])
                let attribute = AttributePath(keys: [key, other, key])
                let readRecord = try RecordPath(record.description)
                let readAttribute = try AttributePath(attribute.description)
                #expect(readRecord == record)
                #expect(readAttribute == attribute && !readAttribute.isRecordKey)
                // Strings are equal when they look the same: compare what they are made of.
                #expect(zip(readAttribute.keys, attribute.keys).allSatisfy { $0.utf8.elementsEqual($1.utf8) })
                #expect(readRecord.description.utf8.elementsEqual(record.description.utf8))
            }
        }
        #expect(try AttributePath("$key").isRecordKey)
        #expect(try AttributePath("$") == .record)
    }

    @Test func writesNothingThatATerminalObeys() {
        for key in Self.anyKeys {
            let text = AttributePath(keys: [key]).description
            #expect(!text.unicodeScalars.contains { $0.isInvisible })
        }
    }

    @Test func saysWhereARecordPathIsWrong() {
        let rows: [(String, Int)] = [
            ("", 1), ("items", 1), ("$items", 2), ("$.", 3), ("$..a", 3), ("$.a b", 4), ("$[", 3), ("$[*", 4),
            ("$[0]", 3),
            ("$['a", 5), ("$['a'", 6), ("$[a]", 3), ("$.a*", 4), ("$['\\x']", 4), ("$['\\ud800']", 4),
            ("$['\\u00g0']", 8),
            ("$['\\ud800\\u0041']", 4), ("$['a\nb']", 5), ("$['a\\", 6),
        ]
        for (text, position) in rows {
            #expect(throws: PathSyntaxError.self) { try RecordPath(text) }
            do throws(PathSyntaxError) {
                _ = try RecordPath(text)
            } catch {
                #expect(error.position == position, "\(text): \(error)")
            }
        }
    }

    @Test func refusesWhatIsNoAttributePath() {
        for text in [
            "", ".", "a.", ".a", "a..b", "$.a", "$keys", "$key.a", "a b", "a[0]", "a[*]", "a.*", "['a'", "['a']b",
            "@id",
        ] {
            #expect(throws: PathSyntaxError.self, "\(text)") { try AttributePath(text) }
        }
    }

    @Test func areCodedAsTheirText() throws {
        let paths = try [RecordPath("$['a b'][*]"), .root]
        let attributes = try [AttributePath("a.b"), .recordKey]
        #expect(String(decoding: try JSONEncoder().encode(paths), as: UTF8.self) == #"["$['a b'][*]","$"]"#)
        #expect(try JSONDecoder().decode([RecordPath].self, from: JSONEncoder().encode(paths)) == paths)
        #expect(try JSONDecoder().decode([AttributePath].self, from: JSONEncoder().encode(attributes)) == attributes)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([RecordPath].self, from: Data(#"["items"]"#.utf8))
        }
    }
}
