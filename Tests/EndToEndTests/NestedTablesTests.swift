import Foundation
import TestSupport
import Testing

/// `--nested tables`: arrays of objects become tables of their own.
struct NestedTablesTests {
    private static let orders = [
        #"{"id": 7, "customer": {"id": 1, "name": "Ada"}, "items": [{"sku": "a", "count": 2, "taxes": [{"rate": 1.5}]}, {"sku": "b"}]}"#,
        #"{"id": 8, "customer": null, "items": [], "tags": ["x"], "ship": {"stops": [{"city": "Lund", "order_id": 3}]}}"#,
        #"{"id": 9, "items": null, "late": [{"orders_position": 1}, {}], "mixed": [{"a": 1}, null]}"#,
        #"{"id": 10, "items": [{"sku": "c", "size": {"w": 1, "h": 2}, "taxes": []}], "mixed": []}"#,
    ]

    private func files(_ records: [String], _ options: [String] = ["--nested", "tables"]) throws -> ImportFiles {
        try ImportFiles(
            [("orders.ndjson", Data((records.joined(separator: "\n") + "\n").utf8))],
            options: ["--records", "$"] + options
        )
    }

    /// Imports, and compares with the slow reading; gives back what that says of the tables.
    private func compare(_ files: ImportFiles, into store: String, _ checks: [String] = []) throws -> String {
        let result = try run(files.command(into: store))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let path = files.directory.path(store)
        let verified = try runImporter("verify", path)
        #expect(verified.ending == .exit(0), "\(verified.outputText)")
        let arguments = checks + [path, "orders=$", "--"] + files.sources
        let compared = try Python.run("nested_tables.py", arguments)
        #expect(compared.ending == .exit(0), "\(compared.outputText) \(compared.errorText)")
        return compared.outputText.trimmingCharacters(in: .newlines)
    }

