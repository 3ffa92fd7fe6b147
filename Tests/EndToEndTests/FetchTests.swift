import Foundation
import TestSupport
import Testing

struct FetchTests {
    private static let model = """
        {"entities": {"Thing": {"table": "things", "attributes": {
          "n": {"type": "integer32", "from": "number", "optional": true, "default": 5},
          "text": {"type": "string", "optional": true}, "price": {"type": "decimal", "optional": true},
          "part": {"type": "float", "optional": true}, "on": {"type": "boolean", "optional": true},
          "day": {"type": "date", "format": "dd/MM/yyyy", "optional": true},
          "time": {"type": "date", "storage": "unixMilliseconds", "optional": true},
          "raw": {"type": "json", "optional": true}, "bytes": {"type": "binary", "format": "base64url", "optional": true},
          "flags": {"type": "bitfield", "bits": {"a": 0, "b.c": 63}, "optional": true}}}}}
        """

    private static let records = """
        [{"number": 1, "text": "a,\\"b\\"\\n\\u0000|\\u001b[31m <é>", "price": 12345678901234567890.125, "part": 0.1,
          "on": true, "day": "29/02/2024", "time": "2024-02-29T01:02:03.456Z", "raw": {"k": [1, 2.50, "\\ud800\u{85}"]},
          "bytes": "__8", "flags": {"a": true, "b": {"c": true}}},
         {"number": null, "text": "", "price": 1E+30, "part": -0.0, "on": false, "raw": "x", "bytes": ""},
         {"text": "日本 e\u{301}", "price": 0.10, "raw": [], "flags": {"a": false}}]
        """

    private func store() throws -> (directory: TemporaryDirectory, store: String) {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.records, to: "things.json")
        let model = try directory.write(Self.model, to: "model.json")
        let store = directory.path("things.sqlite")
        let result = try runImporter("import", source, "--into", store, "--model", model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return (directory, store)
    }

    private func fetch(_ arguments: String...) throws -> ChildProcess.Result {
        try run([Project.importer, "fetch"] + arguments)
    }

    /// Every type, and what is in no text by chance.
    @Test func printsWhatCanBeImportedAgain() throws {
        let (directory, store) = try store()
        let lines = try fetch(store, "Thing", "--format", "ndjson")
        #expect(lines.ending == .exit(0))
        let again = try directory.write(lines.output, to: "again.ndjson")
        let model = try directory.write(try fetch(store, "Thing", "--print-model").output, to: "again.json")
        let copy = directory.path("copy.sqlite")
        let result = try runImporter("import", again, "--into", copy, "--model", model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.text(copy) == StoreContent.text(store))
    }

