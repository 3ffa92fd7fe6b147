import Foundation
import TestSupport
import Testing

/// Records whose references must lead somewhere when the import ends, and do not: they are rejects, and the store is what the
/// others make of it.
struct UnresolvedRejectTests {
    private let files: RelatedImport

    init() throws { files = try RelatedImport() }

    /// Orders whose customers and products must be somewhere; a person's orders are said by these.
    static let model = """
        {"entities": {
          "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "note": {"type": "string", "optional": true}},
            "relationships": {
              "customer": {"entity": "person", "inverse": "orders", "unresolved": "reject"},
              "lines": {"entity": "line", "toMany": true, "deleteRule": "cascade"},
              "tags": {"entity": "tag", "toMany": true}}},
          "line": {"attributes": {"count": {"type": "integer32", "optional": true}}, "relationships": {
            "product": {"entity": "product", "unresolved": "reject"}}},
          "product": {"identifier": ["code"], "attributes": {"code": {"type": "string"}, "name": {"type": "string", "optional": true}},
            "relationships": {"parts": {"entity": "product", "toMany": true, "unresolved": "reject"}}},
          "tag": {"identifier": ["id"], "attributes": {"id": {"type": "string"}, "label": {"type": "string", "optional": true}}},
          "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "name": {"type": "string"}},
            "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": []}}}}}
        """

    private struct Reject: Equatable {
        let ordinal: Int
        let errors: [String]
    }

    private func rejects() throws -> [Reject] {
        try runImporter("rejects", files.store, "--json").output.split(separator: UInt8(ascii: "\n")).map { line in
            let reject = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
            let errors = try #require(reject["errors"] as? [[String: Any]])
            return Reject(
                ordinal: try #require(reject["ordinal"] as? Int),
                errors: errors.map { "\($0["key_path"] ?? "") \($0["code"] ?? "") \($0["byte_offset"] ?? "")" }
            )
        }
    }

    private func verify() throws {
        let result = try runImporter("verify", files.store)
        #expect(result.ending == .exit(0), "\(result.outputText)")
    }

    private static let tables = ["order", "line", "product", "person", "tag", "order_tags", "product_parts"]

    private func rows(_ store: String) throws -> [String] {
        try Self.tables.map { table in
            let rowID = table.contains("_") ? "" : "rowid, "
            return try StoreContent.query(store, "SELECT \(rowID)* FROM \"\(table)\" ORDER BY 1, 2")
        }
    }

    /// What a store says of its own bookkeeping empties no table of others.
    @Test func tablesOfOthersAreNotTakenBack() throws {
        let source = try files.directory.write("{\"id\": 1, \"customer\": 99}\n{\"id\": 2, \"no", to: "orders.ndjson")
        let model = try files.directory.write(Self.model, to: "model.json")
        let command = ["import", source, "--into", files.store, "--model", model, "--entity", "order", "--quiet"]
        #expect(try run([Project.importer] + command).ending == .exit(65))
        let manipulation = """
            CREATE TABLE other (a); INSERT INTO other VALUES (1);
            INSERT INTO _import_reversal SELECT job, 'other', 1 FROM _import_reversal LIMIT 1
            """
        #expect(try run(["sqlite3", files.store, manipulation]).ending == .exit(0))
        try "{\"id\": 1, \"customer\": 99}\n{\"id\": 2}\n".write(toFile: source, atomically: true, encoding: .utf8)
        let result = try runImporter("resume", files.store)
        #expect(result.ending == .exit(74))
        #expect(result.errorText.contains("_import_reversal.table_name is 'other'"), "\(result.errorText)")
        #expect(try files.query("SELECT count(*) FROM other") == "1")
    }