    @Test func tablesAreThoseOfAnIndependentReading() throws {
        let files = try files(Self.orders)
        #expect(
            try compare(files, into: "s.sqlite") == """
                orders: 4 rows
                orders_items: 3 rows
                orders_items_taxes: 1 rows
                orders_ship_stops: 1 rows
                orders_late: 2 rows
                """
        )
        let store = files.directory.path("s.sqlite")
        let items = "SELECT sku, count, size_w, orders_row_id, orders_position FROM orders_items ORDER BY rowid"
        #expect(try StoreContent.query(store, items) == "a|2||1|0\nb|||1|1\nc||1|4|0")
        let keys = "SELECT \"table\", \"from\", \"to\", on_delete FROM pragma_foreign_key_list('orders_items_taxes')"
        #expect(try StoreContent.query(store, keys) == "orders_items|orders_items_row_id|row_id|CASCADE")
    }

    @Test func theIdentifierIsWhatChildrenReferTo() throws {
        let options = ["--nested", "tables", "--identifier", "id", "--nested-depth", "1"]
        let files = try files(Self.orders, options)
        _ = try compare(files, into: "s.sqlite", ["--identifier", "id", "--depth", "1"])
        let store = files.directory.path("s.sqlite")
        #expect(
            try StoreContent.query(store, "SELECT sku, taxes, orders_id FROM orders_items")
                == "a|[{\"rate\":1.5}]|7\nb||7\nc|[]|10"
        )
    }

    @Test func thePrintedModelGivesTheSameStore() throws {
        for options in [[], ["--identifier", "id"], ["--nested-depth", "1"], ["--nested-only", "items.taxes"]] {
            let files = try files(Self.orders, ["--nested", "tables"] + options)
            let expected = try files.uninterruptedResult()
            let printed = try run([Project.importer, "infer", files.sources[0]] + files.jobOptions)
            #expect(printed.ending == .exit(0), "\(printed.errorText)")
            let model = try files.directory.write(printed.output, to: "printed.json")
            #expect(try runImporter("model", "check", model).ending == .exit(0))
            let store = files.directory.path("store.sqlite")
            let result = try runImporter("import", files.sources[0], "--into", store, "--model", model)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try StoreContent.result(store) == expected)
        }
    }

    /// Records with objects and arrays in each other, some of them irregular.
    private static func random(seed: UInt64, count: Int) -> [String] {
        var random = SeededGenerator(seed: seed)
        func object(_ depth: Int, _ place: UInt64) -> String {
            var members: [String] = []
            for key in ["a", "b", "B", "a_b", "c", "orders_row_id", "d"] where Int.random(in: 0..<3, using: &random) > 0
            {
                let own = place &* 31 &+ UInt64(key.utf8.reduce(0) { $0 &* 7 &+ Int($1) })
                members.append("\"\(key)\": \(value(depth + 1, own))")
            }
            return "{\(members.joined(separator: ", "))}"
        }
        func value(_ depth: Int, _ place: UInt64) -> String {
            var kinds = SeededGenerator(seed: place)
            let kind = Int.random(in: 0..<8, using: &kinds)
            let isOdd = Int.random(in: 0..<5, using: &kinds) == 0 && Int.random(in: 0..<4, using: &random) == 0
            if isOdd || Int.random(in: 0..<10, using: &random) == 0 {
                return ["null", "1", "\"x\"", "[1]", "[null]", "{}", "[]"].randomElement(using: &random) ?? "null"
            }
            switch depth < 5 ? kind : kind % 3 {
            case 0: return "\(Int.random(in: 0..<100, using: &random))"
            case 1: return "\"t\(Int.random(in: 0..<9, using: &random))\""
            case 2: return Bool.random(using: &random) ? "true" : "false"
            case 3, 4: return object(depth, place)
            default:
                let elements = (0..<Int.random(in: 0...3, using: &random)).map { _ in object(depth, place &+ 1) }
                return "[\(elements.joined(separator: ", "))]"
            }
        }
        return (0..<count).map { "{\"n\": \($0), \(object(0, seed).dropFirst())".replacing(", }", with: "}") }
    }

    @Test(arguments: 1...12) func randomRecordsAreAsAnIndependentReadingHasThem(seed: UInt64) throws {
        let depth = seed % 3 + 1
        let files = try files(
            Self.random(seed: seed, count: 30),
            // The other reading knows no lists of one.
            ["--nested", "tables", "--nested-depth", "\(depth)", "--strict"]
        )
        _ = try compare(files, into: "s.sqlite", ["--depth", "\(depth)"])
    }

    @Test func isTheSameHoweverTheWorkIsSharedOut() throws {
        let files = try files(Self.random(seed: 5, count: 120))
        let expected = try files.uninterruptedResult()
        for (index, options) in OneResultTests.runs.enumerated() where index.isMultiple(of: 3) {
            let store = "store\(index).sqlite"
            let result = try run(files.command(into: store, options))
            #expect(result.ending == .exit(0), "\(options): \(result.errorText)")
            #expect(try StoreContent.result(files.directory.path(store)) == expected, "\(options)")
        }
    }

    // MARK: Options

    @Test func aResumeWithOtherOptionsIsRefused() throws {
        let files = try files(Self.orders + [#"{"id": 11, "items": [{"#])
        let source = files.sources[0]
        let store = files.directory.path("s.sqlite")
        func importing(_ options: String...) throws -> ChildProcess.Result {
            try run([Project.importer, "import", source, "--into", store, "--records", "$[*]"] + options)
        }
        let text = "[" + Self.orders.joined(separator: ",") + ",{\"id\": 11, \"items\": [{"
        _ = try files.directory.write(text, to: "orders.ndjson")
        #expect(try importing("--nested", "tables").ending == .exit(65))
        let others: [([String], String)] = [
            ([], "with --nested"), (["--nested", "json"], "with another --nested"),
            (["--nested", "tables", "--nested-depth", "1"], "without --nested-depth"),
            (["--nested", "tables", "--nested-only", "items"], "without --nested-only"),
        ]
        for (options, how) in others {
            let result = try run(
                [Project.importer, "import", source, "--into", store, "--records", "$[*]"] + options
            )
            #expect(result.ending == .exit(64))
            #expect(result.errorText.contains("was started \(how)"), "\(result.errorText)")
        }
        _ = try files.directory.write(text + "\"sku\": \"z\", \"new\": 1}]}]", to: "orders.ndjson")
        let resumed = try importing("--nested", "tables")
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        let whole = files.directory.path("whole.sqlite")
        let again = try runImporter("import", source, "--into", whole, "--records", "$[*]", "--nested", "tables")
        #expect(again.ending == .exit(0), "\(again.errorText)")
        #expect(try StoreContent.result(store) == StoreContent.result(whole))
    }

    @Test func whatCannotBeAskedForIsAUsageError() throws {
        let files = try files(Self.orders, [])
        let cases: [([String], String)] = [
            (["--nested-depth", "1"], "--nested-depth is for --nested tables only"),
            (["--nested-only", "items"], "--nested-only is for --nested tables only"),
            (["--nested", "tables", "--nested-depth", "0"], "--nested-depth must be from 1 to 16, not 0"),
            (["--nested", "tables", "--nested-only", "a..b"], "'a..b' is not a path of keys"),
            (["--nested", "table"], "'--nested"),
            (
                ["--nested", "tables", "--nested-only", "item"],
                "there is no array of objects at item; did you mean items?\n  Arrays of objects are at: items, "
            ),
            (
                ["--nested", "tables", "--nested-only", "mixed"],
                "no table can be made of mixed: some elements are no objects"
            ),
            (
                ["--nested", "tables", "--nested-depth", "1", "--nested-only", "items.taxes"],
                "no table can be made of items.taxes: there would be more levels of child tables than 1"
            ),
            (
                ["--nested", "tables", "--identifier", "orders_items:sku"],
                "objects of orders_items have no identifier in an inferred model"
            ),
        ]
        for (options, text) in cases {
            let store = files.directory.path("s.sqlite")
            let result = try run(files.command(into: store, options))
            #expect(result.ending == .exit(64), "\(options): \(result.errorText)")
            #expect(result.errorText.contains(text), "\(options): \(result.errorText)")
            #expect(try StoreContent.rowCount(store) == 0)
        }
    }

    @Test func theDefaultSaysWhichArraysCouldBeTables() throws {
        let files = try files(Self.orders, [])
        let result = try run(files.command(into: "s.sqlite"))
        let line =
            "orders: items, ship.stops, late: arrays of objects kept as JSON (--nested tables makes child tables of them)\n"
        #expect(result.errorText.contains(line), "\(result.errorText)")
        #expect(try StoreContent.tables(files.directory.path("s.sqlite")) == ["orders"])
        let tables = try run(files.command(into: "t.sqlite", ["--nested", "tables"]))
        #expect(!tables.errorText.contains("makes child tables"))
        let mixed = "orders: mixed: arrays of objects kept as JSON: some elements are no objects\n"
        #expect(tables.errorText.contains(mixed), "\(tables.errorText)")
        #expect(!tables.errorText.contains("looks like an identifier"), "of so few, any value differs from the others")
    }

    // MARK: Later imports

    @Test func aLaterImportContinuesChildTables() throws {
        let files = try files(Self.orders)
        let store = files.directory.path("s.sqlite")
        #expect(try run(files.command(into: store)).ending == .exit(0))
        let later = try files.write(
            [
                #"{"id": 20, "items": [{"sku": "d", "new": true, "taxes": [{"code": 1}, {"rate": 2}]}], "row_id": 5}"#,
                #"{"id": 21, "more": [{"a": 1}], "items": [{"sku": 4}, {"sku": "e"}], "late": null}"#,
            ],
            to: "later.ndjson"
        )
        let command = files.command([later], into: store, ["--entity", "orders"])
        let result = try run(command)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.errorText.contains("new columns in orders_items: new (boolean)\n"), "\(result.errorText)")
        #expect(result.errorText.contains("new columns in orders_items_taxes: code (integer64)\n"))
        let items = "SELECT sku, new, orders_row_id, orders_position FROM orders_items WHERE rowid > 3"
        #expect(try StoreContent.query(store, items) == "d|1|5|0\n4||6|0\ne||6|1")
        let taxes = "SELECT rate, code, orders_items_row_id FROM orders_items_taxes WHERE rowid > 1"
        #expect(try StoreContent.query(store, taxes) == "|1|4\n2.0||4")
        #expect(try StoreContent.query(store, "SELECT a, orders_row_id, orders_position FROM orders_more") == "1|6|0")
        #expect(try StoreContent.query(store, "SELECT row_id, row_id_2 FROM orders WHERE id = 20") == "5|5")
        #expect(try StoreContent.query(store, "PRAGMA foreign_key_check").isEmpty)
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func theModelOfTheStoreCanBeImportedWith() throws {
        let files = try files(Self.orders)
        let store = files.directory.path("s.sqlite")
        #expect(try run(files.command(into: store)).ending == .exit(0))
        let printed = try runImporter("model", "print", store)
        #expect(!printed.outputText.contains("orders_row_id\""), "\(printed.outputText)")
        let model = try files.directory.write(printed.output, to: "printed.json")
        #expect(try runImporter("model", "check", model).outputText == "no mistakes\n")
        let later = try files.write([#"{"id": 20, "items": [{"sku": "d"}]}"#], to: "later.ndjson")
        let result = try runImporter("import", later, "--into", store, "--model", model, "--entity", "orders")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let items = "SELECT sku, orders_row_id, orders_position FROM orders_items WHERE rowid > 3"
        #expect(try StoreContent.query(store, items) == "d|5|0")
    }

    @Test func aLaterImportWithoutTheOptionIsRefused() throws {
        let files = try files(Self.orders)
        let store = files.directory.path("s.sqlite")
        #expect(try run(files.command(into: store)).ending == .exit(0))
        let before = try StoreContent.digest(store)
        let later = try files.write([#"{"id": 20, "items": []}"#], to: "later.ndjson")
        func importing(_ entity: String, _ options: String...) throws -> ChildProcess.Result {
            let command = [Project.importer, "import", later, "--into", store, "--records", "$", "--entity", entity]
            return try run(command + options)
        }
        for options in [[], ["--nested", "json"]] {
            let command = [Project.importer, "import", later, "--into", store, "--records", "$", "--entity", "orders"]
            let result = try run(command + options)
            #expect(result.ending == .exit(64))
            let text = "the table orders has child tables: its items are in orders_items\n  Give --nested tables"
            #expect(result.errorText.contains(text), "\(result.errorText)")
        }
        let nested = try importing("orders_items", "--nested", "tables")
        #expect(nested.ending == .exit(64))
        #expect(nested.errorText.contains("the rows of the table orders_items belong to those of orders"))
        #expect(try StoreContent.digest(store) == before)
    }

    /// A table that has arrays as JSON, or no key, keeps them so, and that is said.
    @Test func aTableThatWasMadeWithoutTheOptionKeepsItsArrays() throws {
        let files = try files([#"{"id": 1, "items": [{"sku": "a"}]}"#], [])
        let store = files.directory.path("s.sqlite")
        #expect(try run(files.command(into: store)).ending == .exit(0))
        let later = try files.write([#"{"id": 2, "items": [{"sku": "b"}], "more": [{"a": 1}]}"#], to: "later.ndjson")
        let result = try run(files.command([later], into: store, ["--entity", "orders", "--nested", "tables"]))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let kept = "orders: items: arrays of objects kept as JSON: the table has a column of them\n"
        #expect(result.errorText.contains(kept), "\(result.errorText)")
        let more =
            "orders: more: arrays of objects kept as JSON: the rows of the table have no key that others could refer to\n"
        #expect(result.errorText.contains(more), "\(result.errorText)")
        #expect(
            try StoreContent.query(store, "SELECT items, more FROM orders WHERE id = 2")
                == "[{\"sku\":\"b\"}]|[{\"a\":1}]"
        )
    }

    /// Somebody's own table with the name of a child table is left alone.
    @Test func aTableThatIsThereGetsNoChildren() throws {
        let files = try files(Self.orders)
        let store = try files.makeStore(
            "s.sqlite",
            "CREATE TABLE orders_items (mine); INSERT INTO orders_items VALUES (1)"
        )
        #expect(try run(files.command(into: store)).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT * FROM orders_items") == "1")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM orders_items_2") == "3")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM orders_items_2_taxes") == "1")
    }

    @Test func restartingRemovesChildTables() throws {
        let files = try files(Self.orders)
        let store = files.directory.path("s.sqlite")
        let source = files.sources[0]
        let text = "[" + Self.orders.joined(separator: ",") + ","
        _ = try files.directory.write(text, to: "orders.ndjson")
        let command = [Project.importer, "import", source, "--into", store, "--records", "$[*]"]
        #expect(try run(command + ["--nested", "tables"]).ending == .exit(65))
        #expect(try StoreContent.tables(store).contains("orders_items"))
        _ = try files.directory.write(text.dropLast() + "]", to: "orders.ndjson")
        let result = try run(command + ["--restart"])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.tables(store) == ["orders"])
    }
}
