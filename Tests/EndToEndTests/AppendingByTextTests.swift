import Foundation
import TestSupport
import Testing

/// Records are appended whose identifiers come in no order: what keeps them apart is built at the end, and the store is the same
/// as if each record had been written by itself.
struct AppendingByTextTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let model = """
        {"entities": {
          "order": {"identifier": ["code"], "attributes": {"code": {"type": "string"}},
            "relationships": {
              "customer": {"entity": "person"},
              "lines": {"entity": "line", "toMany": true},
              "tags": {"entity": "tag", "toMany": true}}},
          "person": {"identifier": ["country", "number"],
            "attributes": {"country": {"type": "string"}, "number": {"type": "integer64"}, "name": {"type": "string"},
              "city": {"type": "string", "optional": true}}},
          "line": {"identifier": ["sku"], "attributes": {"sku": {"type": "string"}, "count": {"type": "integer32"}}},
          "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}}}}
        """

    /// How much of them says something of an object that is there already.
    enum Repeats: String, CaseIterable {
        /// Each object once.
        case none
        /// Persons now and then, always in the same words.
        case same
        /// In other words, or in part.
        case other
        /// The order itself.
        case records
    }

    private static func records(_ count: Int, _ repeats: Repeats, seed: UInt64) -> [String] {
        var generator = SeededGenerator(seed: seed)
        return (1...count).map { number in
            let isAgain = generator.next(20) == 0
            let place = repeats != .none && isAgain ? generator.next(number) + 1 : number
            var name = "n\(place)"
            if repeats == .other { name += "-\(generator.next(2))" }
            let person = #""country": "c\#(place * 7_919 % 1_000)", "number": \#(place)"#
            let isPartial = repeats == .other && isAgain && generator.next(2) == 0
            let customer = isPartial ? #"{\#(person), "city": "é"}"# : #"{\#(person), "name": "\#(name)"}"#
            let lines = (0..<generator.next(4)).map { #"{"sku": "s\#(number * 31 % 1_009)-\#($0)", "count": \#($0)}"# }
            let tags = (0..<generator.next(4)).map { _ in "\"t\(generator.next(repeats == .none ? 1_000_000 : 40))\"" }
            let code = repeats == .records && isAgain ? place : number
            return #"{"code": "k\#(code * 104_729 % 1_000_003)", "customer": \#(customer), "#
                + #""lines": [\#(lines.joined(separator: ", "))], "tags": [\#(tags.joined(separator: ", "))]}"#
        }
    }

    private func command(_ records: [String], _ name: String, into store: String, _ options: [String] = []) throws
        -> [String]
    {
        let source = try directory.write(records.joined(separator: "\n") + "\n", to: "\(name).ndjson")
        let model = try directory.write(Self.model, to: "model.json")
        return [
            Project.importer, "import", source, "--into", store, "--model", model, "--entity", "order", "--quiet",
        ] + options
    }

    private func store(of records: [String], _ name: String, _ options: [String] = []) throws -> String {
        let store = directory.path("\(name).sqlite")
        let result = try run(command(records, name, into: store, options))
        #expect(result.ending == .exit(0), "\(name): \(result.errorText)")
        #expect(try runImporter("verify", store).ending == .exit(0), "\(name)")
        return store
    }

    private static let indexes =
        "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = 'index' "
        + "AND sql IS NOT NULL AND name NOT LIKE '\\_import%' ESCAPE '\\' ORDER BY 1)"

    @Test(arguments: Repeats.allCases)
    func givesWhatOneRecordAfterAnotherGives(_ repeats: Repeats) throws {
        let records = Self.records(1_500, repeats, seed: 17)
        let appended = try store(of: records, "appended")
        // A first record is there already, so that nothing is appended.
        let slow = try store(of: [records[0]], "slow")
        #expect(try run(command(records, "again", into: slow)).ending == .exit(0))
        #expect(try StoreContent.digest(appended) == StoreContent.digest(slow), "\(repeats)")
        #expect(try StoreContent.query(appended, Self.indexes) == StoreContent.query(slow, Self.indexes))
        let schema = "SELECT group_concat(sql, ';') FROM sqlite_master WHERE name = 'order_tags'"
        #expect(try StoreContent.query(appended, schema).contains("WITHOUT ROWID"))
        for (name, options) in [
            ("few", ["--commit-every", "40", "--workers", "3", "--chunk-size", "20K"]),
            ("one", ["--commit-every", "1", "--workers", "1"]),
        ] {
            let other = try store(of: records, name, options)
            #expect(try StoreContent.result(appended) == StoreContent.result(other), "\(repeats), \(name)")
        }
    }

    /// Killed while no order is where it belongs yet; others have made something of the links meanwhile.
    @Test func goesOnAfterAKill() throws {
        let records = Self.records(1_000, .same, seed: 23)
        let whole = try store(of: records, "whole")
        let store = directory.path("cut.sqlite")
        let options = ["--commit-every", "100", "--chunk-size", "20K", "--workers", "2"]
        let program = try SteppedProgram(command(records, "cut", into: store, options), every: 5, below: directory.path)
        #expect(try program.step(untilRows: 300, in: store))
        program.child.signal(SIGKILL)
        _ = program.child.wait()
        // Tags have their index as soon as one comes again, which depends on how far the other worker is.
        #expect(try !StoreContent.query(store, Self.indexes).contains("order_"))
        let made = try run([
            "sqlite3", store,
            "CREATE VIEW pairs AS SELECT tags_name, count(*) AS n FROM order_tags GROUP BY 1; CREATE INDEX mine ON order_tags (position);",
        ])
        #expect(made.ending == .exit(0), "\(made.errorText)")
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try runImporter("verify", store).ending == .exit(0))
        let links = try StoreContent.query(store, "SELECT count(*) FROM order_tags")
        #expect(try StoreContent.query(store, "SELECT sum(n) FROM pairs") == links)
        #expect(try StoreContent.query(store, Self.indexes).contains("mine"))
        #expect(try run(["sqlite3", store, "DROP VIEW pairs; DROP INDEX mine"]).ending == .exit(0))
        #expect(try StoreContent.result(store) == StoreContent.result(whole))
    }

    /// Objects whose identifiers are made differ, whatever they say.
    @Test func keepsObjectsApartWhoseIdentifiersAreMade() throws {
        let model = """
            {"entities": {
              "box": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"items": {"entity": "item", "toMany": true}}},
              "item": {"identifier": ["uid"], "attributes": {"uid": {"type": "uuid", "generated": true}, "name": {"type": "string"}}}}}
            """
        let file = try directory.write(model, to: "boxes.json")
        let source = try directory.write(
            (1...200).map { #"{"id": \#($0), "items": [{"name": "x"}, {"name": "x"}]}"# }.joined(separator: "\n"),
            to: "boxes.ndjson"
        )
        let store = directory.path("boxes.sqlite")
        let result = try runImporter("import", source, "--into", store, "--model", file, "--entity", "box", "--quiet")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*), count(DISTINCT uid) FROM item") == "400|400")
        let linked = "SELECT count(*) FROM box_items JOIN item ON uid = items_uid"
        #expect(try StoreContent.query(store, linked) == "400")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }
}