    @Test func theStoreIsWhatTheOthersMakeOfIt() throws {
        let people = #"{"id": 1, "name": "Ada"}"# + "\n"
        let products = #"{"code": "a", "name": "A"}"# + "\n" + #"{"code": "b", "parts": ["a"]}"# + "\n"
        #expect(try files.importing(people, "person", Self.model).ending == .exit(0))
        #expect(try files.importing(products, "product", Self.model).ending == .exit(0))
        let good = [
            #"{"id": 1, "customer": 1, "lines": [{"product": "a", "count": 1}, {"product": "b"}], "tags": [{"id": "x", "label": "X"}]}"#,
            #"{"id": 2, "customer": 1, "lines": [], "tags": [{"id": "z"}, "x"]}"#,
        ]
        // What these do to the first order, its lines, and objects that others have, is undone.
        let bad = [
            #"{"id": 1, "note": "n", "lines": [{"product": "q"}], "tags": [{"id": "y"}]}"#,
            #"{"id": 9, "customer": {"id": 1, "name": "Eve"}, "tags": [{"id": "x", "label": "changed"}], "lines": [{"product": "a"}, {"product": "nope"}, {"product": "gone"}]}"#,
        ]
        let records = [good[0], bad[0], bad[1], good[1]]
        let result = try files.importing(
            records.joined(separator: "\n") + "\n",
            "order",
            Self.model,
            "--chunk-size",
            "200"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let first = good[0].utf8.count + 1
        let second = first + bad[0].utf8.count + 1
        func offset(_ text: String, in record: String) throws -> Int {
            record.utf8.distance(from: record.startIndex, to: try #require(record.firstRange(of: text)).lowerBound)
        }
        let model = files.directory.path("model.json")
        #expect(
            try rejects() == [
                Reject(ordinal: 2, errors: ["lines[0].product unresolved \(try first + offset("\"q\"", in: bad[0]))"]),
                Reject(
                    ordinal: 3,
                    errors: [
                        "lines[1].product unresolved \(try second + offset("\"nope\"", in: bad[1]))",
                        "lines[2].product unresolved \(try second + offset("\"gone\"", in: bad[1]))",
                    ]
                ),
            ]
        )
        try verify()
        let other = try RelatedImport()
        #expect(try other.importing(people, "person", Self.model).ending == .exit(0))
        #expect(try other.importing(products, "product", Self.model).ending == .exit(0))
        #expect(try other.importing(good.joined(separator: "\n") + "\n", "order", Self.model).ending == .exit(0))
        #expect(try rows(files.store) == rows(other.store))
        #expect(try files.query("SELECT count(*) FROM _import_before") == "0")
        // Products that come later let a retry take them.
        #expect(try files.importing(#"{"code": "q"}"# + "\n", "product", Self.model).ending == .exit(0))
        #expect(try runImporter("retry", files.store, "--model", model).ending == .exit(0))
        #expect(try rejects().map(\.ordinal) == [3])
        #expect(try files.query("SELECT note FROM \"order\" WHERE id = 1") == "n")
        try verify()
    }

    @Test func whatRejectsTakeAwayMakesOthersRejects() throws {
        // Each is made of the next one, and the last one of nothing that is there.
        let chain = (0..<6).map { #"{"code": "p\#($0)", "parts": ["p\#($0 + 1)"]}"# }
        let records = chain + [#"{"code": "alone"}"#, #"{"code": "own", "parts": ["own", "alone"]}"#]
        let result = try files.importing(records.joined(separator: "\n") + "\n", "product", Self.model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try rejects().map(\.ordinal) == [1, 2, 3, 4, 5, 6])
        #expect(try files.query("SELECT group_concat(code) FROM product") == "alone,own")
        #expect(try files.query("SELECT count(*) FROM product_parts") == "2")
        try verify()
    }

    @Test func standardInputIsImportedAgainToo() throws {
        let records =
            (1...50).map { #"{"code": "p\#($0)", "parts": ["p\#($0 == 20 ? 99 : $0 + 1)"]}"# } + [#"{"code": "p51"}"#]
        let model = try files.directory.write(Self.model, to: "model.json")
        let source = try files.directory.write(records.joined(separator: "\n") + "\n", to: "piped")
        let result = try run(
            [
                Project.importer, "import", "-", "--into", files.store, "--model", model, "--entity", "product",
                "--progress", "none", "--chunk-size", "256",
            ],
            input: source
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try rejects().map(\.ordinal) == Array(1...20))
        #expect(try files.query("SELECT count(*) FROM product") == "31")
        try verify()
    }

    /// Each refers to one of the first seven, but for three that refer to nothing.
    private static let many = (1...60).map { number in
        #"{"code": "p\#(number)", "parts": ["p\#([20, 40, 50].contains(number) ? 99 : number % 7 + 1)"]}"# + "\n"
    }

    @Test func anImportThatStopsOnceItHasBegunAgainResumes() throws {
        let result = try files.importing(
            Self.many.joined(),
            "product",
            Self.model,
            "--max-errors",
            "2",
            "--chunk-size",
            "300",
            "--commit-every",
            "3"
        )
        #expect(result.ending == .exit(65), "\(result.errorText)")
        #expect(try files.query("SELECT count(*) FROM product") == "47")
        // What it may still take back must not be mixed with what others do.
        let other = try files.importing(#"{"code": "q"}"# + "\n", "product", Self.model)
        #expect(other.ending == .exit(64))
        #expect(other.errorText.contains(" resume "))
        #expect(try runImporter("resume", files.store, "--max-errors", "none").ending == .exit(0))
        #expect(try rejects().map(\.ordinal) == [20, 40, 50])
        try verify()
        let whole = try RelatedImport()
        #expect(try whole.importing(Self.many.joined(), "product", Self.model, "--workers", "1").ending == .exit(0))
        #expect(try rows(files.store) == rows(whole.store))
        #expect(try files.query("SELECT count(*) FROM _import_reversal") == "0")
    }

    @Test func whatASourceSaysNowDecides() throws {
        let source = try files.directory.write(Self.many.joined(), to: "many.ndjson")
        let model = try files.directory.write(Self.model, to: "model.json")
        let command = [
            Project.importer, "import", source, "--into", files.store, "--model", model, "--entity", "product",
        ]
        let options = ["--progress", "none", "--max-errors", "2", "--chunk-size", "300", "--commit-every", "3"]
        #expect(try run(command + options).ending == .exit(65))
        // Records after those that are imported bring what the first rejects refer to.
        let corrected = Self.many.dropLast() + [#"{"code": "p99"}"# + "\n"]
        _ = try files.directory.write(corrected.joined(), to: "many.ndjson")
        let result = try runImporter("resume", files.store)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try rejects().isEmpty)
        #expect(try files.query("SELECT count(*) FROM product") == "60")
        try verify()
    }

    /// Products that are there, and a chain of new ones whose end is not: each round rejects one more, and takes back what the
    /// others have done to those that were there.
    private static let stored = (1...12).map {
        #"{"code": "s\#($0)", "name": "n\#($0)", "parts": ["s\#($0 % 12 + 1)"]}"# + "\n"
    }
    private static let rounds = (1...24).map { number in
        let next = number > 4 ? "s\(number % 12 + 1)" : number == 4 ? "gone" : "p\(number + 1)"
        return #"{"code": "p\#(number)", "parts": ["s\#(number % 12 + 1)", "\#(next)"]}"# + "\n"
            + #"{"code": "s\#(number % 12 + 1)", "name": "m\#(number)", "parts": ["p\#(number)", "s1"]}"# + "\n"
    }

    /// Kills at all stages of an import that is taken back several times.
    @Test(arguments: [1, 2, 3])
    func isTheSameAfterKillsInEachRound(seed: UInt64) throws {
        let stored = try files.directory.write(Self.stored.joined(), to: "stored.ndjson")
        let source = try files.directory.write(Self.rounds.joined(), to: "rounds.ndjson")
        let model = try files.directory.write(Self.model, to: "model.json")
        func command(_ source: String, _ store: String) -> [String] {
            [Project.importer, "import", source, "--into", store, "--model", model, "--entity", "product"]
                + ["--progress", "none", "--commit-every", "5", "--chunk-size", "400", "--workers", "2"]
        }
        let whole = files.directory.path("whole.sqlite")
        for store in [whole, files.store] { #expect(try run(command(stored, store)).ending == .exit(0)) }
        #expect(try run(command(source, whole)).ending == .exit(0))
        var generator = SeededGenerator(seed: seed)
        var (kills, rounds) = (0, Set<String>())
        // Each attempt comes farther than the one before: an interrupted one may have to begin with what was not committed.
        while kills < 25 {
            let program = try SteppedProgram(
                command(source, files.store),
                every: 30 + 12 * kills + generator.next(60),
                below: URL(filePath: files.store).deletingLastPathComponent().path
            )
            guard program.child.isRunning else { break }
            program.child.signal(SIGKILL)
            guard program.child.wait().ending == .signal(SIGKILL) else { break }
            kills += 1
            rounds.insert(try files.query("SELECT count(*) FROM _import_unmet"))
        }
        // Each round has noted one more record.
        #expect(rounds.isSuperset(of: ["0", "1", "2", "3", "4"]), "\(kills) kills: \(rounds)")
        let result = try run(command(source, files.store))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        try verify()
        #expect(try StoreContent.result(files.store) == StoreContent.result(whole))
        #expect(
            try files.query("SELECT (SELECT count(*) FROM _import_before) + (SELECT count(*) FROM _import_reversal)")
                == "0"
        )
    }
}
