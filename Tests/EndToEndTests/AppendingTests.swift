import Foundation
import TestSupport
import Testing

/// Records of new objects are appended to empty tables, many at a time; the store is the same as if each had been written by
/// itself.
struct AppendingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let model = """
        {"entities": {
          "order": {"identifier": ["id"],
            "attributes": {"id": {"type": "integer64"}, "note": {"type": "string", "optional": true}},
            "relationships": {
              "customer": {"entity": "person", "inverse": "orders"},
              "lines": {"entity": "line", "toMany": true, "deleteRule": "cascade"},
              "tags": {"entity": "tag", "toMany": true}}},
          "person": {"identifier": ["id"],
            "attributes": {"id": {"type": "integer64"}, "name": {"type": "string"}, "city": {"type": "string", "default": "Lund"}},
            "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": []}}},
          "line": {"attributes": {"sku": {"type": "string"}, "count": {"type": "integer32", "optional": true}},
            "relationships": {"discounts": {"entity": "discount", "toMany": true, "deleteRule": "cascade"}}},
          "discount": {"attributes": {"percent": {"type": "double"}}},
          "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}}}}
        """

    /// - Parameters:
    ///   - gaps: how many records there are to one whose customer lacks what a new one needs; 0 for none such.
    ///   - id: the identifier of the record of an ordinal.
    private static func orders(
        _ count: Int,
        gaps: Int = 0,
        seed: UInt64 = 1,
        id: (Int) -> Int = { $0 }
    ) -> [String] {
        var generator = SeededGenerator(seed: seed)
        return (1...count).map { number in
            let person = generator.next(count / 5 + 1)
            // The same person is named in turn by two names, or not at all.
            let name = "n\(person)-\(generator.next(2))"
            let isPartial = gaps > 0 && number % gaps == 0
            let customer =
                isPartial ? #"{"id": \#(person), "city": "Oslo"}"# : #"{"id": \#(person), "name": "\#(name)"}"#
            let lines = (0..<generator.next(4)).map { line in
                let discounts = (0..<generator.next(3)).map { #"{"percent": \#($0).5}"# }.joined(separator: ", ")
                return #"{"sku": "s\#(number)-\#(line)", "discounts": [\#(discounts)]}"#
            }
            let tags = (0..<generator.next(4)).map { _ in "\"t\(generator.next(30))\"" }.joined(separator: ", ")
            return
                #"{"id": \#(id(number)), "customer": \#(customer), "lines": [\#(lines.joined(separator: ", "))], "tags": [\#(tags)]}"#
        }
    }

    private func store(
        of records: [String],
        _ name: String,
        model: String = model,
        entity: String = "order",
        job: Int = 1,
        _ options: [String] = []
    ) throws -> String {
        let source = try directory.write(records.joined(separator: "\n") + "\n", to: "\(name)-\(job).ndjson")
        let model = try directory.write(model, to: "\(name).json")
        let store = directory.path("\(name).sqlite")
        let result = try run(
            [Project.importer, "import", source, "--into", store, "--model", model, "--entity", entity, "--quiet"]
                + options
        )
        #expect(result.ending == .exit(0), "\(name): \(result.errorText)")
        #expect(try runImporter("verify", store).ending == .exit(0), "\(name)")
        return store
    }

    /// The same model, with which nothing is appended: whether references lead to objects is known record by record.
    ///
    /// They all do.
    private static func slow(_ model: String) -> String {
        let slow = model.replacing(#"{"entity": "tag""#, with: #"{"unresolved": "reject", "entity": "tag""#)
            .replacing(#"{"entity": "item""#, with: #"{"unresolved": "reject", "entity": "item""#)
        #expect(slow != model)
        return slow
    }

    /// The rows that one record after another gives.
    private func slowStore(
        of records: [String],
        model: String = model,
        entity: String = "order",
        job: Int = 1
    ) throws -> String {
        try store(of: records, "slow", model: Self.slow(model), entity: entity, job: job)
    }

    private func expectSame(_ one: String, _ other: String, _ comment: Comment? = nil) throws {
        guard try StoreContent.digest(one) != StoreContent.digest(other) else { return }
        let (rows, others) = (
            try StoreContent.text(one).split(separator: "\n"), try StoreContent.text(other).split(separator: "\n")
        )
        let place = zip(rows, others).enumerated().first { $1.0 != $1.1 }
        Issue.record("\(comment ?? ""): \(rows.count) and \(others.count) rows; \(String(describing: place))")
    }

    @Test(arguments: [0, 97, 13])
    func givesWhatOneRecordAfterAnotherGives(gaps: Int) throws {
        let records = Self.orders(3_000, gaps: gaps)
        let appended = try store(of: records, "appended")
        try expectSame(appended, slowStore(of: records), "gaps \(gaps)")
        for (name, options) in [
            ("few", ["--commit-every", "20", "--workers", "3", "--chunk-size", "20K"]),
            ("some", ["--commit-every", "300", "--workers", "2", "--chunk-size", "100K"]),
        ] {
            let other = try store(of: records, name, options)
            #expect(try StoreContent.result(appended) == StoreContent.result(other), "\(name)")
        }
    }

    /// How records' own identifiers may follow one another.
    enum Identifiers: String, CaseIterable {
        case scattered, descending, negative, huge, againAtOnce, inTurns

        func of(_ number: Int) -> Int {
            switch self {
            case .scattered: number * 7_919 % 3_001
            case .descending: 5_000 - number
            case .negative: number - 1_500
            // Around the largest that an image has.
            case .huge: (1 << 56) - 1_500 + number
            case .againAtOnce: number == 1_234 ? 1_233 : number
            case .inTurns: number.isMultiple(of: 500) ? number - 1_000_000 : number
            }
        }
    }

    @Test(arguments: Identifiers.allCases)
    func writesRecordsByTheirIdentifiers(_ identifiers: Identifiers) throws {
        let records = Self.orders(2_000, seed: 5, id: identifiers.of)
        let appended = try store(of: records, "appended")
        try expectSame(appended, slowStore(of: records), "\(identifiers)")
        let other = try store(of: records, "few", ["--commit-every", "70", "--workers", "3", "--chunk-size", "20K"])
        #expect(try StoreContent.result(appended) == StoreContent.result(other))
    }

    /// What a nested object has said is not said again, but where another has said something else of it meanwhile.
    @Test func tellsWhatWasSaidLast() throws {
        let names = ["a", "a", "b", "b", "a", "a", "b"]
        let records = (1...1_400).map { number in
            let (person, name) = (number % 3, names[number / 3 % names.count])
            return
                #"{"id": \#(number), "customer": {"id": \#(person), "name": "\#(name)\#(number / 900)"}, "tags": ["t\#(number % 5)", "é\n"]}"#
        }
        let appended = try store(of: records, "appended")
        try expectSame(appended, slowStore(of: records))
        let counts = """
            SELECT nested, nested_inserted, nested_updated, nested_unchanged, linked FROM _import_entity ORDER BY position
            """
        let one = try store(of: records, "one", ["--commit-every", "1"])
        #expect(try StoreContent.query(appended, counts) == StoreContent.query(one, counts))
        #expect(try StoreContent.query(appended, "SELECT nested FROM _import_entity WHERE position = 1") == "1400")
    }

    @Test func goesOnWithObjectsThatComeAgain() throws {
        // The order of the records makes another batch the first with an object that is there, however many are in one.
        for place in [200, 1_500, 2_999] {
            var records = Self.orders(3_000, gaps: 211, seed: 3)
            records.insert(#"{"id": 7, "lines": [{"sku": "new"}], "tags": ["t1", "other"]}"#, at: place)
            let appended = try store(of: records, "again-\(place)")
            try expectSame(appended, slowStore(of: records), "at \(place)")
            try FileManager.default.removeItem(atPath: directory.path("slow.sqlite"))
            let other = try store(of: records, "again-\(place)-few", ["--commit-every", "70", "--chunk-size", "30K"])
            #expect(try StoreContent.result(appended) == StoreContent.result(other), "at \(place)")
        }
    }

    /// What is new is appended between objects that come again, in the first job and in later ones.
    @Test(arguments: [2, 10, 40])
    func appendsWhatIsNewBetweenObjectsThatComeAgain(of every: Int) throws {
        var generator = SeededGenerator(seed: UInt64(every))
        var records = Self.orders(3_000, gaps: 211, seed: 3, id: Identifiers.scattered.of)
        let others = Self.orders(3_000, gaps: 173, seed: 4, id: Identifiers.scattered.of)
        for place in records.indices where place.isMultiple(of: every) {
            records[place] = others[generator.next(place + 1)]
        }
        let (first, second) = (Array(records.prefix(1_000)), Array(records.dropFirst(1_000)))
        let rows = try store(of: records, "whole")
        try expectSame(rows, slowStore(of: records), "every \(every)")
        _ = try store(of: first, "two")
        let later = try store(of: second, "two", job: 2, ["--commit-every", "170", "--chunk-size", "40K"])
        try expectSame(later, rows, "every \(every), in two jobs")
        try FileManager.default.removeItem(atPath: directory.path("slow.sqlite"))
        _ = try slowStore(of: first)
        let slow = try slowStore(of: second, job: 2)
        let counts = """
            SELECT job, nested, nested_inserted, nested_updated, nested_unchanged, nested_ignored, linked, stubs, deleted
            FROM _import_entity ORDER BY job, position
            """
        #expect(try StoreContent.query(later, counts) == StoreContent.query(slow, counts))
    }

    @Test func replacesLinksThatAnObjectHasLeftBehind() throws {
        let name = "left"
        let store = try store(of: [#"{"id": 1, "tags": ["a", "b"]}"#, #"{"id": 2, "tags": ["a"]}"#], name)
        try StoreContent.execute(store, #"DELETE FROM "order" WHERE id = 1"#)
        #expect(try StoreContent.query(store, "SELECT count(*) FROM order_tags") == "3")
        _ = try self.store(of: [#"{"id": 1, "tags": ["c"]}"#, #"{"id": 3, "tags": ["a", "c"]}"#], name, job: 2)
        #expect(
            try StoreContent.query(store, "SELECT order_id, tags_name, position FROM order_tags ORDER BY 1, 3")
                == "1|c|0\n2|a|0\n3|a|0\n3|c|1"
        )
    }

    @Test func givesNewObjectsTheLinksThatHaveWaited() throws {
        let model = Self.model.replacing(#""from": []"#, with: #""from": "orders""#)
        let people = try directory.write(#"{"id": 1, "name": "x", "orders": [9]}"# + "\n", to: "person.ndjson")
        let orders = try directory.write(#"{"id": 8}"# + "\n" + #"{"id": 9}"# + "\n", to: "order.ndjson")
        let file = try directory.write(model, to: "both.json")
        let store = directory.path("both.sqlite")
        for (source, entity) in [(people, "person"), (orders, "order")] {
            let command = ["import", source, "--into", store, "--model", file, "--entity", entity, "--quiet"]
            #expect(try run([Project.importer] + command).ending == .exit(0))
        }
        #expect(try StoreContent.query(store, #"SELECT id, customer_id FROM "order" ORDER BY 1"#) == "8|\n9|1")
    }

    @Test func fillsRowsThatWereThereForReferencesAlone() throws {
        let model = """
            {"entities": {
              "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"tags": {"entity": "tag", "toMany": true, "unresolved": "stub"}}},
              "tag": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "name": {"type": "string", "optional": true}}}}}
            """
        let store = try store(of: [#"{"id": 1, "tags": [5]}"#], "stubs", model: model)
        _ = try self.store(of: [#"{"id": 2, "tags": [{"id": 5, "name": "x"}]}"#], "stubs", model: model, job: 2)
        let counts = "SELECT nested_inserted, nested_updated, stubs FROM _import_entity WHERE position = 1 ORDER BY job"
        #expect(try StoreContent.query(store, counts) == "0|0|1\n1|0|-1")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_stub") == "0")
    }

    @Test func numbersObjectsThatHaveNoIdentifier() throws {
        let model = Self.model.replacing(#""order": {"identifier": ["id"],"#, with: #""order": {"#)
            .replacing(#", "inverse": "orders""#, with: "")
            .replacing(
                #""relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": []}}"#,
                with: #""relationships": {}"#
            )
            .replacing(
                #""tags": {"entity": "tag", "toMany": true}"#,
                with: #""tags": {"entity": "tag", "toMany": true, "list": "union"}"#
            )
        let records = Self.orders(2_000, gaps: 171, seed: 9)
        let appended = try store(of: records, "keyless", model: model)
        // A record that is there once more is another object.
        let slow = try store(of: records, "keyless-slow", model: model, ["--commit-every", "1"])
        #expect(try StoreContent.result(appended) == StoreContent.result(slow))
        let orphans = "SELECT count(*) FROM line WHERE order_row_id NOT IN (SELECT row_id FROM \"order\")"
        #expect(try StoreContent.query(appended, orphans) == "0")
        // Each line is of the order that its text names.
        let wrong =
            "SELECT count(*) FROM line JOIN \"order\" AS own ON own.row_id = order_row_id "
            + "WHERE sku NOT LIKE 's' || own.id || '-%'"
        #expect(try StoreContent.query(appended, wrong) == "0")
        #expect(try StoreContent.query(appended, "SELECT count(*) > 1000 FROM line") == "1")
    }

    @Test func tellsReplacingFromMerging() throws {
        let model = """
            {"entities": {
              "pair": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "one": {"entity": "item"}, "other": {"entity": "item", "onConflict": "replace"}}},
              "item": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"},
                "name": {"type": "string", "optional": true}, "city": {"type": "string", "optional": true}}}}}
            """
        // The second says what is known; the third says the same, and that there is nothing else.
        let records = [
            #"{"id": 1, "one": {"id": 1, "name": "x", "city": "y"}}"#, #"{"id": 2, "one": {"id": 1, "name": "x"}}"#,
            #"{"id": 3, "other": {"id": 1, "name": "x"}}"#, #"{"id": 4, "one": {"id": 2, "name": "a"}}"#,
            #"{"id": 5, "one": {"id": 2, "name": "b"}}"#, #"{"id": 6, "one": {"id": 2, "name": "a"}}"#,
        ]
        let appended = try store(of: records, "pairs", model: model, entity: "pair")
        #expect(try StoreContent.query(appended, "SELECT id, name, city FROM item ORDER BY id") == "1|x|\n2|a|")
        try expectSame(appended, slowStore(of: records, model: model, entity: "pair"))
    }

    /// What is nested in objects that have numbers as they come is always in order.
    @Test(arguments: [(Identifiers.negative, "discount_line,line_order"), (.descending, "discount_line")])
    func keepsUpOnlyTheIndexesInWhoseOrderRowsCome(_ identifiers: Identifiers, kept: String) throws {
        let records = Self.orders(2_000, id: identifiers.of)
        let finished = try store(of: records, "whole")
        let source = try directory.write(records.joined(separator: "\n") + "\n", to: "cut.ndjson")
        let model = try directory.write(Self.model, to: "cut.json")
        let store = directory.path("cut.sqlite")
        let command = [
            Project.importer, "import", source, "--into", store, "--model", model, "--entity", "order", "--quiet",
            "--commit-every", "200", "--chunk-size", "50K", "--workers", "1",
        ]
        let program = try SteppedProgram(command, every: 5, below: directory.path)
        #expect(try program.step(untilRows: 3_000, in: store))
        program.child.signal(SIGKILL)
        _ = program.child.wait()
        let indexes =
            "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = 'index' "
            + "AND sql IS NOT NULL AND name NOT LIKE '\\_import%' ESCAPE '\\' AND name <> 'tag_identifier' ORDER BY 1)"
        let found = try StoreContent.query(store, indexes)
        #expect(found == kept)
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(
            try StoreContent.query(store, indexes)
                == "discount_line,line_order,order_customer,order_tags_inverse"
        )
        #expect(try StoreContent.result(store) == StoreContent.result(finished))
    }

    @Test func anotherJobFindsTheIndexesOfLinks() throws {
        let records = Self.orders(1_000)
        let source = try directory.write(records.joined(separator: "\n") + "\n", to: "first.ndjson")
        let model = try directory.write(Self.model, to: "model.json")
        let store = directory.path("two.sqlite")
        let command = [
            Project.importer, "import", source, "--into", store, "--model", model, "--entity", "order", "--quiet",
            "--commit-every", "100", "--chunk-size", "20K", "--workers", "1",
        ]
        let program = try SteppedProgram(command, every: 5, below: directory.path)
        #expect(try program.step(untilRows: 300, in: store))
        program.child.signal(SIGKILL)
        _ = program.child.wait()
        let second = try directory.write(#"{"id": 5, "lines": [], "tags": ["t1"]}"# + "\n", to: "second.ndjson")
        let other = ["import", second, "--into", store, "--model", model, "--entity", "order", "--quiet"]
        #expect(try run([Project.importer] + other).ending == .exit(0))
        let index = "SELECT count(*) FROM sqlite_master WHERE name = 'line_order'"
        #expect(try StoreContent.query(store, index) == "1")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM line WHERE order_id = 5") == "0")
    }
}
