import Foundation
import TestSupport
import Testing

/// Sources that are not what they are taken for, values that go on over lines, and records that a model's names find.
struct NotRecordsTests {
    private func imported(
        _ text: String,
        named name: String = "t.ndjson",
        model: String? = nil,
        _ options: [String] = []
    ) throws -> (result: ChildProcess.Result, store: String, directory: TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        let source = directory.path(name)
        try Data(text.utf8).write(to: URL(filePath: source))
        var options = options
        if let model {
            try Data(model.utf8).write(to: URL(filePath: directory.path("m.json")))
            options += ["--model", directory.path("m.json")]
        }
        let store = directory.path("store.sqlite")
        return (try run([Project.importer, "import", source, "--into", store] + options), store, directory)
    }

    @Test(arguments: [
        (#""{""id"":1,""name"":""n1""}""# + "\n", "CSV"), (#"1,"{""id"":1}""# + "\n", "CSV"),
        ("\"id\"\n" + #""{""id"":1}""# + "\n" + #""{""id"":2}""# + "\n", "CSV"),
        ("-- a dump\nCREATE TABLE t(a);\n", "SQL"), ("INSERT INTO t VALUES (1);\n", "SQL"),
        ("2024-01-02 03:04:05 INFO started\n", "lines of a log"),
        ("1\t[1]\n2\t[2]\n", "lines with text before their JSON"),
        ("1704164645.1 \"x\" [\"a\",1]\n1704164646.1 \"y\" [2]\n", "lines with text before their JSON"),
        ("[2024-01-02 03:04:05] INFO started\n[2024-01-02 03:04:06] INFO ended\n", "lines of a log"),
    ])
    func isRefusedByName(text: String, name: String) throws {
        let (result, store, directory) = try imported(text)
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("is not JSON") && result.errorText.contains("looks like \(name)"))
        #expect(!FileManager.default.fileExists(atPath: store))
        withExtendedLifetime(directory) {}
    }

    @Test(arguments: ["{\"a\":1 x}", "{\"a\":1,\"b\":"])
    func nothingIsLeftOfASourceWithoutARecord(text: String) throws {
        let (result, store, directory) = try imported(text, named: "t.json")
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("No record was imported."))
        #expect(!FileManager.default.fileExists(atPath: store))
        withExtendedLifetime(directory) {}
    }

    /// Several records that break off at the end are one, which can be completed.
    @Test(arguments: ["{\"id\":2,\"j\":{\n\"a\":", "{\"id\":2,\"j\":[\n1,\n2"])
    func aValueOverLinesThatBreaksOffIsCompleted(rest: String) throws {
        let lines = (0..<50).map { "{\"id\":\($0),\"j\":{\"a\":\($0)}}\n" }.joined()
        let (result, store, directory) = try imported(lines + rest)
        #expect(result.ending == .exit(65), "\(result.outputText)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM t") == "50")
        try directory.write(lines + rest + (rest.hasSuffix(":") ? "7}}\n" : "]}\n"), to: "t.ndjson")
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT count(*), sum(id) FROM t") == "51|1227")
    }

    /// Lines that are values have no text before their JSON, whatever is in them.
    @Test(arguments: ["t.ndjson", "t.json"]) func linesOfTextsAreValues(name: String) throws {
        let (result, store, directory) = try imported("\"Hi {a}\"\n\"see [b]\"\n", named: name)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT * FROM t") == "Hi {a}\nsee [b]")
        withExtendedLifetime(directory) {}
    }

    @Test func aRowInALineOfItsOwnIsARecord() throws {
        let (result, store, directory) = try imported("[3,\"Moss\",3.5]\n")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT * FROM t") == "3|Moss|3.5")
        withExtendedLifetime(directory) {}
    }

