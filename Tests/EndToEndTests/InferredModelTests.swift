import Foundation
import TestSupport
import Testing

/// What is said of an inferred model (`--identifier`, `--type`) and of indexes (`--index`) counts, or is refused before
/// anything is imported.
struct InferredModelTests {
    private static let text = """
        [{"id":3,"at":{"no":1},"name":"a","zip":"01"}, {"id":1,"at":{"no":1},"name":"b","zip":2},
         {"id":3,"at":{"no":1},"name":"c"}, {"id":3,"at":{"no":2},"name":null,"zip":"x"}]
        """

    @Test func mergesByTheIdentifierAsWithThePrintedModel() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.text, to: "p.json")
        let said = ["--identifier", "id,at_no", "--type", "zip:integer32", "--type", "id:string"]
        let store = directory.path("store.sqlite")
        let result = try run([Project.importer, source, "--into", store, "--json"] + said)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        // The zip that is no integer makes its record a reject.
        #expect(try StoreContent.query(store, "SELECT *, typeof(zip) FROM p") == "3|1|c|1|integer\n1|1|b|2|integer")
        let report = try Report(result.output)
        #expect((report.inserted, report.updated, report.rejected) == (2, 1, 1))
        let printed = try run([Project.importer, "infer", source] + said)
        #expect(printed.outputText.contains("\"identifier\": [\"id\", \"at_no\"]"), "\(printed.outputText)")
        let model = try directory.write(printed.output, to: "model.json")
        let other = directory.path("other.sqlite")
        #expect(try runImporter(source, "--into", other, "--model", model).ending == .exit(0))
        #expect(try StoreContent.digest(other) == StoreContent.digest(store))
    }

    @Test(arguments: [
        (["--identifier", "nr"], Int32(64), "id, at_no, name, zip"), (["--identifier", "id,id"], 64, "twice"),
        (["--type", "nr:string"], 64, "id, at_no, name, zip"), (["--type", "id:text"], 64, "integer16"),
        (["--type", "id:bitfield"], 64, "bits"), (["--type", "id"], 64, "NAME:TYPE"),
        (["--type", "id:string", "--type", "id:json"], 64, "more than once"),
        (["--index", "id,nr"], 64, "id, at_no, name, zip"),
        (["--identifier", "id", "--model", "MODEL"], 64, "--model"),
        (["--type", "id:json", "--model", "MODEL"], 64, "--model"),
        (["--index", "nr", "--model", "MODEL"], 64, "T has: id"),
    ])
    func refusesWhatCannotBe(_ options: [String], _ code: Int32, _ words: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.text, to: "p.json")
        let model = try directory.write(
            "{\"entities\":{\"T\":{\"records\":\"$[*]\",\"attributes\":{\"id\":{\"type\":\"integer64\"}}}}}",
            to: "model.json"
        )
        let store = directory.path("store.sqlite")
        let options = options.map { $0 == "MODEL" ? model : $0 }
        let result = try run([Project.importer, source, "--into", store] + options)
        #expect(result.ending == .exit(code), "\(result.errorText)")
        #expect(result.errorText.contains(words), "\(result.errorText)")
        // Nothing is in the way of saying it rightly.
        let right = try runImporter(source, "--into", store, "--identifier", "id,at_no")
        #expect(options.contains("id,nr") || right.ending == .exit(0), "\(right.errorText)")
    }

    @Test func aRecordWithoutTheIdentifierIsAReject() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"id":1},{"id":2,"x":1},{"x":2},{"id":null},{"id":2,"x":3}]"#, to: "p.json")
        let store = directory.path("store.sqlite")
        let result = try runImporter(source, "--into", store, "--identifier", "id", "--json")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let report = try Report(result.output)
        #expect((report.inserted, report.updated, report.rejected) == (2, 1, 2))
        #expect(try StoreContent.query(store, "SELECT id, x FROM p ORDER BY id") == "1|\n2|3")
        #expect(try runImporter("rejects", store).outputText.contains("id"))
    }

    @Test func namesIdentifiersOfSeveralEntities() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(
            "{\"users\":[{\"id\":1,\"k\":2},{\"id\":1,\"k\":2}],\"orders\":[{\"id\":5},{\"id\":5},{\"id\":6}]}",
            to: "p.json"
        )
        let paths = ["--records", "$.users[*]", "--records", "$.orders[*]"]
        let store = directory.path("store.sqlite")
        let unclear = try run([Project.importer, source, "--into", store, "--identifier", "id"] + paths)
        #expect(unclear.ending == .exit(64))
        #expect(unclear.errorText.contains("users:id"))
        #expect(!FileManager.default.fileExists(atPath: store))
        let said = ["--identifier", "users:id,k", "--identifier", "orders:id", "--type", "id:string"]
        let result = try run([Project.importer, source, "--into", store] + paths + said)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT * FROM users") == "1|2")
        #expect(try StoreContent.query(store, "SELECT id, typeof(id) FROM orders") == "5|text\n6|text")
    }

    @Test func keepsWhatWasSaidForAResume() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"id\":1},{\"id\":1} oops", to: "p.json")
        let store = directory.path("store.sqlite")
        #expect(try runImporter(source, "--into", store, "--identifier", "id").ending == .exit(65))
        let other = try runImporter(source, "--into", store, "--type", "id:string")
        #expect(other.ending == .exit(64))
        #expect(other.errorText.contains("started with --identifier, without --type"), "\(other.errorText)")
        try directory.write("[{\"id\":1},{\"id\":1},{\"id\":2}]", to: "p.json")
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM p") == "2")
    }

    // MARK: Indexes

    private static let indexes =
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'p' ORDER BY 1"

    @Test func buildsIndexesThatAreNotThere() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.text, to: "p.json")
        let store = directory.path("store.sqlite")
        let job = [Project.importer, source, "--into", store, "--identifier", "id,at_no"]
        let first = try run(job + ["--index", "name,zip", "--index", "id,at_no", "--index", "name"])
        #expect(first.ending == .exit(0))
        // Anyone who has chosen an identifier needs no candidates.
        #expect(!first.errorText.contains("in every record"), "\(first.errorText)")
        let built = try StoreContent.query(store, Self.indexes)
        #expect(
            built == """
                p_name|CREATE INDEX "p_name" ON "p" ("name")
                p_name_zip|CREATE INDEX "p_name_zip" ON "p" ("name", "zip")
                sqlite_autoindex_p_1|
                """
        )
        // Those that are there count; a partial one does not, and its name is accepted.
        try StoreContent.execute(
            store,
            "DROP INDEX p_name; CREATE INDEX p_name ON p (name) WHERE name > 'a'; CREATE INDEX mine ON p (zip)"
        )
        let again = try run(job + ["--again", "--index", "name", "--index", "zip", "--index", "zip"])
        #expect(again.ending == .exit(0), "\(again.errorText)")
        let names = try StoreContent.query(store, Self.indexes).split(separator: "\n").map { $0.prefix { $0 != "|" } }
        #expect(names == ["mine", "p_name", "p_name_2", "p_name_zip", "sqlite_autoindex_p_1"])
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func buildsTheIndexesThatTheFirstRunWasAskedForAndThoseAskedForAfterwards() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"a\":1,\"b\":2},{\"a\":1} oops", to: "p.json")
        let store = directory.path("store.sqlite")
        #expect(try runImporter(source, "--into", store, "--index", "a").ending == .exit(65))
        try directory.write("[{\"a\":1,\"b\":2},{\"a\":1}]", to: "p.json")
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try StoreContent.query(store, Self.indexes) == "p_a|CREATE INDEX \"p_a\" ON \"p\" (\"a\")")
        #expect(try runImporter(source, "--into", store, "--index", "c").ending == .exit(64))
        let again = try runImporter(source, "--into", store, "--index", "b,a", "--index", "a")
        #expect(again.ending == .exit(0))
        #expect(again.errorText.contains("built the index p_b_a"), "\(again.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM p") == "2")
        let names = try StoreContent.query(store, Self.indexes).split(separator: "\n").map { $0.prefix { $0 != "|" } }
        #expect(names == ["p_a", "p_b_a"])
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func buildsIndexesOfTheRunThatFinishes() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"a\":1,\"b\":2},{\"a\":1} oops", to: "p.json")
        let store = directory.path("store.sqlite")
        #expect(try runImporter(source, "--into", store, "--index", "a").ending == .exit(65))
        #expect(try StoreContent.query(store, Self.indexes) == "")
        try directory.write("[{\"a\":1,\"b\":2},{\"a\":1}]", to: "p.json")
        // An index that cannot be is refused, and the job stays as it was.
        #expect(try runImporter("resume", store, "--index", "c").ending == .exit(64))
        #expect(try runImporter("resume", store, "--index", "b").ending == .exit(0))
        #expect(try StoreContent.query(store, Self.indexes) == "p_b|CREATE INDEX \"p_b\" ON \"p\" (\"b\")")
    }

    /// The model that lacks the attribute is inferred again, as the source is another by then.
    @Test func anIndexThatCannotBeTakesNoInterruptedJobAway() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"a\":1,\"name\":2},{\"a\":1} oops", to: "p.json")
        let store = directory.path("store.sqlite")
        #expect(try runImporter(source, "--into", store, "--index", "a").ending == .exit(65))
        try directory.write("[{\"a\":1,\"name\":2},{\"a\":1}]", to: "p.json")
        for command in [["resume", store], [source, "--into", store]] {
            let result = try run([Project.importer] + command + ["--index", "nmae"])
            #expect(result.ending == .exit(64))
            #expect(result.errorText.contains("did you mean name?"), "\(result.errorText)")
            #expect(try StoreContent.query(store, "SELECT id, state FROM _import_job") == "1|failed")
            #expect(try StoreContent.query(store, "SELECT attributes FROM _import_index") == "[\"a\"]")
        }
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try StoreContent.query(store, Self.indexes) == "p_a|CREATE INDEX \"p_a\" ON \"p\" (\"a\")")
    }

    @Test func anIndexThatAModelLacksIsRefusedBeforeTheSourceIsLookedAt() throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(#"{"entities":{"T":{"attributes":{"name":{"type":"string"}}}}}"#, to: "m.json")
        let store = directory.path("store.sqlite")
        let result = try runImporter("missing.json", "--into", store, "--model", model, "--index", "nmae")
        #expect(result.ending == .exit(64))
        #expect(result.errorText.contains("did you mean name?"), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test func anIndexThatAnEarlierRunWishedForAndCannotBeIsNamed() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"a\":1},{\"a\":1} oops", to: "p.json")
        let store = directory.path("store.sqlite")
        #expect(try runImporter(source, "--into", store, "--index", "b").ending == .exit(65))
        try directory.write("[{\"a\":1},{\"a\":1}]", to: "p.json")
        let result = try runImporter("resume", store)
        #expect(result.ending == .exit(0))
        #expect(result.errorText.contains("--index b: no entity has all these attributes"), "\(result.errorText)")
    }

    /// What cannot be imported leaves no store, and one that was there as it was.
    @Test func leavesNoStoreOfAnImportThatCannotBegin() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("{\"a\":1}\n{\"a\":2}\n", to: "p.ndjson")
        let store = directory.path("p.sqlite")
        let command = [Project.importer, "import", source, "--into", store]
        #expect(try run(command + ["--identifier", "b"]).ending == .exit(64))
        #expect(!FileManager.default.fileExists(atPath: store))
        #expect(try run(command).ending == .exit(0))
        let before = try StoreContent.digest(store)
        #expect(try run(command + ["--type", "a:string", "--again"]).ending == .exit(65))
        #expect(try StoreContent.digest(store) == before)
        #expect(try run(command).ending == .exit(0))
    }
}
