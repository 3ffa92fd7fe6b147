import Foundation
import TestSupport
import Testing

/// Options that decide the result, several at once: it is what taking one record after the other comes to, however the
/// work is shared out.
struct CombinedOptionsTests {
    /// A set of options, for the importer and for the slow reading.
    struct Case: Sendable, CustomTestStringConvertible {
        var identifier = "id"
        var policy = "merge"
        var onError = "reject"
        var slice: [String] = []
        var maxErrors: Int?

        var testDescription: String { modelOptions.joined(separator: " ") }

        /// The options that both spell alike.
        private var shared: [String] {
            ["--on-error", onError] + slice + (maxErrors.map { ["--max-errors", "\($0)"] } ?? [])
        }

        var jobOptions: [String] { shared + (policy == "merge" ? [] : ["--on-conflict", policy]) }
        var modelOptions: [String] { ["--identifier", identifier, "--policy", policy] + shared }

        var model: String {
            """
            {"entities": {"thing": {"records": "$", "identifier": ["\(identifier)"], "attributes": {
              "id": {"type": "string"},
              "key": {"type": "uuid", "generated": true},
              "count": {"type": "integer16", "optional": true, "default": 7},
              "needed": {"type": "string"},
              "note": {"type": "string", "optional": true},
              "mine": {"type": "string", "optional": true, "owner": "local"}}}}}
            """
        }
    }

    static let policies = ["merge", "replace", "ignore", "error"]
    static let cases =
        policies.map { Case(policy: $0) }
        // A record without it is an object of its own.
        + policies.map { Case(identifier: "key", policy: $0) }
        + policies.map { Case(policy: $0, onError: "null") }
        + [
            Case(identifier: "key", onError: "null"),
            Case(policy: "replace", onError: "null", slice: ["--skip", "31", "--limit", "120"]),
            Case(identifier: "key", slice: ["--skip", "17", "--limit", "90"]),
            Case(policy: "error", slice: ["--skip", "40"]),
        ]

    /// How the work is shared out: every other one has each number of workers.
    static let runs = [
        ("1", "1", "1"), ("1", "8M", "60"), ("2", "700", "7"), ("2", "4K", "10000"), ("4", "1", "10000"),
        ("4", "700", "60"),
    ].map { workers, size, commit in ["--workers", workers, "--chunk-size", size, "--commit-every", commit] }

    /// Records of a few objects, some without what they need, with nulls, and with values that do not fit.
    static func records(_ count: Int, seed: UInt64, faults: Int = 6) -> [String] {
        RecordGenerator.records(count, seed: seed) { make in
            var members: [String] = []
            func add(
                _ name: String,
                present: Int,
                null: Int,
                misfit: String,
                _ value: (inout RecordGenerator) -> String
            ) {
                guard make.chance(present) else { return }
                let value = make.chance(faults) ? misfit : make.chance(null) ? "null" : value(&make)
                members.append("\"\(name)\": \(value)")
            }
            add("id", present: 98, null: 2, misfit: "{\"of\": 1}") { $0.text("\u{e9}", below: count / 4) }
            add("key", present: 50, null: 10, misfit: "\"0f8fad5b-d9cb-469f\"") { make in
                let number = make.number(below: count / 8)
                let tail = String(number, radix: 16, uppercase: make.chance(50))
                return "\"0F8FAD5B-d9cb-469f-a165-\(String(repeating: "0", count: 12 - tail.count))\(tail)\""
            }
            add("count", present: 60, null: 20, misfit: "\"1x\"") { make in
                make.chance(30) ? "\"2\"" : "\(make.number(below: 3))"
            }
            add("needed", present: 85, null: 1, misfit: "[]") { $0.text("n", below: 3) }
            add("note", present: 50, null: 30, misfit: "{}") { $0.text("\u{1f600}", below: 3) }
            add("mine", present: 60, null: 20, misfit: "[1]") { $0.text("m", below: 9) }
            return members
        }
    }

    private static func files(_ given: Case) throws -> ImportFiles {
        try ImportFiles([], model: given.model, options: given.jobOptions + ["--entity", "thing"])
    }

    /// What the slow reading says.
    private static func expected(_ given: Case, _ sources: [String]) throws -> String {
        try ImportFiles.expected(by: "combined_model.py", given.modelOptions + sources)
    }

    /// What the store says.
    private static func content(_ store: String, jobs: Int = 1) throws -> String {
        let columns = "id, \"key\", count, needed, note, mine"
        let rows = try StoreContent.query(store, "SELECT \(columns) FROM thing ORDER BY rowid")
        return ([rows].filter { !$0.isEmpty } + (try (1...jobs).map { try outcome($0, of: store) }))
            .joined(separator: "\n")
    }

