import Foundation
import TestSupport
import Testing

/// Without a model, an import into a table that is there begins from what the store has.
struct ContinuedImportTests {
    private static let errors = "SELECT attribute, kind FROM _import_ledger WHERE is_error"
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("people.sqlite")
    }

    /// Imports records as another night's file, into the table `people`.
    @discardableResult
    private func night(_ records: String, _ options: [String] = []) throws -> ChildProcess.Result {
        let name = "night-\(UUID().uuidString).ndjson"
        let source = try directory.write(records, to: name)
        return try run([Project.importer, source, "--into", store, "--entity", "people"] + options)
    }

    private func rows(_ columns: String = "*") throws -> String {
        try StoreContent.query(store, "SELECT \(columns) FROM people ORDER BY rowid")
    }

    private static let first = """
        {"id":1,"score":1.5,"name":"a","seen":"2024-01-01T00:00:00Z","key":"f81d4fae-7dec-11d0-a765-00a0c91e6bf6","note":"x"}
        {"id":2,"score":2.5,"name":"b","seen":"2024-01-02T00:00:00Z","key":"f81d4fae-7dec-11d0-a765-00a0c91e6bf7","note":"y"}

        """

    @Test(arguments: [
        (#"{"id":3,"note":null,"name":null,"score":null}"#, "3|||||"),
        (#"{"id":3,"score":7}"#, "3|7.0||||"),
        (#"{"id":3,"name":12}"#, "3||12|||"),
        (#"{"id":3,"seen":"2024-01-01T02:00:00+02:00"}"#, "3|||2024-01-01T00:00:00.000Z||"),
        (#"{"id":3,"key":"F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6"}"#, "3||||f81d4fae-7dec-11d0-a765-00a0c91e6bf6|"),
        (#"{"id":"3","score":"0.5"}"#, "3|0.5||||"),
    ])
    func takesWhatCanBeCoercedNightAfterNight(record: String, row: String) throws {
        #expect(try night(Self.first).ending == .exit(0))
        // Twice, as the second night is where the third begins.
        for count in [3, 4] {
            let result = try night(record + "\n")
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(!result.errorText.contains("new columns"), "\(result.errorText)")
            #expect(try rows().split(separator: "\n").count == count)
            #expect(try rows().hasSuffix(row))
        }
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func rejectsWhatDoesNotFitAsUnderAModel() throws {
        #expect(try night(Self.first).ending == .exit(0))
        let result = try night(
            """
            {"id":3.5}
            {"id":4,"seen":"yesterday"}
            {"id":5,"name":{"first":"a"}}
            {"id":6}

            """
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try rows("id") == "1\n2\n6")
        let errors = try StoreContent.query(store, "\(Self.errors) ORDER BY first_ordinal")
        #expect(errors == "id|notIntegral\nseen|wrongForm\nname|wrongKind", "\(errors)")
    }

    @Test func makesColumnsOfWhatIsNewAndSaysSoInOneLine() throws {
        #expect(try night("{\"id\":1,\"tags\":[1],\"at\":{\"city\":\"x\"}}\n").ending == .exit(0))
        let second = #"{"id":2,"nick":"n","tags":{"a":1},"at":{"zip":7,"city":"y"},"score":1.5}"#
        let result = try night(second + "\n")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.errorText.contains("new columns in people: nick (string), at_zip (integer64), score (double)\n"))
        #expect(try rows() == "1|[1]|x|||\n2|{\"a\":1}|y|n|7|1.5")
        let columns = try StoreContent.query(store, "SELECT group_concat(name) FROM pragma_table_info('people')")
        #expect(columns == "id,tags,at_city,nick,at_zip,score")
    }

    /// A source alone would say other things of what is nested.
    @Test(arguments: [
        ("{\"v\":{\"a\":1}}", "{\"v\":{}}\n{\"v\":{\"a\":2,\"b\":3}}", "1|\n|\n2|3"),
        ("{\"v\":{\"a\":1}}\n{\"v\":5}", "{\"v\":{\"a\":2}}", "{\"a\":1}\n5\n{\"a\":2}"),
        ("[[1]]\n[[2]]", "{\"a\":1}", "[[1]]\n[[2]]\n{\"a\":1}"),
        ("[1]\n[2]", "[3]", "1\n2\n3"),
    ])
    func keepsTheStoresKeyPaths(first: String, second: String, expected: String) throws {
        #expect(try night(first + "\n").ending == .exit(0))
        let result = try night(second + "\n")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try rows() == expected)
    }

    @Test func keepsTheIdentifierAndMergesByIt() throws {
        let first = try night("{\"id\":1,\"n\":\"a\"}\n{\"id\":2,\"n\":\"b\"}\n", ["--identifier", "id"])
        #expect(first.ending == .exit(0))
        let result = try night("{\"id\":2,\"n\":\"c\"}\n{\"n\":\"d\"}\n")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try rows() == "1|a\n2|c")
        // What has no identifier is a reject.
        #expect(try StoreContent.query(store, Self.errors) == "id|missingValue")
    }

    /// A model that was given continues to count: its types, key paths, defaults and what it demands.
    @Test func goesOnAsTheGivenModelSays() throws {
        let model = try directory.write(
            """
            {"entities":{"people":{"records":"$","identifier":["id"],"attributes":{
              "id":{"type":"integer64","from":"key.id"}, "name":{"type":"string","from":["full","n"]},
              "born":{"type":"date","format":["yyyy"],"optional":true}, "rank":{"type":"integer16","default":7}}}}}
            """,
            to: "model.json"
        )
        #expect(try night(#"{"key":{"id":1},"n":"a","born":"1980"}"# + "\n", ["--model", model]).ending == .exit(0))
        let result = try night(
            """
            {"key":{"id":2,"part":"p"},"full":"b","born":"1990"}
            {"key":{"id":1},"full":"c"}
            {"key":{"id":3}}

            """
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.errorText.contains("new columns in people: key_part (string)\n"), "\(result.errorText)")
        #expect(try rows() == "1|c|1980-01-01T00:00:00.000Z|7|\n2|b|1990-01-01T00:00:00.000Z|7|p")
        #expect(try StoreContent.query(store, Self.errors) == "full|missingValue")
    }

    /// A table of a person's own counts by the affinity of its columns.
    @Test func takesTablesOfAPersonsOwn() throws {
        _ = try Python.run(
            text: """
                import sqlite3, sys
                sqlite3.connect(sys.argv[1]).executescript('''CREATE TABLE people (id BIGINT, Name VARCHAR(20), score DOUBLE
                PRECISION, price DECIMAL(10,2), born DATE, ok BOOLEAN, at_city NVARCHAR(9), any, made TEXT NOT NULL DEFAULT 'now',
                twice INTEGER AS (id * 2)); INSERT INTO people (id, Name) VALUES (1, 'a');''')
                """,
            [store]
        )
        let record = """
            {"id":"7","name":"b","score":2,"price":1.25,"born":"2024-02-29","ok":true,"at":{"city":"x"},"any":5,"twice":9}

            """
        for _ in 1...2 {
            let result = try night(record)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(!result.errorText.contains("new columns"), "\(result.errorText)")
        }
        let row = "7|b|2.0|1.25|2024-02-29|1|x|5|now|14"
        #expect(try rows() == "1|a|||||||now|2\n\(row)\n\(row)")
        let types = try StoreContent.query(
            store,
            "SELECT DISTINCT typeof(id), typeof(score), typeof(any) FROM people WHERE id = 7"
        )
        #expect(types == "integer|real|integer")
        // What the table computes is nobody's to write.
        let unknown = "SELECT DISTINCT attribute FROM _import_ledger WHERE kind = 'unknownKey'"
        #expect(try StoreContent.query(store, unknown) == "twice")
    }

    /// What the store has, the source and the options decide, not who saw which record.
    @Test(arguments: ["1", "3"])
    func doesNotDependOnWorkersNorOnInterruptions(workers: String) throws {
        let records = (0..<400).map { index in
            "{\"id\":\(index),\"n\":\(index % 7 == 0 ? "null" : "\"\(index)\""),\"k\(index % 5)\":\(index)}"
        }
        let first = records[..<100].joined(separator: "\n") + "\n"
        let second = records[100...].joined(separator: "\n").replacing("\"n\":\"2", with: "\"m\":\"2") + "\n"
        let source = try directory.write(second, to: "second.ndjson")
        var results: Set<String> = []
        for way in ["whole", "in parts"] {
            let store = directory.path("\(way).sqlite")
            let one = try directory.write(first, to: "first.ndjson")
            #expect(try runImporter(one, "--into", store, "--entity", "people").ending == .exit(0))
            let options = ["--into", store, "--entity", "people", "--workers", workers, "--commit-every", "30"]
            if way == "in parts" {
                // The last line breaks off: what is before it is imported under a model of its own.
                try directory.write(String(second.dropLast(second.utf8.count / 2 + 5)), to: "second.ndjson")
                #expect(try run([Project.importer, source] + options).ending == .exit(65))
                try directory.write(second, to: "second.ndjson")
            }
            let result = try run([Project.importer, source] + options)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            results.insert(try StoreContent.digest(store))
        }
        #expect(results.count == 1)
    }

    /// Of a table that never had a row nothing is known.
    @Test func beginsAnewWhereNothingHasComeYet() throws {
        let empty = try directory.write("[]", to: "people.json")
        #expect(try runImporter(empty, "--into", store, "--entity", "people").ending == .exit(0))
        #expect(try night("{\"id\":1,\"n\":{\"a\":2}}\n", ["--identifier", "id"]).ending == .exit(0))
        #expect(try rows() == "1|2")
        #expect(try StoreContent.query(store, "SELECT pk FROM pragma_table_info('people') WHERE name = 'id'") == "1")
    }
}