    /// All that stands before the break is imported; the same command imports the rest of what is repaired.
    @Test(arguments: ["a.tar", "a.tar.gz"]) func anArchiveThatBreaksOffIsImportedUpToThere(name: String) throws {
        let directory = try TemporaryDirectory()
        let (path, store) = (directory.path(name), directory.path("s.sqlite"))
        func make(_ share: Double) throws {
            let made = try Python.run(
                text: """
                    import io, sys, tarfile
                    path, share = sys.argv[1], float(sys.argv[2])
                    with tarfile.open(path, "w:gz" if path.endswith("gz") else "w") as archive:
                        for place in range(2):
                            lines = "".join('{"n":%d}\\n' % n for n in range(place * 5000, place * 5000 + 5000)).encode()
                            info = tarfile.TarInfo("%d.ndjson" % place)
                            info.size = len(lines)
                            archive.addfile(info, io.BytesIO(lines))
                    data = open(path, "rb").read()
                    open(path, "wb").write(data[:int(len(data) * share)])
                    """,
                [path, "\(share)"]
            )
            try #require(made.ending == .exit(0), "\(made.errorText)")
        }
        try make(0.7)
        let cut = try runImporter(path, "--into", store, "--entity", "t")
        #expect(cut.ending == .exit(65) && cut.errorText.contains("past"), "\(cut.errorText)")
        let rows = try StoreContent.rowCount(store)
        #expect(rows > 5_000 && rows < 10_000, "\(rows)")
        #expect(try StoreContent.query(store, "SELECT max(n) + 1 = count(*) FROM t") == "1")
        try make(1)
        let result = try runImporter(path, "--into", store, "--entity", "t")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*), count(DISTINCT n) FROM t") == "10000|10000")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// What cannot be read of an archive is not passed over.
    @Test(arguments: ["damaged header", "rubbish", "two zips", "zip checksum"])
    func noMemberOfAnArchiveIsPassedOver(how: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(how.contains("zip") ? "a.zip" : "a.tar")
        let made = try Python.run(
            text: """
                import io, sys, tarfile, zipfile
                how, path = sys.argv[1:]
                lines = ['{"n":1}\\n{"n":2}\\n', '{"n":3}\\n{"n":4}\\n']
                def tar(name, text):
                    file = io.BytesIO()
                    with tarfile.open(fileobj=file, mode="w") as archive:
                        info = tarfile.TarInfo(name)
                        info.size = len(text)
                        archive.addfile(info, io.BytesIO(text.encode()))
                    return bytearray(file.getvalue())
                def zipped(name, text):
                    file = io.BytesIO()
                    with zipfile.ZipFile(file, "w") as archive: archive.writestr(name, text)
                    return bytearray(file.getvalue())
                if how == "damaged header":
                    data = tar("a.ndjson", lines[0])[:1024] + tar("b.ndjson", lines[1])
                    data[1024 + 100] ^= 1
                elif how == "rubbish":
                    data = tar("a.ndjson", lines[0]) + b"x" * 512
                elif how == "two zips":
                    data = zipped("a.ndjson", lines[0]) + zipped("b.ndjson", lines[1])
                else:
                    data = zipped("a.ndjson", lines[0])
                    data[data.index(b'{"n":2') + 5] ^= 1
                open(path, "wb").write(data)
                """,
            [how, path]
        )
        try #require(made.ending == .exit(0), "\(made.errorText)")
        let store = directory.path("store.sqlite")
        let result = try runImporter(path, "--into", store, "--entity", "t")
        #expect(result.ending == .exit(65), "\(result.outputText)")
        #expect(result.errorText.contains("cannot be decompressed"), "\(result.errorText)")
        // What stands before the damage of a tar is imported; a dry run does not come to it.
        guard how.contains("zip") else {
            return #expect(try StoreContent.query(store, "SELECT group_concat(n) FROM t") == "1,2")
        }
        let dry = try runImporter(path, "--into", store, "--entity", "t", "--dry-run")
        #expect(dry.ending == .exit(65), "\(dry.errorText)")
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test(arguments: ["4k", "64k", "8M"]) func aValueGoesOnOverLines(chunkSize: String) throws {
        var text = (0..<60_000).map { "{\"id\":\($0),\"j\":{\"a\":\($0)}}\n" }.joined()
        for round in 0..<200 {
            let id = 60_000 + 4 * round
            text += "{\"id\":\(id),\"j\":{\"a\":1}\n ,\"k\":[1,\r\n2,{\"x\":\"}\"}\n]\n}\n"
            text += "{\"id\":\(id + 1),\"j\":\n{\"a\":1}}\r\n\n"
            text += "{\"id\":-1,\"j\":{\"a\":\n{\"id\":\(id + 2),\"j\":{\"a\":1}}\n"
            text += "{\"id\":-2,\"j\":{\"a\":1}\n{\"id\":\(id + 3),\"j\":{\"a\":1}}\n"
        }
        text += "{\"id\":60800,\"j\":{\n\"a\":1}\n}"
        let (result, store, directory) = try imported(text, ["--chunk-size", chunkSize])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let sql = "SELECT count(*), count(DISTINCT id), min(id), max(id), count(k) FROM t"
        #expect(try StoreContent.query(store, sql) == "60801|60801|0|60800|200")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "400")
        withExtendedLifetime(directory) {}
    }

    @Test func subentitiesAreAskedInTurn() throws {
        let model = """
            {"entities": {"line": {"abstract": true, "attributes": {}, "subentity": {"from": "type", "values":
            {"RECORD": "rec", "STATE": "other"}}}, "other": {"parent": "line", "attributes": {"type": {"type": "string"}}},
            "rec": {"parent": "line", "abstract": true, "attributes": {}, "subentity": {"from": "stream", "values":
            {"users": "users"}}}, "users": {"parent": "rec", "attributes": {"id": {"type": "integer64"}}}}}
            """
        let text = "{\"type\":\"RECORD\",\"stream\":\"users\",\"id\":7}\n{\"type\":\"STATE\"}\n"
        let (result, store, directory) = try imported(text, model: model, ["--entity", "line"])
        #expect(result.ending == .exit(0))
        #expect(!result.errorText.contains("no records were found"))
        #expect(try StoreContent.query(store, "SELECT id, (SELECT count(*) FROM other) FROM users") == "7|1")
        withExtendedLifetime(directory) {}
    }

    @Test func collectionsAreNamedAsEntities() throws {
        let model = """
            {"entities": {"sections": {"attributes": {"sid": {"type": "integer64"}}},
            "Part": {"table": "parts", "attributes": {"pid": {"type": "integer64"}}}}}
            """
        let text = "{\"parts\":[{\"pid\":2}],\"sections\":[{\"sid\":1},{\"sid\":3}]}"
        let paths = ["--records", "$.sections[*]", "--records", "$.parts[*]"]
        let (result, store, directory) = try imported(text, named: "d.json", model: model, paths)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*), (SELECT max(pid) FROM parts) FROM sections") == "2|2")
        withExtendedLifetime(directory) {}
    }

    @Test func aTreeOfTheModelDoesNotStayInside() throws {
        let model = """
            {"entities": {"node": {"attributes": {"a": {"type": "string"}}, "relationships": {"c": {"entity": "node",
            "toMany": true, "inverse": "up"}, "up": {"entity": "node", "inverse": "c", "from": []}}}}}
            """
        let text = #"[{"a":"x","c":[{"a":"y","c":[{"a":"z","c":[]}]}]}]"#
        let (result, _, directory) = try imported(text, named: "d.json", model: model)
        #expect(!result.errorText.contains("stay inside"), "\(result.errorText)")
        withExtendedLifetime(directory) {}
    }
}