    private static func outcome(_ job: Int, of store: String) throws -> String {
        let counts = """
            SELECT records_read || ' ' || inserted || ' ' || updated || ' ' || unchanged || ' ' || ignored
                || ' ' || rejected FROM _import_entity WHERE job = \(job)
            """
        let rejects = "SELECT ordinal FROM _import_reject WHERE job = \(job) ORDER BY ordinal"
        let numbers = try StoreContent.query(store, rejects).split(separator: "\n").joined(separator: " ")
        return try StoreContent.query(store, counts) + ":" + numbers
    }

    /// Half of the ways to share the work out each; policies and identifiers meet all of them.
    @Test(arguments: zip(cases, cases.indices))
    func agreeWithTakingOneRecordAfterTheOther(_ given: Case, index: Int) throws {
        let files = try Self.files(given)
        let source = try files.write(Self.records(240, seed: 41), to: "things.ndjson")
        let expected = try Self.expected(given, [source])
        var results: Set<String> = []
        for run in stride(from: (index + index / 4) % 2, to: Self.runs.count, by: 2).map({ Self.runs[$0] }) {
            let store = files.directory.path("\(run.joined()).sqlite")
            let result = try TestSupport.run(files.command([source], into: store, run))
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try Self.content(store) == expected, "\(run)")
            #expect(try runImporter("verify", store).ending == .exit(0))
            results.insert(try StoreContent.result(store))
        }
        #expect(results.count == 1)
    }

    /// A second import finds the objects of the first one, those whose identifier was made for them too.
    @Test(arguments: cases.filter { $0.slice.isEmpty })
    func agreeWhereTheObjectsCameWithAnEarlierImport(_ given: Case) throws {
        let files = try Self.files(given)
        let first = try files.write(Self.records(160, seed: 42), to: "first.ndjson")
        let early = files.directory.path("early.sqlite")
        #expect(try run(files.command([first], into: early)).ending == .exit(0))
        let keys = try StoreContent.query(early, "SELECT \"key\" FROM thing").split(separator: "\n")
        var records = Self.records(120, seed: 43)
        for index in records.indices where index % 3 == 0 {
            records[index] = #"{"id": "é\#(index % 40)", "key": "\#(keys[index % keys.count])", "mine": "mine"}"#
        }
        let second = try files.write(records, to: "second.ndjson")
        let expected = try Self.expected(given, [first, second])
        var results: Set<String> = []
        for run in [Self.runs[1], Self.runs[2], Self.runs[4]] {
            let store = files.directory.path("\(run.joined()).sqlite")
            #expect(try TestSupport.run(files.command([first], into: store, run)).ending == .exit(0))
            #expect(try TestSupport.run(files.command([second], into: store, run)).ending == .exit(0))
            #expect(try Self.content(store, jobs: 2) == expected, "\(run)")
            #expect(try runImporter("verify", store).ending == .exit(0))
            results.insert(try StoreContent.result(store))
        }
        #expect(results.count == 1)
    }

    /// The reject that is too many ends the import at the same record, and mended after it the rest is accepted.
    @Test(arguments: policies, ["reject", "null"])
    func stopAtTheRecordThatIsTooMany(policy: String, onError: String) throws {
        let given = Case(policy: policy, onError: onError, maxErrors: 9)
        let files = try Self.files(given)
        let records = Self.records(300, seed: 44, faults: 2)
        let source = try files.write(records, to: "things.ndjson")
        let stopped = try Self.expected(given, [source])
        let outcome = try #require(stopped.split(separator: "\n").last)
        let read = try #require(outcome.split(separator: " ").first.flatMap { Int($0) })
        #expect(read > 9 && read < records.count)
        // After the stop all records fit.
        let good = (0..<80).map { #"{"id": "new \#($0)", "needed": "n", "count": \#($0)}"# }
        let mended = try files.write(Array(records.prefix(read)) + good, to: "mended.ndjson")
        let whole = try Self.expected(given, [mended])
        var results: Set<String> = []
        for run in [Self.runs[0], Self.runs[3], Self.runs[5]] {
            let store = files.directory.path("\(run.joined()).sqlite")
            _ = try files.write(records, to: "things.ndjson")
            let result = try TestSupport.run(files.command([source], into: store, run + ["--json"]))
            #expect(result.ending == .exit(65), "\(result.errorText)")
            let report = try Report(result.output)
            #expect(report.state == "failed")
            #expect((report.read, report.rejected) == (read, 9), "\(run)")
            // Only a finished import promises what the others make of objects that came twice.
            if policy == "error" { #expect(try Self.content(store) == stopped, "\(run)") }
            #expect(try runImporter("verify", store).ending == .exit(0))
            try FileManager.default.removeItem(atPath: source)
            try FileManager.default.copyItem(atPath: mended, toPath: source)
            let resumed = try TestSupport.run(files.command([source], into: store, run))
            #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
            #expect(try Self.content(store) == whole, "\(run)")
            #expect(try runImporter("verify", store).ending == .exit(0))
            results.insert(try StoreContent.result(store))
        }
        #expect(results.count == 1)
    }

    /// What is not part of a slice, and how often it is killed, change nothing.
    @Test(arguments: [Case(slice: ["--skip", "150", "--limit", "5000"]), Case(identifier: "key", policy: "replace")])
    func areTheSameAfterKills(_ given: Case) throws {
        let files = try Self.files(given)
        let source = try files.write(Self.complete(6_000, seed: 45), to: "things.ndjson")
        let expected = try Self.expected(given, [source])
        let whole = files.directory.path("whole.sqlite")
        #expect(
            try TestSupport.run(files.command([source], into: whole, ["--index", "note,count"])).ending == .exit(0)
        )
        #expect(try Self.content(whole) == expected)
        let result = try StoreContent.result(whole)
        let store = files.directory.path("store.sqlite")
        let command = files.command([source], into: store, InterruptionTests.run + ["--index", "note,count"])
        try Self.kill(command, store: store, times: 5, seed: 46)
        #expect(try run(command).ending == .exit(0))
        #expect(try StoreContent.result(store) == result)
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// Kills an import again and again, at any moment of it.
    private static func kill(_ command: [String], store: String, times: Int, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var killed = 0
        for attempt in 0..<times {
            if attempt % 2 == 0 {
                let child = try InterruptionTests.progressed(command, in: store, &generator)
                child.signal(SIGKILL)
                if child.wait().ending == .signal(SIGKILL) { killed += 1 }
            } else if try InterruptionTests.isKilled(command, in: store, atRows: 0, later: generator.next(30)) {
                killed += 1
            }
        }
        #expect(killed > times / 2, "the import was too short to be killed")
    }

    /// Records that have all that an object needs, so that its index is built at the end.
    private static func complete(_ count: Int, seed: UInt64) -> [String] {
        records(count, seed: seed, faults: 1).enumerated().map { index, record in
            guard !record.contains("\"needed\"") else { return record }
            return record.dropLast() + (record == "{}" ? "" : ", ") + "\"needed\": \"made \(index % 5)\"}"
        }
    }

    // MARK: Inferred models

    @Test(arguments: [1, 2, 3])
    func inferredIdentifiersAreTheSameAfterKills(seed: Int) throws {
        let people = Samples.people(count: InterruptionTests.count, seed: UInt64(60 + seed))
        let job = ImportJob(
            name: "inferred, with an identifier",
            source: Data(people.pretty.utf8),
            fileName: "people.json",
            options: ["--identifier", "guid"] + (seed == 2 ? ["--skip", "99", "--limit", "7500"] : [])
        )
        let files = try job.files()
        let index = ["--index", "address_city"]
        let expected = try files.uninterruptedResult(index)
        let taken = seed == 2 ? people.records[99..<7_599] : people.records[...]
        let guids = Set(taken.compactMap { $0.split(separator: "\"guid\":\"").last?.prefix { $0 != "\"" } })
        #expect(guids.count < taken.count * 19 / 20)
        let whole = files.directory.path("whole.sqlite")
        #expect(try StoreContent.rowCount(whole) == guids.count)
        let store = files.directory.path("store.sqlite")
        let command = files.command(into: "store.sqlite", InterruptionTests.run + index)
        try Self.kill(command, store: store, times: 5, seed: UInt64(seed))
        #expect(try run(command).ending == .exit(0))
        #expect(try StoreContent.result(store) == expected)
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    // MARK: Indexes

    /// Indexes of other attributes are built beside that of an identifier, killed at the end or not.
    @Test func indexesAreBuiltBesideAnIdentifierThatIsDeferred() throws {
        let files = try Self.files(Case())
        let source = try files.write(Self.complete(1_000, seed: 47), to: "things.ndjson")
        let expected = try Self.expected(Case(), [source])
        let indexes = ["--index", "note,count", "--index", "key", "--index", "id"]
        var killed = 0
        var results: Set<String> = []
        for run in Self.runs where !run.contains("1") {
            let store = files.directory.path("\(run.joined()).sqlite")
            let command = files.command([source], into: store, run + indexes)
            _ = try InterruptionTests.isKilled(command, in: store, atRows: 900, later: killed)
            killed += 3
            #expect(try TestSupport.run(command).ending == .exit(0))
            #expect(try Self.content(store) == expected, "\(run)")
            let names = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'thing' ORDER BY 1"
            #expect(try StoreContent.query(store, names) == "sqlite_autoindex_thing_1\nthing_key\nthing_note_count")
            #expect(try runImporter("verify", store).ending == .exit(0))
            results.insert(try StoreContent.result(store))
        }
        #expect(results.count == 1)
    }
}
