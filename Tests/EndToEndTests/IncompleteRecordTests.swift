import Foundation
import TestSupport
import Testing

/// Records that lack what a new object must have wait until all records are in, and it comes to the same as looking each one
/// up as it comes.
struct IncompleteRecordTests {
    /// Sources, and how they are imported.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let sources: [(name: String, text: String)]
        let model: String
        var options: [String] = []

        var testDescription: String { name }
    }

    private static func entity(_ name: String, at path: String) -> String {
        """
        "\(name)": {"records": "\(path)", "identifier": ["k", "p"], "attributes": {
          "k": {"type": "string"}, "p": {"type": "integer32", "default": 1}, "must": {"type": "double"},
          "name": {"type": "string"}, "n": {"type": "integer64", "optional": true},
          "made": {"type": "uuid", "generated": true}, "mine": {"type": "string", "optional": true, "owner": "local"},
          "key": {"type": "string", "from": "\(path.hasSuffix(".*") ? "$key" : "key")", "optional": true}}}
        """
    }

    private static func model(_ entities: String) -> String { "{\"entities\": {\(entities)}}" }

    /// Objects of which many are the same, most of them with a part of what an object must have.
    private static func objects(_ count: Int, seed: UInt64, of objects: Int? = nil, complete: Int = 60) -> [String] {
        RecordGenerator.records(count, seed: seed) { make in
            let object = make.number(below: objects ?? count / 3)
            var members = ["\"k\": \"\u{e9}\(object / 2)\""]
            // What is not mentioned is the default.
            if object % 2 == 0 || make.chance(50) { members.append("\"p\": \((object + 1) % 2)") }
            let isComplete = make.chance(complete)
            if isComplete || make.chance(30) { members.append("\"must\": \(make.number(below: 3)).5") }
            if isComplete || make.chance(30) { members.append("\"name\": \(make.text("a\\u0000", below: 3))") }
            if make.chance(50) { members.append("\"n\": \(make.one(of: ["1", "2", "null", "\"x\"", "[]"]))") }
            if make.chance(20) { members.append("\"mine\": \(make.text("m", below: 4))") }
            if make.chance(5) { members.append("\"p\": null") }
            return members.shuffled(using: &make.random)
        }
    }

    private static func keyed(_ count: Int, seed: UInt64) -> String {
        let members = objects(count, seed: seed).enumerated().map { index, object in
            "\"a\\\"\(index % 40)\u{fc}\" :\n \(object.replacing(", ", with: ",\r\n\t"))"
        }
        return "{" + members.joined(separator: " ,\n") + "}"
    }

    private static func lines(_ records: [String]) -> String { records.joined(separator: "\n") + "\n" }

    static let cases: [Case] = [
        Case(
            name: "lines",
            sources: [("a.ndjson", lines(objects(400, seed: 81)))],
            model: model(entity("a", at: "$"))
        ),
        Case(
            name: "null for what does not fit",
            sources: [("a.ndjson", lines(objects(400, seed: 82)))],
            model: model(entity("a", at: "$")),
            options: ["--on-error", "null"]
        ),
        Case(
            name: "incomplete ones first",
            sources: [
                ("a.ndjson", lines(objects(200, seed: 83, of: 60, complete: 0))),
                ("b.ndjson", lines(objects(200, seed: 84, of: 60))),
            ],
            model: model(entity("a", at: "$")),
            options: ["--entity", "a", "--on-error", "null"]
        ),
        Case(
            name: "complete ones first, each once",
            sources: [
                ("a.ndjson", lines((0..<150).map { "{\"k\": \"\u{e9}\($0)\", \"must\": 1, \"name\": \"n\"}" })),
                ("b.ndjson", lines(objects(300, seed: 85, of: 400, complete: 0))),
            ],
            model: model(entity("a", at: "$")),
            options: ["--entity", "a"]
        ),
        Case(
            name: "keyed",
            sources: [("k.json", keyed(300, seed: 86))],
            model: model(entity("a", at: "$.*"))
        ),
        Case(
            name: "two entities in turn",
            sources: [
                (
                    "i.json",
                    "["
                        + zip(objects(250, seed: 87), objects(250, seed: 88)).map { "{\"a\": \($0), \"b\": [\($1)]}" }
                        .joined(separator: ",\n") + "]"
                )
            ],
            model: model(entity("A", at: "$[*].a") + ", " + entity("B", at: "$[*].b[*]"))
        ),
    ]

    private static func files(_ given: Case, _ policy: String) throws -> ImportFiles {
        let sources = given.sources.map { (name: $0.name, content: Data($0.text.utf8)) }
        return try ImportFiles(sources, model: given.model, options: ["--on-conflict", policy] + given.options)
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
        let rows = try StoreContent.tables(store).map {
            ("quote(k), p, must, quote(name), n, made, mine, quote(\"key\")", "\"\($0)\" ORDER BY rowid")
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
                ("name, sql", "sqlite_master WHERE tbl_name NOT LIKE '\\_%' ESCAPE '\\' ORDER BY name"),
                ("count(*)", "_import_deferred_identifier"), ("count(*)", "_import_incomplete"),
            ]
        let content = try StoreContent.query(
            store,
            queries.map { "SELECT * FROM (SELECT json_array(\($0)) FROM \($1))" }.joined(separator: " UNION ALL ")
        )
        let listed = try runImporter("rejects", store, "--raw")
        try #require(listed.ending == .exit(0))
        return content + "\n" + listed.outputText
    }

    @Test(arguments: cases, ["merge", "ignore"])
    func agreesWithLookingEachRecordUp(_ given: Case, policy: String) throws {
        let files = try Self.files(given, policy)
        let expected = try Self.expected(files)
        #expect(expected.contains("missingValue"))
        var results: Set<String> = []
        for (workers, chunkSize, commitEvery) in [
            ("1", "1", "1"), ("1", "8M", "10000"), ("2", "700", "7"), ("4", "9000", "100"),
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

    /// Records that cannot be read again are kept.
    @Test(arguments: ["standard input", "chunks"])
    func keepsRecordsThatCannotBeReadAgain(way: String) throws {
        let files = try Self.files(Self.cases[0], "merge")
        let expected = try Self.expected(files)
        let (store, chunks) = (files.directory.path("store.sqlite"), files.directory.path("chunks"))
        #expect(try runImporter("split", files.sources[0], "--to", chunks, "--records", "$").ending == .exit(0))
        let given = way == "chunks" ? "'\(chunks)'" : "-"
        let words = (["--into", store, "--entity", "a"] + files.jobOptions).map { "'\($0)'" }.joined(separator: " ")
        let command = "cat '\(files.sources[0])' | '\(Project.importer)' import \(given) \(words)"
        #expect(try run(["sh", "-c", command]).ending == .exit(0))
        #expect(try Self.outcome(store) == expected)
        // Rows of one object were merged at the end, not as they came.
        #expect(try StoreContent.query(store, "SELECT max(rowid) > count(*) FROM a") == "1")
    }

    // MARK: Limits

    private static let incomplete = (0..<1_500).map { "{\"k\": \"\($0)\", \"must\": 1}" }

    /// An import whose first records are all incomplete has the wrong model: they are rejects at once.
    @Test func stopsWhereNoFirstRecordIsComplete() throws {
        let model = Self.model(Self.entity("a", at: "$"))
        for (first, ending) in [(999, ChildProcess.Ending.exit(0)), (1_000, .exit(65))] {
            var records = Self.incomplete
            records[first] = "{\"k\": \"7\", \"must\": 1, \"name\": \"n\"}"
            let given = Case(name: "", sources: [("a.ndjson", Self.lines(records))], model: model)
            let files = try Self.files(given, "merge")
            for commitEvery in ["7", "10000"] {
                let store = files.directory.path("\(first)-\(commitEvery).sqlite")
                let result = try run(files.command(into: store, ["--commit-every", commitEvery]))
                #expect(result.ending == ending, "\(result.errorText)")
                let rejects = "SELECT count(*) || ' ' || max(ordinal) FROM _import_reject"
                #expect(try StoreContent.query(store, rejects) == (first == 999 ? "1499 1500" : "999 999"))
                #expect(try runImporter("verify", store).ending == .exit(0))
            }
        }
    }

    /// Where a number of rejects is allowed, the import stops before the first record that is one too many.
    @Test(arguments: [0, 5, 40])
    func stopsBeforeTheRejectThatIsTooMany(limit: Int) throws {
        let files = try Self.files(Self.cases[0], "merge")
        _ = try Self.expected(files)
        let all = files.directory.path("expected.sqlite")
        let ordinal = try StoreContent.query(
            all,
            "SELECT ordinal FROM _import_reject ORDER BY ordinal LIMIT 1 OFFSET \(limit)"
        )
        for options in [["--commit-every", "7"], ["--chunk-size", "9000", "--workers", "4"]] {
            let store = files.directory.path("\(options[0]).sqlite")
            let result = try run(files.command(into: store, ["--max-errors", "\(limit)"] + options))
            #expect(result.ending == .exit(65))
            #expect(result.errorText.contains("record \(ordinal) "), "\(result.errorText)")
            #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "\(limit)")
            #expect(try runImporter("verify", store).ending == .exit(0))
        }
    }

    /// Two sources, of which the second breaks off, so that nothing is settled.
    private static func interrupted(_ policy: String) throws -> (ImportFiles, whole: String, store: String) {
        let objects = objects(300, seed: 91)
        let second = lines(objects.suffix(100))
        let given = Case(
            name: "",
            sources: [("a.ndjson", lines(objects.prefix(200).map(\.self))), ("b.ndjson", second)],
            model: model(entity("a", at: "$")),
            options: ["--entity", "a"]
        )
        let files = try files(given, policy)
        try String(second.dropLast(9)).write(toFile: files.sources[1], atomically: true, encoding: .utf8)
        let store = files.directory.path("store.sqlite")
        #expect(try run(files.command(into: store, ["--chunk-size", "2000"])).ending == .exit(65))
        #expect(try StoreContent.query(store, "SELECT count(*) > 20 FROM _import_incomplete") == "1")
        // No reader sees a part of an object.
        #expect(try StoreContent.query(store, "SELECT count(*) FROM a WHERE must IS NULL OR name IS NULL") == "0")
        #expect(try runImporter("verify", store).ending == .exit(0))
        return (files, second, store)
    }

    /// A share of rejects is judged when all of them are known, and a number that is given to a resume as well.
    @Test(arguments: ["1%", "0"])
    func judgesRejectsAfterwards(limit: String) throws {
        let (files, second, store) = try Self.interrupted("merge")
        try second.write(toFile: files.sources[1], atomically: true, encoding: .utf8)
        #expect(try runImporter("resume", store, "--max-errors", limit).ending == .exit(65))
        #expect(try runImporter("verify", store).ending == .exit(0))
        #expect(try runImporter("resume", store, "--max-errors", "none").ending == .exit(0))
        #expect(try Self.outcome(store) == Self.expected(files))
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    // MARK: Interruptions

    /// Another import settles what an interrupted one has left, though its sources are gone.
    @Test(arguments: ["merge", "ignore"])
    func isSettledByAnotherImport(policy: String) throws {
        let (files, second, store) = try Self.interrupted(policy)
        let first = try String(contentsOfFile: files.sources[0], encoding: .utf8)
        for source in files.sources { try FileManager.default.removeItem(atPath: source) }
        let other = try files.directory.write(
            "{\"k\": \"other\", \"must\": 1, \"name\": \"n\"}\n",
            to: "c.ndjson"
        )
        #expect(try run(files.command([other], into: store)).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_incomplete") == "0")
        #expect(try runImporter("verify", store).ending == .exit(0))
        // Continued, it comes to the same.
        try first.write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        try second.write(toFile: files.sources[1], atomically: true, encoding: .utf8)
        #expect(try run(files.command(into: store)).ending == .exit(0))
        _ = try Self.expected(files)
        let rejects = "SELECT ordinal || errors || hex(record) FROM _import_reject WHERE job = 1 ORDER BY ordinal"
        let expected = try StoreContent.query(files.directory.path("expected.sqlite"), rejects)
        #expect(try StoreContent.query(store, rejects) == expected)
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func isForgottenByARestart() throws {
        let (files, second, store) = try Self.interrupted("merge")
        try second.write(toFile: files.sources[1], atomically: true, encoding: .utf8)
        #expect(try run(files.command(into: store, ["--restart"])).ending == .exit(0))
        let jobs = "SELECT count(DISTINCT job) FROM _import_reject"
        #expect(try StoreContent.query(store, jobs) == "1")
        _ = try Self.expected(files)
        let rows = "SELECT k, p, must, hex(name), n, made, mine FROM a ORDER BY rowid"
        let expected = try StoreContent.query(files.directory.path("expected.sqlite"), rows)
        #expect(try StoreContent.query(store, rows) == expected)
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// Killed anywhere, also near its end, it is continued and comes to the same.
    @Test func isTheSameAfterKills() throws {
        let text = Self.lines(Self.objects(6_000, seed: 92))
        let given = Case(
            name: "",
            sources: [("a.ndjson", text)],
            model: Self.model(Self.entity("a", at: "$")),
            options: ["--on-error", "null"]
        )
        let files = try Self.files(given, "merge")
        let expected = try Self.expected(files)
        let options = ["--commit-every", "500", "--chunk-size", "60K"]
        let whole = files.directory.path("whole.sqlite")
        #expect(try run(files.command(into: whole, options)).ending == .exit(0))
        let rows = try Int(StoreContent.query(whole, "SELECT max(rowid) FROM a")) ?? 0
        var killed = 0
        for (attempt, rows) in [1, rows / 2, rows - 100, rows - 100, rows - 100, rows - 100].enumerated() {
            let store = files.directory.path("store-\(attempt).sqlite")
            let command = files.command(into: store, options)
            if try InterruptionTests.isKilled(command, in: store, atRows: rows, later: attempt * 2) { killed += 1 }
            #expect(try run(command).ending == .exit(0))
            #expect(try Self.outcome(store) == expected)
            #expect(try StoreContent.result(store) == StoreContent.result(whole))
            #expect(try runImporter("verify", store).ending == .exit(0))
        }
        #expect(killed > 1)
    }

    /// A reject that was found at the end is repaired like any other.
    @Test func isRepaired() throws {
        let files = try Self.files(Self.cases[3], "merge")
        let store = files.directory.path("store.sqlite")
        #expect(try run(files.command(into: store)).ending == .exit(0))
        let open = try Int(StoreContent.query(store, "SELECT count(*) FROM _import_reject")) ?? 0
        let repair = files.directory.path("repair.ndjson")
        #expect(try runImporter("rejects", store, "--to", repair).ending == .exit(0))
        let lines = try String(contentsOfFile: repair, encoding: .utf8).split(separator: "\n")
        #expect(lines.count >= open && open > 20)
        // Of two values the last one counts.
        let mended = lines.map { $0.dropLast(2) + #", "p": 1, "n": 1, "must": 1, "name": "mended"}}"# }
        try Self.lines(mended.map(String.init)).write(toFile: repair, atomically: true, encoding: .utf8)
        let result = try runImporter("retry", store, repair)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let states = try StoreContent.query(store, "SELECT DISTINCT state FROM _import_reject WHERE job = 1")
        #expect(states == "repaired")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }
}
