import Foundation
import TestSupport
import Testing

/// Under `--on-conflict error` identifiers are looked at when all records are in, and it comes to the same as looking
/// each one up as it comes.
struct LateRejectTests {
    /// Records, and how they are imported.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        /// The sources' texts by their names.
        var sources: [(name: String, text: String)]
        let model: String
        var options: [String] = []
        /// What packs the sources.
        var packer: String?
        /// Whether all rejects are what they are for their identifiers.
        var isClean = false

        var testDescription: String { name }
    }

    private static func model(_ entities: String) -> String { "{\"entities\": {\(entities)}}" }

    private static func entity(_ name: String, at path: String, _ identifier: String = #"["k", "p"]"#) -> String {
        """
        "\(name)": {"records": "\(path)", "identifier": \(identifier), "attributes": {
          "k": {"type": "string"}, "p": {"type": "integer32"}, "n": {"type": "integer64", "optional": true},
          "key": {"type": "string", "from": "\(path.hasSuffix(".*") ? "$key" : "key")", "optional": true}}}
        """
    }

    /// Objects of which many are the same, some with values that do not fit.
    private static func objects(_ count: Int, seed: UInt64, faults: Int = 8, of objects: Int? = nil) -> [String] {
        var number = -1
        return RecordGenerator.records(count, seed: seed) { make in
            number += 1
            let object = make.number(below: objects ?? count / 3)
            let value = make.chance(faults) ? "\"x\"" : "\(number)"
            let key = ["\"k\": \"\u{e9}\(object / 2)\"", "\"p\": \(object % 2)"].shuffled(using: &make.random)
            let space = ["", " ", "  "][number % 3]
            return [key[0], space + "\"n\": \(value)", space + key[1] + space]
        }
    }

    private static func keyed(_ count: Int, seed: UInt64) -> String {
        let members = objects(count, seed: seed).enumerated().map { index, object in
            "\"a\\\"\(index % 40)\u{fc}\" \(index % 2 == 0 ? "\r\n" : "")  :\n \(object.replacing(" ", with: "\r\n\t"))"
        }
        return "{" + members.joined(separator: " ,\n") + "}"
    }

    private static func interleaved(_ count: Int) -> String {
        let pairs = zip(objects(count, seed: 61), objects(count, seed: 62)).enumerated().map { index, pair in
            index % 5 == 0 ? "{\"b\": \(pair.1), \"a\": \(pair.0)}" : "{\"a\": \(pair.0),\n \"c\": [\(pair.1)]}"
        }
        return "\u{feff}[" + pairs.joined(separator: ",\r\n") + "]"
    }

    static let cases: [Case] = [
        Case(
            name: "lines, values that do not fit",
            sources: [("a.ndjson", objects(300, seed: 51).joined(separator: "\n"))],
            model: model(entity("a", at: "$"))
        ),
        Case(
            name: "lines, null for what does not fit",
            sources: [("a.ndjson", objects(300, seed: 52, faults: 40).joined(separator: "\r\n"))],
            model: model(entity("a", at: "$")),
            options: ["--on-error", "null"]
        ),
        Case(
            name: "several compressed sources",
            sources: (0..<3).map { ("\($0).json", "[" + objects(150, seed: 53 + $0).joined(separator: ",\n") + "]") },
            model: model(entity("a", at: "$[*]")),
            options: ["--entity", "a"],
            packer: "gzip"
        ),
        Case(
            name: "keyed",
            sources: [("k.json", keyed(250, seed: 56))],
            model: model(entity("a", at: "$.*"))
        ),
        Case(
            name: "keyed, the key as identifier",
            sources: [("k.json", keyed(250, seed: 57))],
            model: model(entity("a", at: "$.*", #"["key"]"#).replacing(#""$key", "optional": true"#, with: #""$key""#))
        ),
        Case(
            name: "keys on the way, one in the identifier",
            sources: [
                (
                    "k.json",
                    "{\"a\": {\"x\": \(keyed(120, seed: 63)), \"\\u00e9\" : \(keyed(120, seed: 63))}, \"b\": {"
                        + ["x", "y"].map { "\"\($0)\": [\(objects(120, seed: 64).joined(separator: ", "))]" }
                        .joined(separator: ",") + "}}"
                )
            ],
            model: model(
                entity("A", at: "$.a.*.*", #"["outer", "k", "p"]"#)
                    .replacing(
                        #""attributes": {"#,
                        with: #""attributes": {"outer": {"type": "string", "from": "$key[1]"},"#
                    )
                    + ", " + entity("B", at: "$.b.*[*]").replacing(#""from": "key""#, with: #""from": "$key""#)
            )
        ),
        Case(
            name: "several entities in turn, after a byte order mark",
            sources: [("i.json", interleaved(250))],
            model: model(
                [entity("A", at: "$[*].a"), entity("B", at: "$[*].b"), entity("C", at: "$[*].c[*]", #"["k"]"#)]
                    .joined(separator: ", ")
            )
        ),
        Case(
            name: "a part",
            sources: [("a.json", "[" + objects(400, seed: 58).joined(separator: ",\n") + "]")],
            model: model(entity("a", at: "$[*]")),
            options: ["--skip", "37", "--limit", "200"]
        ),
        Case(
            name: "one object again and again",
            sources: [("a.ndjson", objects(300, seed: 59, faults: 0, of: 1).joined(separator: "\n"))],
            model: model(entity("a", at: "$")),
            isClean: true
        ),
        Case(
            name: "every object once",
            sources: [("a.ndjson", (0..<300).map { "{\"k\": \"\($0 * 7 % 300)\", \"p\": 1}" }.joined(separator: "\n"))],
            model: model(entity("a", at: "$")),
            isClean: true
        ),
    ]

    private static func files(_ given: Case) throws -> ImportFiles {
        let options = ["--on-conflict", "error"] + given.options
        let sources = given.sources.map { (name: $0.name, content: Data($0.text.utf8)) }
        var files = try ImportFiles(sources, model: given.model, options: options)
        guard let packer = given.packer else { return files }
        for source in files.sources { try #require(run([packer, source]).ending == .exit(0)) }
        files.sources = files.sources.map { $0 + ".gz" }
        return files
    }

    /// The result of looking each record up as it comes.
    private static func expected(_ files: ImportFiles) throws -> String {
        let store = files.directory.path("expected.sqlite")
        let result = try run(files.command(into: store, ["--max-errors", "1000000"]))
        try #require(result.ending == .exit(0), "\(result.errorText)")
        return try outcome(store)
    }

    /// All that an import comes to, but for the numbers of rows and rejects.
    private static func outcome(_ store: String) throws -> String {
        let tables = try StoreContent.tables(store)
        let rows = tables.map {
            ("quote(k), p, n, quote(\"key\")", "\"\($0)\" ORDER BY rowid")
        }
        let queries =
            rows + [
                (
                    "job, ordinal, entity, source, byte_offset, length, errors, quote(record), state, quote(record_key)",
                    "_import_reject ORDER BY job, ordinal"
                ),
                (
                    """
                    job, entity, attribute, kind, expected, found, count, first_source, first_byte_offset, first_ordinal
                    """, "_import_ledger ORDER BY is_error, first_ordinal, attribute"
                ),
                ("entity, records_read, inserted, updated, unchanged, ignored, rejected", "_import_entity"),
                (
                    "info.name",
                    """
                    sqlite_master AS m, pragma_index_info(m.name) AS info
                    WHERE type = 'index' AND tbl_name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY tbl_name, seqno
                    """
                ),
                ("count(*)", "_import_deferred_identifier"), ("count(*)", "_import_place"),
            ]
        let content = try StoreContent.query(
            store,
            queries.map { "SELECT * FROM (SELECT json_array(\($0)) FROM \($1))" }.joined(separator: " UNION ALL ")
        )
        // Rejects are listed in source order, whatever their numbers are.
        let listed = try runImporter("rejects", store, "--raw")
        try #require(listed.ending == .exit(0))
        let groups = try JSONSerialization.jsonObject(with: runImporter("status", store, "--json").output)
        let errors = try JSONSerialization.data(
            withJSONObject: (groups as? [String: Any])?["errors"] ?? [],
            options: .sortedKeys
        )
        return content + "\n" + listed.outputText + String(decoding: errors, as: UTF8.self)
    }

    @Test(arguments: cases)
    func agreesWithLookingEachRecordUp(_ given: Case) throws {
        let files = try Self.files(given)
        let expected = try Self.expected(files)
        #expect(expected.contains("duplicateIdentifier") == (given.name != "every object once"))
        #expect(expected.contains("wrongForm") != given.isClean)
        var results: Set<String> = []
        for (workers, chunkSize, commitEvery) in [
            ("1", "1", "1"), ("1", "8M", "10000"), ("2", "700", "7"), ("4", "3000", "10000"),
        ] {
            let store = files.directory.path("\(workers)-\(chunkSize).sqlite")
            let options = ["--workers", workers, "--chunk-size", chunkSize, "--commit-every", commitEvery]
            let result = try run(files.command(into: store, options))
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try Self.outcome(store) == expected, "\(options)")
            #expect(try runImporter("verify", store).ending == .exit(0))
            results.insert(try StoreContent.result(store))
        }
        #expect(results.count == 1)
    }

    /// A share of rejects is judged when all of them are known.
    @Test func judgesSharesOfRejectsAfterwards() throws {
        let records = (0..<100).map { "{\"k\": \"\($0 % 80)\", \"p\": 1}" }.joined(separator: "\n")
        let files = try Self.files(
            Case(name: "", sources: [("a.ndjson", records)], model: Self.model(Self.entity("a", at: "$")))
        )
        let expected = try Self.expected(files)
        for (limit, ending) in [("19%", ChildProcess.Ending.exit(65)), ("20%", .exit(0))] {
            let store = files.directory.path("\(limit).sqlite")
            #expect(try run(files.command(into: store, ["--max-errors", limit])).ending == ending)
            #expect(try Self.outcome(store) == expected)
            #expect(try runImporter("verify", store).ending == .exit(0))
        }
    }

    /// Two sources, of which the second breaks off, so that nothing is settled.
    private static func interrupted(duplicates: Bool = true) throws -> (ImportFiles, whole: String, store: String) {
        let objects =
            duplicates
            ? objects(300, seed: 71) : (0..<300).map { "{\"k\": \"\($0 * 7 % 300)\", \"p\": 1}" }
        let second = objects.suffix(100).joined(separator: "\n")
        let files = try Self.files(
            Case(
                name: "",
                sources: [("a.ndjson", objects.prefix(200).joined(separator: "\n")), ("b.ndjson", second)],
                model: model(entity("a", at: "$")),
                options: ["--entity", "a"]
            )
        )
        try String(second.dropLast(9)).write(toFile: files.sources[1], atomically: true, encoding: .utf8)
        let store = files.directory.path("store.sqlite")
        #expect(try run(files.command(into: store, ["--chunk-size", "2000"])).ending == .exit(65))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_deferred_identifier") == "1")
        #expect(try runImporter("verify", store).ending == .exit(0))
        return (files, second, store)
    }

    /// The records are read once more; where that fails nothing is changed, and with the source as it was it continues.
    @Test(arguments: ["gone", "other", "shorter"])
    func saysWhereASourceIsNotWhatItWas(way: String) throws {
        let (files, second, store) = try Self.interrupted()
        try second.write(toFile: files.sources[1], atomically: true, encoding: .utf8)
        let first = files.sources[0]
        let kept = files.directory.path("kept")
        #expect(try run(["cp", "-p", first, kept]).ending == .exit(0))
        let before = try StoreContent.query(store, "SELECT count(*) FROM a")
        switch way {
        case "gone": try FileManager.default.removeItem(atPath: first)
        case "other":
            // Size and time are the same; that it was changed since says that it is to be read again.
            let text = try String(contentsOfFile: first, encoding: .utf8)
            try text.replacing("\"n\": 19", with: "\"n\": 91").write(toFile: first, atomically: false, encoding: .utf8)
            #expect(try run(["touch", "-r", kept, first]).ending == .exit(0))
        default:
            // While the second one is imported.
            let text = try String(contentsOfFile: first, encoding: .utf8)
            try text.replacing("\u{e9}", with: "ee").write(toFile: first, atomically: false, encoding: .utf8)
            #expect(try run(["truncate", "-s", "300", first]).ending == .exit(0))
        }
        let failed = try runImporter("resume", store)
        #expect(failed.ending == .exit(way == "gone" ? 66 : 65))
        let answers = ["gone": "read again", "other": "differ from those that were imported"]
        #expect(failed.errorText.contains(answers[way] ?? "ended after 300 bytes"), "\(failed.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_deferred_identifier") == "1")
        let after = try StoreContent.query(store, "SELECT count(*) FROM a")
        #expect(way == "gone" ? after != before : after == before)
        #expect(try runImporter("verify", store).ending == .exit(0))
        #expect(try run(["cp", "-p", kept, first]).ending == .exit(0))
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try Self.outcome(store) == Self.expected(files))
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// Another import may only have the table once the records of the first one are distinguished.
    @Test(arguments: [true, false])
    func keepsOthersOutOfTheTable(duplicates: Bool) throws {
        let (files, second, store) = try Self.interrupted(duplicates: duplicates)
        let other = try files.directory.write(
            "{\"k\": \"other\", \"p\": 1}\n{\"k\": \"0\", \"p\": 1}\n",
            to: "c.ndjson"
        )
        let command = [Project.importer, "import", other, "--into", store] + files.jobOptions
        let before = try StoreContent.result(store)
        let result = try run(command)
        #expect(result.ending == .exit(duplicates ? 64 : 0), "\(result.errorText)")
        if duplicates {
            #expect(result.errorText.contains("importer resume"))
            #expect(try StoreContent.result(store) == before)
        }
        try second.write(toFile: files.sources[1], atomically: true, encoding: .utf8)
        #expect(try runImporter("resume", store).ending == .exit(0))
        if duplicates {
            #expect(try Self.outcome(store) == Self.expected(files))
            #expect(try run(command).ending == .exit(0))
        }
        #expect(try StoreContent.query(store, "SELECT count(*) - count(DISTINCT k || '|' || p) FROM a") == "0")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM a WHERE k = 'other'") == "1")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// Killed anywhere near its end, it is begun again and comes to the same.
    @Test func isTheSameAfterKills() throws {
        let text = Self.objects(6_000, seed: 72, faults: 1).joined(separator: "\n")
        let files = try Self.files(
            Case(name: "", sources: [("a.ndjson", text)], model: Self.model(Self.entity("a", at: "$")), packer: "gzip")
        )
        let expected = try Self.expected(files)
        let options = ["--commit-every", "500", "--chunk-size", "60K"]
        var killed = 0
        for (attempt, rows) in [1, 2_500, 5_400, 5_400, 5_400, 5_400].enumerated() {
            let store = files.directory.path("store-\(attempt).sqlite")
            let command = files.command(into: store, options)
            if try InterruptionTests.isKilled(command, in: store, atRows: rows, later: attempt * 2) { killed += 1 }
            #expect(try run(command).ending == .exit(0))
            #expect(try Self.outcome(store) == expected)
            #expect(try runImporter("verify", store).ending == .exit(0))
        }
        #expect(killed > 1)
    }

    /// Where more depends on each reject, or the source cannot be read again, records are looked up as they come.
    @Test(arguments: ["--on-error stop", "--max-errors 5", "standard input", "chunks"])
    func looksRecordsUpWhereThatIsNeeded(way: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.objects(200, seed: 73, faults: 0).joined(separator: "\n"), to: "a.ndjson")
        let model = try directory.write(Self.model(Self.entity("a", at: "$")), to: "model.json")
        let store = directory.path("store.sqlite")
        let rest = ["--into", store, "--model", model, "--on-conflict", "error", "--entity", "a"]
        switch way {
        case "standard input", "chunks":
            let chunks = directory.path("chunks")
            #expect(try runImporter("split", source, "--to", chunks, "--records", "$").ending == .exit(0))
            let given = way == "chunks" ? "'\(chunks)'" : "-"
            let words = (rest.map { "'\($0)'" }).joined(separator: " ")
            let command = "cat '\(source)' | '\(Project.importer)' import \(given) \(words)"
            #expect(try run(["sh", "-c", command]).ending == .exit(0))
            // No row was written that went again.
            #expect(try StoreContent.query(store, "SELECT max(rowid) - count(*) FROM a") == "0")
        default:
            let result = try run(
                [Project.importer, "import", source] + rest + way.split(separator: " ").map(String.init)
            )
            #expect(result.ending == .exit(65))
            let rejects = way == "--on-error stop" ? "0" : "5"
            #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == rejects)
        }
        #expect(try runImporter("verify", store).ending == .exit(0))
    }
}