    @Test(arguments: [true, false]) func printsPeopleThatCanBeImportedAgain(hasModel: Bool) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Samples.people(count: 5_000, seed: 3).array, to: "people.json")
        let store = directory.path("people.sqlite")
        let options = hasModel ? ["--model", try directory.write(Samples.model(), to: "model.json")] : []
        _ = try run([Project.importer, "import", source, "--into", store] + options)
        let entity = try StoreContent.tables(store)[0]
        let again = try directory.write(try fetch(store, entity, "--format", "ndjson").output, to: "\(entity).ndjson")
        let model = try directory.write(try fetch(store, entity, "--print-model").output, to: "again.json")
        let copy = directory.path("copy.sqlite")
        let result = try run(
            [Project.importer, "import", again, "--into", copy] + (hasModel ? ["--model", model] : [])
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.rowCount(copy) > 4_000)
        #expect(try StoreContent.digest(copy) == StoreContent.digest(store))
    }

    @Test func printsWhatPythonReads() throws {
        let (directory, store) = try store()
        let script = """
            import csv, decimal, io, json, sqlite3, sys
            things = json.loads(open(sys.argv[1], encoding='utf-8').read(), parse_float=decimal.Decimal)
            lines = [json.loads(l, parse_float=decimal.Decimal) for l in open(sys.argv[2], encoding='utf-8')]
            assert things == lines, (things, lines)
            rows = list(sqlite3.connect(sys.argv[4]).execute('SELECT * FROM things ORDER BY rowid'))
            assert [t['n'] for t in things] == [r[0] for r in rows] == [1, None, 5]
            assert [t['text'] for t in things] == [r[1] for r in rows]
            assert [t['price'] for t in things] == [decimal.Decimal(r[2]) for r in rows]
            assert [t['on'] for t in things] == [True, False, None]
            assert things[0]['day'] == '2024-02-29T00:00:00.000Z' and things[0]['time'] == '2024-02-29T01:02:03.456Z'
            assert things[0]['flags'] == {'a': True, 'b': {'c': True}} and things[0]['bytes'] == '__8='
            assert things[0]['raw']['k'][:2] == [1, decimal.Decimal('2.50')]
            # Python's reader takes no NUL before 3.11.
            text = open(sys.argv[3], encoding='utf-8', newline='').read().replace(chr(0), '0')
            table = list(csv.DictReader(io.StringIO(text)))
            assert [t['text'] for t in table] == [r[1].replace(chr(0), '0') for r in rows], table
            assert [t['n'] for t in table] == ['1', '', '5'] and [t['on'] for t in table] == ['true', 'false', '']
            print('same')
            """
        var paths: [String] = []
        for format in ["json", "ndjson", "csv"] {
            let output = try fetch(store, "Thing", "--format", format)
            #expect(output.ending == .exit(0))
            paths.append(try directory.write(output.output, to: "out.\(format)"))
        }
        let result = try Python.run(text: script, paths + [store])
        #expect(result.outputText == "same\n", "\(result.errorText)")
    }

    @Test func printsNoControlCharactersInTables() throws {
        let (directory, store) = try store()
        defer { withExtendedLifetime(directory) {} }
        for format in ["table", "markdown", "json", "ndjson"] {
            let output = try fetch(store, "Thing", "--format", format, "--columns", "text,n,rowid").outputText
            #expect(
                !output.unicodeScalars.contains { $0 != "\n" && ($0.value < 0x20 || (0x7F..<0xA0).contains($0.value)) }
            )
            #expect(output.contains("日本"))
        }
        let table = try fetch(store, "Thing", "--columns", "rowid,on", "--limit", "2").outputText
        #expect(table == "rowid  on\n-----  -----\n    1  true\n    2  false\n")
    }

    @Test func printsDatesAsAsked() throws {
        let (directory, store) = try store()
        defer { withExtendedLifetime(directory) {} }
        func dates(_ style: String) throws -> String {
            try fetch(store, "Thing", "--columns", "day,time", "--limit", "1", "--format", "ndjson", "--dates", style)
                .outputText
        }
        #expect(try dates("dotnet") == "{\"day\":\"/Date(1709164800000)/\",\"time\":\"/Date(1709168523456)/\"}\n")
        #expect(try dates("unix") == "{\"day\":1709164800,\"time\":1709168523.456}\n")
        #expect(
            try dates("iso8601") == "{\"day\":\"2024-02-29T00:00:00.000Z\",\"time\":\"2024-02-29T01:02:03.456Z\"}\n"
        )
    }

    /// Predicates, and what SQLite's own words for them give.
    @Test(arguments: [
        ("age > 30 and age <= 40", "age > 30 AND age <= 40"),
        ("not (age = 30 or age = 31)", "NOT (age = 30 OR age = 31)"),
        ("zip is not null and not late", "zip IS NOT NULL AND late = 0"),
        ("age not in (30, 31)", "age NOT IN (30, 31)"),
        ("name like '%NN \"_5\"%'", "name LIKE '%nn \"_5\"%'"), ("tags contains 't3'", "instr(tags, 't3')"),
        ("zip not between '03' and '05'", "zip NOT BETWEEN '03' AND '05'"),
        ("city begins with 'Z'", "substr(city, 1, 1) = 'Z'"), ("city ends with 'ville'", "substr(city, -5) = 'ville'"),
        ("created < '2024-05-01' or 1000 < id", "created < '2024-05-01T00:00:00.000Z' OR id > 1000"),
        ("balance >= 50000.5 or balance < 9.0", "CAST(balance AS REAL) >= 50000.5 OR CAST(balance AS REAL) < 9.0"),
    ])
    func countsWhatSQLiteCounts(predicate: String, sql: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Samples.people(count: 2_000, seed: 4).array, to: "people.json")
        let model = try directory.write(Samples.model(), to: "model.json")
        let store = directory.path("people.sqlite")
        _ = try runImporter("import", source, "--into", store, "--model", model)
        let result = try fetch(store, "Person", "--where", predicate, "--count")
        let expected = try StoreContent.query(store, "SELECT count(*) FROM person WHERE \(sql)")
        #expect(result.outputText == expected + "\n", "\(result.errorText)")
        #expect(expected != "0" && expected != "2000")
    }

    @Test func showsAMistakeWithACaret() throws {
        let (directory, store) = try store()
        defer { withExtendedLifetime(directory) {} }
        let result = try fetch(store, "Thing", "--where", "on and 日本 = 'x")
        #expect(result.ending == .exit(64))
        #expect(result.errorText.contains("  on and 日本 = 'x\n                ^~\n"))
        let other = try fetch(store, "Thing", "--where", "prise > 3")
        #expect(other.errorText.contains("did you mean price?\n  prise > 3\n  ^~~~~\n"))
        #expect(try fetch(store, "Thng").errorText.contains("did you mean Thing?"))
        #expect(try fetch(store, "Thng").ending == .exit(66))
        #expect(try fetch(store, "Thing", "--sort", "nope").ending == .exit(64))
        #expect(try fetch(store, "Thing", "--columns", "nope").ending == .exit(64))
        #expect(try fetch(store + "x", "Thing").ending == .exit(66))
        #expect(try fetch(Project.root.appending(path: "README.md").path, "Thing").ending == .exit(74))
    }

    /// One may have rows without end, and none of its rows has a row id.
    @Test func aViewInATablesPlaceIsNoEntity() throws {
        let (directory, store) = try store()
        defer { withExtendedLifetime(directory) {} }
        let view = """
            DROP TABLE things; CREATE VIEW things AS WITH RECURSIVE c (n, text) AS (
                SELECT 1, 'x' UNION ALL SELECT n + 1, 'x' FROM c
            ) SELECT * FROM c
            """
        try StoreContent.execute(store, view)
        let result = try runImporter("fetch", store, "Thing", "--limit", "3")
        #expect(result.ending == .exit(66))
        #expect(result.errorText.contains("has no entity Thing"))
        let list = try runImporter("fetch", store, "--json")
        #expect(list.ending == .exit(0))
        #expect(list.outputText.filter { !$0.isWhitespace } == "[]")
    }

    @Test func endsQuietlyWhenItsReaderIsGone() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Samples.people(count: 20_000, seed: 5).array, to: "people.json")
        let store = directory.path("people.sqlite")
        _ = try runImporter("import", source, "--into", store)
        for format in ["table", "ndjson", "csv"] {
            let command =
                "'\(Project.importer)' fetch '\(store)' people --format \(format) | head -1; echo ${PIPESTATUS[0]}"
            let result = try run(["bash", "-c", command])
            #expect(result.outputText.hasSuffix("\n0\n"))
            #expect(result.errors.isEmpty)
        }
    }
}
